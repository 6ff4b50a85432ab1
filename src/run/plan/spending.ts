import { steadyTime } from '../../base/clock.ts';
import type { CallKind } from '../../contract/credits.ts';
import type { Job } from '../../job/settings.ts';
import {
  type AccountState,
  accountState,
  LEASE_MS,
  leftOfAllowance,
  periodLimit,
} from '../frame/account-state.ts';
import { purchaseJob } from '../frame/connection-kinds.ts';
import type { RunContext } from '../frame/run-context.ts';
import {
  type Lacking,
  type Price,
  type PriceList,
  priceBundle,
  priceCheapest,
} from './cheapest-calls.ts';
import {
  ASSUMED_CALL_MS,
  type CallPace,
  callPace,
  callTimes,
  EMBEDDED_CALL_MS,
  type Forecast,
  forecast,
} from './forecast.ts';
import { type Demand, findReach, type Reach, reachedBy } from './reach.ts';

/** What bounds the credits of a run: its budget or plan (`spendingLimit`), its time (`max_minutes`), the account's quota. Of two that are
 * equal the first is told: the run's own is what its user can change. */
const BOUNDS = ['run', 'time', 'quota'] as const;

export type SpendingBound = (typeof BOUNDS)[number];

/** Most credits by each bound; infinite for one that the job does not set. */
export type SpendingBounds = Readonly<Record<SpendingBound, number>>;

/** Most credits that a run can spend by all its bounds. */
export function creditsWithin(bounds: SpendingBounds): number {
  return Math.min(...Object.values(bounds));
}

/** Whether a bound holds for certain. That of time holds as far as the speed of calls is known. */
const IS_CERTAIN: Readonly<Record<SpendingBound, boolean>> = {
  run: true,
  quota: true,
  time: false,
};

/** The credits that a run surely spends no more than. */
export function creditsAtMost(bounds: SpendingBounds): number {
  const certain = BOUNDS.filter((name) => IS_CERTAIN[name]);
  return Math.min(...certain.map((name) => bounds[name]));
}

/** The bound that ends a run first; null where the credits are within all. */
export function nearestBound(bounds: SpendingBounds, credits: number): SpendingBound | null {
  const most = creditsWithin(bounds);
  if (credits <= most) return null;
  return BOUNDS.find((name) => bounds[name] === most)!;
}

/** What a run may spend on its cells, and what that buys. All is 0 for local data. */
export interface PlannedSpending {
  readonly price: Price;
  /** Every way to buy, side by side: as the job says, with the fewest credits, with the fewest calls, and by bundles alone. */
  readonly ways: Readonly<
    Record<'planned' | 'cheapest' | 'fewest_calls' | 'standard' | 'enterprise', Way>
  >;
  /** What this run buys within its budget, quota and time. */
  readonly reach: Reach;
  /** The account that pays; null for local data. */
  readonly account: AccountState | null;
  /** What may be spent: `run` by its claims, `quota` by the account, `time` by the minute limits and the speed of calls. */
  readonly bounds: SpendingBounds;
  /** The speed of the calls of `price` without a credit limit. */
  readonly pace: CallPace;
}

