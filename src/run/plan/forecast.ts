import { billingPeriod } from '../../contract/billing-period.ts';
import { CALL_KINDS, type CallKind } from '../../contract/credits.ts';

export interface Allowance {
  /** Credits that are left of this period, less the reserve. */
  readonly available: number;
  /** Credits of a whole later period, less the reserve. */
  readonly perPeriod: number;
  readonly creditsPerMinute: number;
  readonly anniversaryDay: number;
}

export interface Forecast {
  readonly fits: boolean;
  /** Minutes of buying, in all periods together; 0 if all fits into the first minute. */
  readonly minutes: number;
  /** Billing periods in which credits are spent; null when the allowance never suffices. */
  readonly periods: number | null;
  /** When the last call is made: milliseconds since the epoch; null when never. */
  readonly finishBy: number | null;
}

const MINUTE_MS = 60_000;

/** A hundred years of months: a run that takes longer never ends. */
const MOST_PERIODS = 1_200;

/** Whole minutes in which so many credits are spent: the larger of what the minute limit takes and what the calls take.
 * @param msPerCredit milliseconds that the calls take for a credit, with all connections in use (`callPace`) */
export function minutesFor(credits: number, creditsPerMinute: number, msPerCredit: number): number {
  // The credits of the first minute may be spent at once.
  return Math.max(
    0,
    Math.ceil(credits / creditsPerMinute) - 1,
    Math.round((credits * msPerCredit) / MINUTE_MS),
  );
}

/** When `credits` will have been spent, if everything is bought as soon as rate, quota and the calls allow. */
export function forecast(
  credits: number,
  allowance: Allowance,
  now: number,
  msPerCredit = 0,
): Forecast {
  const { available, perPeriod, creditsPerMinute, anniversaryDay } = allowance;
  const minutes = (amount: number) => minutesFor(amount, creditsPerMinute, msPerCredit);
  if (credits <= available) {
    const needed = minutes(credits);
    return {
      fits: true,
      minutes: needed,
      periods: credits > 0 ? 1 : 0,
      finishBy: now + needed * MINUTE_MS,
    };
  }
  if (perPeriod <= 0)
    return { fits: false, minutes: minutes(credits), periods: null, finishBy: null };
  const later = credits - Math.max(0, available);
  const wholePeriods = Math.ceil(later / perPeriod);
  if (wholePeriods > MOST_PERIODS)
    return { fits: false, minutes: minutes(credits), periods: null, finishBy: null };
  let start = now;
  for (let period = 0; period < wholePeriods; period++)
    start = billingPeriod(anniversaryDay, start).end;
  const last = later - (wholePeriods - 1) * perPeriod;
  return {
    fits: false,
    minutes:
      minutes(Math.max(0, available)) + (wholePeriods - 1) * minutes(perPeriod) + minutes(last),
    periods: wholePeriods + (available > 0 ? 1 : 0),
    finishBy: start + minutes(last) * MINUTE_MS,
  };
}

type ByKind = Readonly<Record<CallKind, number>>;

/** How long a call of each kind takes, in milliseconds, from its entry in the ledger to its settlement. */
export interface CallTimes {
  readonly ms: ByKind;
  /** The kinds whose time was measured at this source; the others are assumed. */
  readonly measured: ReadonlySet<CallKind>;
}

/** Assumed until calls of the source were measured. A lookup service reads several agencies' feeds for a call; an enterprise bundle is 5 to
 * 7 MB. Rejected: no time at all, which gave "under a minute" for 54,072 calls that took 48 minutes. */
export const ASSUMED_CALL_MS: ByKind = { single: 400, standard: 600, enterprise: 2_000 };

/** The embedded service answers from this machine's disk. */
export const EMBEDDED_CALL_MS: ByKind = { single: 10, standard: 15, enterprise: 60 };

/** Fewer calls are not representative: the first ones of a run open connections. */
const LEAST_CALLS = 5;

/** How long a call of each kind takes: the median of the measured ones, or what is assumed where they are too few. A mean would follow
 * the few that waited for a timeout. */
export function callTimes(
  latest: readonly { readonly kind: CallKind; readonly ms: number }[],
  assumed: ByKind,
): CallTimes {
  const ms = { ...assumed };
  const measured = new Set<CallKind>();
  for (const kind of CALL_KINDS) {
    const times = latest
      .filter((call) => call.kind === kind && call.ms >= 0)
      .map((call) => call.ms);
    if (times.length < LEAST_CALLS) continue;
    ms[kind] = times.sort((a, b) => a - b)[Math.floor(times.length / 2)]!;
    measured.add(kind);
  }
  return { ms, measured };
}

/** Calls of a price, and how long one takes on average. */
export interface CallPace {
  /** Milliseconds a call; 0 where there are none. */
  readonly msPerCall: number;
  /** Milliseconds a credit, where so many calls are in flight at once; 0 where there are none. */
  readonly msPerCredit: number;
  readonly measured: boolean;
}

/** How fast calls can be made without a limit of credits. @param atOnce most calls in flight */
export function callPace(
  calls: ByKind,
  credits: number,
  { ms, measured }: CallTimes,
  atOnce: number,
): CallPace {
  const kinds = CALL_KINDS.filter((kind) => calls[kind] > 0);
  const count = kinds.reduce((sum, kind) => sum + calls[kind], 0);
  const inAll = kinds.reduce((sum, kind) => sum + calls[kind] * ms[kind], 0);
  return {
    msPerCall: count === 0 ? 0 : inAll / count,
    msPerCredit: credits === 0 ? 0 : inAll / atOnce / credits,
    measured: kinds.every((kind) => measured.has(kind)),
  };
}
