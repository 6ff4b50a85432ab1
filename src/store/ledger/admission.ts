import { RATE_WINDOW_MS } from '../../contract/subscriptions.ts';
import type { Claim, ClaimLimits, PeriodSpending, Spending } from './port.ts';
import type { RecentCalls } from './recent-calls.ts';

/** How long a settled call counts in the minute. A little longer than a minute, because clocks differ; shorter than in the throttle, so
 * that a single process is paced by its throttle and not by refused claims. */
export const COUNTED_MS = RATE_WINDOW_MS + 100;

/** The ledger's figures at the moment of a claim. */
export interface Usage {
  readonly period: PeriodSpending;
  readonly run: Spending;
  readonly inFlight: number;
  readonly recent: RecentCalls;
}

/** Whether `credits` more may be spent now: null if allowed, else the reason.
 *
 * A call takes part in the minute from its claim until a minute after it settled: the service charges somewhere between
 * the two, so no 60 s at the service can hold more than the limit. Credits whose charge is unknown count as spent. */
export function refusal(
  usage: Usage,
  limits: Pick<ClaimLimits, 'periodLimit' | 'creditsPerMinute' | 'budget'>,
  credits: number,
  now: number,
): Exclude<Claim, { outcome: 'granted' }> | null {
  if (total(usage.run) + credits > limits.budget) return { outcome: 'budget' };
  if (usage.period.exhaustedAt !== null || credits > periodLeft(usage.period, limits.periodLimit))
    return { outcome: 'quota' };
  let inWindow = usage.recent.credits + usage.inFlight;
  if (inWindow + credits <= limits.creditsPerMinute) return null;
  for (const call of usage.recent.calls()) {
    const ms = call.settledAt + COUNTED_MS - now;
    inWindow -= call.credits;
    if (inWindow + credits <= limits.creditsPerMinute) return { outcome: 'wait', ms: Math.max(1, ms) };
  }
  // The minute is full of calls in flight, which settle at an unknown time.
  return { outcome: 'wait', ms: IN_FLIGHT_WAIT_MS };
}

const IN_FLIGHT_WAIT_MS = 250;

/** Credits that other runs spent in the last minute or have in flight. */
export function byOthers({ recent, inFlight, run }: Usage, number: number): number {
  return recent.credits - recent.creditsOf(number) + Math.max(0, inFlight - run.open);
}

/** Credits of the period that may still be spent here: one arithmetic for plans and claims. Below 0 when overspent. */
export function periodLeft(period: PeriodSpending, periodLimit: number): number {
  return periodLimit - total(period) - (period.later ?? 0) - (period.correction?.elsewhere ?? 0);
}

export function total({ charged, unknown, open }: Spending): number {
  return charged + unknown + open;
}
