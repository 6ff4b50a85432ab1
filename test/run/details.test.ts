import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collected } from '../collected.ts';
import { openHarness, places } from './harness.ts';

test('details: keep stores the details of each answer; without it nothing is kept', async (t) => {
  const harness = await openHarness(t);
  harness.writeInput(places(3));
  await harness.run({ topics: 'all' });
  assert.deepEqual((await harness.store.stats()).details, { answers: 0, bytes: 0, jsonBytes: 0 });
  const output = harness.output();

  const other = await openHarness(t);
  other.writeInput(places(3));
  await other.run({ topics: 'all', details: 'keep' });
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

/** The rows without the times, which differ from harness to harness. */
function hazards(text: string): string[] {
  return text.split('\n').map((line) => line.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, ''));
}
