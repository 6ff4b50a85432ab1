import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TOPIC_SLUGS } from '../../src/contract/topics.ts';
import { createBodyReader } from '../../src/job/reading/body-readers.ts';
import { collected } from '../collected.ts';
import { openHarness, places } from './harness.ts';

/** Every body in a worker, however small. */
const inWorkers = () => createBodyReader({ fromBytes: 0 });

test('details: keep stores the details of each answer; without it nothing is kept', async (t) => {
  const harness = await openHarness(t);
  harness.writeInput(places(3));
  await using reader = inWorkers();
  await harness.run({ topics: 'all' }, { reader });
  assert.deepEqual((await harness.store.stats()).details, { answers: 0, bytes: 0, jsonBytes: 0 });
  const output = harness.output();

  const other = await openHarness(t);
  other.writeInput(places(3));
  await other.run({ topics: 'all', details: 'keep' }, { reader });
  assert.deepEqual(hazards(other.output()), hazards(output));
  const kept = await collected(other.store.details());
  const { details } = await other.store.stats();
  assert.equal(details.answers, kept.length);
  assert.equal(
    details.jsonBytes,
    kept.reduce((sum, { json }) => sum + Buffer.byteLength(json), 0),
  );
  const superfund = kept.filter(({ topic }) => topic === 'superfund');
  assert.equal(superfund.length, 3);
  for (const { json } of superfund) assert.equal(JSON.parse(json).type, 'FeatureCollection');
});

test('an answer that cannot be read counts as spent and is not paid again', async (t) => {
  const harness = await openHarness(t);
  harness.writeInput(places(2));
  const dying = new URL(
    `data:text/javascript,${encodeURIComponent("import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => process.exit(1)); parentPort.postMessage('ready');")}`,
  );
  const topics = [...TOPIC_SLUGS];
  await using reader = createBodyReader({ fromBytes: 0, module: dying });
  const ended = await harness.run({ topics }, { reader });
  assert.equal(ended.state, 'incomplete');
  assert.equal(harness.charged(), 70);
  assert.deepEqual(await harness.ledger(), { charged: 70, unknown: 0, open: 0 });
  assert.match(harness.output(), /could not be read/);
});

/** The rows without the times, which differ from harness to harness. */
function hazards(text: string): string[] {
  return text.split('\n').map((line) => line.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, ''));
}
