import {
  type SqlDatabase,
  type SqlReading,
  type SqlStatement,
  statement,
} from '../../sql/sql-work.ts';

export interface LedgerTime {
  readonly database: SqlDatabase;
  /** The ledger's time in milliseconds as SQL, by which spans (the minute, leases) are measured; dates are by `dialect.now`. In PostgreSQL
   * both are the server's clock. In SQLite it is the machine's steady clock: a wall clock that is set while calls are in flight neither
   * frees them nor holds them for ever. */
  readonly time: () => string;
}

/** The accounts that a transaction has locked, and the time of the lock. */
interface LockedAccounts {
  /** The date. */
  readonly now: number;
  /** The ledger's time for an account: never before that of its newest settlement. */
  timeOf(account: string): number;
  /** The statement that stores by how much the clock was set back; none if it was not. */
  readonly setBack: readonly SqlStatement[];
}

/** Locks the accounts that a subselect names until the end of the transaction, always in the same order. */
export function accountLock(
  { database: { dialect } }: LedgerTime,
  accounts: string,
  value: string,
): SqlStatement {
  const sql = `SELECT account, ahead, latest FROM accounts WHERE account IN ${accounts} ORDER BY account ${dialect.forUpdate}`;
  return statement(sql, [value]);
}

/** Locks accounts until the end of the transaction. Statements after these see everything that earlier owners of the lock have committed.
 *
 * The server's clock may be set back by its administrator's NTP service: the sums of the minute need
 * settlement times that never decrease, so the account's time continues from its last value. */
export function lockAccounts(
  ledger: LedgerTime,
  accounts: Iterable<string>,
): SqlReading<LockedAccounts> {
  const { dialect } = ledger.database;
  const names = [...new Set(accounts)].sort();
  const rows = names.map((account) => ({ account }));
  const inserts = dialect.eachRow(
    rows,
    'new',
    { account: 'text' },
    (table) =>
      `INSERT INTO accounts (account) SELECT account FROM ${table} WHERE true ON CONFLICT DO NOTHING`,
  );
  return {
    statements: [
      ...inserts,
      accountLock(ledger, dialect.list('$1', 'text'), JSON.stringify(names)),
      statement(`SELECT ${dialect.now} AS now, ${ledger.time()} AS time`),
    ],
    take(results) {
      const [rows, clock] = results.slice(inserts.length);
      const [{ now, time }] = clock as unknown as [{ now: number; time: number }];
      const locked = rows as { account: string; ahead: number; latest: number }[];
      const behind = locked.flatMap(({ account, ahead, latest }) =>
        latest > time + ahead ? [{ account, ahead: latest - time }] : [],
      );
      const times = new Map(
        locked.map(({ account, ahead, latest }) => [account, Math.max(time + ahead, latest)]),
      );
      return {
        now,
        timeOf: (account) => times.get(account) ?? time,
        setBack: dialect.eachRow(
          behind,
          'new',
          { account: 'text', ahead: 'bigint' },
          (table) =>
            `UPDATE accounts SET ahead = new.ahead FROM ${table} WHERE accounts.account = new.account`,
        ),
      };
    },
  };
}
