import { read, type SqlDatabase } from '../../sql/sql-work.ts';
import type { LastCall } from './limits.ts';
import { type PeriodStatement, readStatement } from './period-statement.ts';
import {
  type AccountChange,
  changeAccount,
  createAccount,
  findAccount,
  instant,
  listAccounts,
  type NewAccount,
  type ServiceAccount,
} from './service-account.ts';
import { type AccountsStore, releaseCrashed, ServiceInstance } from './service-instance.ts';
import {
  createKey,
  type KeyInfo,
  listKeys,
  type NewKey,
  revokeKey,
  rotateKey,
} from './service-keys.ts';

/** The accounts, keys and charges of a service: in a SQLite file, or in PostgreSQL for instances on several machines.
 * Errors: SERVICE_ACCOUNT for an invalid request, ACCOUNTS_UNAVAILABLE while the database does not answer. */
export class ServiceAccounts implements AsyncDisposable {
  readonly #store: AccountsStore;
  readonly #database: SqlDatabase;
  readonly #close: () => Promise<void> | void;

  /** @param close closes the database; the default leaves that to the caller */
  constructor(store: AccountsStore, close: () => Promise<void> | void = () => {}) {
    this.#store = store;
    this.#database = store.database;
    this.#close = close;
  }

  createAccount(account: NewAccount): Promise<ServiceAccount> {
    return this.#database.transact(() => createAccount(this.#database.dialect, account));
  }

  /** Changes the terms of an account, at once and on every instance; the open billing period is billed by the new terms. */
  changeAccount(name: string, change: AccountChange): Promise<ServiceAccount> {
    return this.#database.transact(() => changeAccount(this.#database.dialect, name, change));
  }

  findAccount(name: string): Promise<ServiceAccount> {
    return this.#database.read(() => findAccount(name));
  }

  listAccounts(): Promise<ServiceAccount[]> {
    return this.#database.read(listAccounts);
  }

  /** Makes a key with scopes; it expires after its lifetime, in milliseconds, or never. */
  createKey(
    account: string,
    scopes: readonly string[],
    lifetimeMs: number | null,
  ): Promise<NewKey> {
    return this.#database.transact(() =>
      createKey(this.#database.dialect, account, scopes, lifetimeMs),
    );
  }

  /** Makes a key's successor; the old key works until the grace period ends. */
  rotateKey(keyId: number, graceSeconds: number): Promise<NewKey> {
    return this.#database.transact(() => rotateKey(this.#database.dialect, keyId, graceSeconds));
  }

  /** A revoked key stops working at once, on every instance. */
  revokeKey(keyId: number): Promise<void> {
    return this.#database.transact(() => revokeKey(this.#database.dialect, keyId));
  }

  listKeys(account?: string): Promise<KeyInfo[]> {
    return this.#database.read(() => listKeys(this.#database.dialect, account ?? null));
  }

  /** The amount that an account owes by billing period, the oldest first; always with the current period. */
  async statement(account: ServiceAccount): Promise<PeriodStatement[]> {
    const { dialect } = this.#database;
    // The pending answers of a crashed service were never delivered.
    await releaseCrashed(this.#store);
    return await this.#database.read(function* () {
      const [[row]] = yield* read(instant(dialect));
      return yield* readStatement(account, row!.now);
    });
  }

  /** Registers a running service, and releases the pending charges of crashed ones. */
  register(
    onError: (error: unknown) => void,
    lastCall: LastCall = 'refused',
  ): Promise<ServiceInstance> {
    return ServiceInstance.register(this.#store, onError, lastCall);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }
}
