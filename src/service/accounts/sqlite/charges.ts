import type { Statement } from 'better-sqlite3';
import type { Call } from '../../../contract/credits.ts';
import {
  addCharge,
  type BatchTotal,
  CLOCK_DIFFERENCE_MS,
  type LastCall,
  type LimitRules,
  type LimitUsage,
  minuteFromOf,
  newTotal,
  periodStartOf,
  type RateWindow,
  refusalOf,
  retryAfterOf,
} from '../limits.ts';
import type { Charge, Chargeable, ChargeRefusal } from '../port.ts';
import type { ServiceAccount } from '../service-account.ts';
import { type AccountRow, accountOf, SELECT_ACCOUNTS } from './accounts.ts';
import type { AccountsDatabase } from './accounts-database.ts';

export interface Charges {
  /** Makes a check of whether calls would be refused now, for the calls of one transaction. */
  checks(now: number): (account: ServiceAccount, call: Call) => ChargeRefusal | null;
  /** Checks and charges calls, each as if it came after those before it; to be called in an immediate transaction. The
   * charges are pending until they are settled. */
  chargeAll(calls: readonly Chargeable[], now: number): (Charge | ChargeRefusal)[];
}

/** The values of a row of `charges`. */
type ChargeRow = readonly (number | string | null)[];

/**
 * Prepares charging for one instance of the service. All instances on the same accounts, and restarts, share the charges, so
 * quota and minute hold across them.
 *
 * @param instance the number under which charges are pending
 */
