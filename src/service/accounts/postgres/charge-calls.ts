import { CREDITS } from '../../../contract/credits.ts';
import type { Transaction } from '../../../sql/postgres-pool.ts';
import {
  type AllowedCharge,
  addCharge,
  type BatchTotal,
  CLOCK_DIFFERENCE_MS,
  type LimitRules,
  newTotal,
  refusalOf,
} from '../limits.ts';
import type { Charge, Chargeable, ChargeRefusal } from '../port.ts';
import {
  accountOfRow,
  instantSql,
  isSetBack,
  USAGE_COLUMNS,
  USAGE_JOINS,
  type UsageRow,
  usageOfRow,
} from './account-rows.ts';
import { type MissingCredits, rateRefusals } from './check-calls.ts';

/** A batch of calls to be charged by an instance. */
export interface ChargeOrder {
  readonly calls: readonly Chargeable[];
  /** Ids of charges to be made final in the same transaction. */
  readonly delivered: readonly number[];
  readonly instance: number;
  readonly rules: LimitRules;
  /** The length of the instance's lease, in milliseconds; it is renewed when two thirds have passed. */
  readonly leaseMs: number;
}

/** What was decided for each call, as if it came after those before it. */
type ChargeDecision = AllowedCharge | 'period' | MissingCredits;

/**
 * Checks and charges a batch. The first round trip locks its accounts and reads what they have used by the clock of the server;
 * the second writes and commits. The ids are taken first, so that they are known although the COMMIT may not be answered.
 */
export async function chargeCalls(
  tx: Transaction,
  order: ChargeOrder,
): Promise<{ readonly now: number; readonly results: (Charge | ChargeRefusal)[] }> {
  const { calls, instance, rules, leaseMs } = order;
  const accounts = accountsOf(calls);
  const [, usage, [lease], ids] = await Promise.all([
    lockAccounts(tx, accounts),
    // Its own statement: it must see what was committed before the lock was had.
    tx.rows<UsageRow>(
      `WITH ${instantSql(rules)} SELECT ${USAGE_COLUMNS} FROM t JOIN accounts a ON a.id = ANY($1::int[]) ${USAGE_JOINS}`,
      [accounts],
    ),
    tx.rows<{ left: number }>('SELECT leased_until - clock_ms() AS left FROM instances WHERE id = $1', [instance]),
    tx.rows<{ id: number }>("SELECT nextval('charges_id_seq') AS id FROM generate_series(1, $1::int)", [calls.length]),
  ]);
  const totals = new Map<number, BatchTotal>();
  for (const row of usage) {
    const account = accountOfRow(row);
    const minute = isSetBack(row) ? await creditsAfterSetBack(tx, row) : null;
    totals.set(account.id, newTotal(account, usageOfRow(row, account, minute)));
  }
  const { now } = usage[0]!;
  const decisions = calls.map(({ caller, call }): ChargeDecision => {
    const total = totals.get(caller.account.id)!;
    const refusal = refusalOf(total, call, rules);
    if (refusal === null) return addCharge(total, call, rules);
    return refusal === 'period' ? refusal : { total, missing: refusal.missing };
  });
  if ((lease?.left ?? 0) < leaseMs / 3) renewLease(tx, instance, leaseMs);
  const idOf = (index: number) => ids[index]!.id;
  tx.last(WRITE, writtenValues(order, now, decisions, [...totals.values()], idOf));
  const missing = decisions.filter((one): one is MissingCredits => one !== 'period' && 'missing' in one);
  // Sent after what was written, whose credits the minute gives back as well.
  const refusals = await rateRefusals(tx, missing, rules, now);
  const results = decisions.map((decision, index) => {
    if (decision === 'period') return { failure: 'QUOTA_EXCEEDED' } as const;
    return 'missing' in decision ? refusals.get(decision)! : { id: idOf(index), ...decision };
  });
  return { now, results };
}

