import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { billingPeriod } from '../../src/contract/billing-period.ts';
import { CREDITS } from '../../src/contract/credits.ts';
import type { RecentCall } from '../../src/store/ledger/admission.ts';
import type { ClaimLimits } from '../../src/store/ledger/port.ts';
import type { Store } from '../../src/store/port.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { MovedClock } from '../moved-clock.ts';
import { fc } from '../properties.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { times } from '../tier.ts';
import { callAt, chargedFor, RUN, SINGLE, termsOf } from './claims.ts';

const LIMIT = 60;
/** A call counts a little longer than a minute after it settled, because clocks differ. */
const COUNTED_MS = 60_100;

/** One of three processes, each with a run of its own, claims a call; it is settled at once or with the next one. */
const steps = fc.array(
  fc.record({
    process: fc.nat({ max: 2 }),
    pass: fc.constantFrom(0, 0, 1, 700, 9_000, 61_000),
    kind: fc.constantFrom('single', 'standard', 'standard', 'enterprise'),
    charge: fc.constantFrom('charged', 'charged', 'unknown', 'free'),
    late: fc.constantFrom(false, false, true),
  } as const),
  { minLength: 20, maxLength: 60 },
);

/** A call whose outcome is not known yet. */
interface Open {
  readonly settle: () => Promise<void>;
  readonly run: number;
  readonly credits: number;
}

test('every process counts the same minute, call by call, whichever process settled them and in whatever millisecond', async (t) => {
  const folder = temporaryFolder(t);
  let nth = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (drawn) => {
      const file = join(folder, `${nth++}.db`);
      const clock = new MovedClock('2026-03-10T12:00:00Z');
      const stores = [0, 1, 2].map((name) =>
        openSqliteStore(file, clock, { name: `here/${name}`, isAlive: () => true }),
      );
      const ledger = new Database(file, { readonly: true });
      const allTerms = await Promise.all(
        stores.map((store) => termsOf(store, { creditsPerMinute: LIMIT, leaseMs: 220_000 })),
      );
      const inMinute = ledger.prepare<[number], RecentCall>(
        'SELECT run, credits, settled_at AS settledAt FROM calls WHERE settled_at > ? AND credits > 0 ORDER BY settled_at',
      );
      let open: Open | null = null;
      for (const [index, { process, pass, kind, charge, late }] of drawn.entries()) {
        clock.move(pass);
        const credits = CREDITS[kind];
        const call = kind === 'single' ? SINGLE : { kind };
        const store = stores[process]!;
        const terms = allTerms[process]!;
        const { run } = terms;
        const counted = inMinute.all(clock.now() - COUNTED_MS);
        const inFlight: number = open?.credits ?? 0;
        const [claim] = await store.claim(terms, [callAt(index, call)]);
        const waitMs = waitFor(counted, LIMIT - credits - inFlight, clock.now());
        if (claim?.outcome !== 'granted') {
          assert.deepEqual(claim, { outcome: 'wait', for: 'minute', ms: waitMs });
          continue;
        }
        assert.equal(waitMs, 0);
        const others = counted
          .filter((other) => other.run !== run)
          .reduce((sum, other) => sum + other.credits, 0);
        assert.equal(claim.byOthers, others + (open !== null && open.run !== run ? inFlight : 0));
        const settle = () =>
          store.settle([chargedFor(claim, charge === 'free' ? 0 : credits, { charge })]);
        await open?.settle();
        open = late ? { settle, run, credits } : null;
        if (!late) await settle();
      }
      ledger.close();
      for (const store of stores) await store.close();
    }),
    { numRuns: times({ short: 10, long: 20 }) },
  );
});

/** How long until no more than `room` credits are counted; 0 for now. */
function waitFor(counted: readonly RecentCall[], room: number, now: number): number {
  let sum = counted.reduce((all, { credits }) => all + credits, 0);
  if (sum <= room) return 0;
  for (const { credits, settledAt } of counted) {
    sum -= credits;
    if (sum <= room) return settledAt + COUNTED_MS - now;
  }
  return 250;
}

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
            assert.deepEqual(
              sumOf(rows),
              { charged, unknown, inFlight: open },
              `${by} of ${account}`,
            );
            const names = rows.map(({ name }) => name);
            assert.deepEqual(names, [...new Set(names)].sort(), 'each name once, in order');
            if (by !== 'day') continue;
            const { start, end } = period;
            assert.ok(
              names.every(
                (day) => Date.parse(String(day)) >= start && Date.parse(String(day)) < end,
              ),
            );
          }
        }
        const ofJobs = await Promise.all(JOBS.map((job) => store.statement({ by: 'run', job })));
        for (const [at, rows] of ofJobs.entries())
          assert.ok(rows.every(({ job }) => job === JOBS[at]));
        const { credits, calls } = await store.stats();
        assert.deepEqual(sumOf(ofJobs.flat()), sumOf(await store.statement({ by: 'run' })));
        const days = await store.statement({ by: 'day' });
        assert.deepEqual(sumOf(days), {
          charged: credits.charged,
          unknown: credits.unknown,
          inFlight: credits.open,
        });
        const free = days.reduce((sum, row) => sum + row.calls.free, 0);
        assert.equal(free, calls.free);
      } finally {
        await store.close();
      }
    }),
    { numRuns: times({ short: 40, long: 80 }) },
  );
});

type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;

async function play(store: Store, clock: MovedClock, events: readonly Event[]) {
  const source = await store.source('somewhere');
  const runs = await Promise.all(
    RUNS.map(({ job, account }) => store.startRun({ ...RUN, job, account })),
  );
  const seen = new Map<string, { account: string; period: ClaimLimits['period'] }>();
  for (const [index, { after, lasts, run, kind, key, charge }] of events.entries()) {
    clock.move(after);
    const { account, day } = RUNS[run]!;
    const periodNow = () => {
      const period = billingPeriod(day, clock.now());
      seen.set(`${account} ${period.start}`, { account, period });
      return period;
    };
    const limits = {
      periodLimit: 1e6,
      creditsPerMinute: 1e6,
      budget: 1e6,
      leaseMs: 30 * 86_400_000,
    };
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
