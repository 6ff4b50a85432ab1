import type { Session } from '../../sql/postgres-pool.ts';
import { SUM_OF } from '../period-sums.ts';
import type { ChargeState, Settlement, Spending } from '../port.ts';
import type { ServerTime } from './account-locks.ts';
import { integers } from './stored-cells.ts';

/** A call as it stands in the ledger. */
export interface StoredCall {
  readonly id: number;
  readonly run: number;
  readonly source: number;
  readonly account: string;
  readonly period_start: number;
  readonly key: string;
  readonly lat7: number;
  readonly lng7: number;
  readonly charge: ChargeState;
  readonly credits: number;
  readonly claimed_at: number;
  readonly credits_left: number | null;
}

/** A settlement, and the call of the ledger that it ends. */
export interface SettledCall {
  readonly settlement: Settlement;
  readonly call: StoredCall;
}

/** The outcome of a call. */
export interface CallMove {
  readonly call: number;
  readonly charge: ChargeState;
  /** Null: those of the call. */
  readonly credits: number | null;
  /** Null: that of the call. */
  readonly period: number | null;
  readonly outcome: string;
  readonly requestId?: string | undefined;
}

export type LedgerStatement = readonly [sql: string, values: readonly unknown[]];

export function storedCalls(session: Session, calls: readonly number[]): Promise<StoredCall[]> {
  return session.rows<StoredCall & Record<string, unknown>>(
    `SELECT id, run, source, account, period_start, key, lat7, lng7, charge, credits, claimed_at, credits_left
     FROM calls WHERE id = ANY($1)`,
    [integers(calls)],
  );
}

/** Credits that are added to the sums of periods and runs, and the statements that add them. */
export class SumChanges {
  readonly #periods = new Map<string, { account: string; period: number } & Record<keyof Spending, number>>();
  readonly #runs = new Map<number, { run: number } & Record<keyof Spending, number>>();

  add(account: string, period: number, run: number, charge: ChargeState, credits: number): void {
    const sum = SUM_OF[charge];
    if (sum === null || credits === 0) return;
    const key = `${period} ${account}`;
    const ofPeriod = this.#periods.get(key) ?? { account, period, charged: 0, unknown: 0, open: 0 };
    const ofRun = this.#runs.get(run) ?? { run, charged: 0, unknown: 0, open: 0 };
    ofPeriod[sum] += credits;
    ofRun[sum] += credits;
    this.#periods.set(key, ofPeriod);
    this.#runs.set(run, ofRun);
  }

  statements(): LedgerStatement[] {
    if (this.#periods.size === 0) return [];
    return [
      [
        `INSERT INTO periods AS known (account, period_start, charged, unknown, open)
         SELECT * FROM json_to_recordset($1) AS new (account text, period bigint, charged bigint, unknown bigint, open bigint)
         ON CONFLICT (account, period_start) DO UPDATE SET charged = known.charged + excluded.charged,
           unknown = known.unknown + excluded.unknown, open = known.open + excluded.open`,
        [JSON.stringify([...this.#periods.values()])],
      ],
      [
        `UPDATE runs SET charged = runs.charged + new.charged, unknown = runs.unknown + new.unknown, open = runs.open + new.open
         FROM json_to_recordset($1) AS new (run bigint, charged bigint, unknown bigint, open bigint) WHERE runs.id = new.run`,
        [JSON.stringify([...this.#runs.values()])],
      ],
    ];
  }
}

/**
 * The statement that moves calls from one charge to another, in the ledger and in the sums; `credits: null` keeps those of the call.
 * Sent behind the locks of the calls' accounts, without waiting for them: the locks, for which all claims wait, are held for no round
 * trip of this process.
 */
export function moveStatement(moves: readonly CallMove[], serverTime: ServerTime): LedgerStatement {
  // A call that is moved twice keeps its last outcome.
  const outcomes = [...new Map(moves.map((move) => [move.call, move])).values()].map(
    ({ outcome, requestId, ...move }) => ({
      ...move,
      outcome: storable(outcome),
      request: requestId === undefined ? null : storable(requestId),
    }),
  );
  const sum = (charge: ChargeState) => `coalesce(sum(credits) FILTER (WHERE charge = '${charge}'), 0) AS "${charge}"`;
  const sums = `${sum('charged')}, ${sum('unknown')}, ${sum('sent')}`;
  return [
    `WITH new AS MATERIALIZED (
       SELECT calls.id, run, account, charge AS old_charge, calls.credits AS old_credits, calls.period_start AS old_period, outcomes.*
       FROM json_to_recordset($1) AS outcomes ("to" text, call bigint, "toCredits" integer, period bigint, outcome text, request text)
       JOIN calls ON calls.id = outcomes.call),
     clock AS MATERIALIZED (
       SELECT account, ahead AS old_ahead, greatest(now + ahead, latest) AS time, now
       FROM accounts, (SELECT ${serverTime()} AS now) AS server WHERE account IN (SELECT account FROM new)),
     moved AS (
       UPDATE calls SET charge = new."to", credits = coalesce(new."toCredits", calls.credits), outcome = new.outcome,
         period_start = coalesce(new.period, calls.period_start), settled_at = clock.time, request_id = new.request
       FROM new JOIN clock USING (account) WHERE calls.id = new.id),
     changes AS (
       SELECT account, old_period AS period, run, old_charge AS charge, -old_credits AS credits FROM new
       UNION ALL
       SELECT account, coalesce(period, old_period), run, "to", coalesce("toCredits", old_credits) FROM new),
     of_periods AS (
       INSERT INTO periods AS known (account, period_start, charged, unknown, open)
       SELECT account, period, ${sums} FROM changes WHERE credits <> 0 AND charge <> 'free' GROUP BY account, period
       ON CONFLICT (account, period_start) DO UPDATE SET charged = known.charged + excluded.charged,
         unknown = known.unknown + excluded.unknown, open = known.open + excluded.open),
     of_runs AS (
       UPDATE runs SET charged = runs.charged + change.charged, unknown = runs.unknown + change.unknown, open = runs.open + change.sent
       FROM (SELECT run, ${sums} FROM changes GROUP BY run) AS change WHERE runs.id = change.run),
     ended AS (DELETE FROM area_claims WHERE call IN (SELECT id FROM new))
     UPDATE accounts SET ahead = clock.time - clock.now, latest = clock.time FROM clock WHERE accounts.account = clock.account`,
    [JSON.stringify(outcomes.map(({ charge, credits, ...move }) => ({ ...move, to: charge, toCredits: credits })))],
  ];
}

/** A text as PostgreSQL can keep it: a service's message may hold a NUL or half of a surrogate pair. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}