/** Plans the spending on cells. @param lacking how many of them lack each set of topics */
export async function planSpending(
  { job, connection, store, source, apiKeys, freshness, deadline, effects }: RunContext,
  demand: Demand,
  lacking: Lacking,
): Promise<PlannedSpending> {
  const isLocal = connection.kind === 'local';
  const { priceList } = demand;
  const { anniversaryDay } = job.account;
  const { account: payer, concurrency } = purchaseJob(job, connection);
  const { creditsPerMinute, overageRate } = payer.subscription;
  const assumed = connection.sample ? EMBEDDED_CALL_MS : ASSUMED_CALL_MS;
  const times = callTimes(isLocal ? [] : await store.callTimes(source, LEASE_MS), assumed);
  const account = isLocal
    ? null
    : await accountState(job.account, store, freshness.startedAt, apiKeys.fingerprints);
  const available = account?.available ?? 0;
  const priced: Lacking = isLocal ? new Map() : lacking;
  const price = priceCheapest(priced, priceList);
  const paceOf = ({ calls, credits }: Price) => callPace(calls, credits, times, concurrency);
  const pace = paceOf(price);
  const leftMs = deadline === null ? null : deadline - steadyTime(effects.clock);
  const bounds: SpendingBounds = {
    run: isLocal ? 0 : spendingLimit(job, price),
    quota: available,
    time: creditsInTime(leftMs, creditsPerMinute, pace),
  };
  const request = { ...demand, creditsPerMinute, msPerCredit: pace.msPerCredit };
  const reach = isLocal
    ? reachedBy(request, { isBought: new Uint8Array(demand.cells.size).fill(1), credits: 0 })
    : findReach(request, creditsWithin(bounds));
  const withinAllowance = account === null ? 0 : leftOfAllowance(account);
  const allowance = {
    available,
    perPeriod: periodLimit(job.account),
    creditsPerMinute,
    anniversaryDay,
  };
  const weighed = (of: Price) => {
    const until = forecast(of.credits, allowance, freshness.startedAt, paceOf(of).msPerCredit);
    return weigh(of, { available, withinAllowance, overageRate }, until);
  };
  const cheapest = (optimize: PriceList['optimize']) =>
    weighed(priceCheapest(priced, { ...priceList, optimize }));
  const ways = {
    planned: weighed(price),
    cheapest: cheapest('credits'),
    fewest_calls: cheapest('calls'),
    standard: weighed(priceBundle('standard', priced, priceList)),
    enterprise: weighed(priceBundle('enterprise', priced, priceList)),
  };
  return { price, ways, reach, account, bounds, pace };
}

/** Most credits for retries: the singles for topics that bundles may report unavailable; where there is a budget, also each call once more,
 * in case its answer is lost, since the service may have charged it. */
export function retryLimit(
  { budget }: Pick<Job, 'budget'>,
  { credits, retryCredits }: Price,
): number {
  return retryCredits + (budget === null ? 0 : credits);
}

/** Most credits that a run may spend: its price with the retries, or the budget if that is less. */
export function spendingLimit(job: Pick<Job, 'budget'>, price: Price): number {
  return Math.min(job.budget ?? Number.POSITIVE_INFINITY, price.credits + retryLimit(job, price));
}

/** Most credits in the remaining time: those of the first minute, spent at once, and of each later one; fewer if the calls are slower. */
function creditsInTime(
  leftMs: number | null,
  creditsPerMinute: number,
  { msPerCredit }: CallPace,
): number {
  if (leftMs === null) return Number.POSITIVE_INFINITY;
  if (leftMs <= 0) return 0;
  return Math.min(
    creditsPerMinute * (Math.floor(leftMs / 60_000) + 1),
    Math.floor(leftMs / msPerCredit),
  );
}

/** The size of each kind of call's body, in bytes, for a forecast of the download. Enterprise: 5 to 7 MB (docs/developer/service-api.md, 2.7). The
 * others are the means of our own service over its sample cities, rounded up. */
export const BODY_BYTES: Readonly<Record<CallKind, number>> = {
  single: 20_000,
  standard: 60_000,
  enterprise: 6_000_000,
};

/** One way to buy, and what it costs in credits, calls, bytes, time and dollars. */
export interface Way {
  readonly price: Price;
  readonly calls: number;
  readonly bytes: number;
  readonly forecast: Forecast;
  /** Dollars that the provider will bill for credits beyond the allowance; 0 where none are allowed. */
  readonly overageDollars: number;
}

export interface WayLimits {
  /** Credits that may be spent in this period. */
  readonly available: number;
  /** Credits of this period that are left before overage begins. */
  readonly withinAllowance: number;
  /** Dollars per credit beyond it; null where the subscription has none. */
  readonly overageRate: number | null;
}

/** Compares a price with what the account has left. */
export function weigh(price: Price, limits: WayLimits, forecast: Forecast): Way {
  const { single, standard, enterprise } = price.calls;
  const inThisPeriod = Math.min(price.credits, limits.available);
  const beyond = Math.max(0, inThisPeriod - limits.withinAllowance);
  return {
    price,
    calls: single + standard + enterprise,
    bytes:
      single * BODY_BYTES.single +
      standard * BODY_BYTES.standard +
      enterprise * BODY_BYTES.enterprise,
    forecast,
    // Whole cents: 3 × $0.04 is 0.12 and not 0.12000000000000001.
    overageDollars: Math.round(beyond * (limits.overageRate ?? 0) * 100) / 100,
  };
}
