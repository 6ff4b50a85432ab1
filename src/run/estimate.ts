import { steadyTime } from '../base/clock.ts';
import { shareOf } from '../base/format-numbers.ts';
import { CREDITS } from '../contract/credits.ts';
import { RATE_WINDOW_MS } from '../contract/subscriptions.ts';
import { UNLIMITED } from '../job/account-settings.ts';
import { purchaseJob } from './frame/connection-kinds.ts';
import type { Progress } from './frame/progress.ts';
import type { Reach } from './plan/reach.ts';
import { creditsWithin, type SpendingBounds } from './plan/spending.ts';
import type { Prepared } from './prepare.ts';
import { totalValue } from './scan/scan-tally.ts';

/** Facts about a run for its progress. They do not change while it buys. */
export interface RunFacts {
  /** When buying began, on the monotonic clock. */
  readonly startedAt: number;
  readonly rows: number;
  /** What this run can buy within its budget, quota and time. */
  readonly reach: Pick<Reach, 'credits' | 'cells'>;
  /** The value of all cells, and of those that were complete before; 0 in the order of the file. */
  readonly value: number;
  readonly valueBefore: number;
  readonly budget: number | null;
  /** Credits a minute; Infinity for the sample, which has no minute limit. */
  readonly creditsPerMinute: number;
  /** When `max_minutes` ends the buying, on the monotonic clock; null: never. */
  readonly deadline: number | null;
}

/** What the display needs of a run, from its plan; it stays the same while the run goes on. */
export function runFacts({
  job,
  plan,
  summary,
  deadline,
  connection,
  effects: { clock },
}: Prepared): RunFacts {
  const perMinute = purchaseJob(job, connection).account.subscription.creditsPerMinute;
  return {
    startedAt: steadyTime(clock),
    rows: summary.rows,
    reach: plan.reach,
    value: totalValue(plan.scan),
    valueBefore: plan.reach.complete.value - plan.reach.value,
    budget: job.budget,
    creditsPerMinute: perMinute < UNLIMITED.creditsPerMinute ? perMinute : Number.POSITIVE_INFINITY,
    deadline,
  };
}

/** Credits spent in the last `ms`, a minute at most. */
export interface LastMinute {
  readonly credits: number;
  readonly ms: number;
}

/** Measures the credits of the last minute by sampling their sum: credits, not cells, are what the service limits. */
export class MinuteMeter {
  readonly #samples: { readonly at: number; readonly credits: number }[] = [];

