import type { Clock } from '../../../clock.ts';
import { migratePostgres } from '../../../sql/migrate-postgres.ts';
import { type DatabaseUse, locatePostgres } from '../../../sql/postgres-address.ts';
import { PostgresPool } from '../../../sql/postgres-pool.ts';
import type { ServiceAccounts } from '../port.ts';
import { postgresAccounts } from './postgres-accounts.ts';

const ACCOUNTS_DATABASE: DatabaseUse = {
  name: 'accounts database',
  // The store may be in the same database.
  defaultSchema: 'perilbook_accounts',
  option: '--accounts',
  unusable: 'SERVICE_ACCOUNT',
  unreachable: 'ACCOUNTS_UNAVAILABLE',
  tooNew: 'SERVICE_ACCOUNT',
  thenAgain: 'then try again; the lists of accounts and keys show whether a change was made.',
};

const MIGRATIONS = new URL('./migrations/', import.meta.url);

/** Longest wait for a connection or an answer, in milliseconds: a client waits for its answer meanwhile. */
const TIMEOUT_MS = 3_000;
/** An instance that stops in the middle of a transaction must not hold an account's row for longer than a call waits. */
const LOCK_MS = TIMEOUT_MS - 500;
/** A restart of the server takes less, in milliseconds. */
const PATIENCE_MS = 3_000;
/** How long an instance that is not heard of counts as running, in milliseconds: what it left pending counts as spent for so
 * long. A pause of a virtual machine is shorter. */
const LEASE_MS = 15_000;

/** What the accounts of a test do sooner or later than others. */
interface AccountsTimes {
  readonly leaseMs?: number;
  readonly patienceMs?: number;
}

/**
 * Opens the accounts of a PostgreSQL database, and makes its tables or brings them up to the newest version.
 *
 * @throws PerilbookError ACCOUNTS_UNAVAILABLE when the server does not answer; SERVICE_ACCOUNT when the address cannot be used,
 *   the server refuses, or a newer version has made the tables
 */
export async function openPostgresAccounts(
  text: string,
  clock: Clock,
  { leaseMs = LEASE_MS, patienceMs = PATIENCE_MS }: AccountsTimes = {},
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
  try {
    await migratePostgres(pool, location, MIGRATIONS);
    return postgresAccounts(pool, clock, leaseMs);
  } catch (error) {
    await pool[Symbol.asyncDispose]();
    throw error;
  }
}
