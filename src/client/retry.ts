import { SHORTEST_RETRY_AFTER_MS } from '../contract/headers.ts';
import type { Answered, Refused, Transport, Verdict } from './verdict.ts';

export interface RetryPolicy {
  /** Most attempts in all, the first one included. */
  readonly attempts: number;
  /** Most attempts that may have been charged. */
  readonly attemptsInDoubt: number;
  /** No further attempt after a 5xx once so many have failed. */
  readonly attemptsUpstream: number;
}

/** Four attempts over some seconds outlast a restart of the service; an outage is for the circuit breaker. Each attempt that may
 * have been charged may cost the price again, so there is only one more. */
export const RETRY_POLICY: RetryPolicy = { attempts: 4, attemptsInDoubt: 2, attemptsUpstream: 4 };

/** For the single call of a topic that a bundle reported unavailable: its source has trouble, so it is tried once. */
export const TOPIC_RETRY_POLICY: RetryPolicy = { ...RETRY_POLICY, attemptsUpstream: 1 };

/** For a call after others that failed with all their attempts. */
export const ONE_MORE_POLICY: RetryPolicy = { ...RETRY_POLICY, attempts: 1, attemptsUpstream: 1 };

/** While a service that answered before refuses connections: some 30 seconds, as long as a restart takes. */
export const RESTART_POLICY: RetryPolicy = { ...RETRY_POLICY, attempts: 7 };

/** Most waiting of one call, and of a run in which no call is answered: after ten minutes a user wants the terminal back. A run that
 * would wait longer pauses and can be resumed. */
export const LONGEST_WAIT_MS = 10 * 60_000;

const BACKOFF_BASE_MS = 1_000;

/** The attempts of one call so far; `decide` returns them with the next one added. */
export interface Tried {
  /** Attempts that failed; a request to slow down is not a failure. */
  readonly failures: number;
  /** The attempts among these that may have been charged. */
  readonly inDoubt: number;
  /** How often the service asked to slow down. */
  readonly slowedDown: number;
  /** Milliseconds waited for the rate. */
  readonly rateWaitMs: number;
}

export const NOTHING_TRIED: Tried = { failures: 0, inDoubt: 0, slowedDown: 0, rateWaitMs: 0 };

/** `retry`: send the same call after `afterMs`, and decide next time from `tried`. `rate`: no other call should start before then
 * either. `pause`: stop the run, it can be resumed after `afterMs`; `isAsked`: the service named so long a wait. */
export type Decision =
  | { readonly next: 'give-up' }
  | {
      readonly next: 'retry';
      readonly afterMs: number;
      readonly rate: boolean;
      readonly tried: Tried;
    }
  | { readonly next: 'pause'; readonly afterMs: number; readonly isAsked: boolean };

export interface RetryQuestion {
  readonly verdict: Exclude<Verdict, Answered>;
  readonly tried: Tried;
  readonly policy: RetryPolicy;
  /** In [0, 1). */
  readonly random: () => number;
  /** How long the service has answered none of the run's calls and only asked to slow down, in milliseconds. */
  readonly slowedDownMs?: number;
}

/** The limit is per minute, so a longer wait gains nothing where the service states no time. */
const RATE_BACKOFF_MOST_MS = 60_000;

/** Decides what follows a call that was not answered. Only failures that are known to be temporary are retried. */
export function decide(question: RetryQuestion): Decision {
  const { verdict } = question;
  switch (verdict.kind) {
    case 'rate':
      return afterRate(verdict, question);
    case 'upstream':
      return afterUpstream(verdict, question);
    case 'transport':
      return afterTransport(verdict, question);
    default:
      // A malformed answer was probably charged, and a retry would be charged again. The other kinds are final, or the caller handles them.
      return { next: 'give-up' };
  }
}

function afterRate(
  { rate }: Refused,
  { tried, random, slowedDownMs = 0 }: RetryQuestion,
): Decision {
  // No jitter where the service named the time; the throttle spreads the calls. The first time it is believed; if the service
  // then refuses again, the time was wrong, and the waits double: "Retry-After: 1" for ten minutes was thousands of requests.
  const named = rate.retryAfterMs ?? rate.resetMs;
  const doubled = Math.min(RATE_BACKOFF_MOST_MS, BACKOFF_BASE_MS * 2 ** tried.slowedDown);
  const waitMs = named ? Math.max(named, doubled) : Math.round(random() * doubled);
  const afterMs = Math.max(SHORTEST_RETRY_AFTER_MS, waitMs);
  const rateWaitMs = tried.rateWaitMs + afterMs;
  // The calls of a run wait together: each may have waited little while all of them have waited long.
  if (Math.max(rateWaitMs, slowedDownMs + afterMs) > LONGEST_WAIT_MS)
    return { next: 'pause', afterMs, isAsked: (named ?? 0) > LONGEST_WAIT_MS };
  return {
    next: 'retry',
    afterMs,
    rate: true,
    tried: { ...tried, slowedDown: tried.slowedDown + 1, rateWaitMs },
  };
}

function afterUpstream({ rate }: Refused, { tried, policy, random }: RetryQuestion): Decision {
  const failed = { ...tried, failures: tried.failures + 1 };
  const asked = rate.retryAfterMs ?? 0;
  if (asked > LONGEST_WAIT_MS) return { next: 'pause', afterMs: asked, isAsked: true };
  if (failed.failures >= policy.attemptsUpstream) return { next: 'give-up' };
  return {
    next: 'retry',
    afterMs: Math.max(asked, backoff(failed, random)),
    rate: false,
    tried: failed,
  };
}

function afterTransport(verdict: Transport, { tried, policy, random }: RetryQuestion): Decision {
  // The client was closed; or the body is too large, damaged or not HTTP, and a retry would be charged again.
  if (['CLOSED', 'BODY_TOO_LARGE', 'DAMAGED', 'NOT_HTTP'].includes(verdict.code))
    return { next: 'give-up' };
  const doubt = verdict.charged === 'unknown' ? 1 : 0;
  const failed = { ...tried, failures: tried.failures + 1, inDoubt: tried.inDoubt + doubt };
  if (failed.failures >= policy.attempts || failed.inDoubt >= policy.attemptsInDoubt)
    return { next: 'give-up' };
  return { next: 'retry', afterMs: backoff(failed, random), rate: false, tried: failed };
}

/** Between nothing and the doubled bound: calls that failed together are not retried together. */
function backoff({ failures }: Tried, random: () => number): number {
  return Math.round(random() * BACKOFF_BASE_MS * 2 ** (failures - 1));
}
