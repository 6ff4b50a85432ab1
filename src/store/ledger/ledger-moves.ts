import {
  type SqlDatabase,
  type SqlStatement,
  type SqlWork,
  statement,
  write,
} from '../../sql/sql-work.ts';
import { accountLock, type LedgerTime } from './account-locks.ts';
import type { Settlement } from './port.ts';

/** The columns of a call that never change, and so are read before its account is locked. */
export interface LedgerCall {
  readonly id: number;
  readonly source: number;
  readonly account: string;
  readonly period_start: number;
  readonly key: string;
  readonly lat7: number;
  readonly lng7: number;
  readonly claimed_at: number;
  readonly credits_left: number | null;
}

export interface SettledCall {
  readonly settlement: Settlement;
  readonly call: LedgerCall;
}

/** The outcome of a call. Without credits and period, it keeps its own. */
type CallMove = Pick<Settlement, 'call' | 'charge' | 'outcome' | 'requestId'> &
  Partial<Pick<Settlement, 'credits' | 'period'>>;

const SUMS = (['charged', 'unknown', 'sent'] as const)
  .map(
    (charge) =>
      `CAST($2 AS integer) * coalesce(sum(credits) FILTER (WHERE charge = '${charge}'), 0)`,
  )
  .join(', ');

/** Adds calls to the sums of their periods and runs, as they stand in the ledger, or takes them away (`sign` -1). The sums are kept by the
 * same transactions as the calls: a sum over a month of calls at every claim would cost more than the claim. */
export function addToSums(
  { dialect }: SqlDatabase,
  calls: readonly number[],
  sign: 1 | -1,
): readonly SqlStatement[] {
  const list = dialect.list('$1', 'bigint');
  const values = [JSON.stringify(calls), sign];
  return [
    statement(
      `INSERT INTO periods AS old (account, period_start, charged, unknown, open)
       SELECT account, period_start, ${SUMS} FROM calls WHERE id IN ${list} AND credits <> 0 AND charge <> 'free'
       GROUP BY account, period_start
       ON CONFLICT (account, period_start) DO UPDATE SET charged = old.charged + excluded.charged,
         unknown = old.unknown + excluded.unknown, open = old.open + excluded.open`,
      values,
    ),
    statement(
      `WITH sums (run, charged, unknown, open) AS (SELECT run, ${SUMS} FROM calls WHERE id IN ${list} GROUP BY run)
       UPDATE runs SET charged = runs.charged + sums.charged, unknown = runs.unknown + sums.unknown, open = runs.open + sums.open
       FROM sums WHERE runs.id = sums.run`,
      values,
    ),
  ];
}

/** Moves calls from one charge to another, in the ledger and in the sums. It reads nothing, so PostgreSQL gets all statements together with
 * COMMIT: the locks of the accounts, for which all claims wait, are never held during a round trip. */
export function* moveCalls(ledger: LedgerTime, moves: readonly CallMove[]): SqlWork<void> {
  const { dialect } = ledger.database;
  // If a call is moved twice, the last outcome counts.
  const last = [...new Map(moves.map((move) => [move.call, move])).values()];
  const calls = last.map(({ call }) => call);
  const [ids, list] = [JSON.stringify(calls), dialect.list('$1', 'bigint')];
  const accounts = `(SELECT account FROM calls WHERE id IN ${list})`;
  const columns = {
    call: 'bigint',
    charge: 'text',
    credits: 'integer',
    period: 'bigint',
    outcome: 'text',
    requestId: 'text',
  } as const;
  const later = dialect.greatest('clock.time + ahead', 'latest');
  yield* write(
    accountLock(ledger, accounts, ids),
    ...addToSums(ledger.database, calls, -1),
    statement(
      `WITH clock AS MATERIALIZED (SELECT ${ledger.time()} AS time)
       UPDATE accounts SET ahead = ${later} - clock.time, latest = ${later} FROM clock WHERE account IN ${accounts}`,
      [ids],
    ),
    ...dialect.eachRow(
      last.map(({ call, charge, outcome, ...move }) => ({
        ...{
          call,
          charge,
          outcome,
          credits: move.credits ?? null,
          period: move.period?.start ?? null,
        },
        requestId: move.requestId ?? null,
      })),
      'new',
      columns,
      (table) =>
        `UPDATE calls SET charge = new.charge, credits = coalesce(new.credits, calls.credits), outcome = new.outcome,
           period_start = coalesce(new.period, calls.period_start), request_id = new."requestId",
           settled_at = (SELECT latest FROM accounts WHERE accounts.account = calls.account)
         FROM ${table} WHERE calls.id = new.call`,
    ),
    ...addToSums(ledger.database, calls, 1),
    statement(`DELETE FROM area_claims WHERE call IN ${list}`, [ids]),
  );
}
