import type { Claim, PeriodSpending, Spending } from './port.ts';
import type { RecentCalls } from './recent-calls.ts';

/** A little longer than a minute, because clocks differ; shorter than the throttle's own margin, so that a single process is
 * paced by its throttle and not by refused claims. */
export const MINUTE_MARGIN_MS = 100;

/** The ledger's figures at the moment of a claim. */
export interface Usage {
  readonly period: PeriodSpending;
  readonly run: Spending;
  /** Credits of calls in flight. */
  readonly inFlight: number;
  /** Calls that settled within the last minute. */
  readonly recent: RecentCalls;
}

export interface AdmissionLimits {
  readonly periodLimit: number;
  readonly creditsPerMinute: number;
  readonly budget: number;
  readonly windowMs: number;
}

/**
 * Whether `credits` more may be spent now: null if allowed, else the reason.
 *
 * A call takes part in the minute from its claim until a minute after it settled: the service charges somewhere between
 * the two, so no 60 s at the service can hold more than the limit. Credits whose charge is unknown count as spent.
 */
export function refusal(
  usage: Usage,
  limits: AdmissionLimits,
  credits: number,
  now: number,
): Exclude<Claim, { outcome: 'granted' }> | null {
  if (total(usage.run) + credits > limits.budget) return { outcome: 'budget' };
  if (usage.period.exhaustedAt !== null || credits > periodLeft(usage.period, limits.periodLimit))
    return { outcome: 'quota' };
  const window = limits.windowMs + MINUTE_MARGIN_MS;
  let inWindow = usage.recent.credits + usage.inFlight;
  if (inWindow + credits <= limits.creditsPerMinute) return null;
  for (const call of usage.recent.calls()) {
    const ms = call.settledAt + window - now;
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
