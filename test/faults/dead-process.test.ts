import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { makeClock, steadyTime, systemClock } from '../../src/base/clock.ts';
import { processOwner } from '../../src/base/running-processes.ts';
import {
  openAccounts,
  openPostgresAccounts,
  sqliteAccounts,
} from '../../src/service/accounts/open-accounts.ts';
import type { ServiceAccounts } from '../../src/service/accounts/service-accounts.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { type PostgresServer, sharedPostgres } from '../postgres-server.ts';
import { releaseLater, subscriptionOf } from '../service/small-data.ts';
import { callAt, SINGLE, termsOf } from '../store/claims.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/*
 * One promise, and two mechanisms: a dead process holds nothing, and a living one keeps what it has. A claim in the store is of a process that
 * is named, and has a lease; an instance of the service has a lock, or a lease that it renews. Each is tried in the same way: by a process that
 * holds something, is stopped, goes on, and is killed.
 */

const HOLDING = join(import.meta.dirname, 'holding-process.ts');

/** What a process holds, as another one sees it. */
interface Held {
  /** The arguments of the process. */
  readonly args: readonly string[];
  readonly isHeld: () => Promise<boolean>;
  /** Lets the lease pass; left out where a death frees at once. */
  readonly passLease?: () => void | Promise<void>;
}

/** A cell that is claimed in a store by a process of this machine, or of another. */
async function claimedCell(t: TestContext, owner: string): Promise<Held> {
  const file = join(temporaryFolder(t), 'store.db');
  let ahead = 0;
  const clock = makeClock(
    () => systemClock.now() + ahead,
    () => steadyTime(systemClock) + ahead,
    (ms) => systemClock.sleep(ms),
  );
  const store = openSqliteStore(file, clock, processOwner());
  releaseLater(t, () => store.close());
  const terms = await termsOf(store);
  const isHeld = async () => {
    const [claim] = await store.claim(terms, [callAt(1, SINGLE)]);
    return claim!.outcome === 'claimed';
  };
  const passLease = async () => {
    assert.ok(await isHeld(), 'no process of this machine can be asked for another machine’s');
    ahead = terms.leaseMs + 60_000;
  };
  return { args: ['claim', file, owner], isHeld, ...(owner !== '' && { passLease }) };
}

/** The last credit of an account, in a charge that is pending. */
async function pendingCredit(
  t: TestContext,
  accounts: ServiceAccounts,
  place: string,
  passLease?: () => Promise<void>,
): Promise<Held> {
  releaseLater(t, () => accounts[Symbol.asyncDispose]());
  await accounts.createAccount({ name: 'held', subscription: subscriptionOf(1, 100) });
  const { key } = await accounts.createKey('held', ['bundle', 'hail'], null);
  const instance = await accounts.register(() => {});
  releaseLater(t, () => instance[Symbol.asyncDispose]());
  const isHeld = async () => {
    const [checked] = await instance.check([{ key, call: SINGLE }]);
    assert.ok(typeof checked === 'object', String(checked));
    return checked.refusal !== null;
  };
  return { args: ['charge', place, key], isHeld, ...(passLease && { passLease }) };
}

/** Ends the leases of all instances: they go by the clock of the server. Waited for, they had to be so short that a living process of a busy
 * machine came too late to renew its own. */
async function endLeases({ query }: Pick<PostgresServer, 'query'>, url: string): Promise<void> {
  const sql = 'UPDATE perilbook_accounts.instances SET leased_until = started_at';
  await query(sql, new URL(url).pathname.slice(1));
}

const HOLDERS: Readonly<Record<string, (t: TestContext) => Promise<Held>>> = {
  'a claim in the store of this machine': (t) => claimedCell(t, ''),
  'a claim in the store of another machine': (t) => claimedCell(t, 'elsewhere/1/a'),
  'a charge of a service on one machine': (t) => {
    const file = join(temporaryFolder(t), 'accounts.db');
    const database = openAccounts(file);
    const close = () => database.close();
    return pendingCredit(t, sqliteAccounts(database, systemClock, close), file);
  },
  'a charge of a service on several machines': async (t) => {
    const server = await sharedPostgres();
    const url = await server.database();
    const accounts = await openPostgresAccounts(url, systemClock);
    return pendingCredit(t, accounts, url, () => endLeases(server, url));
  },
};

for (const [what, open] of Object.entries(HOLDERS)) {
  test(`${what}: kept while its process lives, free when it is dead`, async (t) => {
    const { args, isHeld, passLease } = await open(t);
    const child = fork(HOLDING, args);
    t.after(() => child.kill('SIGKILL'));
    const exit = once(child, 'exit');
    assert.deepEqual((await once(child, 'message'))[0], 'held');
    assert.ok(await isHeld(), 'its process lives');
    if (passLease === undefined) {
      child.kill('SIGSTOP');
      assert.ok(await isHeld(), 'its process is stopped');
      child.kill('SIGCONT');
    }
    child.kill('SIGKILL');
    await exit;
    await passLease?.();
    assert.equal(await isHeld(), false, 'its process is dead');
  });
}
