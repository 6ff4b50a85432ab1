import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { billingPeriod } from '../../src/contract/billing-period.ts';
import { CREDITS } from '../../src/contract/credits.ts';
import type { ClaimLimits } from '../../src/store/ledger/port.ts';
import type { Store } from '../../src/store/port.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { MovedClock } from '../moved-clock.ts';
import { fc } from '../properties.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { callAt, chargedFor, RUN, SINGLE } from './claims.ts';

const owner = { name: 'me', isAlive: () => true };

/** One call of a made-up history: when it is claimed after the one before, how it ends and how much later. */
const event = fc.record({
  after: fc.integer({ min: 0, max: 5 * 86_400_000 }),
  lasts: fc.integer({ min: 0, max: 2 * 86_400_000 }),
  run: fc.nat(3),
  kind: fc.constantFrom('single' as const, 'standard' as const, 'enterprise' as const),
  key: fc.constantFrom('old', 'new'),
  charge: fc.constantFrom('charged' as const, 'free' as const, 'unknown' as const, 'sent' as const),
});

/** Two accounts; the jobs of one of them disagree on the anniversary day, so its periods overlap. */
const RUNS = [
  { job: 'nightly', account: 'a', day: 5 },
  { job: 'nightly', account: 'a', day: 5 },
  { job: 'listings', account: 'a', day: 31 },
  { job: 'listings', account: 'b', day: 5 },
] as const;

const JOBS = ['nightly', 'listings'];

test('whatever happened: the statement of every period, by anything, is what spending says of it', async (t) => {
  const folder = temporaryFolder(t);
  let number = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 1, maxLength: 30 }), async (events) => {
      const clock = new MovedClock('2026-01-20T00:00:00Z');
      const store = openSqliteStore(join(folder, `${number++}.db`), clock, owner);
      try {
        const seen = await play(store, clock, events);
        for (const { account, period } of seen.values()) {
          const { charged, unknown, open } = await store.spending(account, period);
          for (const by of ['run', 'job', 'key', 'day', 'kind'] as const) {
            const rows = await store.statement({ by, account, period });
            assert.deepEqual(sumOf(rows), { charged, unknown, inFlight: open }, `${by} of ${account}`);
            const names = rows.map(({ name }) => name);
            assert.deepEqual(names, [...new Set(names)].sort(), 'each name once, in order');
            if (by !== 'day') continue;
            const { start, end } = period;
            assert.ok(names.every((day) => Date.parse(String(day)) >= start && Date.parse(String(day)) < end));
          }
        }
        const ofJobs = await Promise.all(JOBS.map((job) => store.statement({ by: 'run', job })));
        for (const [at, rows] of ofJobs.entries()) assert.ok(rows.every(({ job }) => job === JOBS[at]));
        const { credits, calls } = await store.stats();
        assert.deepEqual(sumOf(ofJobs.flat()), sumOf(await store.statement({ by: 'run' })));
        const days = await store.statement({ by: 'day' });
        assert.deepEqual(sumOf(days), { charged: credits.charged, unknown: credits.unknown, inFlight: credits.open });
        const free = days.reduce((sum, row) => sum + row.calls.free, 0);
        assert.equal(free, calls.free);
      } finally {
        await store.close();
      }
    }),
    { numRuns: 40 },
  );
});

interface Event {
  readonly after: number;
  readonly lasts: number;
  readonly run: number;
  readonly kind: 'single' | 'standard' | 'enterprise';
  readonly key: string;
  readonly charge: 'charged' | 'free' | 'unknown' | 'sent';
}

async function play(store: Store, clock: MovedClock, events: readonly Event[]) {
  const source = await store.source('somewhere');
  const runs = await Promise.all(RUNS.map(({ job, account }) => store.startRun({ ...RUN, job, account })));
  const seen = new Map<string, { account: string; period: ClaimLimits['period'] }>();
  for (const [index, { after, lasts, run, kind, key, charge }] of events.entries()) {
    clock.move(after);
    const { account, day } = RUNS[run]!;
    const periodNow = () => {
      const period = billingPeriod(day, clock.now());
      seen.set(`${account} ${period.start}`, { account, period });
      return period;
    };
    const limits = { periodLimit: 1e6, creditsPerMinute: 1e6, budget: 1e6, leaseMs: 30 * 86_400_000 };
    const terms = { run: runs[run]!, source, account, period: periodNow(), ...limits };
    const call = kind === 'single' ? SINGLE : { kind };
    const [claim] = await store.claim(terms, [{ ...callAt(index, call), key }]);
    clock.move(lasts);
    if (charge === 'sent') continue;
    const credits = charge === 'free' ? 0 : CREDITS[kind];
    await store.settle([chargedFor(claim, credits, { charge, period: periodNow() })]);
  }
  return seen;
}

function sumOf(rows: Awaited<ReturnType<Store['statement']>>) {
  const sum = { charged: 0, unknown: 0, inFlight: 0 };
  for (const { credits } of rows) {
    sum.charged += credits.charged;
    sum.unknown += credits.unknown;
    sum.inFlight += credits.inFlight;
  }
  return sum;
}
