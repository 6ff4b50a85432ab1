import { randomBytes } from 'node:crypto';
import { existsSync, realpathSync, rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import type { Clock } from '../../clock.ts';
import type { ServiceDatabase } from '../../data/tables/data-database.ts';

/** A running service, as the others on the same database see it. */
export interface Instance {
  readonly id: number;
  /** Says that it is gone, which lets go of its lock. What it left pending must be settled before. */
  close(): void;
}

/** Nothing is ever written to a lock file, so there is nothing to undo. */
const NO_JOURNAL_FILE = 'journal_mode = MEMORY';

/**
 * Enters a running service. It holds the lock on an empty SQLite file of its own beside the database until it ends, in
 * whatever way: the system lets go of a dead process's locks at once, where process ids are used again and heartbeats
 * take their time. The file comes before the row, so that no row is ever without its lock.
 */
export function enterInstance(database: ServiceDatabase, clock: Clock): Instance {
  const token = randomBytes(12).toString('hex');
  const file = database.memory ? null : lockFile(database, token);
  const lock = file === null ? null : new Database(file, { timeout: 0 });
  lock?.pragma(NO_JOURNAL_FILE);
  lock?.exec('BEGIN EXCLUSIVE');
  const id = Number(
    database.prepare('INSERT INTO instances (token, started_at) VALUES (?, ?)').run(token, clock.now()).lastInsertRowid,
  );
  return {
    id,
    close() {
      try {
        database.prepare('DELETE FROM instances WHERE id = ?').run(id);
      } finally {
        lock?.close();
        if (file !== null) rmSync(file, { force: true });
      }
    },
  };
}

/**
 * The instances that left charges pending and are gone: they crashed.
 *
 * @param self the instance that asks, which need not probe its own lock
 */
export function goneInstances(database: ServiceDatabase, self: number | null): number[] {
  // An id that has no row is that of an instance that was closed.
  return database
    .prepare<[number | null], { readonly id: number; readonly token: string | null }>(
      `SELECT pending_by AS id, token FROM
         (SELECT DISTINCT pending_by FROM charges WHERE pending_by IS NOT NULL AND pending_by IS NOT ?)
         LEFT JOIN instances ON instances.id = pending_by`,
    )
    .all(self)
    .filter(({ token }) => token === null || !isHeld(database, token))
    .map(({ id }) => id);
}

/** Takes away the rows and files of instances that crashed; to be called once what they left pending is settled. */
export function forgetGoneInstances(database: ServiceDatabase): void {
  const rows = database
    .prepare<[], { readonly id: number; readonly token: string }>('SELECT id, token FROM instances')
    .all();
  for (const { id, token } of rows) {
    if (isHeld(database, token)) continue;
    const { changes } = database
      .prepare('DELETE FROM instances WHERE id = ? AND NOT EXISTS (SELECT 1 FROM charges WHERE pending_by = id)')
      .run(id);
    if (changes > 0) rmSync(lockFile(database, token), { force: true });
  }
}

function lockFile(database: ServiceDatabase, token: string): string {
  // The true path, so that every process looks at the same file by whatever path it opened the database.
  return `${realpathSync(database.name)}-instance-${token}`;
}

function isHeld(database: ServiceDatabase, token: string): boolean {
  if (database.memory) return true;
  const file = lockFile(database, token);
  if (!existsSync(file)) return false;
  let probe: Database.Database | null = null;
  try {
    probe = new Database(file, { timeout: 0, fileMustExist: true });
    probe.pragma(NO_JOURNAL_FILE);
    probe.exec('BEGIN EXCLUSIVE');
    return false;
  } catch {
    // Mostly SQLITE_BUSY, which is what was asked. Whatever else it is, out of file handles for one, nobody is declared
    // gone for it: the next look will tell.
    return true;
  } finally {
    probe?.close();
  }
}
