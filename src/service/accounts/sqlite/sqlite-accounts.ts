import type { Clock } from '../../../clock.ts';
import type { LimitRules } from '../limits.ts';
import type { CallCheck, PresentedCall, ServiceAccounts, ServiceInstance } from '../port.ts';
import { statement } from './account-statement.ts';
import { changeAccount, createAccount, findAccount, listAccounts } from './accounts.ts';
import type { AccountsDatabase } from './accounts-database.ts';
import { createAuthentication } from './authenticate.ts';
import { createCharges } from './charges.ts';
import { registerInstance, removeCrashedInstances } from './instances.ts';
import { createKey, listKeys, revokeKey, rotateKey } from './keys.ts';
import { createSettlements } from './settlements.ts';

/** The accounts of a SQLite file, which stays open when they are disposed of. Everything happens before the promise is
 * returned, by the clock of this machine. */
export function sqliteAccounts(database: AccountsDatabase, clock: Clock): ServiceAccounts {
  return {
    createAccount: async (account) => createAccount(database, account, clock),
    changeAccount: async (name, change) => changeAccount(database, name, change, clock),
    findAccount: async (name) => findAccount(database, name),
    listAccounts: async () => listAccounts(database),
    createKey: async (account, scopes, lifetimeMs) =>
      createKey(database, account, scopes, clock, lifetimeMs === null ? {} : { expiresAt: clock.now() + lifetimeMs }),
    rotateKey: async (keyId, graceSeconds) => rotateKey(database, keyId, graceSeconds, clock),
    revokeKey: async (keyId) => revokeKey(database, keyId, clock),
    listKeys: async (account) => listKeys(database, clock, account),
    statement: async (account) => statement(database, account, clock.now()),
    register: async (rules) => sqliteInstance(database, clock, rules),
    [Symbol.asyncDispose]: async () => {},
  };
}

function sqliteInstance(database: AccountsDatabase, clock: Clock, rules: LimitRules): ServiceInstance {
  const settlements = createSettlements(database);
  settlements.releaseCrashed(null);
  removeCrashedInstances(database);
  const registered = registerInstance(database, clock);
  const { id } = registered;
  const beginAuthentication = createAuthentication(database);
  const charges = createCharges(database, id, rules.rateWindow, rules.lastCall);

  function checkOnce(calls: readonly PresentedCall[], now: number): CallCheck[] {
    const authenticate = beginAuthentication();
    const refusalOf = charges.checks(now);
    return calls.map(({ key, call }) => {
      const caller = authenticate(key, now);
      if (typeof caller === 'string') return caller;
      return { caller, refusal: call === null ? null : refusalOf(caller.account, call) };
    });
  }

  const check = database.transaction((calls: readonly PresentedCall[], now: number) => {
    const found = checkOnce(calls, now);
    // Credits that a crashed instance left pending must not cause a refusal.
    const isRefused = found.some((one) => typeof one === 'object' && one.refusal !== null);
    return isRefused && settlements.releaseCrashed(id) ? checkOnce(calls, now) : found;
  });
  const charge = database.transaction((...[calls, ended]: Parameters<ServiceInstance['charge']>) => {
    // First: credits that are taken back can be spent again.
    settlements.settle(id, ended);
    return charges.chargeAll(calls, clock.now());
  });

  return {
    now: () => clock.now(),
    // A batch is done before the next can begin.
    batchesAtOnce: 1,
    check: async (calls) => onNewest((mode) => check[mode](calls, clock.now())),
    charge: async (calls, ended) => charge.immediate(calls, ended),
    settle: async (ended) => settlements.settle(id, ended),
    async [Symbol.asyncDispose]() {
      using _ = registered;
      settlements.release(id);
    },
  };
}

/** Runs a transaction that reads and rarely writes. It begins as a reader, which blocks nobody. When another process has
 * written in the meantime, SQLite refuses its first write at once (SQLITE_BUSY, SQLITE_BUSY_SNAPSHOT): two readers that
 * wait to write would wait for each other. It is then run again as a writer, which waits up to the busy time-out. */
function onNewest<Result>(transaction: (mode: 'deferred' | 'immediate') => Result): Result {
  try {
    return transaction('deferred');
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (typeof code !== 'string' || !code.startsWith('SQLITE_BUSY')) throw error;
    return transaction('immediate');
  }
}
