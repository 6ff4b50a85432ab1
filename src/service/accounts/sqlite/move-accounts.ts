import { randomUUID } from 'node:crypto';
import { existsSync, realpathSync, rmSync } from 'node:fs';
import type { DataDatabase } from '../../../data/tables/data-database.ts';
import { PerilbookError } from '../../../errors.ts';
import type { AccountsDatabase } from './accounts-database.ts';
import { isLocked, lockFile } from './instances.ts';
import { createSettlements } from './settlements.ts';

/** The tables that former versions kept in the data file; those that refer to others come first. */
const FORMER_TABLES = ['periods', 'minutes', 'charges', 'instances', 'keys', 'accounts'] as const;

/**
 * Moves the accounts, keys and charges that a former version kept in the data file to the accounts file, exactly once. A
 * token in the data file identifies the move. The copy and the token are committed to the accounts file in one
 * transaction, which is on disk before the tables are dropped from the data file; a process that finds the token there only
 * drops. So a kill at any instant loses nothing, and the next call completes the move.
 *
 * @throws PerilbookError SERVICE_DATA when a service of the former version runs on the data file, the accounts file has
 *   accounts of its own, or one of the files cannot be written
 */
export function moveAccounts(data: DataDatabase, accounts: AccountsDatabase): void {
  if (!holdsAccounts(data)) return;
  try {
    accounts.prepare('ATTACH ? AS former').run(data.name);
    try {
      const token = accounts.transaction(() => beginMove(data, accounts)).immediate();
      if (token === null) return;
      // FULL: the copy is on disk before anything is dropped, also if the power fails.
      accounts.pragma('main.synchronous = FULL');
      accounts.transaction(() => copy(data, accounts, token)).immediate();
      accounts.transaction(() => drop(data, accounts)).immediate();
      // Into the file itself: a service that only reads it leaves the `-wal` file as it is.
      accounts.pragma('former.wal_checkpoint(TRUNCATE)');
    } finally {
      accounts.exec('DETACH former');
      accounts.pragma('main.synchronous = NORMAL');
    }
  } catch (error) {
    if (error instanceof PerilbookError) throw error;
    throw refusal(data, accounts, (error as Error).message, 'Check that both files can be written, and try again.');
  }
}

function holdsAccounts(database: DataDatabase | AccountsDatabase, schema: 'main' | 'former' = 'main'): boolean {
  return database.prepare(`SELECT 1 FROM ${schema}.sqlite_schema WHERE name = 'accounts'`).get() !== undefined;
}

/** The token of the move: of the one that was interrupted, or a new one. Null when another process has completed it. */
function beginMove(data: DataDatabase, accounts: AccountsDatabase): string | null {
  if (!holdsAccounts(accounts, 'former')) return null;
  if (instanceTokens(accounts).some((token) => isLocked(data.name, token))) {
    throw refusal(
      data,
      accounts,
      'a service of a former version is running on it',
      'Stop that service, and try again.',
    );
  }
  accounts.exec('CREATE TABLE IF NOT EXISTS former.accounts_move (token TEXT NOT NULL, target TEXT NOT NULL) STRICT');
  const target = realpathSync(accounts.name);
  const begun = accounts
    .prepare<[], { readonly token: string; readonly target: string }>('SELECT token, target FROM former.accounts_move')
    .get();
  if (begun === undefined) {
    const token = randomUUID();
    accounts.prepare('INSERT INTO former.accounts_move VALUES (?, ?)').run(token, target);
    return token;
  }
  if (begun.target === target || !existsSync(begun.target)) return begun.token;
  const reason = `a move to "${begun.target}" was interrupted`;
  throw refusal(data, accounts, reason, `Complete it with --accounts ${begun.target}.`);
}

function copy(data: DataDatabase, accounts: AccountsDatabase, token: string): void {
  if (accounts.prepare('SELECT 1 FROM moves WHERE token = ?').get(token) !== undefined) return;
  if (accounts.prepare('SELECT 1 FROM accounts').get() !== undefined) {
    throw refusal(data, accounts, 'the accounts file has accounts already', 'Name a new file with --accounts.');
  }
  accounts.exec(`
    INSERT INTO accounts
      SELECT id, name, iif(subscription = 'enterprise', 'custom', subscription), credits_per_month, credits_per_minute,
        overage_rate, overages, signed_up_at
      FROM former.accounts;
    INSERT INTO keys SELECT id, account, hash, scopes, created_at, expires_at, retires_at, revoked_at, replaced_by FROM former.keys;
    INSERT INTO charges
      SELECT id, account, key, kind, topic, credits, charged_at, period_start, request_id, pending_by FROM former.charges;
    INSERT INTO minutes SELECT account, minute_from, minute_credits FROM former.minutes;
    INSERT INTO periods
      SELECT account, period_start, credits, single, standard, enterprise, allowance, overage_rate FROM former.periods;`);
  accounts.prepare('INSERT INTO moves VALUES (?)').run(token);
  // No service of the former version runs, so what is pending was never delivered.
  createSettlements(accounts).releaseCrashed(null);
}

function drop(data: DataDatabase, accounts: AccountsDatabase): void {
  if (!holdsAccounts(accounts, 'former')) return;
  for (const token of instanceTokens(accounts)) rmSync(lockFile(data.name, token), { force: true });
  for (const table of [...FORMER_TABLES, 'accounts_move']) accounts.exec(`DROP TABLE former.${table}`);
}

function instanceTokens(accounts: AccountsDatabase): string[] {
  return accounts.prepare<[], string>('SELECT token FROM former.instances').pluck().all();
}

function refusal(data: DataDatabase, accounts: AccountsDatabase, reason: string, hint: string): PerilbookError {
  const message = `Cannot move the accounts from "${data.name}" to "${accounts.name}": ${reason}`;
  return new PerilbookError('SERVICE_DATA', message, hint, { file: data.name });
}
