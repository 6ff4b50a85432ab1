import type { Pool } from 'pg';
import { PerilbookError } from '../../../errors.ts';
import { type PostgresAddress, parsePostgresAddress } from '../../../postgres/address.ts';
import { migratePostgres } from '../../../postgres/migrate.ts';
import { isConnectionLost, openPool } from '../../../postgres/open-pool.ts';

/** The schema of the accounts, so that the store may be in the same database. */
const ACCOUNTS_SCHEMA = 'perilbook_accounts';

/** Longest wait for a connection or an answer, in milliseconds: a client waits for its answer meanwhile. */
const TIMEOUT_MS = 3_000;
/** Two batches that charge, one that settles, one that renews the lease. */
const CONNECTIONS = 4;

/**
 * Opens the accounts of a PostgreSQL database, and makes its tables or brings them up to the newest version. Whoever opens
 * the pool ends it.
 *
 * @throws PerilbookError USAGE for an address that cannot be read or has a password; ACCOUNTS_UNAVAILABLE when the server
 *   does not answer; SERVICE_ACCOUNT when it refuses, or a newer version has made the tables
 */
export async function openPostgresAccounts(text: string): Promise<Pool> {
  const address = parsePostgresAddress(text);
  const pool = openPool(address, {
    connections: CONNECTIONS,
    applicationName: 'perilbook service',
    timeoutMs: TIMEOUT_MS,
    session: {
      search_path: ACCOUNTS_SCHEMA,
      // An instance that stops in the middle of a transaction must not hold an account's row for longer than a call waits.
      lock_timeout: TIMEOUT_MS - 500,
      statement_timeout: TIMEOUT_MS - 500,
      idle_in_transaction_session_timeout: TIMEOUT_MS - 500,
    },
  });
  try {
    await migratePostgres(pool, {
      schema: ACCOUNTS_SCHEMA,
      migrations: new URL('./migrations/', import.meta.url),
      tooNew: (version, known) =>
        new Error(`its tables have version ${version}, and this program knows up to ${known}`),
    });
    return pool;
  } catch (error) {
    await pool.end();
    throw openingFailure(error, address);
  }
}

function openingFailure(error: unknown, { text }: PostgresAddress): PerilbookError {
  const reason =
    error instanceof Error && error.message !== '' ? error.message : String((error as { code?: unknown }).code);
  if (isConnectionLost(error)) {
    return new PerilbookError(
      'ACCOUNTS_UNAVAILABLE',
      `Cannot reach the accounts in ${text}: ${reason}`,
      'Check the address and that the server runs, and try again.',
      {},
      error,
    );
  }
  return new PerilbookError(
    'SERVICE_ACCOUNT',
    `Cannot open the accounts in ${text}: ${reason}`,
    'Check role, password and TLS. New tables and new versions need a role that may make them; see docs/many-machines.md.',
    {},
    error,
  );
}
