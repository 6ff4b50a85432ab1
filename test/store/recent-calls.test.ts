import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { CREDITS } from '../../src/contract/credits.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { MovedClock } from '../moved-clock.ts';
import { fc } from '../properties.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { callAt, chargedFor, SINGLE, termsOf } from './claims.ts';

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

interface Counted {
  readonly run: number;
  readonly credits: number;
  readonly settled_at: number;
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
      const inMinute = ledger.prepare<[number], Counted>(
        'SELECT run, credits, settled_at FROM calls WHERE settled_at > ? AND credits > 0 ORDER BY settled_at',
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
          assert.deepEqual(claim, { outcome: 'wait', ms: waitMs });
          continue;
        }
        assert.equal(waitMs, 0);
        const others = counted.filter((other) => other.run !== run).reduce((sum, other) => sum + other.credits, 0);
        assert.equal(claim.byOthers, others + (open !== null && open.run !== run ? inFlight : 0));
        const settle = () => store.settle([chargedFor(claim, charge === 'free' ? 0 : credits, { charge })]);
        await open?.settle();
        open = late ? { settle, run, credits } : null;
        if (!late) await settle();
      }
      ledger.close();
      for (const store of stores) await store.close();
    }),
    { numRuns: 10 },
  );
});

/** How long until no more than `room` credits are counted; 0 for now. */
function waitFor(counted: readonly Counted[], room: number, now: number): number {
  let sum = counted.reduce((all, { credits }) => all + credits, 0);
  if (sum <= room) return 0;
  for (const { credits, settled_at } of counted) {
    sum -= credits;
    if (sum <= room) return settled_at + COUNTED_MS - now;
  }
  return 250;
}
