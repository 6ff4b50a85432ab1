import { billingPeriod } from '../../contract/billing-period.ts';
import { RATE_WINDOW_MS } from '../../contract/subscriptions.ts';
import type { Progress } from '../../job/buying/progress.ts';
import type { Prepared } from '../../job/prepare.ts';

/** A moment: by the wall clock, for dates, and by the steady one, for spans. */
export interface Moment {
  readonly now: number;
  readonly steady: number;
}

/** What does not change while a run buys, as far as its progress needs it. */
export interface RunFacts {
  /** When the buying began, by the steady time. */
  readonly startedAt: number;
  readonly rows: number;
  readonly cellsCached: number;
  /** Null: none was said. */
  readonly budget: number | null;
  /** Credits a period that the accounts have together. */
  readonly allowance: number;
  /** Credits a minute that the accounts have together. */
  readonly creditsPerMinute: number;
  readonly anniversaryDays: readonly number[];
  /** When the run stops buying in any case, by the steady time; null: never. */
  readonly deadline: number | null;
  readonly waitsForQuota: boolean;
}

export function runFacts({ job, plan, summary, freshness }: Prepared, { now, steady }: Moment): RunFacts {
  return {
    startedAt: steady,
    rows: summary.rows,
    cellsCached: summary.cells_cached,
    budget: job.budget,
    allowance: plan.accounts.reduce((sum, { account }) => sum + account.subscription.creditsPerMonth, 0),
    creditsPerMinute: job.accounts.reduce((sum, { subscription }) => sum + subscription.creditsPerMinute, 0),
    anniversaryDays: job.accounts.map(({ anniversaryDay }) => anniversaryDay),
    deadline: job.maxMinutes === null ? null : steady + freshness.startedAt - now + job.maxMinutes * 60_000,
    waitsForQuota: job.onQuota === 'wait',
  };
}

/** Credits that were spent within the last minute, by looking at the sum now and then. */
export class MinuteMeter {
  #seen: { readonly at: number; readonly credits: number }[] = [];
  #first: number | null = null;

  /** Takes in the sum so far, at a steady time; the credits of the last minute, and over how many ms they were seen. */
  add(now: number, credits: number): LastMinute {
    this.#first ??= now;
    this.#seen.push({ at: now, credits });
    // The newest look that is a minute old is where the minute begins.
    while (this.#seen.length > 2 && this.#seen[1]!.at <= now - RATE_WINDOW_MS) this.#seen.shift();
    const from = this.#seen[0]!;
    return { credits: credits - from.credits, ms: Math.min(now - this.#first, RATE_WINDOW_MS) };
  }
}

export interface LastMinute {
  readonly credits: number;
  readonly ms: number;
}

/** When a run will end, and what ends it. */
export interface Estimate {
  /** Credits that will be spent until then, from now. */
  readonly credits: number;
  /** Null while it cannot be said. */
  readonly minutes: number | null;
  readonly endedBy: 'done' | 'budget' | 'quota' | 'time';
  /** When the quota is there again; said where it ends the run. */
  readonly resets: number;
}

export function spentOf({ creditsSpent, creditsUnknown }: Progress): number {
  return creditsSpent + creditsUnknown;
}

/** Credits of the period that are still left for this run, or null before the ledger was asked. */
export function quotaLeft(progress: Progress): number | null {
  return progress.atHand && Math.max(0, progress.atHand.credits - (spentOf(progress) - progress.atHand.spent));
}

/**
 * How long it takes, in credits and not in rows: the minute limit lets through what it lets through, however many rows
 * that is. The slower of two counts: what the limit allows, with what is left of this minute, and what went through in
 * the last minute, which is less where the service is slow or asks to slow down.
 */
export function estimate(progress: Progress, facts: RunFacts, last: LastMinute, at: Moment): Estimate {
  const spent = spentOf(progress);
  const toBuy = Math.max(0, progress.creditsPlanned - spent);
  const ofBudget = facts.budget === null ? Number.POSITIVE_INFINITY : Math.max(0, facts.budget - spent);
  const ofQuota = quotaLeft(progress) ?? Number.POSITIVE_INFINITY;
  const credits = Math.min(toBuy, ofBudget, ofQuota);
  const resets = Math.min(...facts.anniversaryDays.map((day) => billingPeriod(day, at.now).end));
  const endedBy = credits === toBuy ? 'done' : credits === ofQuota ? 'quota' : 'budget';
  const pauseMs = Math.max(0, progress.slowedUntil - at.steady);
  const minutes = minutesFor(credits, limitNow(progress, facts, last), last, pauseMs);
  const windowLeft = facts.deadline === null ? null : (facts.deadline - at.steady) / 60_000;
  if (windowLeft !== null && minutes !== null && minutes > windowLeft) {
    const share = minutes === 0 ? 0 : Math.max(0, windowLeft) / minutes;
    return { credits: Math.floor(credits * share), minutes: Math.max(0, windowLeft), endedBy: 'time', resets };
  }
  return { credits, minutes, endedBy, resets };
}

/** What a minute lets through, as far as is known now: where the service says that it has less left than the subscription
 * allows, what went through and what is left of it. */
export function limitNow(progress: Progress, { creditsPerMinute }: RunFacts, last: LastMinute): number {
  const left = progress.minuteLeft?.() ?? creditsPerMinute;
  return Math.max(1, Math.min(creditsPerMinute, last.credits + left));
}

/** A burst of less than this tells nothing of the speed that will last. */
const TELLING_MS = 3_000;

function minutesFor(credits: number, limit: number, last: LastMinute, pauseMs: number): number | null {
  const pause = pauseMs / 60_000;
  if (credits === 0) return 0;
  const byLimit = Math.max(0, credits - Math.max(0, limit - last.credits)) / limit;
  if (last.ms < TELLING_MS) return byLimit > 0 ? byLimit + pause : null;
  // Nothing went through for a minute: no speed to go by.
  if (last.credits <= 0) return null;
  const bySpeed = (credits / last.credits) * (last.ms / 60_000);
  return Math.max(byLimit, bySpeed) + pause;
}
