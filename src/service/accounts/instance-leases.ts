import { read, type SqlDatabase, statement, write } from '../../sql/sql-work.ts';
import type { Presence } from './port.ts';

/**
 * Instances that renew a lease by the clock of the server. If one is killed, disconnected or frozen, others reverse its pending
 * charges after the lease. Rejected: a session lock, which lasts for hours after a lost connection.
 *
 * @param leaseMs how long an instance counts as running without a renewal, in milliseconds
 */
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
        const [[row]] = yield* read(
          statement<{ readonly id: number; readonly now: number }>(
            `INSERT INTO instances (started_at, leased_until) SELECT ${now}, ${now} + $1 RETURNING id, started_at AS now`,
            [leaseMs],
          ),
        );
        return row!;
      }),
    end: (instance) => database.transact(() => write(statement('DELETE FROM instances WHERE id = $1', [instance]))),
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
        statement(`SELECT id FROM instances WHERE id = $1 AND leased_until > ${now} + $2`, [instance, third]),
      ],
      take: ([rows]) => rows!.length === 0,
    }),
    *crashed() {
      const [rows] = yield* read(
        statement<{ readonly id: number; readonly instance: number }>(
          `SELECT id, pending_by AS instance FROM charges WHERE pending_by IS NOT NULL
             AND NOT EXISTS (SELECT 1 FROM instances i WHERE i.id = pending_by AND i.leased_until > ${now})`,
        ),
      );
      const left = Map.groupBy(rows, ({ instance }) => instance);
      return [...left].map(([instance, charges]) => ({ instance, pending: charges.map(({ id }) => id) }));
    },
  };
}
