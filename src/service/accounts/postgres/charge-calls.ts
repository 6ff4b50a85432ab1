import type { PoolClient } from 'pg';
import { CREDITS } from '../../../contract/credits.ts';
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

/** What a transaction of charges has decided before it is committed. */
export interface DecidedCharges {
  readonly now: number;
  readonly decisions: readonly (AllowedCharge | 'period' | MissingCredits)[];
}

interface ChargeDecision extends DecidedCharges {
  readonly totals: readonly BatchTotal[];
  readonly needsLease: boolean;
}

/**
 * Locks the accounts of a batch, reads what they have used by the clock of the server, and decides on each call as if it came
 * after those before it. One round trip; the transaction stays open.
 */
export async function beginCharging(connection: PoolClient, order: ChargeOrder): Promise<ChargeDecision> {
  const { calls, instance, rules, leaseMs } = order;
  const ids = accountsOf(calls);
  const [, , usage, lease] = await Promise.all([
    connection.query('BEGIN'),
    lockAccounts(connection, ids),
    // Its own statement: it must see what was committed before the lock was had.
    connection.query<UsageRow>({
      name: `usage ${rules.rateWindow}`,
      text: `WITH ${instantSql(rules)} SELECT ${USAGE_COLUMNS} FROM t JOIN accounts a ON a.id = ANY($1::int[]) ${USAGE_JOINS}`,
      values: [ids],
    }),
    connection.query<{ left: number }>({
      name: 'lease',
      text: 'SELECT leased_until - clock_ms() AS left FROM instances WHERE id = $1',
      values: [instance],
    }),
  ]);
  const totals = new Map<number, BatchTotal>();
  for (const row of usage.rows) {
    const account = accountOfRow(row);
    const minute = isSetBack(row) ? await creditsAfterSetBack(connection, row) : null;
    totals.set(account.id, newTotal(account, usageOfRow(row, account, minute)));
  }
  const { now } = usage.rows[0]!;
  const decisions = calls.map(({ caller, call }) => {
    const total = totals.get(caller.account.id)!;
    const refusal = refusalOf(total, call, rules);
    if (refusal === null) return addCharge(total, call, rules, now);
    return refusal === 'period' ? refusal : { total, missing: refusal.missing };
  });
  const left = lease.rows[0]?.left ?? 0;
  return { now, decisions, totals: [...totals.values()], needsLease: left < leaseMs / 3 };
}

