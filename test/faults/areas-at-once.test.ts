import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { NATURAL_SLUGS } from '../../src/contract/topics.ts';
import { openHarness, places } from '../run/harness.ts';
import { buy } from './buyer.ts';

const natural = NATURAL_SLUGS.filter((slug) => slug !== 'avalanche');

test('two runs that buy by tract through different cells of it ask once: the second takes the answer of the first', {
  timeout: 300_000,
}, async (t) => {
  const harness = await openHarness(t);
  const spots = places(60);
  for (const [index, name] of ['a', 'b', 'c'].entries()) {
    const rows = spots.slice(index * 20, index * 20 + 20).map(([lat, lng]) => `${lat},${lng},31001000100\n`);
    writeFileSync(join(harness.folder, `${name}.csv`), `lat,lng,TRACT_GEOID\n${rows.join('')}`);
  }
  const key = harness.key();
  const start = (name: string, topics: readonly (typeof natural)[number][]) =>
    buy({
      ...{ folder: harness.folder, baseUrl: harness.url, key, clock: harness.clock, name },
      job: {
        ...{ input: `${name}.csv`, output: `${name}.out.csv`, topics: [...topics], counts: false },
        areas: { tract: 'TRACT_GEOID', verify: 0 },
        subscription: { credits_per_month: 100_000, credits_per_minute: 100_000 },
      },
    });
  const ends = await Promise.all([start('a', natural), start('b', natural)]);
  ends.push(await start('c', ['hail', 'drought']));
  for (const { state, summary } of ends) assert.deepEqual([state, summary.status.ok], ['complete', 20]);
  assert.equal(ends.filter(({ summary }) => summary.credits_spent === 15).length, 1);
  assert.equal(harness.charged(), 15);
});
