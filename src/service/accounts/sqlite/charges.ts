import type { Statement } from 'better-sqlite3';
import { billingPeriod } from '../../../contract/billing-period.ts';
import { type Call, type CallKind, CREDITS } from '../../../contract/credits.ts';
import { RATE_WINDOW_MS } from '../../../contract/subscriptions.ts';
import type { ServiceAccount } from './accounts.ts';
import type { AccountsDatabase } from './accounts-database.ts';
import type { Caller } from './authenticate.ts';

/** How the credits of a minute are counted: those of the last 60 s at every instant, or those of the clock's minute. */
export type RateWindow = 'sliding' | 'fixed';

/** What happens to a call that costs more than the period has left, with overages off: it is refused or, as a provider may
 * read its contract (docs/service-api.md, 7.9), served as long as anything is left. */
export type LastCall = 'refused' | 'served';

/** Why a call may not be charged now. */
export type ChargeRefusal =
  | { readonly failure: 'QUOTA_EXCEEDED' }
  | {
      readonly failure: 'RATE_LIMITED';
      /** Whole seconds until the call would fit, rounded up. */
      readonly retryAfter: number;
    };

/** A charge that was made, and the state of the minute after it. */
export interface Charge {
  readonly id: number;
  readonly credits: number;
  /** Credits a minute. */
  readonly limit: number;
  readonly remaining: number;
  /** Whole seconds, rounded up, until the whole limit is there again. */
  readonly resetSeconds: number;
}

/** A call that is answered and not charged yet. */
export interface Chargeable {
  readonly caller: Caller;
  readonly call: Call;
  readonly requestId: string;
}

export interface Charges {
  /** Makes a check of whether calls would be refused now, for the calls of one transaction. */
  checks(now: number): (account: ServiceAccount, call: Call) => ChargeRefusal | null;
  /** Checks and charges calls, each as if it came after those before it; to be called in an immediate transaction. The
   * charges are pending until they are settled. */
  chargeAll(calls: readonly Chargeable[], now: number): (Charge | ChargeRefusal)[];
}

/** Another instance may have charged between this one's reading of the clock and its lock. Charges that lie less than this
 * ahead, in milliseconds, do not mean that the clock was set back. */
const CLOCK_DIFFERENCE_MS = 1_000;

/** What an account has used, as far as it limits the next call. */
interface LimitUsage {
  readonly periodStart: number;
  readonly periodCredits: number;
  /** Charges after this instant count in the minute. */
  readonly minuteFrom: number;
  readonly minuteCredits: number;
}

/** The values of a row of `charges`. */
type ChargeRow = readonly (number | string | null)[];

/** What an account had used before a batch of calls, and what the batch adds. */
interface BatchTotal {
  readonly account: ServiceAccount;
  readonly before: LimitUsage;
  credits: number;
  readonly calls: Record<CallKind, number>;
}

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
  const creditsOfPeriod = accounts
    .prepare<[number, number], number>('SELECT credits FROM periods WHERE account = ? AND period_start = ?')
    .pluck();
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
  const highestId = accounts.prepare<[], number | null>('SELECT max(id) FROM charges').pluck();
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
    const { start } = billingPeriod(new Date(account.signedUpAt).getUTCDate(), now);
    const minuteFrom = rateWindow === 'sliding' ? now - RATE_WINDOW_MS : windowStart(now) - 1;
    return {
      periodStart: start,
      periodCredits: creditsOfPeriod.get(account.id, start) ?? 0,
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

  function refusalOf(
    { account, before, credits: added }: BatchTotal,
    credits: number,
    now: number,
  ): ChargeRefusal | null {
    const { creditsPerMonth, creditsPerMinute } = account.subscription;
    const left = creditsPerMonth - before.periodCredits - added;
    if (!account.overages && left < (lastCall === 'refused' ? credits : 1)) return { failure: 'QUOTA_EXCEEDED' };
    const over = before.minuteCredits + added + credits - creditsPerMinute;
    return over > 0 ? { failure: 'RATE_LIMITED', retryAfter: secondsUntilFreed(account, over, before, now) } : null;
  }

  function secondsUntilFreed(account: ServiceAccount, needed: number, { minuteFrom }: LimitUsage, now: number): number {
    if (rateWindow === 'fixed') return wholeSeconds(windowStart(now) + RATE_WINDOW_MS - now);
    let freed = 0;
    for (const { charged_at, credits } of chargesAfter.iterate(account.id, minuteFrom)) {
      freed += credits;
      if (freed >= needed) return wholeSeconds(Math.min(charged_at + RATE_WINDOW_MS - now, RATE_WINDOW_MS));
    }
    // The call costs more than the limit, so it never fits; a whole minute is as good an answer as any.
    return wholeSeconds(RATE_WINDOW_MS);
  }

  function totalOf(account: ServiceAccount, totals: Map<number, BatchTotal>, now: number): BatchTotal {
    let total = totals.get(account.id);
    if (total === undefined) {
      const calls = { single: 0, standard: 0, enterprise: 0 };
      total = { account, before: usageOf(account, now), credits: 0, calls };
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

  /** Adds a charge to its account's total, or tells why it is refused. */
  function charge(total: BatchTotal, call: Call, id: number, now: number): Charge | ChargeRefusal {
    const { account, before } = total;
    const credits = CREDITS[call.kind];
    const refusal = refusalOf(total, credits, now);
    if (refusal !== null) return refusal;
    total.credits += credits;
    total.calls[call.kind] += 1;
    const { creditsPerMinute } = account.subscription;
    return {
      id,
      credits,
      limit: creditsPerMinute,
      remaining: creditsPerMinute - before.minuteCredits - total.credits,
      // Of a sliding minute, the charge just made is the last to leave it.
      resetSeconds: wholeSeconds(rateWindow === 'sliding' ? RATE_WINDOW_MS : windowStart(now) + RATE_WINDOW_MS - now),
    };
  }

  return {
    checks(now) {
      const totals = new Map<number, BatchTotal>();
      return (account, call) => refusalOf(totalOf(account, totals, now), CREDITS[call.kind], now);
    },
    chargeAll(calls, now) {
      const totals = new Map<number, BatchTotal>();
      const rows: ChargeRow[] = [];
      // Nobody else takes the next ids within the transaction.
      const firstId = (highestId.get() ?? 0) + 1;
      const charged = calls.map(({ caller, call, requestId }) => {
        const total = totalOf(caller.account, totals, now);
        const made = charge(total, call, firstId + rows.length, now);
        if ('failure' in made) return made;
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

/** The start of the clock's minute that holds `now`. */
function windowStart(now: number): number {
  return Math.floor(now / RATE_WINDOW_MS) * RATE_WINDOW_MS;
}

function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1_000);
}