export function createCharges(
  accounts: AccountsDatabase,
  instance: number,
  rateWindow: RateWindow,
  lastCall: LastCall = 'refused',
): Charges {
  const rules: LimitRules = { rateWindow, lastCall };
  const creditsOfPeriod = accounts
    .prepare<[number, number], number>('SELECT credits FROM periods WHERE account = ? AND period_start = ?')
    .pluck();
  const accountOfId = accounts.prepare<[number], AccountRow>(`${SELECT_ACCOUNTS} WHERE id = ?`);
  const minuteOf = accounts.prepare<[number], { readonly minute_from: number; readonly minute_credits: number }>(
    'SELECT minute_from, minute_credits FROM minutes WHERE account = ?',
  );
  const creditsBetween = accounts
    .prepare<[number, number, number], number>(
      'SELECT ifnull(sum(credits), 0) FROM charges WHERE account = ? AND charged_at > ? AND charged_at <= ?',
    )
    .pluck();
  const chargesAfter = accounts.prepare<[number, number], { readonly charged_at: number; readonly credits: number }>(
    'SELECT charged_at, credits FROM charges WHERE account = ? AND charged_at > ? ORDER BY charged_at',
  );
  const newestOf = accounts.prepare<[number], number>('SELECT max(charged_at) FROM charges WHERE account = ?').pluck();
  const moveBack = accounts.prepare(
    'UPDATE charges SET charged_at = charged_at - ? WHERE account = ? AND charged_at > ?',
  );
  // Not the highest id of a row: that of a charge that was taken back would be given again.
  const highestId = accounts.prepare<[], number>("SELECT seq FROM sqlite_sequence WHERE name = 'charges'").pluck();
  // One statement for each number of rows: a batch has at most 64, and to run one statement a row takes twice as long.
  const inserts: Statement<unknown[]>[] = [];
  const setMinute = accounts.prepare('INSERT OR REPLACE INTO minutes VALUES (?, ?, ?)');
  const addToPeriod = accounts.prepare(
    `INSERT INTO periods (account, period_start, credits, single, standard, enterprise, allowance, overage_rate)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET credits = credits + excluded.credits, single = single + excluded.single,
       standard = standard + excluded.standard, enterprise = enterprise + excluded.enterprise,
       allowance = excluded.allowance, overage_rate = excluded.overage_rate`,
  );

  function usageOf(account: ServiceAccount, now: number): LimitUsage {
    const periodStart = periodStartOf(account, now);
    const minuteFrom = minuteFromOf(rateWindow, now);
    return {
      now,
      periodStart,
      periodCredits: creditsOfPeriod.get(account.id, periodStart) ?? 0,
      minuteFrom,
      minuteCredits: minuteCredits(account, minuteFrom, now),
    };
  }

  /** The running sum, less what has left the minute since: each charge is added once and subtracted once. */
  function minuteCredits(account: ServiceAccount, from: number, now: number): number {
    const minute = minuteOf.get(account.id);
    if (minute === undefined) return 0;
    if (from < minute.minute_from) return creditsAfterSetBack(account, from, now);
    return minute.minute_credits - creditsBetween.get(account.id, minute.minute_from, from)!;
  }

  /**
   * The sum of the minute after the clock was set back, computed anew: what had left the minute is in it again. Charges that
   * lie in the future would fill the minute until the clock has caught up, so all are moved back by as much as makes the
   * newest one just made. Nobody then waits for more than a minute, and no minute sees more than the limit.
   */
  function creditsAfterSetBack(account: ServiceAccount, from: number, now: number): number {
    const ahead = (newestOf.get(account.id) ?? now) - now;
    if (ahead > CLOCK_DIFFERENCE_MS) moveBack.run(ahead, account.id, now);
    const credits = creditsBetween.get(account.id, from, Number.MAX_SAFE_INTEGER)!;
    if (ahead > CLOCK_DIFFERENCE_MS) setMinute.run(account.id, from, credits);
    return credits;
  }

  /** Why a call would be refused after the calls of a total, in the words of the port. */
  function refused(total: BatchTotal, call: Call, now: number): ChargeRefusal | null {
    const refusal = refusalOf(total, call, rules);
    if (refusal === null) return null;
    if (refusal === 'period') return { failure: 'QUOTA_EXCEEDED' };
    const freedBy = rateWindow === 'fixed' ? null : chargeThatFrees(total, refusal.missing);
    return { failure: 'RATE_LIMITED', retryAfter: retryAfterOf(rules, freedBy, now) };
  }

  /** When the charge was made with which so many credits leave the minute, or null. */
  function chargeThatFrees({ account, before }: BatchTotal, missing: number): number | null {
    let freed = 0;
    for (const { charged_at, credits } of chargesAfter.iterate(account.id, before.minuteFrom)) {
      freed += credits;
      if (freed >= missing) return charged_at;
    }
    return null;
  }

  function totalOf(account: ServiceAccount, totals: Map<number, BatchTotal>, now: number): BatchTotal {
    let total = totals.get(account.id);
    if (total === undefined) {
      total = newTotal(account, usageOf(account, now));
      totals.set(account.id, total);
    }
    return total;
  }

  /** Writes charges as pending. */
  function insert(rows: readonly ChargeRow[]): void {
    inserts[rows.length] ??= accounts.prepare<unknown[]>(
      `INSERT INTO charges (id, account, key, kind, topic, credits, charged_at, period_start, request_id, pending_by)
       VALUES ${rows.map(() => '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}`,
    );
    inserts[rows.length]!.run(rows.flat());
  }

  return {
    checks(now) {
      const totals = new Map<number, BatchTotal>();
      return (account, call) => refused(totalOf(account, totals, now), call, now);
    },
    chargeAll(calls, now) {
      const totals = new Map<number, BatchTotal>();
      const rows: ChargeRow[] = [];
      // Nobody else takes the next ids within the transaction.
      const firstId = (highestId.get() ?? 0) + 1;
      const charged = calls.map(({ caller, call, requestId }) => {
        // Its terms may have changed since the call was checked.
        const total =
          totals.get(caller.account.id) ?? totalOf(accountOf(accountOfId.get(caller.account.id)!), totals, now);
        const refusal = refused(total, call, now);
        if (refusal !== null) return refusal;
        const made: Charge = { id: firstId + rows.length, ...addCharge(total, call, rules) };
        const topic = call.kind === 'single' ? call.topic : null;
        const key = [made.id, caller.account.id, caller.key];
        rows.push([...key, call.kind, topic, made.credits, now, total.before.periodStart, requestId, instance]);
        return made;
      });
      if (rows.length > 0) insert(rows);
      for (const { account, before, credits, calls: counts } of totals.values()) {
        if (credits === 0) continue;
        const { id, subscription } = account;
        setMinute.run(id, before.minuteFrom, before.minuteCredits + credits);
        const { single, standard, enterprise } = counts;
        const { creditsPerMonth, overageRate } = subscription;
        addToPeriod.run(id, before.periodStart, credits, single, standard, enterprise, creditsPerMonth, overageRate);
      }
      return charged;
    },
  };
}