  /** @param at on the monotonic clock @param credits spent so far */
  add(at: number, credits: number): LastMinute {
    this.#samples.push({ at, credits });
    // The minute begins at the newest sample that is a minute old.
    while (this.#samples.length > 2 && this.#samples[1]!.at <= at - RATE_WINDOW_MS)
      this.#samples.shift();
    const from = this.#samples[0]!;
    const [spent, ms] = [credits - from.credits, at - from.at];
    // The last sample may be older than a minute.
    if (ms <= RATE_WINDOW_MS) return { credits: spent, ms };
    return { credits: (spent * RATE_WINDOW_MS) / ms, ms: RATE_WINDOW_MS };
  }
}

/** Credits that were spent or may have been. */
export function spentOf({ creditsSpent, creditsUnknown }: Progress): number {
  return creditsSpent + creditsUnknown;
}

/** Credits of the period that this run may still spend; null before the ledger was read. */
function quotaLeft(progress: Progress): number | null {
  const { ledgerLeft } = progress;
  return ledgerLeft && Math.max(0, ledgerLeft.credits - (spentOf(progress) - ledgerLeft.spent));
}

/** Estimates the minutes left from credits, not rows, because the minute limit is in credits. It uses the slower of two rates: the limit's,
 * with the rest of this minute; and the credits spent in the last minute, which are fewer if the service is slow or asks to slow down.
 * @returns null where there is no rate to estimate from */
export function minutesLeft(
  progress: Progress,
  facts: RunFacts,
  last: LastMinute,
  steady: number,
): number | null {
  const spent = spentOf(progress);
  const left: SpendingBounds = {
    run: facts.budget === null ? Number.POSITIVE_INFINITY : Math.max(0, facts.budget - spent),
    quota: quotaLeft(progress) ?? Number.POSITIVE_INFINITY,
    // Time bounds the minutes, below.
    time: Number.POSITIVE_INFINITY,
  };
  const credits = Math.min(Math.max(0, progress.creditsPlanned - spent), creditsWithin(left));
  const pauseMs = Math.max(0, progress.slowedUntil - steady);
  const minutes = minutesFor(credits, limitNow(progress, facts, last), last, pauseMs);
  if (minutes === null || facts.deadline === null) return minutes;
  return Math.min(minutes, Math.max(0, (facts.deadline - steady) / 60_000));
}

/** Credits a minute that can be spent now. If the service reports fewer credits left than the
 * subscription allows: the credits spent in the last minute plus those left. */
function limitNow(progress: Progress, { creditsPerMinute }: RunFacts, last: LastMinute): number {
  const left = progress.minuteLeft?.() ?? creditsPerMinute;
  return Math.max(1, Math.min(creditsPerMinute, last.credits + left));
}

/** Why a run buys nothing at a moment. */
export type PauseReason = 'minute_limit' | 'minute_used' | 'service_limit' | 'slowed_down';

/** Why no call is sent although something must still be bought; null if calls are in flight or no reason is known. */
export function pauseReason(
  progress: Progress,
  facts: RunFacts,
  last: LastMinute,
  steady: number,
): PauseReason | null {
  if (progress.callsInFlight > 0) return null;
  if (progress.slowedUntil > steady) return 'slowed_down';
  if (progress.minuteUsedUntil > steady) return 'minute_used';
  // The next call may cost more than the minute has left.
  if (last.credits <= limitNow(progress, facts, last) - CREDITS.enterprise) return null;
  return last.credits > facts.creditsPerMinute - CREDITS.enterprise
    ? 'minute_limit'
    : 'service_limit';
}

/** The numbers of cells that this run can buy and has bought. If calls are cheaper than planned, it buys more. */
export function reachedCells(
  { cells, cellsDone }: Progress,
  { reach }: RunFacts,
): { done: number; of: number } {
  return { done: cellsDone, of: Math.min(cells, Math.max(reach.cells, cellsDone)) };
}

/** The credits that this run has spent and is planned to spend. Retries may add some. */
export function reachedCredits(
  progress: Progress,
  { reach }: RunFacts,
): { spent: number; of: number } {
  const spent = spentOf(progress);
  return { spent, of: Math.max(reach.credits, spent) };
}

/** The share of all value that is complete, by this run and before; null in the order of the file. */
export function reachedValue(
  { valueDone }: Progress,
  { value, valueBefore }: RunFacts,
): number | null {
  return shareOf(valueBefore + valueDone, value);
}

/** A shorter burst does not show the lasting rate. */
const LEAST_MS = 3_000;

/** Credits a minute; null where too little time was measured. */
export function rateOf({ credits, ms }: LastMinute): number | null {
  return ms < LEAST_MS ? null : (credits * 60_000) / ms;
}

function minutesFor(
  credits: number,
  limit: number,
  last: LastMinute,
  pauseMs: number,
): number | null {
  const pause = pauseMs / 60_000;
  if (credits === 0) return 0;
  const byLimit = Math.max(0, credits - Math.max(0, limit - last.credits)) / limit;
  const rate = rateOf(last);
  if (rate === null) return byLimit > 0 ? byLimit + pause : null;
  // Nothing was spent for a minute: there is no rate to estimate from.
  return rate <= 0 ? null : Math.max(byLimit, credits / rate) + pause;
}
