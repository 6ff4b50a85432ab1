import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { CREDITS } from '../../src/contract/credits.ts';
import { NATURAL_SLUGS, type TopicSlug } from '../../src/contract/topics.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { perilbook } from './command-line.ts';

const OWNER = { name: 'test', isAlive: () => true };

/** A store with answers that were paid for: 17 natural topics at one cell, wildfire at two, one of these ten days old; and an
 * answer of sample data. */
async function paidStore(t: TestContext) {
  const folder = temporaryFolder(t);
  const now = Date.now();
  const store = openSqliteStore(join(folder, 'store.db'), systemClock, OWNER);
  const words = { job: 'job', input: 'in', output: 'out', account: 'a', plannedCredits: 0, budget: 100 };
  const run = await store.startRun(words);
  const period = { start: 0, end: 2 * now };
  const settle = async (source: string, lat7: number, topics: readonly TopicSlug[], asOf: number) => {
    const limits = { run, source: await store.source(source), account: 'a', period };
    const terms = { ...limits, periodLimit: 1e6, creditsPerMinute: 1e6, budget: 100, leaseMs: 1e6 };
    const call = topics.length > 1 ? ({ kind: 'standard' } as const) : ({ kind: 'single', topic: topics[0]! } as const);
    const credits = CREDITS[call.kind];
    const [claim] = await store.claim(terms, [{ cell: { lat7, lng7: 0 }, call, credits, key: 'k', wanted: [] }]);
    if (claim?.outcome !== 'granted') throw new Error(claim?.outcome);
    const answers = topics.map((topic) => ({ topic, asOf, fields: ['x'] }));
    const paid = { charge: 'charged', credits, period, outcome: '', failures: [] } as const;
    await store.settle([{ call: claim.call, ...paid, answers }]);
  };
  const old = now - 10 * 86_400_000;
  await settle(
    'https://api.example.com',
    1,
    NATURAL_SLUGS.filter((slug) => slug !== 'avalanche'),
    now - 1,
  );
  await settle('https://api.example.com', 2, ['wildfire'], now - 1);
  await settle('https://api.example.com', 3, ['wildfire'], old);
  await settle('embedded 1', 4, ['wildfire'], old - 10 * 86_400_000);
  await store.close();
  const prune = (...flags: string[]) => perilbook(['cache', 'prune', '--store', 'store.db', ...flags], { folder });
  const left = async () => {
    const stats = await perilbook(['cache', 'stats', '--json', '--store', 'store.db'], { folder });
    const { sources } = JSON.parse(stats.stdout) as { sources: { answers: number }[] };
    return sources.reduce((sum, { answers }) => sum + answers, 0);
  };
  return { folder, prune, left };
}

test('prune forgets answers that were paid for only with --yes where nobody can be asked', async (t) => {
  const { prune, left } = await paidStore(t);
  const refused = await prune('--older-than', '0d');
  assert.equal(refused.code, 2);
  assert.match(
    refused.stderr,
    /would delete 19 paid answers\. Buying them again costs 17 credits.*\n.*--yes.*\[NEEDS_APPROVAL\]/,
  );
  assert.equal(await left(), 20);

  // Sample data were never paid for.
  const sample = await prune('--older-than', '15d', '--json');
  assert.deepEqual([sample.code, JSON.parse(sample.stdout)], [0, { forgotten: 1 }]);
  assert.match((await prune('--older-than', '5d')).stderr, /would delete 1 paid answer.* costs 1 credit/);
  const some = await prune('--older-than', '5d', '--yes', '--json');
  assert.deepEqual([some.code, JSON.parse(some.stdout), await left()], [0, { forgotten: 1 }, 18]);
  assert.equal((await prune('--older-than', '0d', '-y')).code, 0);
  assert.equal(await left(), 0);
});

test('on a terminal prune asks, and only a yes forgets', async (t) => {
  const { folder, left } = await paidStore(t);
  const answered = (keys: string) =>
    perilbook(['cache', 'prune', '--older-than', '0d', '--store', 'store.db'], { folder, typed: keys, columns: 80 });
  const no = await answered('n\r');
  assert.equal(no.code, 130);
  assert.match(no.stderr, /Delete 19 paid answers\? Buying them again costs 17 credits\. \[y\/N\] /);
  assert.equal(await left(), 20);
  assert.equal((await answered('y\r')).code, 0);
  assert.equal(await left(), 0);
});

test('prune needs to know what to forget; rejections are forgotten without a question', async (t) => {
  const { prune, left } = await paidStore(t);
  const refused = await prune();
  assert.deepEqual([refused.code, /--older-than .*--rejected/.test(refused.stderr)], [2, true]);
  const pruned = await prune('--rejected', '--json');
  assert.deepEqual([pruned.code, JSON.parse(pruned.stdout)], [0, { rejections_forgotten: 0 }]);
  assert.match((await prune('--rejected')).stderr, /Deleted the rejections of 0 locations/);
  assert.equal(await left(), 20);
});
