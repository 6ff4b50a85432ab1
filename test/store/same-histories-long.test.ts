import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { systemClock } from '../../src/base/clock.ts';
import { CREDITS } from '../../src/contract/credits.ts';
import type { Claim, Settlement } from '../../src/store/ledger/port.ts';
import type { Owner, Store } from '../../src/store/port.ts';
import { openPostgresStore } from '../../src/store/postgres-store.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { MovedClock } from '../moved-clock.ts';
import { sharedPostgres } from '../postgres-server.ts';
import { fc } from '../properties.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { times } from '../tier.ts';

/** A database whose store three workers share, and the rows of its tables. */
interface Shared {
  open(clock: MovedClock, owner: Owner): Store | Promise<Store>;
  rows(sql: string): Promise<readonly object[]>;
}

const server = await sharedPostgres();
const PERIODS = [Date.UTC(2026, 2, 5), Date.UTC(2026, 3, 5)].map((start) => ({
  start,
  end: Date.UTC(2026, 4, 5),
}));
const RUN = { job: 'job', input: 'in', output: 'out', plannedCredits: 1, budget: 250 };
const AREA = 'tract 06037106111';

const worker = fc.nat({ max: 2 });
const request = fc.record({
  cell: fc.nat({ max: 5 }),
  kind: fc.constantFrom('single', 'standard'),
  inArea: fc.boolean(),
});
const settlement = fc.record({
  charge: fc.constantFrom('charged', 'charged', 'free', 'unknown'),
  period: fc.nat({ max: 1 }),
  rating: fc.constantFrom('Very Low', 'Very High'),
  fails: fc.boolean(),
  exhausted: fc.constantFrom(false, false, false, true),
});
const upToFour = { minLength: 1, maxLength: 4 };
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('claim'),
      worker,
      requests: fc.array(request, upToFour),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('settle'),
      worker,
      how: fc.array(settlement, upToFour),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('wait'), ms: fc.constantFrom(1, 700, 61_000, 301_000) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('kill'), worker }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('correct'), worker, spent: fc.nat({ max: 200 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('forget'), worker, ms: fc.nat({ max: 60_000 }) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const cellAt = (number: number) => ({ lat7: 340_000_000 + number, lng7: -1_180_000_000 - number });
const WANTED = { topic: 'wildfire', freshSince: Date.UTC(2026, 0) } as const;

/** Carries out the steps; returns all that the store returned meanwhile, and its rows at the end. Numbers of calls are left out, because
 * PostgreSQL numbers refused claims too. */
async function history(shared: Shared, steps: readonly Step[]): Promise<unknown> {
  const clock = new MovedClock('2026-03-10T12:00:00Z');
  const told: unknown[] = [];
  let born = 0;
  const alive = new Set<string>();
  const join = async () => {
    const name = `worker ${born++}`;
    alive.add(name);
    const store = await shared.open(clock, { name, isAlive: (other) => alive.has(other) });
    const account = born % 3 === 0 ? 'other' : 'account';
    return {
      name,
      store,
      account,
      run: await store.startRun({ ...RUN, account }),
      open: [] as number[],
      ticket: 0,
    };
  };
  const workers = [await join(), await join(), await join()];
  const source = await workers[0]!.store.source('somewhere');
  const dead: Store[] = [];
  for (const one of steps) {
    const at = 'worker' in one ? one.worker : 0;
    const { store, run, account, open, name } = workers[at]!;
    if (one.do === 'wait') clock.move(one.ms);
    if (one.do === 'claim') {
      const terms = {
        ...{
          run,
          source,
          account,
          period: PERIODS[0]!,
          periodLimit: 150,
          creditsPerMinute: 60,
          budget: 250,
        },
        leaseMs: 300_000,
      };
      const claims = await store.claim(
        terms,
        one.requests.map(({ cell, kind, inArea }) => ({
          ...{ cell: cellAt(cell), credits: CREDITS[kind], key: 'key', wanted: [WANTED] },
          call: kind === 'single' ? { kind, topic: 'wildfire' as const } : { kind },
          ...(inArea ? { areas: [{ area: AREA, wanted: [WANTED] }] } : {}),
        })),
      );
      for (const claim of claims) if (claim.outcome === 'granted') open.push(claim.call);
      told.push(claims.map((claim: Claim) => ({ ...claim, call: null })));
    }
    if (one.do === 'settle') {
      const settled = one.how.flatMap(
        ({ charge, period, rating, fails, exhausted }): Settlement[] => {
          const call = open.shift();
          if (call === undefined) return [];
          const answers = fails
            ? []
            : [{ topic: 'wildfire' as const, asOf: clock.now(), fields: [rating, 0.5, null] }];
          return [
            {
              ...{
                call,
                charge,
                credits: charge === 'free' ? 0 : 15,
                period: PERIODS[period]!,
                outcome: rating,
              },
              ...{ answers, exhausted },
              failures: fails
                ? [{ topic: 'hail', reason: 'rejected', note: 'outside', at: clock.now() }]
                : [],
              areas: [{ area: AREA, answers, comparableSince: 0 }],
              ...(exhausted
                ? {
                    refused: { scope: 'bundle' as const, reason: '(403)' },
                    contents: { kind: 'standard', topics: ['hail'] },
                  }
                : {}),
            },
          ];
        },
      );
      await store.settle(settled);
    }
    if (one.do === 'kill') {
      alive.delete(name);
      dead.push(store);
      workers[at] = await join();
    }
    if (one.do === 'correct') told.push(await store.correct(account, PERIODS[0]!, one.spent));
    if (one.do === 'forget')
      told.push(await store.forgetRejections(), await store.prune(clock.now() - one.ms));
    const cells = [0, 1, 2, 3, 4, 5].map(cellAt);
    const { store: reader } = workers[at]!;
    told.push(await reader.read(source, cells), await reader.spending('account', PERIODS[0]!));
    told.push(await reader.readAreas(source, [AREA]));
  }
  const { store } = workers[0]!;
  const { calls, credits, sources } = await store.stats();
  told.push(calls, credits, sources, await store.runs());
  for (const by of ['run', 'job', 'key', 'day', 'kind'] as const)
    told.push(await store.statement({ by }));
  told.push(await store.bundleContents(source), await store.refusedScopes(source, 'key'));
  told.push(await store.callTimes(source, 300_000));
  for (const closed of [...workers.map((one) => one.store), ...dead]) await closed.close();
  const ledger = await shared.rows(
    `SELECT run, source, account, period_start, key, kind, topic, lat7, lng7, price, charge, credits, owner, claimed_at, lease_until,
       credits_left, settled_at, outcome, request_id FROM calls ORDER BY id`,
  );
  const sums = await shared.rows('SELECT * FROM periods ORDER BY account, period_start');
  return { told, ledger, sums };
}

test('SQLite and PostgreSQL give the same answers and keep the same ledger, whatever happens', async (t) => {
  const folder = temporaryFolder(t);
  let nth = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
      const file = join(folder, `${nth}.db`);
      const schema = `histories_${nth++}`;
      const address = server.storeAddress({ schema });
      const onSqlite: Shared = {
        open: (clock, owner) => openSqliteStore(file, clock, owner),
        async rows(sql) {
          const database = new Database(file, { readonly: true });
          const rows = database.prepare<[], object>(sql).all();
          database.close();
          return rows;
        },
      };
      const onPostgres: Shared = {
        open: (clock, owner) =>
          openPostgresStore(address, systemClock, owner, {
            serverTime: () => `${clock.now()}::bigint`,
          }),
        rows: (sql) => server.query(sql.replaceAll(/FROM (\w+)/g, `FROM ${schema}.$1`)),
      };
      assert.deepEqual(
        plain(await history(onSqlite, steps)),
        plain(await history(onPostgres, steps)),
      );
    }),
    { numRuns: times({ long: 15, soak: 300 }) },
  );
});

/** With maps as lists, and the numbers that the server sends as text as numbers. */
function plain(value: unknown): unknown {
  const json = JSON.stringify(value, (_, member) => {
    if (member instanceof Map || member instanceof Set) return [...member];
    return typeof member === 'string' && /^-?\d+$/.test(member) ? Number(member) : member;
  });
  return JSON.parse(json);
}
