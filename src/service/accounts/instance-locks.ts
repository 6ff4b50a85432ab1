import { randomBytes } from 'node:crypto';
import { existsSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { read, type SqlDatabase, statement, write } from '../../sql/sql-work.ts';
import type { Crashed, Presence } from './port.ts';
import { pendingOf } from './settle-charges.ts';

/** Nothing is ever written to a lock file, so there is nothing to roll back. */
const NO_JOURNAL_FILE = 'journal_mode = MEMORY';

/**
 * Instances that each lock an empty SQLite file beside the accounts file until they end: the system releases a dead process's
 * locks at once. Rejected: process ids, which are reused, and a heartbeat, which detects a death late.
 *
 * @param file path of the accounts file; null for one in memory, which only this process sees
 */
export function lockPresence(database: SqlDatabase, file: string | null): Presence {
  const held = new Map<number, Disposable>();
  const { now } = database.dialect;
  const isRunning = (token: string) => file === null || isLocked(lockFile(file, token));
  return {
    async begin() {
      const token = randomBytes(12).toString('hex');
      // Before the row, so that no row is ever without its lock.
      const lock = file === null ? { [Symbol.dispose]() {} } : hold(lockFile(file, token));
      const row = await database.transact(function* () {
        const [others] = yield* read(
          statement<{ readonly id: number; readonly token: string }>(
            'SELECT id, token FROM instances WHERE NOT EXISTS (SELECT 1 FROM charges WHERE pending_by = instances.id)',
          ),
        );
        for (const other of others.filter((instance) => !isRunning(instance.token))) {
          yield* write(statement('DELETE FROM instances WHERE id = $1', [other.id]));
          if (file !== null) rmSync(lockFile(file, other.token), { force: true });
        }
        const [[added]] = yield* read(
          statement<{ readonly id: number; readonly now: number }>(
            `INSERT INTO instances (token, started_at) VALUES ($1, ${now}) RETURNING id, started_at AS now`,
            [token],
          ),
        );
        return added!;
      });
      held.set(row.id, lock);
      return row;
    },
    async end(instance) {
      using _ = held.get(instance);
      held.delete(instance);
      await database.transact(() => write(statement('DELETE FROM instances WHERE id = $1', [instance])));
    },
    renewEveryMs: null,
    renewal: () => [],
    isDue: () => ({ statements: [], take: () => false }),
    *crashed() {
      // An id without a row belongs to a closed instance.
      const [rows] = yield* read(
        statement<{ readonly id: number; readonly token: string | null }>(
          `SELECT pending_by AS id, token FROM (SELECT DISTINCT pending_by FROM charges WHERE pending_by IS NOT NULL)
             LEFT JOIN instances ON instances.id = pending_by`,
        ),
      );
      const crashed: Crashed[] = [];
      for (const { id, token } of rows) {
        if (token !== null && (held.has(id) || isRunning(token))) continue;
        crashed.push({ instance: id, pending: (yield* pendingOf(id)).map((charge) => charge.id) });
      }
      return crashed;
    },
  };
}

/** The lock file of an instance. By the resolved path, so that every process uses the same file for any name of the
 * database. */
function lockFile(databaseFile: string, token: string): string {
  return `${realpathSync(databaseFile)}-instance-${token}`;
}

/** Makes a lock file and holds its lock. Disposing releases and removes it. */
function hold(file: string): Disposable {
  // SQLite makes a file that others can read: other users could then see which instances run.
  writeFileSync(file, '', { flag: 'a', mode: 0o600 });
  const lock = new Database(file, { timeout: 0 });
  lock.pragma(NO_JOURNAL_FILE);
  lock.exec('BEGIN EXCLUSIVE');
  return {
    [Symbol.dispose]() {
      lock.close();
      rmSync(file, { force: true });
    },
  };
}

/** Whether a process holds the lock of a file. */
function isLocked(file: string): boolean {
  if (!existsSync(file)) return false;
  let probe: Database.Database | null = null;
  try {
    probe = new Database(file, { timeout: 0, fileMustExist: true });
    probe.pragma(NO_JOURNAL_FILE);
    probe.exec('BEGIN EXCLUSIVE');
    return false;
  } catch {
    // Mostly SQLITE_BUSY, which means that the lock is held. After any other error (too many open files, for example) it counts as
    // held too: the next check decides.
    return true;
  } finally {
    probe?.close();
  }
}
