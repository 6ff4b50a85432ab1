import { SUM_OF } from '../period-sums.ts';
import type { ChargeState, Spending } from '../port.ts';
import type { LockedAccounts } from './account-locks.ts';
import type { Session } from './postgres-pool.ts';
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

/** The outcome of a call. */
export interface CallMove {
  readonly call: number;
  readonly charge: ChargeState;
  readonly credits: number;
  readonly period: number;
  readonly outcome: string;
  readonly requestId?: string | undefined;
}

export type SqlStatement = readonly [sql: string, values: readonly unknown[]];

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

  statements(): SqlStatement[] {
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

/** The statements that move calls from one charge to another, in the ledger and in the sums. Their accounts are locked, and
 * `calls` were read under the lock. */
export function moveStatements(
  calls: readonly StoredCall[],
  moves: readonly CallMove[],
  locked: LockedAccounts,
): SqlStatement[] {
  const now = new Map(calls.map((call) => [call.id, call]));
  const sums = new SumChanges();
  for (const { call, charge, credits, period } of moves) {
    const before = now.get(call);
    if (!before) continue;
    sums.add(before.account, before.period_start, before.run, before.charge, -before.credits);
    sums.add(before.account, period, before.run, charge, credits);
    now.set(call, { ...before, charge, credits, period_start: period });
  }
  // A call that is moved twice keeps its last outcome.
  const outcomes = [...new Map(moves.filter(({ call }) => now.has(call)).map((move) => [move.call, move])).values()];
  if (outcomes.length === 0) return [];
  const settled = outcomes.map(({ outcome, requestId, ...move }) => ({
    ...move,
    at: locked.timeOf(now.get(move.call)!.account),
    outcome: storable(outcome),
    request: requestId === undefined ? null : storable(requestId),
  }));
  return [
    [
      `UPDATE calls SET charge = new.charge, credits = new.credits, period_start = new.period, settled_at = new.at,
         outcome = new.outcome, request_id = new.request
       FROM json_to_recordset($1) AS new (call bigint, charge text, credits integer, period bigint, at bigint, outcome text, request text)
       WHERE calls.id = new.call`,
      [JSON.stringify(settled)],
    ],
    ['DELETE FROM area_claims WHERE call = ANY($1)', [integers(outcomes.map(({ call }) => call))]],
    ...sums.statements(),
    locked.settledStatement(outcomes.map(({ call }) => now.get(call)!.account)),
  ];
}

/** A text as PostgreSQL can keep it: a service's message may hold a NUL or half of a surrogate pair. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}
