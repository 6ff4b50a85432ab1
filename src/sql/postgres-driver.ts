import type { PostgresPool, Session, Transaction } from './postgres-pool.ts';
import type { EngineDialect, SqlDatabase, SqlStatement, SqlWork } from './sql-work.ts';

/** Runs work on a pool of PostgreSQL: the statements of a step take one round trip, and those that nobody reads none. */
export function postgresDriver(pool: PostgresPool, dialect: EngineDialect): SqlDatabase {
  return {
    dialect,
    read: (work) => pool.read((session) => driven(work(), session, () => refuseWrite())),
    transact: (work) => pool.transact((tx) => driven(work(), tx, tx.last)),
  };
}

function refuseWrite(): never {
  throw new Error('Work that only reads has sent a statement that writes');
}

async function driven<T>(steps: SqlWork<T>, session: Session, last: Transaction['last']): Promise<T> {
  let step = steps.next();
  while (!step.done) {
    const { statements, isRead } = step.value;
    if (isRead) {
      step = steps.next(
        await Promise.all(statements.map(({ sql, values }: SqlStatement) => session.rows(sql, values))),
      );
    } else {
      for (const { sql, values } of statements) last(sql, values);
      step = steps.next([]);
    }
  }
  return step.value;
}
