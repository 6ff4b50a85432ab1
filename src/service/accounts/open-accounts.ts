import { format, parse } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { PerilbookError } from '../../base/errors.ts';
import { migratePostgres } from '../../sql/migrate-postgres.ts';
import { openSqlite, type SqliteDatabase } from '../../sql/open-sqlite.ts';
import { type DatabaseUse, locatePostgres } from '../../sql/postgres-address.ts';
import { PostgresPool, postgresDriver } from '../../sql/postgres-pool.ts';
import { postgresDialect } from '../../sql/sql-work.ts';
import { sqliteDriver } from '../../sql/sqlite-driver.ts';
import { leasePresence, lockPresence } from './presence.ts';
import { ServiceAccounts } from './service-accounts.ts';

declare const holdsAccounts: unique symbol;

/** The open accounts file. Who opens it closes it. The mark, which only the compiler sees, keeps a data file from being taken for it. */
export type AccountsDatabase = SqliteDatabase & { readonly [holdsAccounts]: true };

/** Longest wait for another process's transaction, in milliseconds. Transactions take milliseconds. */
const BUSY_TIMEOUT_MS = 5_000;

/** The default accounts file: beside `data.db` it is `data-accounts.db`. */
export function accountsFileFor(dataFile: string): string {
  const { dir, name, ext } = parse(dataFile);
  return format({ dir, name: `${name}-accounts`, ext });
}

/** Opens the accounts file, makes it when there is none, and brings it up to the newest version.
 * @param file path of the SQLite file; its directory must exist. `:memory:` makes one that only this handle sees
 * @throws PerilbookError SERVICE_ACCOUNT when the file cannot be opened, is another database, or is of another version */
export function openAccounts(file: string): AccountsDatabase {
  try {
    const database = openSqlite(file, {
      migrations: new URL('./migrations/sqlite/', import.meta.url),
      // NORMAL: a commit survives the death of the process; only a power cut can lose the last ones.
      // A checkpoint waits for the disk for 6 to 20 ms, whether it is of 1,000 pages, SQLite's default, or of 4,000 (16 MB).
      pragmas: ['synchronous = NORMAL', 'foreign_keys = ON', 'wal_autocheckpoint = 4000'],
      busyTimeoutMs: BUSY_TIMEOUT_MS,
      isPrivate: true,
      otherVersion: (version, supported) =>
        unusableError(
          file,
          version < supported
            ? 'it was made by an earlier development version of Perilbook'
            : `it has version ${version}, and this program knows up to ${supported}`,
          { file, version },
        ),
    });
    return database as AccountsDatabase;
  } catch (error) {
    if (error instanceof PerilbookError) throw error;
    throw unusableError(
      file,
      error instanceof Error ? error.message : String(error),
      { file },
      error,
    );
  }
}

function unusableError(
  file: string,
  reason: string,
  context: PerilbookError['context'],
  cause?: unknown,
): PerilbookError {
  const message = `Cannot open the accounts file "${file}": ${reason}`;
  const hint =
    'Check that the directory exists and can be written, that the file is an accounts file, and that Perilbook is up to date.';
  return new PerilbookError('SERVICE_ACCOUNT', message, hint, context, cause);
}

/** The accounts of a SQLite file. Everything happens before the promise is returned, by the clock of this machine.
 * @param close called when they are disposed of; by default the file stays open */
export function sqliteAccounts(
  file: AccountsDatabase,
  clock: Clock,
  close?: () => void,
): ServiceAccounts {
  const database = sqliteDriver(file, clock);
  const presence = lockPresence(database, file.memory ? null : file.name);
  // SQLite's batches are synchronous: the next begins after the last.
  return new ServiceAccounts({ database, presence, clock, batchesAtOnce: 1 }, close);
}

const ACCOUNTS_DATABASE: DatabaseUse = {
  maker: 'perilbook service account create',
  name: 'accounts database',
  // The store may be in the same database.
  defaultSchema: 'perilbook_accounts',
  option: '--accounts',
  guide: 'docs/operator/many-instances.md',
  unusable: 'SERVICE_ACCOUNT',
  unreachable: 'ACCOUNTS_UNAVAILABLE',
  tooNew: 'SERVICE_ACCOUNT',
  thenAgain: 'then try again; the lists of accounts and keys show whether a change was made.',
};

/** Longest wait for a connection or an answer, in milliseconds: a client is waiting for its answer meanwhile. */
const TIMEOUT_MS = 3_000;
/** An instance suspended in a transaction must not lock an account's row for longer than a call waits. */
const LOCK_MS = TIMEOUT_MS - 500;
/** A restart of the server takes less, in milliseconds. */
const PATIENCE_MS = 3_000;
/** How long an instance without a renewal runs, and its pending charges count, in milliseconds. Pauses of virtual machines are shorter. */
const LEASE_MS = 15_000;
/** Most batches of an instance at once: more make smaller batches, each with a commit of its own. */
const BATCHES_AT_ONCE = 2;

/** Opens the accounts of a PostgreSQL database, and makes its tables or brings them up to the newest version. Everything happens by
 * the clock of its server.
 * @throws PerilbookError ACCOUNTS_UNAVAILABLE when the server does not answer; SERVICE_ACCOUNT when the address cannot be used,
 *   the server refuses, or a newer version has made the tables */
export async function openPostgresAccounts(
  text: string,
  clock: Clock,
  {
    leaseMs = LEASE_MS,
    patienceMs = PATIENCE_MS,
  }: { readonly leaseMs?: number; readonly patienceMs?: number } = {},
): Promise<ServiceAccounts> {
  const location = locatePostgres(text, ACCOUNTS_DATABASE);
  const pool = new PostgresPool(location, clock, {
    patienceMs,
    connectMs: TIMEOUT_MS,
    statementMs: TIMEOUT_MS,
    silentClientMs: LOCK_MS,
    applicationName: 'perilbook service',
    session: { lock_timeout: LOCK_MS, statement_timeout: LOCK_MS },
  });
  const close = () => pool[Symbol.asyncDispose]();
  try {
    await migratePostgres(pool, location, new URL('./migrations/postgres/', import.meta.url));
  } catch (error) {
    await close();
    throw error;
  }
  const dialect = postgresDialect(() => 'clock_ms()');
  const database = postgresDriver(pool, dialect);
  const presence = leasePresence(database, leaseMs);
  return new ServiceAccounts({ database, presence, clock, batchesAtOnce: BATCHES_AT_ONCE }, close);
}
