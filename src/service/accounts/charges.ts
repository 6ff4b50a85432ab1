import { billingPeriod } from '../../contract/billing-period.ts';
import { type Call, type CallKind, CREDITS } from '../../contract/credits.ts';
import { RATE_WINDOW_MS } from '../../contract/subscriptions.ts';
import type { ServiceAccount } from './accounts.ts';
import type { AccountsDatabase } from './accounts-database.ts';
import type { Caller } from './authenticate.ts';
import { type ChargeRow, createChargeRows } from './charge-rows.ts';

/** How the credits of a minute are counted: of the last 60 s at every instant, or of the clock's minute. */
export type RateWindow = 'sliding' | 'fixed';

/** What becomes of a call that costs more than the period has left, with overages off: refused, or, as a provider may read
 * its contract, served as long as anything is left. */
export type LastCall = 'refused' | 'served';

/** Why a call may not be charged now. */
export type ChargeRefusal =
  | { readonly failure: 'QUOTA_EXCEEDED' }
  | {
      readonly failure: 'RATE_LIMITED';
      /** Whole seconds until the call would fit, rounded up. */
      readonly retryAfter: number;
    };

/** A charge that was made, and how the minute stands after it. */
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
  /** Begins to tell whether calls would be refused now, for those of one transaction; writes nothing. */
  checks(now: number): (account: ServiceAccount, call: Call) => ChargeRefusal | null;
  /** Checks and charges calls, each as if it came after those before it; to be called in an immediate transaction. Charges
   * are pending until they are settled. */
  chargeAll(calls: readonly Chargeable[], now: number): (Charge | ChargeRefusal)[];
}

/** Another instance may have charged between reading the clock and getting the lock: no clock was set back then. */
const APART_MS = 1_000;

/** What an account has used, as far as it limits the next call. */
interface LimitUsage {
  readonly periodStart: number;
  readonly periodCredits: number;
  /** Charges after this instant count in the minute. */
  readonly cut: number;
  readonly minuteCredits: number;
}

/** The standing of an account to which charges are added that are written together. */
interface BatchTotal {
  readonly account: ServiceAccount;
  readonly before: LimitUsage;
  credits: number;
  readonly calls: Record<CallKind, number>;
}

