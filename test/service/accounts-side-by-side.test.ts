import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { Pool } from 'pg';
import { systemClock } from '../../src/clock.ts';
import type { Call } from '../../src/contract/credits.ts';
import { openAccounts, openPostgresAccounts, sqliteAccounts } from '../../src/service/accounts/open-accounts.ts';
import type { CallCheck, ServiceAccounts, ServiceInstance } from '../../src/service/accounts/port.ts';
import { openPostgresAccounts as openOldPostgres } from '../../src/service/accounts/postgres/open-accounts.ts';
import { openAccounts as openOldFile } from '../../src/service/accounts/sqlite/accounts-database.ts';
import { sqliteAccounts as oldSqlite } from '../../src/service/accounts/sqlite/sqlite-accounts.ts';
import { sharedPostgres } from '../postgres-server.ts';
import { fc } from '../properties.ts';
import { times } from '../tier.ts';
import { NOON, StillClock, subscriptionOf } from './small-data.ts';

/* The accounts as they were and as they are, side by side on the same histories: every answer and every row is the same. */

const server = await sharedPostgres();
const LEASE_MS = 6_000_000_000;
const DAY = 86_400_000;

interface Side {
  readonly port: ServiceAccounts;
  setClock(at: number): Promise<void>;
  run(sql: string): Promise<void>;
  rows(sql: string): Promise<unknown[]>;
  close(): Promise<void>;
}

function sqliteSide(isOld: boolean): Side {
  const clock = new StillClock();
  const file = isOld ? openOldFile(':memory:') : openAccounts(':memory:');
  return {
    port: isOld ? oldSqlite(file as never, clock) : sqliteAccounts(file as never, clock),
    setClock: async (at) => {
      clock.at = at;
    },
    run: async (sql) => void file.exec(sql),
    rows: async (sql) => file.prepare(sql).all(),
    close: async () => void file.close(),
  };
}

async function postgresSide(isOld: boolean): Promise<Side> {
  const url = await server.database();
  const port = await (isOld ? openOldPostgres : openPostgresAccounts)(url, systemClock, { leaseMs: LEASE_MS });
  const pool = new Pool({ connectionString: url, options: '-c search_path=perilbook_accounts', max: 1 });
  await pool.query(`CREATE TABLE test_clock AS SELECT ${NOON}::bigint AS now`);
  await pool.query(
    "CREATE OR REPLACE FUNCTION clock_ms() RETURNS bigint LANGUAGE sql AS 'SELECT now FROM perilbook_accounts.test_clock'",
  );
  return {
    port,
    setClock: async (at) => void (await pool.query('UPDATE test_clock SET now = $1', [at])),
    run: async (sql) => void (await pool.query(sql)),
    rows: async (sql) => (await pool.query(sql)).rows,
    async close() {
      await pool.end();
      await port[Symbol.asyncDispose]();
    },
  };
}

const CALLS: readonly Call[] = [{ kind: 'single', topic: 'hail' }, { kind: 'standard' }, { kind: 'enterprise' }];
const NAMES = ['a', 'b'];

type Step =
  | { readonly do: 'call'; readonly by: number; readonly calls: readonly (readonly [key: number, call: number])[] }
  | {
      readonly do: 'end';
      readonly by: number;
      readonly ended: readonly (readonly [charge: number, delivered: boolean])[];
    }
  | { readonly do: 'clock'; readonly ms: number }
  | {
      readonly do: 'change';
      readonly account: number;
      readonly month: number;
      readonly minute: number;
      readonly overages: boolean;
    }
  | { readonly do: 'key'; readonly account: number; readonly bundle: boolean; readonly lifetimeMs: number | null }
  | { readonly do: 'rotate' | 'revoke'; readonly key: number; readonly grace: number }
  | { readonly do: 'restart' | 'crash'; readonly by: number }
  | { readonly do: 'look' };

