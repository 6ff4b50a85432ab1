import { randomBytes } from 'node:crypto';
import { existsSync, realpathSync, rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import type { Clock } from '../../../clock.ts';
import type { AccountsDatabase } from './accounts-database.ts';

/** A running service, as the others on the same accounts see it. Disposing it removes its row and releases its lock; what
 * it left pending must be settled before. */
export interface Instance extends Disposable {
  readonly id: number;
}

/** Nothing is ever written to a lock file, so there is nothing to roll back. */
const NO_JOURNAL_FILE = 'journal_mode = MEMORY';

/**
 * Registers a running service. It holds the lock on an empty SQLite file of its own beside the accounts file until it ends,
 * however it ends: the system releases a dead process's locks at once. Process ids, the alternative, are used again, and a
 * heartbeat takes its time. The file is made before the row, so that no row is ever without its lock.
 */
export function registerInstance(accounts: AccountsDatabase, clock: Clock): Instance {
  const token = randomBytes(12).toString('hex');
  const file = accounts.memory ? null : lockFile(accounts.name, token);
  const lock = file === null ? null : new Database(file, { timeout: 0 });
  lock?.pragma(NO_JOURNAL_FILE);
  lock?.exec('BEGIN EXCLUSIVE');
  const insert = accounts.prepare('INSERT INTO instances (token, started_at) VALUES (?, ?)');
  const id = Number(insert.run(token, clock.now()).lastInsertRowid);
  return {
    id,
    [Symbol.dispose]() {
      try {
        accounts.prepare('DELETE FROM instances WHERE id = ?').run(id);
      } finally {
        lock?.close();
        if (file !== null) rmSync(file, { force: true });
      }
    },
  };
}

/**
 * The instances that crashed and left charges pending.
 *
 * @param self the instance that asks, which need not probe its own lock
 */
export function crashedInstances(accounts: AccountsDatabase, self: number | null): number[] {
  // An id without a row is that of an instance that was closed.
  return accounts
    .prepare<[number | null], { readonly id: number; readonly token: string | null }>(
      `SELECT pending_by AS id, token FROM
         (SELECT DISTINCT pending_by FROM charges WHERE pending_by IS NOT NULL AND pending_by IS NOT ?)
         LEFT JOIN instances ON instances.id = pending_by`,
    )
    .all(self)
    .filter(({ token }) => token === null || !isRunning(accounts, token))
    .map(({ id }) => id);
}

/** Removes the rows and files of instances that crashed; to be called once what they left pending is settled. */
export function removeCrashedInstances(accounts: AccountsDatabase): void {
  const rows = accounts
    .prepare<[], { readonly id: number; readonly token: string }>('SELECT id, token FROM instances')
    .all();
  const remove = accounts.prepare(
    'DELETE FROM instances WHERE id = ? AND NOT EXISTS (SELECT 1 FROM charges WHERE pending_by = id)',
  );
  for (const { id, token } of rows) {
    if (isRunning(accounts, token)) continue;
    if (remove.run(id).changes > 0) rmSync(lockFile(accounts.name, token), { force: true });
  }
}

/** The lock file of an instance. By the true path, so that every process looks at the same file however it names the
 * database. */
function lockFile(databaseFile: string, token: string): string {
  return `${realpathSync(databaseFile)}-instance-${token}`;
}

/** Whether a process holds an instance's lock. */
function isRunning(accounts: AccountsDatabase, token: string): boolean {
  if (accounts.memory) return true;
  const file = lockFile(accounts.name, token);
  if (!existsSync(file)) return false;
  let probe: Database.Database | null = null;
  try {
    probe = new Database(file, { timeout: 0, fileMustExist: true });
    probe.pragma(NO_JOURNAL_FILE);
    probe.exec('BEGIN EXCLUSIVE');
    return false;
  } catch {
    // Mostly SQLITE_BUSY, which means that it is held. After any other error (out of file handles, for one) it is taken as
    // held too: the next look decides.
    return true;
  } finally {
    probe?.close();
  }
}
