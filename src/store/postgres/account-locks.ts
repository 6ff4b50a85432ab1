import type { Session } from '../../sql/postgres-pool.ts';

/** The time of the server in milliseconds, as an SQL expression. */
export type ServerTime = () => string;

export const SERVER_TIME: ServerTime = () => 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/** An account whose row this transaction has locked. */
interface LockedAccount {
  readonly account: string;
  /** The ledger's time for it: the server's, but never before that of the account's newest settlement. */
  readonly time: number;
  readonly ahead: number;
  readonly wasSetBack: boolean;
}

/** The accounts that a transaction has locked, and the server's time then. */
export interface LockedAccounts {
  /** The server's date. */
  readonly now: number;
  timeOf(account: string): number;
  /** Statement that keeps how far behind the server's clock was found; null where it was not. */
  setBackStatement(): AccountStatement | null;
}

type AccountStatement = readonly [sql: string, values: readonly unknown[]];

/** The statements that lock accounts until the end of the transaction, always in the same order. */
export function accountLocks(accounts: Iterable<string>): readonly [insert: AccountStatement, lock: AccountStatement] {
  const names = [...new Set(accounts)].sort();
  return [
    ['INSERT INTO accounts (account) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING', [names]],
    ['SELECT account, ahead, latest FROM accounts WHERE account = ANY($1) ORDER BY account FOR UPDATE', [names]],
  ];
}

/**
 * Locks accounts until the end of the transaction. Statements that are sent behind this call, without waiting for it, see all that
 * the owners of the lock before had committed.
 *
 * Spans (the minute, leases) are measured by the server's clock, which its administrator's NTP service may set back: the sums of
 * the minute rely on it that who settles later is not earlier in time, so the account's time goes on from where it was.
 */
export async function lockAccounts(
  session: Session,
  accounts: Iterable<string>,
  serverTime: ServerTime,
): Promise<LockedAccounts> {
  const [insert, lock] = accountLocks(accounts);
  const [, rows, clock] = await Promise.all([
    session.rows(...insert),
    session.rows<{ account: string; ahead: number; latest: number }>(...lock),
    session.rows<{ now: number }>(`SELECT ${serverTime()} AS now`),
  ]);
  const now = clock[0]!.now;
  const locked = new Map(
    rows.map(({ account, ahead, latest }): [string, LockedAccount] => {
      const time = Math.max(now + ahead, latest);
      return [account, { account, time, ahead: time - now, wasSetBack: time > now + ahead }];
    }),
  );
  return {
    now,
    timeOf: (account) => locked.get(account)?.time ?? now,
    setBackStatement() {
      const setBack = [...locked.values()].filter(({ wasSetBack }) => wasSetBack);
      if (setBack.length === 0) return null;
      return [
        `UPDATE accounts SET ahead = new.ahead FROM json_to_recordset($1) AS new (account text, ahead bigint)
         WHERE accounts.account = new.account`,
        [JSON.stringify(setBack)],
      ];
    },
  };
}
