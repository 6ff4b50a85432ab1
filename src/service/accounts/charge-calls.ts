import {
  type EngineDialect,
  readRows,
  readTogether,
  type SqlStatement,
  type SqlValue,
  type SqlWork,
  statement,
  write,
} from '../../sql/sql-work.ts';
import { chargeRefusals, creditsAfterSetBack, isSetBack, lockedUsage, totalOfRow } from './account-usage.ts';
import type { Charge, Chargeable, ChargeRefusal } from './calls.ts';
import { addCharge, type BatchTotal, findRefusal, type LastCall } from './limits.ts';
import type { Presence } from './presence.ts';

export interface ChargeOrder {
  readonly calls: readonly Chargeable[];
  readonly instance: number;
}

/** The id of SQLite's newest charge, reversed ones included: ids are not reused. */
const NEWEST_ID = "(SELECT seq FROM sqlite_sequence WHERE name = 'charges')";

/** Checks and charges calls in order, by the present terms of their accounts. The first
 * round trip locks the accounts and reads all needed rows; the last one writes and commits. */
export function* chargeCalls(
  dialect: EngineDialect,
  presence: Presence,
  lastCall: LastCall,
  order: ChargeOrder,
): SqlWork<{ readonly now: number; readonly results: (Charge | ChargeRefusal)[] }> {
  const { calls, instance } = order;
  const [usage, isDue, numbers] = yield* readTogether(
    lockedUsage(dialect, listAccounts(calls)),
    presence.isDue(instance),
    readRows(dialect.newNumbers('charges', 'id', NEWEST_ID, calls.length)),
  );
  const totals = new Map<number, BatchTotal>();
  for (const row of usage) {
    const minuteCredits = isSetBack(row) ? yield* creditsAfterSetBack(row) : null;
    totals.set(row.id, totalOfRow(row, minuteCredits));
  }
  const rows: SqlValue[][] = [];
  const decisions = calls.map(({ caller, call, requestId }) => {
    const total = totals.get(caller.account.id)!;
    const refusal = findRefusal(total, call, lastCall);
    if (refusal !== null) return { total, refusal, charge: null };
    const charge: Charge = { id: numbers[rows.length]!.number, ...addCharge(total, call) };
    const topic = call.kind === 'single' ? call.topic : null;
    const { now, periodStart } = total.before;
    const key = [charge.id, caller.account.id, caller.key];
    rows.push([...key, call.kind, topic, charge.credits, now, periodStart, requestId, instance]);
    return { total, refusal, charge };
  });
  const refusals = yield* chargeRefusals(decisions);
  yield* write(
    ...(rows.length === 0 ? [] : [insertion(rows)]),
    ...[...totals.values()].flatMap(additions),
    ...(isDue ? presence.renewal(instance) : []),
  );
  const results = decisions.map(({ charge }, index) => charge ?? refusals[index]!);
  return { now: usage[0]!.now, results };
}

/** The accounts of calls, by ascending ids. */
export function listAccounts(calls: readonly Chargeable[]): number[] {
  return [...new Set(calls.map(({ caller }) => caller.account.id))].sort((a, b) => a - b);
}

/** Writes charges as pending. As many VALUES as rows, of which a batch has at most 64: SQLite takes three times as long to read
 * them from JSON. */
function insertion(rows: readonly (readonly SqlValue[])[]): SqlStatement {
  const tuples = rows.map((row, at) => `(${row.map((_, column) => `$${at * row.length + column + 1}`).join(', ')})`);
  const sql = `INSERT INTO charges (id, account, key, kind, topic, credits, charged_at, period_start, request_id, pending_by)
    VALUES ${tuples.join(', ')}`;
  return statement(sql, rows.flat());
}

/** Adds the charges of a batch to the account's sums of minute and period. */
function additions({ account, before, credits, calls }: BatchTotal): SqlStatement[] {
  if (credits === 0) return [];
  const { creditsPerMonth, overageRate } = account.subscription;
  const { single, standard, enterprise } = calls;
  return [
    statement(
      `INSERT INTO minutes (account, minute_from, minute_credits) VALUES ($1, $2, $3)
       ON CONFLICT (account) DO UPDATE SET minute_from = excluded.minute_from, minute_credits = excluded.minute_credits`,
      [account.id, before.minuteFrom, before.minuteCredits + credits],
    ),
    statement(
      `INSERT INTO periods AS old (account, period_start, credits, single, standard, enterprise, allowance, overage_rate)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
       ON CONFLICT (account, period_start) DO UPDATE SET credits = old.credits + excluded.credits,
         single = old.single + excluded.single, standard = old.standard + excluded.standard,
         enterprise = old.enterprise + excluded.enterprise, allowance = excluded.allowance, overage_rate = excluded.overage_rate`,
      [account.id, before.periodStart, credits, single, standard, enterprise, creditsPerMonth, overageRate],
    ),
  ];
}
