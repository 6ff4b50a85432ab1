import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { billingPeriod } from '../../src/contract/billing-period.ts';
import type { FinalState } from '../../src/store/runs/port.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { FastClock } from '../fast-clock.ts';
import { provideSampleData } from '../sample-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { perilbook, wordsIn } from './command-line.ts';

test('charged, unknown and in flight are three things, in status and in the report; a run without a process was cut off', async (t) => {
  const folder = temporaryFolder(t);
  provideSampleData(join(folder, 'store.db'));
  const clock = new FastClock('2026-03-15T12:00:00Z', 1);
  writeFileSync(join(folder, 'book.csv'), 'id,lat,lng\n1,40.1,-99.9\n');
  const input = join(folder, 'book.csv');
  const output = join(folder, 'out.csv');
  const store = openSqliteStore(join(folder, 'store.db'), clock, {
    name: 'other',
    isAlive: () => true,
  });
  t.after(() => store.close());
  const source = await store.source('somewhere');
  const account = 'account';
  const run = await store.startRun({
    job: 'book',
    input,
    output,
    account,
    plannedCredits: 40,
    budget: 40,
  });
  const period = billingPeriod(1, clock.now());
  const limits = { periodLimit: 1_000, creditsPerMinute: 1_000, budget: 1_000, leaseMs: 600_000 };
  const claims = await store.claim(
    { run, source, account, period, ...limits },
    [1, 2, 3].map((lat7) => ({
      ...{
        cell: { lat7, lng7: 1 },
        call: { kind: 'standard' } as const,
        credits: 15,
        key: 'k',
        wanted: [],
      },
    })),
  );
  const calls = claims.map((claim) => (claim.outcome === 'granted' ? claim.call : 0));
  const settled = { period, outcome: '200', answers: [], failures: [] };
  await store.settle([
    { call: calls[0]!, charge: 'charged', credits: 15, ...settled },
    { call: calls[1]!, charge: 'unknown', credits: 15, ...settled },
  ]);
  const words = ['--store', 'store.db'];
  const { stdout } = await perilbook(['status', ...words], { folder, clock });
  assert.match(stdout, /planned +charged +unknown +in flight +free calls/);
  assert.match(stdout, /running +40 +15 +15 +15 +0/);
  const [json] = JSON.parse(
    (await perilbook(['status', ...words, '--json'], { folder, clock })).stdout,
  );
  assert.deepEqual(
    [json.state, json.charged, json.unknown, json.in_flight],
    ['running', 15, 15, 15],
  );
  const report = wordsIn(
    'report book.csv -t hail -o out.csv --report page.html --service sample --store store.db',
  );
  const made = await perilbook(report, { folder, clock });
  assert.equal(made.code, 0, made.stderr);
  const page = readFileSync(join(folder, 'page.html'), 'utf8');
  const ledger = /<h3>The ledger<\/h3>[\s\S]*?<tfoot>(.*?)<\/tfoot>/.exec(page)![1]!;
  const numbers = [...ledger.matchAll(/<td class="n">(\d+)<\/td>/g)].map(([, number]) =>
    Number(number),
  );
  // Calls charged, free, unknown, in flight; credits but of free ones.
  assert.deepEqual(numbers, [1, 0, 1, 1, 15, 15, 15]);
  assert.ok(page.includes('<dt>In flight</dt><dd>15'));
  // The process of the run was killed.
  const cutOff = await perilbook(['status', ...words], { folder, clock, isAlive: () => false });
  assert.match(
    cutOff.stdout,
    /cut off[\s\S]*book was cut off: its process ended without finishing\. Run it again/,
  );
});

test('runs of the library and look-ups that follow each other are one line, with their sums', async (t) => {
  const folder = temporaryFolder(t);
  const clock = new FastClock('2026-03-15T12:00:00Z', 1);
  const owner = { name: 'other', isAlive: () => true };
  const store = openSqliteStore(join(folder, 'store.db'), clock, owner);
  t.after(() => store.close());
  const begin = async (job: string, output: string, state: FinalState, account = 'account') => {
    const input = output === devNull ? '-' : `${job}.csv`;
    const run = { job, input, output, account, plannedCredits: 3, budget: 3 };
    const number = await store.startRun(run);
    await store.finishRun(number, { state, resumeAfter: null, summary: null });
  };
  for (let call = 0; call < 40; call++) await begin('library', devNull, 'complete');
  await begin('library', devNull, 'paused');
  for (let night = 0; night < 3; night++) await begin('book', 'out.csv', 'complete');
  for (let call = 0; call < 30; call++) await begin('library', devNull, 'complete');
  const { stdout } = await perilbook(['status', '--store', 'store.db'], { folder, clock });
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.trim().split(/ {2,}/).slice(0, 5));
  assert.deepEqual(
    lines.map(([runs, job, , state, planned]) => [runs, job, state, planned]),
    [
      ['run', 'job', 'state', 'planned'],
      ['45 to 74', 'library', 'complete', '90'],
      ['44', 'book', 'complete', '3'],
      ['43', 'book', 'complete', '3'],
      ['42', 'book', 'complete', '3'],
      ['41', 'library', 'paused', '3'],
      ['1 to 40', 'library', 'complete', '120'],
    ],
  );
  const json = await perilbook(['status', '--store', 'store.db', '--json'], { folder, clock });
  assert.equal(JSON.parse(json.stdout).length, 74, 'each run is there');
});
