import type { Clock } from '../../clock.ts';
import { read, type SqlDatabase } from '../../sql/sql-work.ts';
import type { ServiceAccounts } from './port.ts';
import type { Presence } from './presence.ts';
import { registerInstance, releaseCrashed } from './running-instance.ts';
import { changeAccount, createAccount, findAccount, instant, listAccounts, readStatement } from './stored-accounts.ts';
import { createKey, listKeys, revokeKey, rotateKey } from './stored-keys.ts';

/** What the accounts of a service are kept in. */
interface AccountsSettings {
  readonly database: SqlDatabase;
  readonly presence: Presence;
  readonly clock: Clock;
  /** Most batches of an instance at once. */
  readonly batchesAtOnce: number;
  readonly dispose: () => Promise<void>;
}

/** The accounts of a database. All times are by the clock of the database. */
export function databaseAccounts({
  database,
  presence,
  clock,
  batchesAtOnce,
  dispose,
}: AccountsSettings): ServiceAccounts {
  const { dialect } = database;
  return {
    createAccount: (account) => database.transact(() => createAccount(dialect, account)),
    changeAccount: (name, change) => database.transact(() => changeAccount(dialect, name, change)),
    findAccount: (name) => database.read(() => findAccount(name)),
    listAccounts: () => database.read(listAccounts),
    createKey: (account, scopes, lifetimeMs) =>
      database.transact(() => createKey(dialect, account, scopes, lifetimeMs)),
    rotateKey: (keyId, graceSeconds) => database.transact(() => rotateKey(dialect, keyId, graceSeconds)),
    revokeKey: (keyId) => database.transact(() => revokeKey(dialect, keyId)),
    listKeys: (account) => database.read(() => listKeys(dialect, account ?? null)),
    async statement(account) {
      // What a crashed service left pending was never delivered.
      await releaseCrashed(database, presence);
      return await database.read(function* () {
        const [[row]] = yield* read(instant(dialect));
        return yield* readStatement(account, row!.now);
      });
    },
    register: (rules, onError) => registerInstance({ database, presence, clock, rules, batchesAtOnce, onError }),
    [Symbol.asyncDispose]: dispose,
  };
}
