import type { Clock } from '../base/clock.ts';
import { migratePostgres } from '../sql/migrate-postgres.ts';
import { locatePostgres } from '../sql/postgres-address.ts';
import { PostgresPool, postgresDriver } from '../sql/postgres-pool.ts';
import { postgresDialect, read, statement, write } from '../sql/sql-work.ts';
import type { WidthOf } from './answers/cell-answers.ts';
import { giveUpDead, makeTables, storeOn } from './database-store.ts';
import type { Owner, Store } from './port.ts';
import { STORE_DATABASE } from './store-address.ts';

interface PostgresOptions {
  readonly widthOf?: WidthOf;
  /** No tables are made. */
  readonly mustExist?: boolean;
  /** The time as SQL. Default: the server's clock. Tests pass one that they move. */
  readonly serverTime?: () => string;
}

const MIGRATIONS = new URL('./migrations/postgres/', import.meta.url);
const POOL_SETTINGS = {
  // A restart or a failover takes a minute at most, and a call's lease outlasts it.
  patienceMs: 120_000,
  connectMs: 10_000,
  // Any statement of a transaction takes milliseconds; sums over the whole ledger may take longer.
  statementMs: 120_000,
  silentClientMs: 5_000,
  applicationName: 'perilbook',
  session: {},
};

/** The store for several machines: a schema of a PostgreSQL database (docs/operator/many-machines.md). All rules are kept in transactions
 * of the server and by its clock. On opening, calls whose lease has ended or whose process has died are settled as `unknown`.
 * @param clock measures only the wait for a server that is away
 * @throws STORE_TOO_NEW, STORE_UNUSABLE, STORE_UNREACHABLE */
export async function openPostgresStore(
  store: string,
  clock: Clock,
  owner: Owner,
  { widthOf = () => null, mustExist = false, serverTime }: PostgresOptions = {},
): Promise<Store> {
  const location = locatePostgres(store, STORE_DATABASE);
  const pool = new PostgresPool(location, clock, POOL_SETTINGS);
  try {
    await migratePostgres(pool, location, MIGRATIONS, mustExist);
    const database = postgresDriver(pool, postgresDialect(serverTime));
    const time = () => database.dialect.now;
    const tables = makeTables({ name: location.address, database, time, owner, widthOf });
    const [[right], newer] = await database.read(() => read(MAY_WRITE, tables.texts.newer()));
    tables.texts.take(newer);
    // A read-only role cannot settle the calls of a dead worker; other processes do it.
    if (right!.mayWrite) {
      await database.transact(() => write(OLD_TRANSACTIONS));
      await database.transact(() => giveUpDead(tables));
    }
    return storeOn(tables, {
      // If a database moves, it is on another server, and this connection ends.
      moved: () => null,
      // Its server says when its disk is full.
      requireRoom: () => {},
      bytes: async () => (await database.read(() => read(SIZE)))[0][0]!.bytes,
      compact: async () => ({ kind: 'server' }),
      close: () => pool[Symbol.asyncDispose](),
    });
  } catch (error) {
    await pool[Symbol.asyncDispose]();
    throw error;
  }
}

const MAY_WRITE = statement<{ mayWrite: boolean }>(
  `SELECT has_table_privilege('calls', 'UPDATE') AND NOT pg_is_in_recovery() AS "mayWrite"`,
);
const OLD_TRANSACTIONS = statement("DELETE FROM transactions WHERE at < now() - interval '1 day'");
const SIZE = statement<{ bytes: number }>(
  `SELECT coalesce(sum(pg_total_relation_size(oid)), 0) AS bytes FROM pg_class
   WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'`,
);