const small = (max: number) => fc.nat({ max });
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('call' as const),
      by: small(1),
      calls: fc.array(fc.tuple(small(5), small(2)), { minLength: 1, maxLength: 8 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('end' as const),
      by: small(1),
      ended: fc.array(fc.tuple(small(12), fc.boolean()), { minLength: 1, maxLength: 6 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('clock' as const),
      ms: fc.constantFrom(0, 1, 999, 20_000, 59_999, 60_000, 60_001),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('clock' as const), ms: fc.integer({ min: -70_000, max: 90_000 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('clock' as const), ms: fc.constantFrom(16 * DAY, 31 * DAY, -DAY) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('change' as const),
      account: small(1),
      month: fc.constantFrom(50, 200, 600, 5_000),
      minute: fc.constantFrom(20, 100, 400),
      overages: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('key' as const),
      account: small(1),
      bundle: fc.boolean(),
      lifetimeMs: fc.constantFrom(null, 0, 1, 50_000, 40 * DAY),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom('rotate' as const, 'revoke' as const),
      key: small(7),
      grace: fc.constantFrom(0, 30, 3_600),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('restart' as const, 'crash' as const), by: small(1) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('look' as const) }) },
);

const TABLES = (ids: boolean) => [
  'SELECT id, name, subscription, credits_per_month, credits_per_minute, overage_rate, CAST(overages AS integer) AS overages, signed_up_at FROM accounts ORDER BY id',
  'SELECT id, account, scopes, created_at, expires_at, retires_at, revoked_at, replaced_by FROM keys ORDER BY id',
  `SELECT ${ids ? 'id, pending_by,' : 'pending_by IS NULL AS final,'} account, key, kind, topic, credits, charged_at, period_start, request_id FROM charges ORDER BY id`,
  'SELECT account, minute_from, minute_credits FROM minutes ORDER BY account',
  'SELECT account, period_start, credits, single, standard, enterprise, allowance, overage_rate FROM periods ORDER BY account, period_start',
];

/** One of the two, with what it has given: keys, charges. */
class Player {
  readonly side: Side;
  readonly instances: ServiceInstance[] = [];
  readonly secrets: string[] = ['pb_malformed', `pb_${'x'.repeat(43)}`];
  pending: { readonly id: number; readonly by: number }[] = [];

  constructor(side: Side) {
    this.side = side;
  }

  register(rateWindow: 'sliding' | 'fixed', lastCall: 'refused' | 'served'): Promise<ServiceInstance> {
    return this.side.port.register({ rateWindow, lastCall }, (error) => assert.fail(String(error)));
  }

  /** The outcome of a promise, as both must have it. */
  async outcome(work: () => Promise<unknown>): Promise<unknown> {
    try {
      return await work();
    } catch (error) {
      return `${(error as { code: string }).code}: ${(error as Error).message}`;
    }
  }
}

const shown = (check: CallCheck) => {
  if (typeof check === 'string') return check;
  const { key, account, may } = check.caller;
  return { refusal: check.refusal, caller: { key, account, may: [may('bundle'), may('hail')] } };
};

async function play(
  isFixed: boolean,
  served: boolean,
  steps: readonly Step[],
  sides: readonly [Side, Side],
  ids: boolean,
) {
  const players = sides.map((side) => new Player(side)) as [Player, Player];
  const rules = [isFixed ? 'fixed' : 'sliding', served ? 'served' : 'refused'] as const;
  let at = NOON;
  let newest = NOON;
  let nth = 0;
  async function both<T>(what: string, work: (player: Player) => Promise<T>): Promise<[T, T]> {
    const [old, young] = [await work(players[0]), await work(players[1])];
    assert.deepEqual(young, old, `step ${nth}: ${what}`);
    return [old, young];
  }
  const look = async () => {
    for (const name of NAMES) {
      await both('statement', async ({ side }) => await side.port.statement(await side.port.findAccount(name)));
    }
    await both('keys', ({ side }) => side.port.listKeys());
    await both('keys of one', ({ side }) => side.port.listKeys('b'));
    await both('accounts', ({ side }) => side.port.listAccounts());
  };
  for (const side of sides) {
    await side.setClock(at);
    for (const table of ['transactions', 'periods', 'minutes', 'charges', 'instances', 'keys', 'accounts']) {
      await side.run(`DELETE FROM ${table}`).catch(() => {});
    }
  }
  for (const player of players) {
    for (const [index, name] of NAMES.entries()) {
      await player.side.port.createAccount({
        name: name,
        subscription: subscriptionOf(600, 100 + 200 * index),
        overages: index === 1,
      });
      for (const scopes of [['bundle', 'hail'], ['hail']]) {
        player.secrets.push((await player.side.port.createKey(name, scopes, null)).key);
      }
    }
    for (let by = 0; by < 2; by++) player.instances.push(await player.register(...rules));
  }
  const firstKey = ((await sides[0].rows('SELECT min(id) AS id FROM keys'))[0] as { id: number }).id;
  for (const step of steps) {
    nth += 1;
    switch (step.do) {
      case 'clock':
        at += step.ms;
        for (const side of sides) await side.setClock(at);
        break;
      case 'call': {
        // Refused calls are charged too, so that the charge decides by itself.
        const requests = step.calls.map(() => randomUUID());
        const presented = (player: Player) =>
          step.calls.map(([key, call]) => ({ key: player.secrets[key % player.secrets.length], call: CALLS[call]! }));
        const checks: CallCheck[][] = [];
        for (const player of players) checks.push(await player.instances[step.by]!.check(presented(player)));
        // Where the clock was set back, a check may pass that the charge refuses.
        const isSetBack = at < newest;
        const [old, young] = checks.map((some) =>
          some.map(shown).map((one) => (isSetBack && typeof one !== 'string' ? one.caller : one)),
        );
        assert.deepEqual(young, old, `step ${nth}: check`);
        const chargeable = checks.map((some) =>
          some.flatMap((check, index) =>
            typeof check === 'string'
              ? []
              : [{ caller: check.caller, call: CALLS[step.calls[index]![1]]!, requestId: requests[index]! }],
          ),
        );
        if (chargeable[0]!.length === 0) break;
        newest = Math.max(newest, at);
        const made = await both('charge', async (player) => {
          const calls = chargeable[players.indexOf(player)]!;
          const charged = await player.instances[step.by]!.charge(calls, { delivered: [], undelivered: [] });
          for (const one of charged) if ('id' in one) player.pending.push({ id: one.id, by: step.by });
          return charged.map((one) => ('id' in one ? { ...one, id: ids ? one.id : 0 } : one));
        });
        assert.ok(made);
        break;
      }
      case 'end':
        await both('settle', async (player) => {
          const chosen = step.ended.flatMap(([charge, delivered], place) => {
            const one = player.pending[charge % Math.max(1, player.pending.length)];
            if (
              step.ended.findIndex(
                ([other]) => other % Math.max(1, player.pending.length) === charge % Math.max(1, player.pending.length),
              ) < place
            )
              return [];
            return one === undefined ? [] : [{ id: one.id, delivered }];
          });
          const of = (wanted: boolean) => [
            ...new Set(chosen.filter(({ delivered }) => delivered === wanted).map(({ id }) => id)),
          ];
          await player.instances[step.by]!.settle({ delivered: of(true), undelivered: of(false) });
        });
        break;
      case 'change': {
        const subscription = { ...subscriptionOf(step.month, step.minute), overageRate: 0.04 };
        await both('change', (player) =>
          player.outcome(() =>
            player.side.port.changeAccount(NAMES[step.account]!, { subscription, overages: step.overages }),
          ),
        );
        break;
      }
      case 'key':
        await both('key', (player) =>
          player.outcome(async () => {
            const scopes = step.bundle ? ['bundle', 'bundle'] : ['hail'];
            const { id, key } = await player.side.port.createKey(NAMES[step.account]!, scopes, step.lifetimeMs);
            player.secrets.push(key);
            return id;
          }),
        );
        break;
      case 'rotate':
        await both('rotate', (player) =>
          player.outcome(async () => {
            const { id, key } = await player.side.port.rotateKey(firstKey + step.key, step.grace);
            player.secrets.push(key);
            return id;
          }),
        );
        break;
      case 'revoke':
        await both('revoke', (player) => player.outcome(() => player.side.port.revokeKey(firstKey + step.key)));
        break;
      case 'restart':
        for (const player of players) {
          await player.instances[step.by]![Symbol.asyncDispose]();
          player.instances[step.by] = await player.register(...rules);
        }
        break;
      case 'crash':
        // Of the two instances one is gone, without a word.
        for (const player of players) {
          await player.side.run(
            `DELETE FROM instances WHERE id = (SELECT ${step.by === 0 ? 'min' : 'max'}(id) FROM instances)`,
          );
        }
        await look();
        for (const player of players) {
          await player.instances[0]![Symbol.asyncDispose]();
          await player.instances[1]![Symbol.asyncDispose]();
          for (let by = 0; by < 2; by++) player.instances[by] = await player.register(...rules);
        }
        break;
      case 'look':
        await look();
        break;
    }
    for (const table of TABLES(ids)) await both(table, ({ side }) => side.rows(table));
  }
  for (const player of players) for (const instance of player.instances) await instance[Symbol.asyncDispose]();
  await look();
  for (const table of TABLES(ids)) await both(table, ({ side }) => side.rows(table));
}

const STORES = [
  {
    name: 'SQLite',
    open: async () => [sqliteSide(true), sqliteSide(false)] as const,
    runs: times({ short: 60, faults: 400 }),
    ids: true,
  },
  {
    name: 'PostgreSQL',
    open: async () => [await postgresSide(true), await postgresSide(false)] as const,
    runs: times({ short: 3, faults: 30 }),
    ids: false,
  },
] as const;

for (const { name, open, runs, ids } of STORES) {
  test(`${name}: the accounts give the answers and write the rows that they did before`, async () => {
    const sides = await open();
    await fc.assert(
      fc.asyncProperty(
        fc.boolean(),
        fc.boolean(),
        fc.array(anyStep, { minLength: 1, maxLength: 50 }),
        (isFixed, served, steps) => play(isFixed, served, steps, [sides[0], sides[1]], ids),
      ),
      { numRuns: runs },
    );
    for (const side of sides) await side.close();
  });
}
