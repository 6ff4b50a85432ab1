import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FastClock } from '../fast-clock.ts';
import { column, openHarness, places } from './harness.ts';

for (const life of ['1m', '0s']) {
  test(`an answer bought in a run is fresh in it, though the service’s clock is behind: a time to live of ${life}`, async (t) => {
    const [start, factor, origin] = [Date.parse('2026-03-15T12:00:00Z'), 5, Date.now()];
    const service = { clock: new FastClock(start - 120_000, factor, origin) };
    const harness = await openHarness(t, { clock: { start, factor, origin }, service });
    harness.writeInput(places(3));
    const { state } = await harness.run({ topics: ['ozone'], time_to_live: { ozone: life } });
    assert.deepEqual([state, harness.charged()], ['complete', 3]);
    assert.deepEqual(column(harness.output(), 'hazard_status'), ['ok', 'ok', 'ok']);
  });
}