function writtenValues(
  { calls, delivered, instance }: ChargeOrder,
  now: number,
  decisions: readonly ChargeDecision[],
  totals: readonly BatchTotal[],
  idOf: (index: number) => number,
): unknown[] {
  const periodStart = new Map(totals.map(({ account, before }) => [account.id, before.periodStart]));
  const rows = calls.flatMap(({ caller, call, requestId }, index) => {
    const decision = decisions[index]!;
    if (decision === 'period' || 'missing' in decision) return [];
    return {
      id: idOf(index),
      account: caller.account.id,
      key: caller.key,
      kind: call.kind,
      topic: call.kind === 'single' ? call.topic : null,
      credits: CREDITS[call.kind],
      period_start: periodStart.get(caller.account.id),
      request_id: requestId,
    };
  });
  const sums = totals
    .filter(({ credits }) => credits > 0)
    .map(({ account, before, credits, calls: counts }) => ({
      account: account.id,
      minute_from: before.minuteFrom,
      minute_credits: before.minuteCredits + credits,
      period_start: before.periodStart,
      credits,
      ...counts,
      allowance: account.subscription.creditsPerMonth,
      overage_rate: account.subscription.overageRate,
    }));
  return [delivered, instance, now, JSON.stringify(rows), JSON.stringify(sums)];
}

const WRITE = `WITH
  final AS (UPDATE charges SET pending_by = NULL WHERE id = ANY($1::bigint[]) AND pending_by = $2),
  sums AS (SELECT * FROM json_to_recordset($5::json) AS s(account int, minute_from bigint, minute_credits bigint,
    period_start bigint, credits bigint, single bigint, standard bigint, enterprise bigint, allowance bigint, overage_rate float8)),
  of_minutes AS (INSERT INTO minutes SELECT account, minute_from, minute_credits FROM sums
    ON CONFLICT (account) DO UPDATE SET minute_from = excluded.minute_from, minute_credits = excluded.minute_credits),
  of_periods AS (INSERT INTO periods AS p (account, period_start, credits, single, standard, enterprise, allowance, overage_rate)
    SELECT account, period_start, credits, single, standard, enterprise, allowance, overage_rate FROM sums
    ON CONFLICT (account, period_start) DO UPDATE SET credits = p.credits + excluded.credits,
      single = p.single + excluded.single, standard = p.standard + excluded.standard,
      enterprise = p.enterprise + excluded.enterprise, allowance = excluded.allowance, overage_rate = excluded.overage_rate)
  INSERT INTO charges (id, account, key, kind, topic, credits, charged_at, period_start, request_id, pending_by)
  SELECT id, account, key, kind, topic, credits, $3, period_start, request_id, $2 FROM json_to_recordset($4::json)
    AS r(id bigint, account int, key int, kind text, topic text, credits int, period_start bigint, request_id uuid)`;

/** Renews the lease of an instance, also one that has ended and was removed: its id is its own for ever. */
export function renewLease(tx: Transaction, instance: number, leaseMs: number): void {
  tx.last(
    `INSERT INTO instances VALUES ($1, clock_ms(), clock_ms() + $2)
      ON CONFLICT (id) DO UPDATE SET leased_until = excluded.leased_until`,
    [instance, leaseMs],
  );
}

/**
 * The credits of the minute after the clock was set back, or another server has taken over whose clock is behind: what had left
 * the minute is in it again. Charges that lie in the future would fill the minute until the clock has caught up, so all are moved
 * back by as much as makes the newest one just made.
 */
async function creditsAfterSetBack(tx: Transaction, { account, now, minute_start }: UsageRow): Promise<number> {
  const [newest] = await tx.rows<{ at: number | null }>(
    'SELECT max(charged_at) AS at FROM charges WHERE account = $1',
    [account],
  );
  const ahead = (newest!.at ?? now) - now;
  if (ahead > CLOCK_DIFFERENCE_MS) {
    await tx.rows('UPDATE charges SET charged_at = charged_at - $2 WHERE account = $1 AND charged_at > $3', [
      account,
      ahead,
      now,
    ]);
  }
  const [sum] = await tx.rows<{ credits: number }>(
    'SELECT coalesce(sum(credits), 0) AS credits FROM charges WHERE account = $1 AND charged_at > $2',
    [account, minute_start],
  );
  const { credits } = sum!;
  if (ahead > CLOCK_DIFFERENCE_MS) {
    await tx.rows('UPDATE minutes SET minute_from = $2, minute_credits = $3 WHERE account = $1', [
      account,
      minute_start,
      credits,
    ]);
  }
  return credits;
}

export function lockAccounts(tx: Transaction, accounts: readonly number[]): Promise<unknown> {
  return tx.rows('SELECT id FROM accounts WHERE id = ANY($1::int[]) ORDER BY id FOR UPDATE', [accounts]);
}

export function accountsOf(calls: readonly Chargeable[]): number[] {
  return [...new Set(calls.map(({ caller }) => caller.account.id))];
}