/**
 * Prepares charging for one instance of the service. All instances on a accounts, and restarts, share the charges, so
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
  const datedBack = accounts.prepare(
    'UPDATE charges SET charged_at = charged_at - ? WHERE account = ? AND charged_at > ?',
  );
  const { nextId, insert } = createChargeRows(accounts, instance);
  const setMinute = accounts.prepare('INSERT OR REPLACE INTO minutes VALUES (?, ?, ?)');
  const addToPeriod = accounts.prepare(
    `INSERT INTO periods (account, period_start, credits, single, standard, enterprise, allowance, overage_rate)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET credits = credits + excluded.credits, single = single + excluded.single,
       standard = standard + excluded.standard, enterprise = enterprise + excluded.enterprise,
       allowance = excluded.allowance, overage_rate = excluded.overage_rate`,
  );

  function standingOf(account: ServiceAccount, now: number): LimitUsage {
    const { start } = billingPeriod(new Date(account.signedUpAt).getUTCDate(), now);
    const cut = rateWindow === 'sliding' ? now - RATE_WINDOW_MS : windowStart(now) - 1;
    return {
      periodStart: start,
      periodCredits: creditsOfPeriod.get(account.id, start) ?? 0,
      cut,
      minuteCredits: minuteCredits(account, cut, now),
    };
  }

  /** The running sum, less what has left the minute since: each charge is added once and subtracted once. */
  function minuteCredits(account: ServiceAccount, cut: number, now: number): number {
    const minute = minuteOf.get(account.id);
    if (minute === undefined) return 0;
    if (cut < minute.minute_from) return afterSetBack(account, cut, now);
    return minute.minute_credits - creditsBetween.get(account.id, minute.minute_from, cut)!;
  }

  /**
   * The sum of the minute after the clock was set back: anew, since what had left the minute is in it again. Charges that
   * lie in the future would fill it until the clock has caught up, with a Retry-After of as long. So they are dated back, all
   * by as much: the newest was made just now. Nobody waits for more than a minute then, and none sees more than the limit.
   */
  function afterSetBack(account: ServiceAccount, cut: number, now: number): number {
    const ahead = (newestOf.get(account.id) ?? now) - now;
    if (ahead > APART_MS) datedBack.run(ahead, account.id, now);
    const credits = creditsBetween.get(account.id, cut, Number.MAX_SAFE_INTEGER)!;
    if (ahead > APART_MS) setMinute.run(account.id, cut, credits);
    return credits;
  }

  function refusalOf(
    { account, before, credits: added }: BatchTotal,
    credits: number,
    now: number,
  ): ChargeRefusal | null {
    const { creditsPerMonth, creditsPerMinute } = account.subscription;
    const left = creditsPerMonth - before.periodCredits - added;
    if (!account.overages && left < (lastCall === 'refused' ? credits : 1)) {
      return { failure: 'QUOTA_EXCEEDED' };
    }
    const over = before.minuteCredits + added + credits - creditsPerMinute;
    return over > 0 ? { failure: 'RATE_LIMITED', retryAfter: secondsUntilFreed(account, over, before, now) } : null;
  }

  function secondsUntilFreed(account: ServiceAccount, needed: number, { cut }: LimitUsage, now: number): number {
    if (rateWindow === 'fixed') return wholeSeconds(windowStart(now) + RATE_WINDOW_MS - now);
    let freed = 0;
    for (const { charged_at, credits } of chargesAfter.iterate(account.id, cut)) {
      freed += credits;
      if (freed >= needed) return wholeSeconds(Math.min(charged_at + RATE_WINDOW_MS - now, RATE_WINDOW_MS));
    }
    // The call costs more than the limit: it never fits, and the whole minute is as good an answer as any.
    return wholeSeconds(RATE_WINDOW_MS);
  }

  function tallyOf(account: ServiceAccount, tallies: Map<number, BatchTotal>, now: number): BatchTotal {
    let tally = tallies.get(account.id);
    if (tally === undefined) {
      const calls = { single: 0, standard: 0, enterprise: 0 };
      tally = { account, before: standingOf(account, now), credits: 0, calls };
      tallies.set(account.id, tally);
    }
    return tally;
  }

  /** The charge of a call under the next id, which is not written yet. */
  function charge(tally: BatchTotal, { call }: Chargeable, id: number, now: number): Charge | ChargeRefusal {
    const { account, before } = tally;
    const credits = CREDITS[call.kind];
    const refusal = refusalOf(tally, credits, now);
    if (refusal !== null) return refusal;
    tally.credits += credits;
    tally.calls[call.kind] += 1;
    return {
      id,
      credits,
      limit: account.subscription.creditsPerMinute,
      remaining: account.subscription.creditsPerMinute - before.minuteCredits - tally.credits,
      // Of a sliding minute, the charge just made is the last to leave it.
      resetSeconds: wholeSeconds(rateWindow === 'sliding' ? RATE_WINDOW_MS : windowStart(now) + RATE_WINDOW_MS - now),
    };
  }

  function chargeAll(calls: readonly Chargeable[], now: number): (Charge | ChargeRefusal)[] {
    const tallies = new Map<number, BatchTotal>();
    const rows: ChargeRow[] = [];
    const firstId = nextId();
    const charged = calls.map((one) => {
      const tally = tallyOf(one.caller.account, tallies, now);
      const made = charge(tally, one, firstId + rows.length, now);
      if (!('failure' in made)) rows.push(rowOf(one, made, tally.before.periodStart, now));
      return made;
    });
    insert(rows);
    for (const { account, before, credits, calls: counts } of tallies.values()) {
      if (credits === 0) continue;
      setMinute.run(account.id, before.cut, before.minuteCredits + credits);
      const { single, standard, enterprise } = counts;
      const { creditsPerMonth, overageRate } = account.subscription;
      const { periodStart } = before;
      addToPeriod.run(account.id, periodStart, credits, single, standard, enterprise, creditsPerMonth, overageRate);
    }
    return charged;
  }

  return {
    checks(now) {
      const tallies = new Map<number, BatchTotal>();
      return (account, call) => refusalOf(tallyOf(account, tallies, now), CREDITS[call.kind], now);
    },
    chargeAll,
  };
}

function rowOf(
  { caller, call, requestId }: Chargeable,
  { id, credits }: Charge,
  periodStart: number,
  now: number,
): ChargeRow {
  const topic = call.kind === 'single' ? call.topic : null;
  return {
    id,
    account: caller.account.id,
    key: caller.key,
    kind: call.kind,
    topic,
    credits,
    chargedAt: now,
    periodStart,
    requestId,
  };
}

/** The start of the clock's minute that holds `now`. */
function windowStart(now: number): number {
  return Math.floor(now / RATE_WINDOW_MS) * RATE_WINDOW_MS;
}

function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1_000);
}
