import { randomBytes } from 'node:crypto';
import { existsSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import {
  read,
  type SqlDatabase,
  type SqlReading,
  type SqlStatement,
  type SqlWork,
  statement,
  write,
} from '../../sql/sql-work.ts';

interface Crashed {
  readonly instance: number;
  /** Its pending charges; without new ones, if it has resumed meanwhile. */
  readonly pending: readonly number[];
}

/** How the instances of a service detect each other's crash: by locks on one machine, by leases on several. */
export interface Presence {
  /** Registers a running instance under a number that is never reused, and removes crashed instances without pending charges. */
  begin(): Promise<{ readonly id: number; readonly now: number }>;
  /** Removes a running instance. Settle its pending charges before. */
  end(instance: number): Promise<void>;
  /** How often an instance must renew, in milliseconds; null if it need not. */
  readonly renewEveryMs: number | null;
  /** Renews an instance, also one that counted as crashed. */
  renewal(instance: number): readonly SqlStatement[];
  /** Whether a transaction of an instance must renew it too. */
  isDue(instance: number): SqlReading<boolean>;
  /** Instances that crashed, with the ids of the charges that they left pending. */
  crashed(): SqlWork<Crashed[]>;
}

interface PendingCharge {
  readonly id: number;
  readonly instance: number;
}

function byInstance(charges: readonly PendingCharge[]): Crashed[] {
  const pending = Map.groupBy(charges, ({ instance }) => instance);
  return [...pending].map(([instance, own]) => ({ instance, pending: own.map(({ id }) => id) }));
}

/** Instances that renew a lease by the clock of the server. If one is killed, disconnected or frozen, others reverse its pending
 * charges after the lease. Rejected: a session lock, which lasts for hours after a lost connection.
 * @param leaseMs how long an instance counts as running without a renewal, in milliseconds */
export function leasePresence(database: SqlDatabase, leaseMs: number): Presence {
  const { now } = database.dialect;
  const third = Math.round(leaseMs / 3);
  return {
    begin: () =>
      database.transact(function* () {
        yield* write(
          statement("DELETE FROM transactions WHERE at < now() - interval '1 day'"),
          statement(
            `DELETE FROM instances WHERE leased_until <= ${now}
             AND NOT EXISTS (SELECT 1 FROM charges WHERE pending_by = instances.id)`,
          ),
        );
        const sql = `INSERT INTO instances (started_at, leased_until) SELECT ${now}, ${now} + $1 RETURNING id, started_at AS now`;
        const [[row]] = yield* read(
          statement<{ readonly id: number; readonly now: number }>(sql, [leaseMs]),
        );
        return row!;
      }),
    end: (instance) =>
      database.transact(() => write(statement('DELETE FROM instances WHERE id = $1', [instance]))),
    renewEveryMs: third,
    renewal: (instance) => [
      statement(
        `INSERT INTO instances (id, started_at, leased_until) VALUES ($1, ${now}, ${now} + $2)
         ON CONFLICT (id) DO UPDATE SET leased_until = excluded.leased_until`,
        [instance, leaseMs],
      ),
    ],
    // An id is never reused, so an instance can renew a lease that has ended and was removed.
    isDue: (instance) => ({
      statements: [
        statement(`SELECT id FROM instances WHERE id = $1 AND leased_until > ${now} + $2`, [
          instance,
          third,
        ]),
      ],
      take: ([rows]) => rows!.length === 0,
    }),
    *crashed() {
      const sql = `SELECT id, pending_by AS instance FROM charges WHERE pending_by IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM instances i WHERE i.id = pending_by AND i.leased_until > ${now})`;
      const [rows] = yield* read(statement<PendingCharge>(sql));
      return byInstance(rows);
    },
  };
}

/** Nothing is ever written to a lock file, so there is nothing to roll back. */
const NO_JOURNAL_FILE = 'journal_mode = MEMORY';

/** Instances that each lock an empty SQLite file beside the accounts file until they end: the system releases a dead process's
 * locks at once. Rejected: process ids, which are reused, and a heartbeat, which detects a death late.
 * @param file path of the accounts file; null for one in memory, which only this process sees */
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
        const sql =
          'SELECT id, token FROM instances WHERE NOT EXISTS (SELECT 1 FROM charges WHERE pending_by = instances.id)';
        const [others] = yield* read(
          statement<{ readonly id: number; readonly token: string }>(sql),
        );
        for (const other of others.filter((instance) => !isRunning(instance.token))) {
          yield* write(statement('DELETE FROM instances WHERE id = $1', [other.id]));
          if (file !== null) rmSync(lockFile(file, other.token), { force: true });
        }
        const insert = `INSERT INTO instances (token, started_at) VALUES ($1, ${now}) RETURNING id, started_at AS now`;
        const [[added]] = yield* read(
          statement<{ readonly id: number; readonly now: number }>(insert, [token]),
        );
        return added!;
      });
      held.set(row.id, lock);
      return row;
    },
    async end(instance) {
      using _ = held.get(instance);
      held.delete(instance);
      await database.transact(() =>
        write(statement('DELETE FROM instances WHERE id = $1', [instance])),
      );
    },
    renewEveryMs: null,
    renewal: () => [],
    isDue: () => ({ statements: [], take: () => false }),
    *crashed() {
      // An id without a row belongs to a closed instance.
      const sql = `SELECT charges.id, pending_by AS instance, token FROM charges LEFT JOIN instances ON instances.id = pending_by
        WHERE pending_by IS NOT NULL`;
      const [rows] = yield* read(statement<PendingCharge & { readonly token: string | null }>(sql));
      const running = new Map(
        rows.map(({ instance, token }) => [
          instance,
          token !== null && (held.has(instance) || isRunning(token)),
        ]),
      );
      return byInstance(rows.filter(({ instance }) => !running.get(instance)));
    },
  };
}

/** The lock file of an instance. By the resolved path, so that every process uses the same file for any name of the database. */
function lockFile(databaseFile: string, token: string): string {
  return `${realpathSync(databaseFile)}-instance-${token}`;
}

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

function isLocked(file: string): boolean {
  if (!existsSync(file)) return false;
  let probe: Database.Database | null = null;
  try {
    probe = new Database(file, { timeout: 0, fileMustExist: true });
    probe.pragma(NO_JOURNAL_FILE);
    probe.exec('BEGIN EXCLUSIVE');
    return false;
  } catch {
    // Mostly SQLITE_BUSY: the lock is held. After any other error (too many open files) it counts as held too: the next check decides.
    return true;
  } finally {
    probe?.close();
  }
}
