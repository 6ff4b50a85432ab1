import assert from 'node:assert/strict';
import { test } from 'node:test';
import { column, openHarness } from './harness.ts';

/** In the small setup of the service, in Nebraska; in Windsor, Ontario; exchanged; nowhere on earth. */
const ROWS = [
  [40.25, -99.75],
  [42.3149, -83.0364],
  [-99.75, 40.25],
  [40.25, 99.75],
  [91, 10],
  [0, 0],
] as const;

test('coverage: check asks about US locations alone; trust about all on earth, and the service says which it covers', async (t) => {
  const harness = await openHarness(t);
  harness.writeInput(ROWS);
  const statuses = () => column(harness.output(), 'hazard_status');
  const notes = () => column(harness.output(), 'hazard_note');
  const checked = await harness.run({ topics: ['hail'] });
  assert.deepEqual(statuses(), ['ok', 'outside_us', 'invalid', 'invalid', 'invalid', 'invalid']);
  assert.equal(checked.summary.cells, 1);

  const trusted = await harness.run({ topics: ['hail'], coverage: 'trust' });
  assert.deepEqual(statuses(), ['ok', 'rejected', 'invalid', 'rejected', 'invalid', 'invalid']);
  assert.match(notes()[1]!, /The service rejects this location .*lies outside the US/);
  assert.match(notes()[2]!, /seem exchanged/);
  assert.equal(trusted.summary.cells, 3);
  assert.deepEqual([harness.charged(), (await harness.ledger()).charged], [1, 1], 'what is refused is free');
});

test('a file that begins with many places abroad is bought to its end all the same', async (t) => {
  const harness = await openHarness(t);
  const abroad = Array.from({ length: 40 }, (_, row) => [45 + row / 100, 10] as const);
  harness.writeInput([...abroad, ...ROWS]);
  const ended = await harness.run({ topics: ['hail'], coverage: 'trust' });
  assert.equal(ended.stop, null, ended.stop?.message);
  assert.deepEqual([ended.summary.status.ok, ended.summary.status.rejected], [1, 42]);
});
