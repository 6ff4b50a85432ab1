import { RATE_WINDOW_MS } from '../../contract/subscriptions.ts';
import type { Claim, ClaimLimits, PeriodSpending, Spending } from './port.ts';

/** How long a settled call counts in the minute. A little longer than a minute, because clocks differ; shorter than in the throttle, so
 * that a single process is paced by its throttle and not by refused claims. */
export const COUNTED_MS = RATE_WINDOW_MS + 100;

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
  key: string,
): Exclude<Claim, { outcome: 'granted' }> | null {
  if (total(usage.run) + credits > limits.budget) return { outcome: 'budget' };
  const { periodLimit } = limits;
  if (isUsedUp(usage.period, periodLimit, [key]) || credits > periodLeft(usage.period, periodLimit))
    return { outcome: 'quota' };
  let inWindow = usage.recent.credits + usage.inFlight;
  if (inWindow + credits <= limits.creditsPerMinute) return null;
  for (const call of usage.recent.calls()) {
    const ms = call.settledAt + COUNTED_MS - now;
    inWindow -= call.credits;
    if (inWindow + credits <= limits.creditsPerMinute)
      return { outcome: 'wait', for: 'minute', ms: Math.max(1, ms) };
  }
  // The minute is full of calls in flight, which settle at an unknown time.
  return { outcome: 'wait', for: 'minute', ms: IN_FLIGHT_WAIT_MS };
}

/** Whether it holds that the service called the quota used up: it said so under this limit, to one of these keys. Where overages, the
 * subscription or the key have changed since, the service may grant what it refused, and is asked. A refusal is free.
 * @param keys fingerprints; left out: any */
export function isUsedUp(
  { exhaustedAt, exhaustedTerms }: PeriodSpending,
  periodLimit: number,
  keys?: readonly string[],
): boolean {
  if (exhaustedAt === null) return false;
  if (exhaustedTerms === undefined) return true;
  const { limit, key } = exhaustedTerms;
  return limit === periodLimit && (keys?.includes(key) ?? true);
}

/** How long to wait for calls in flight, perhaps of another process: no database tells all of them when one has settled. */
export const IN_FLIGHT_WAIT_MS = 250;

/** Credits that other runs spent in the last minute or have in flight. */
export function byOthers({ recent, inFlight, run }: Usage, number: number): number {
  return recent.credits - recent.creditsOf(number) + Math.max(0, inFlight - run.open);
}

/** Credits of the period that may still be spent here: one arithmetic for plans and claims. Below 0 when overspent. */
export function periodLeft(period: PeriodSpending, periodLimit: number): number {
  return periodLimit - total(period) - (period.later ?? 0) - (period.correction?.elsewhere ?? 0);
}

/** Credits that count against a limit: open and unknown calls as if they were charged. */
export function total({ charged, unknown, open }: Spending): number {
  return charged + unknown + open;
}

/** A call that was charged, or may have been, and when it settled by the ledger's own time. */
export interface RecentCall {
  readonly run: number;
  readonly credits: number;
  readonly settledAt: number;
}

/** The calls of an account that settled within a window. Keeps their sums, because each claim needs them and the calls may be 100,000. */
export class RecentCalls {
  #calls: RecentCall[] = [];
  /** Where the window begins. The calls before it are dropped when they are half of all: dropping them at each claim moved all others. */
  #first = 0;
  #credits = 0;
  readonly #ofRuns = new Map<number, number>();

  get credits(): number {
    return this.#credits;
  }

  creditsOf(run: number): number {
    return this.#ofRuns.get(run) ?? 0;
  }

  /** Oldest first. */
  *calls(): Iterable<RecentCall> {
    for (let at = this.#first; at < this.#calls.length; at++) yield this.#calls[at]!;
  }

  /** When the newest call settled; 0 where there is none. */
  get latest(): number {
    return this.#first < this.#calls.length ? this.#calls.at(-1)!.settledAt : 0;
  }

  /** Adds the calls that settled from `latest` on, oldest first: further calls may have settled in the same millisecond. The store
   * guarantees that settlement times never decrease. */
  add(newer: readonly RecentCall[]): void {
    const { latest } = this;
    while (this.#calls.length > this.#first && this.latest === latest)
      this.#count(this.#calls.pop()!, -1);
    for (const call of newer) {
      this.#calls.push(call);
      this.#count(call, 1);
    }
  }

  /** Removes the calls that settled at a time or before. */
  forget(until: number): void {
    while (this.#first < this.#calls.length && this.#calls[this.#first]!.settledAt <= until) {
      this.#count(this.#calls[this.#first++]!, -1);
    }
    if (2 * this.#first < this.#calls.length) return;
    this.#calls = this.#calls.slice(this.#first);
    this.#first = 0;
  }

  #count({ run, credits }: RecentCall, sign: 1 | -1): void {
    this.#credits += sign * credits;
    this.#ofRuns.set(run, this.creditsOf(run) + sign * credits);
  }
}
