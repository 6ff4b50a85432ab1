import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import test, { type TestContext } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { TOPIC_SLUGS } from '../../src/contract/topics.ts';
import { openPostgresAccounts } from '../../src/service/accounts/open-accounts.ts';
import { sharedPostgres } from '../postgres-server.ts';
import { times } from '../tier.ts';
import {
  databaseFile,
  FORKED_SERVICE,
  openSmallData,
  pathTo,
  type Reply,
  releaseLater,
  request,
  subscriptionOf,
} from './small-data.ts';

const server = await sharedPostgres();
const INSTANCES = 3;
const PLENTY = 1_000_000_000;
/** So short that a test can wait for its end, and longer than a busy machine stops an instance: at 600 ms a living one was once taken for
 * dead, its charges were released, and the quota was sold again by 6 credits. */
const LEASE_MS = 3_000;

/** Three instances in processes of their own, each with the data file and one database of accounts. */
async function threeInstances(t: TestContext) {
  const file = databaseFile(t);
  openSmallData(t, file, systemClock, Date.now() - 60_000);
  const url = await server.database();
  const accounts = await openPostgresAccounts(url, systemClock, { leaseMs: LEASE_MS });
  releaseLater(t, () => accounts[Symbol.asyncDispose]());
  const begin = async () => {
    const child = fork(FORKED_SERVICE, [file, url, String(LEASE_MS)]);
    releaseLater(t, async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exit = once(child, 'exit');
      child.send('close');
      await exit;
    });
    const [port] = (await once(child, 'message')) as [number];
    return { child, port };
  };
  const instances = await Promise.all(Array.from({ length: INSTANCES }, begin));
  const ports = instances.map(({ port }) => port);
  let turn = 0;
  const database = new URL(url).pathname.slice(1);
  const rowsOf = (columns: string, rest: string) =>
    server.query<Record<string, unknown>>(
      `SELECT ${columns} FROM perilbook_accounts.${rest}`,
      database,
    );
  return {
    ...{ accounts, instances, ports, begin },
    /** The address of the instance whose turn it is, as a balancer gives it. */
    nextUrl: () => `http://127.0.0.1:${ports[turn++ % ports.length]}`,
    /** A key of a new account. */
    async keyOf(name: string, creditsPerMonth: number, creditsPerMinute: number): Promise<string> {
      await accounts.createAccount({
        name,
        subscription: subscriptionOf(creditsPerMonth, creditsPerMinute),
      });
      return (await accounts.createKey(name, ['bundle', ...TOPIC_SLUGS], null)).key;
    },
    /** Credits that an account was charged in this period. */
    async charged(name: string): Promise<number> {
      const periods = await accounts.statement(await accounts.findAccount(name));
      return periods.reduce((sum, { creditsCharged }) => sum + creditsCharged, 0);
    },
    rowsOf,
  };
}

/** Calls of so many clients, spread over the instances. */
async function load(
  nextUrl: () => string,
  key: string,
  paths: readonly string[],
  clients: number,
): Promise<Reply[]> {
  const replies: Reply[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (next < paths.length) replies.push(await request(nextUrl() + paths[next++]!, key));
    }),
  );
  return replies;
}

const SINGLE = pathTo('/v1/drought/risk');
const creditsOf = (replies: readonly Reply[]) =>
  replies.reduce((sum, { headers }) => sum + Number(headers.get('x-credit-cost') ?? 0), 0);

const CALLERS = 12;

/* What is promised of a kill, once the lease of the killed instance has ended: what it left pending is released by the others. An
 * answer that arrived is charged, except the last one of each connection to the killed instance. Nothing is charged that was
 * not handed over whole. */
test('three instances, asked in turn', { timeout: 900_000 }, async (t) => {
  const { nextUrl, instances, ports, begin, keyOf, charged, rowsOf } = await threeInstances(t);

  await t.test('share one quota to the credit', async () => {
    const quota = 1_997;
    const key = await keyOf('quota', quota, PLENTY);
    const paths = Array.from({ length: quota }, (_, index) =>
      index % 30 === 0 ? pathTo('/v1/bundle/standard') : SINGLE,
    );
    const replies = await load(nextUrl, key, paths, 24);
    assert.equal(creditsOf(replies), quota);
    assert.ok(
      replies.every(({ status, body }) => status === 200 || body.error.code === 'QUOTA_EXCEEDED'),
    );
    assert.equal(await charged('quota'), quota);
    const instances = await rowsOf(
      'count(*)',
      'instances WHERE leased_until > perilbook_accounts.clock_ms()',
    );
    assert.equal(Number(instances[0]!.count), INSTANCES);
  });

  await t.test('share one minute to the credit', async () => {
    const minute = 150;
    const key = await keyOf('minute', PLENTY, minute);
    const paths = Array.from({ length: 300 }, () => SINGLE);
    const replies = await load(nextUrl, key, paths, 24);
    assert.equal(creditsOf(replies), minute);
    for (const { status, headers, body } of replies) {
      if (status === 200) continue;
      assert.equal(body.error.code, 'RATE_LIMITED');
      const wait = Number(headers.get('retry-after'));
      assert.ok(wait >= 1 && wait <= 60, `Retry-After: ${wait}`);
    }
  });

  await t.test(
    'when one is killed under load, the others answer, and release what it left pending',
    async () => {
      const key = await keyOf('killed', PLENTY, PLENTY);
      const kills = times({ long: 3, soak: 50 });
      const answered = new Set<string>();
      let [lost, most] = [0, 0];
      for (let kill = 0; kill < kills; kill++) {
        let here = 0;
        const killed = kill % INSTANCES;
        const { child } = instances[killed]! as { child: ChildProcess };
        const exit = once(child, 'exit');
        await Promise.all(
          Array.from({ length: CALLERS }, async () => {
            while (here < 150) {
              const reply = await request(nextUrl() + SINGLE, key).catch(() => null);
              here += 1;
              // The killed instance does not answer; the next call goes to another.
              if (reply === null) continue;
              assert.equal(reply.status, 200, JSON.stringify(reply.body));
              answered.add(reply.body.meta.request_id);
              if (here === 60) child.kill('SIGKILL');
            }
          }),
        );
        await exit;
        await systemClock.sleep(LEASE_MS * 2);
        const ofAccount =
          "JOIN perilbook_accounts.accounts ON accounts.id = account WHERE name = 'killed'";
        const rows = await rowsOf('request_id, pending_by', `charges ${ofAccount}`);
        const unreleased = rows.filter(({ pending_by }) => pending_by !== null);
        assert.deepEqual(unreleased, []);
        const chargedIds = new Set(rows.map(({ request_id }) => request_id as string));
        const unanswered = [...chargedIds].filter((id) => !answered.has(id));
        assert.deepEqual(unanswered, [], 'charged and not answered');
        const unpaid = answered.size - chargedIds.size - lost;
        assert.ok(unpaid <= CALLERS, `${unpaid} answered and not charged`);
        [lost, most] = [lost + unpaid, Math.max(most, unpaid)];
        assert.equal(await charged('killed'), chargedIds.size);
        if (kill === kills - 1) break;
        instances[killed] = await begin();
        ports[killed] = instances[killed].port;
      }
      t.diagnostic(
        `${kills} kills, ${answered.size} answers, ${lost} answered and not charged (at most ${most} a kill)`,
      );
    },
  );
});