/** Writes what was decided and commits, in one round trip. Returns the ids of the charges by request id. */
export async function commitCharges(
  connection: PoolClient,
  order: ChargeOrder,
  { now, decisions, totals, needsLease }: ChargeDecision,
): Promise<ReadonlyMap<string, number>> {
  const { calls, delivered, instance, leaseMs } = order;
  const periodStart = new Map(totals.map(({ account, before }) => [account.id, before.periodStart]));
  const rows = calls
    .filter((_, index) => isAllowed(decisions[index]!))
    .map(({ caller, call, requestId }) => ({
      account: caller.account.id,
      key: caller.key,
      kind: call.kind,
      topic: call.kind === 'single' ? call.topic : null,
      credits: CREDITS[call.kind],
      period_start: periodStart.get(caller.account.id),
      request_id: requestId,
    }));
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
  const [written, , committed] = await Promise.all([
    connection.query<{ id: number; request_id: string }>({
      name: 'charge',
      text: WRITE,
      values: [delivered, instance, now, JSON.stringify(rows), JSON.stringify(sums)],
    }),
    needsLease ? renewLease(connection, instance, leaseMs) : null,
    connection.query('COMMIT'),
  ]);
  // A failed transaction answers COMMIT with ROLLBACK, and its failed statement has thrown before.
  if (committed.command !== 'COMMIT') throw new Error(`The charges were not committed: ${committed.command}`);
  return idsOf(written.rows);
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
  INSERT INTO charges (account, key, kind, topic, credits, charged_at, period_start, request_id, pending_by)
  SELECT account, key, kind, topic, credits, $3, period_start, request_id, $2 FROM json_to_recordset($4::json)
    AS r(account int, key int, kind text, topic text, credits int, period_start bigint, request_id uuid)
  RETURNING id, request_id`;

/** Whether a transaction whose COMMIT was not answered has charged its calls, and under which ids. It waits for the accounts'
 * rows, so that a transaction which is still in progress has ended. Null: it was rolled back. */
export async function findCharges(
  connection: PoolClient,
  { calls, instance }: ChargeOrder,
): Promise<ReadonlyMap<string, number> | null> {
  const [, , found] = await Promise.all([
    connection.query('BEGIN'),
    lockAccounts(connection, accountsOf(calls)),
    connection.query<{ id: number; request_id: string }>(
      'SELECT id, request_id FROM charges WHERE pending_by = $1 AND request_id = ANY($2::uuid[])',
      [instance, calls.map(({ requestId }) => requestId)],
    ),
    connection.query('COMMIT'),
  ]);
  return found.rows.length === 0 ? null : idsOf(found.rows);
}

/** The answers for a batch whose charges are committed. */
export async function chargeResults(
  connection: PoolClient,
  { calls, rules }: ChargeOrder,
  { now, decisions }: DecidedCharges,
  ids: ReadonlyMap<string, number>,
): Promise<(Charge | ChargeRefusal)[]> {
  const missing = decisions.filter((one): one is MissingCredits => one !== 'period' && 'missing' in one);
  const refusals = await rateRefusals(connection, missing, rules, now);
  return decisions.map((decision, index) => {
    if (decision === 'period') return { failure: 'QUOTA_EXCEEDED' };
    if ('missing' in decision) return refusals.get(decision)!;
    return { id: ids.get(calls[index]!.requestId)!, ...decision };
  });
}

/** Renews the lease of an instance, also one that has ended and was removed: its id is its own for ever. */
export function renewLease(connection: PoolClient, instance: number, leaseMs: number): Promise<unknown> {
  return connection.query({
    name: 'renew lease',
    text: `INSERT INTO instances VALUES ($1, clock_ms(), clock_ms() + $2)
      ON CONFLICT (id) DO UPDATE SET leased_until = excluded.leased_until`,
    values: [instance, leaseMs],
  });
}

/**
 * The credits of the minute after the clock was set back, or another server has taken over whose clock is behind: what had left
 * the minute is in it again. Charges that lie in the future would fill the minute until the clock has caught up, so all are moved
 * back by as much as makes the newest one just made.
 */
async function creditsAfterSetBack(connection: PoolClient, { account, now, minute_start }: UsageRow): Promise<number> {
  const newest = await connection.query('SELECT max(charged_at) AS at FROM charges WHERE account = $1', [account]);
  const ahead = (newest.rows[0].at ?? now) - now;
  if (ahead > CLOCK_DIFFERENCE_MS) {
    await connection.query('UPDATE charges SET charged_at = charged_at - $2 WHERE account = $1 AND charged_at > $3', [
      account,
      ahead,
      now,
    ]);
  }
  const sum = await connection.query(
    'SELECT coalesce(sum(credits), 0) AS credits FROM charges WHERE account = $1 AND charged_at > $2',
    [account, minute_start],
  );
  if (ahead > CLOCK_DIFFERENCE_MS) {
    await connection.query('UPDATE minutes SET minute_from = $2, minute_credits = $3 WHERE account = $1', [
      account,
      minute_start,
      sum.rows[0].credits,
    ]);
  }
  return sum.rows[0].credits;
}

function lockAccounts(connection: PoolClient, ids: readonly number[]): Promise<unknown> {
  return connection.query({
    name: 'lock accounts',
    text: 'SELECT id FROM accounts WHERE id = ANY($1::int[]) ORDER BY id FOR UPDATE',
    values: [ids],
  });
}

function accountsOf(calls: readonly Chargeable[]): number[] {
  return [...new Set(calls.map(({ caller }) => caller.account.id))];
}

function isAllowed(decision: DecidedCharges['decisions'][number]): decision is AllowedCharge {
  return decision !== 'period' && 'credits' in decision;
}

function idsOf(rows: readonly { readonly id: number; readonly request_id: string }[]): ReadonlyMap<string, number> {
  return new Map(rows.map(({ id, request_id }) => [request_id, id]));
}
