import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { MINUTE_MARGIN_MS } from '../../src/store/admission.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { MovedClock } from '../moved-clock.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const LIMIT = 60;

/** One of three processes claims a call and settles it at once, after some time. */
const steps = fc.array(
  fc.record({
    process: fc.nat({ max: 2 }),
    pass: fc.constantFrom(0, 0, 1, 700, 9_000, 61_000),
    kind: fc.constantFrom('single', 'standard'),
    charge: fc.constantFrom('charged', 'charged', 'unknown', 'free'),
  } as const),
  { minLength: 20, maxLength: 60 },
);

test('every process counts the same minute, call by call, whoever settled them and in whatever millisecond', async (t) => {
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
      const source = await stores[0]!.source('somewhere');
      const plan = { job: 'j', input: 'i', output: 'o', account: 'a', plannedCredits: 1, budget: 1e6 };
      const run = await stores[0]!.startRun(plan);
      const period = { start: 0, end: Date.UTC(2099, 0) };
      const limits = { periodLimit: 1e6, creditsPerMinute: LIMIT, budget: 1e6, leaseMs: 220_000 };
      const terms = { run, source, account: 'a', period, ...limits };
      const inMinute = ledger
        .prepare<[number], number>('SELECT coalesce(sum(credits), 0) FROM calls WHERE settled_at > ?')
        .pluck();
      for (const [index, { process, pass, kind, charge }] of drawn.entries()) {
        clock.move(pass);
        const credits = kind === 'single' ? 1 : 15;
        const call = kind === 'single' ? ({ kind, topic: 'hail' } as const) : { kind };
        const fits = inMinute.get(clock.now() - 60_000 - MINUTE_MARGIN_MS)! + credits <= LIMIT;
        const store = stores[process]!;
        const [claim] = await store.claim(terms, [
          { cell: { lat7: index, lng7: 0 }, call, credits, key: 'k', wanted: [] },
        ]);
        assert.equal(claim!.outcome, fits ? 'granted' : 'wait');
        if (claim?.outcome !== 'granted') continue;
        const cost = charge === 'free' ? 0 : credits;
        await store.settle([
          { call: claim.call, charge, credits: cost, period, outcome: '', answers: [], failures: [] },
        ]);
      }
      ledger.close();
      for (const store of stores) await store.close();
    }),
    { numRuns: 25 },
  );
});
