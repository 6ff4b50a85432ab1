import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TOPIC_SLUGS } from '../../src/contract/topics.ts';
import { collected } from '../collected.ts';
import { serveHttp } from '../fetch/servers.ts';
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

test('an answer that cannot be read counts as spent and is not paid again', async (t) => {
  const harness = await openHarness(t, { factor: 20 });
  harness.writeInput(places(2));
  const topics = [...TOPIC_SLUGS];
  const baseUrl = await serveHttp(t, async (request, response) => {
    const headers = { 'x-api-key': String(request.headers['x-api-key']) };
    const answer = await fetch(harness.url + request.url, { headers });
    response.setHeader('x-credit-cost', answer.headers.get('x-credit-cost')!);
    // Nested deeper than anything that is parsed.
    response.end((await answer.text()).replace('"details":null', `"details":${'['.repeat(600)}${']'.repeat(600)}`));
  });
  const ended = await harness.run({ topics }, { baseUrl });
  assert.equal(ended.state, 'incomplete');
  assert.equal(harness.charged(), 70);
  assert.deepEqual(await harness.ledger(), { charged: 70, unknown: 0, open: 0 });
  assert.match(harness.output(), /could not be read/);
});

/** The rows without the times, which differ from harness to harness. */
function hazards(text: string): string[] {
  return text.split('\n').map((line) => line.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, ''));
}
