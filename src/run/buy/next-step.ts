import { timeSpan } from '../../base/format-numbers.ts';
import { DENIALS } from '../../client/status-kind.ts';
import { isPaidFailure, type Transport, type Verdict } from '../../client/verdict.ts';
import { SHORTEST_RETRY_AFTER_MS } from '../../contract/headers.ts';
import { backoffBound, backoffWait, LONGEST_ASKED_MS } from '../../net/waits.ts';
import type { StopReason } from '../frame/stop.ts';

/** What follows a call, once its attempts are over.
 * - `use`: the answer is stored. `replan`: keys or scopes have changed. `out_of_credits`: the quota is used up.
 * - `give_up`: the topics are left. `stop`: the run ends. */
type End = 'use' | 'replan' | 'out_of_credits' | 'give_up' | { readonly stop: StopReason };

/** Whether the same call is sent again.
 * - `never`: it is answered, paid, or would end alike. `backoff`: after a short wait, as often as `MOST_ATTEMPTS` says.
 * - `asked`: no other call starts either, until the wait that the service asks for is over, or a growing one; for ten minutes.
 * - `asked_once`: the same once, and only for a wait that the service names. */
type Again = 'never' | 'backoff' | 'asked' | 'asked_once';

/** What a verdict says of a service that may answer nothing any more. `nothing`: the time without an answer begins, or goes on; `answer`: it
 * ends; null: neither. */
type Sign = 'nothing' | 'answer' | null;

interface Steps {
  readonly again: Again;
  readonly end: End;
  readonly sign: Sign;
}

/** What each verdict on a call leads to. */
const STEPS: Readonly<Record<Verdict['kind'], Steps>> = {
  answered: { again: 'never', end: 'use', sign: 'answer' },
  no_data: { again: 'never', end: 'use', sign: 'answer' },
  rejected: { again: 'never', end: 'give_up', sign: 'answer' },
  unexplained: { again: 'never', end: 'give_up', sign: null },
  // Probably charged: another attempt would be charged again.
  malformed: { again: 'never', end: 'give_up', sign: 'nothing' },
  upstream: { again: 'backoff', end: 'give_up', sign: 'nothing' },
  transport: { again: 'backoff', end: 'give_up', sign: 'nothing' },
  rate: { again: 'asked', end: 'give_up', sign: 'nothing' },
  quota: { again: 'asked_once', end: 'out_of_credits', sign: null },
  limit: { again: 'asked_once', end: { stop: 'service_pause' }, sign: null },
  unauthenticated: { again: 'never', end: 'replan', sign: null },
  forbidden: { again: 'never', end: 'replan', sign: null },
  denied: { again: 'never', end: { stop: 'denied' }, sign: null },
  redirected: { again: 'never', end: { stop: 'misdirected' }, sign: null },
};

/** Failures without an answer: `again`: another attempt may be answered. The others end alike each time. */
const FAILURES: Readonly<Record<Transport['code'], 'again' | End>> = {
  CONNECT: 'again',
  CONNECT_TIMEOUT: 'again',
  BROKEN: 'again',
  HEADERS_TIMEOUT: 'again',
  BODY_TIMEOUT: 'again',
  TOTAL_TIMEOUT: 'again',
  // The next answer is as large, as damaged, or not HTTP again, and is charged again.
  BODY_TOO_LARGE: 'give_up',
  DAMAGED: 'give_up',
  NOT_HTTP: 'give_up',
  CLOSED: 'give_up',
  // DNS says that there is no such name: no call will find it.
  NO_HOST: { stop: 'service_down' },
};

/** What is known before a call is sent.
 * - `fresh`: nothing. `topic_unavailable`: a bundle reported its topic as unavailable, so the topic's source has trouble.
 * - `given_up`: others before it failed with all their attempts. `restarting`: a service that answered before refuses connections. */
export type Standing = 'fresh' | 'topic_unavailable' | 'given_up' | 'restarting';

/** Most attempts of one call, the first included, until so many have failed in all, by the last one's failure: the service failed (5xx); the
 * request surely never reached it; or only the attempts that may have been charged. Each of these may cost the price again, so there is
 * only one more. Four attempts over some seconds outlast a short disturbance, seven the restart of a service (30 seconds); an outage is
 * for `IN_A_ROW`. */
export const MOST_ATTEMPTS: Readonly<
  Record<Standing, { readonly upstream: number; readonly unsent: number; readonly charged: number }>
> = {
  fresh: { upstream: 4, unsent: 4, charged: 2 },
  topic_unavailable: { upstream: 1, unsent: 4, charged: 2 },
  given_up: { upstream: 1, unsent: 1, charged: 1 },
  restarting: { upstream: 4, unsent: 7, charged: 2 },
};

/** How many calls in a row, each given up, show that the cause is not the single call.
 * - `failed`: eight are more than a short disturbance: the service is down.
 * - `charged`: failures that state a cost. Each was paid for: the second shows that the first was no accident.
 * - `topic`: singles of one topic; more attempts at it cost time without result.
 * - `refused`: refusals before any answer. Locations are checked before they are bought, so the service's address is probably wrong. */
export const IN_A_ROW = { failed: 8, charged: 2, topic: 5, refused: 25 } as const;

/** The attempts of one call so far; `decideNextStep` returns them with the next one added. */
export interface Tried {
  /** Attempts that failed; a request to slow down is not a failure. */
  readonly failures: number;
  /** The attempts among these that may have been charged. */
  readonly inDoubt: number;
  /** How often the service asked to slow down. */
  readonly slowedDown: number;
  /** How often it said that a quota is used up, and to wait. */
  readonly usedUp: number;
  /** Milliseconds waited for the rate. */
  readonly rateWaitMs: number;
}

export const NOTHING_TRIED: Tried = {
  failures: 0,
  inDoubt: 0,
  slowedDown: 0,
  usedUp: 0,
  rateWaitMs: 0,
};

/** - `use`, `replan`, `out_of_credits`, `give_up`: see `End`; `isRejected`: the whole location is given up.
 * - `retry`: send the same call after `afterMs`, and decide next time from `tried`. `rate`: no other call should start before then either.
 * - `stop`: the run ends; it can be resumed after `afterMs`, null where nobody knows when. */
export type NextStep =
  | { readonly step: 'use' | 'replan' | 'out_of_credits' }
  | {
      readonly step: 'retry';
      readonly afterMs: number;
      readonly rate: boolean;
      readonly tried: Tried;
    }
  | {
      readonly step: 'give_up';
      readonly kind: Verdict['kind'];
      readonly isRejected: boolean;
      readonly message: string;
    }
  | {
      readonly step: 'stop';
      readonly reason: StopReason;
      readonly message: string;
      readonly afterMs: number | null;
    };

export interface TriedVerdict {
  readonly verdict: Verdict;
  readonly tried: Tried;
  readonly standing: Standing;
  /** In [0, 1). */
  readonly random: () => number;
  /** How long the service has answered none of the run's calls, in milliseconds. */
  readonly unansweredMs?: number;
}

/** Decides what follows a call, by its verdict (the cause, and whether it was charged) and the tries so far. Nothing else decides it. */
export function decideNextStep(question: TriedVerdict): NextStep {
  const { verdict } = question;
  const { again, end } = stepsOf(verdict);
  const next = attemptAgain(again, question);
  if (next?.step === 'stop') return next;
  // Another attempt, or another key, would be charged again.
  const isPaid = isPaidFailure(verdict);
  const last = () => endOf(isPaid && end === 'replan' ? 'give_up' : end, verdict);
  return withinPatience(question, isPaid || next === null ? last() : next);
}

/** The steady time since which the service has answered nothing, after a verdict at `at`; null while it answers.
 * @param since the same before it */
export function unansweredSince(verdict: Verdict, since: number | null, at: number): number | null {
  const sign = signOf(verdict);
  if (sign === 'answer') return null;
  return since ?? (sign === 'nothing' ? at : null);
}

/** A refusal in the service's own words may concern the place alone: the next ones may be answered. A page is no word of the service. */
function signOf(verdict: Verdict): Sign {
  return verdict.kind === 'unexplained' && !verdict.isOfService
    ? 'nothing'
    : STEPS[verdict.kind].sign;
}

function stepsOf(verdict: Verdict): Omit<Steps, 'sign'> {
  const failure = verdict.kind === 'transport' ? FAILURES[verdict.code] : 'again';
  return failure === 'again' ? STEPS[verdict.kind] : { again: 'never', end: failure };
}

/** A service that answers nothing ends the run, however long each failure takes: eight calls, each twice silent for 150 seconds, were half
 * an hour, and three waits of nine minutes for each call four hours. */
function withinPatience({ verdict, unansweredMs = 0 }: TriedVerdict, next: NextStep): NextStep {
  const isOpen = next.step === 'retry' || next.step === 'give_up';
  if (!isOpen || signOf(verdict) !== 'nothing') return next;
  const waitMs = next.step === 'retry' ? next.afterMs : 0;
  if (unansweredMs + waitMs <= LONGEST_ASKED_MS) return next;
  if (verdict.rate.retryAfterMs !== null) return pauseFor(waitMs, verdict, 'service_down');
  const silence = timeSpan(Math.round(unansweredMs / 60_000));
  const message = `The service has answered nothing for ${silence}. ${verdict.message}.`;
  return { step: 'stop', reason: 'service_down', message, afterMs: null };
}

function attemptAgain(again: Again, question: TriedVerdict): NextStep | null {
  switch (again) {
    case 'never':
      return null;
    case 'backoff':
      return afterBackoff(question);
    case 'asked':
      return afterAskedWait(question);
    case 'asked_once':
      return afterOneWait(question);
  }
}

function endOf(end: End, verdict: Verdict): NextStep {
  const { kind, message } = verdict;
  switch (end) {
    case 'use':
    case 'replan':
    case 'out_of_credits':
      return { step: end };
    case 'give_up':
      return { step: 'give_up', kind, isRejected: kind === 'rejected', message };
    default: {
      const todo = kind === 'denied' ? ` ${DENIALS[verdict.status]!.todo}` : '';
      const afterMs = kind === 'limit' ? verdict.rate.retryAfterMs : null;
      return { step: 'stop', reason: end.stop, message: `${message}.${todo}`, afterMs };
    }
  }
}

/** A wait that is longer than a run waits ends it. @param reason a wait of hours beside a refusal is a quota of some kind; beside a failure
 * it is an outage */
function pauseFor(afterMs: number, { message }: Verdict, reason: StopReason): NextStep {
  const wait = timeSpan(Math.ceil(afterMs / 60_000));
  return {
    step: 'stop',
    reason,
    message: `The service asks to wait ${wait}. ${message}.`,
    afterMs,
  };
}

function afterAskedWait({ verdict, tried, random, unansweredMs = 0 }: TriedVerdict): NextStep {
  // No jitter where the service named the time; the throttle spreads the calls. The first time it is believed; if the service
  // then refuses again, the time was wrong, and the waits double: "Retry-After: 1" for ten minutes was thousands of requests.
  const named = verdict.rate.retryAfterMs ?? verdict.rate.resetMs;
  // The limit is per minute, so a longer wait gains nothing where the service states no time.
  const waitMs = named
    ? Math.max(named, backoffBound(tried.slowedDown))
    : backoffWait(tried.slowedDown, random);
  const afterMs = Math.max(SHORTEST_RETRY_AFTER_MS, waitMs);
  const rateWaitMs = tried.rateWaitMs + afterMs;
  // Most waiting of one call, and of a run in which no call is answered. The calls of a run wait together: each may have waited little while all of them have waited long.
  if (Math.max(rateWaitMs, unansweredMs + afterMs) > LONGEST_ASKED_MS) {
    const isAsked = (named ?? 0) > LONGEST_ASKED_MS;
    return pauseFor(afterMs, verdict, isAsked ? 'service_pause' : 'service_down');
  }
  const next = { ...tried, slowedDown: tried.slowedDown + 1, rateWaitMs };
  return { step: 'retry', afterMs, rate: true, tried: next };
}

/** A quota that is used up, and yet a short wait: the words may be wrong, or the time is. Waited as told; the second time the words hold. */
function afterOneWait({ verdict, tried }: TriedVerdict): NextStep | null {
  const afterMs = verdict.rate.retryAfterMs;
  const rateWaitMs = tried.rateWaitMs + (afterMs ?? 0);
  if (afterMs === null || tried.usedUp > 0 || rateWaitMs > LONGEST_ASKED_MS) return null;
  const next = { ...tried, usedUp: 1, rateWaitMs };
  return { step: 'retry', afterMs, rate: true, tried: next };
}

function afterBackoff({ verdict, tried, standing, random }: TriedVerdict): NextStep | null {
  const most = MOST_ATTEMPTS[standing];
  const doubt = verdict.charged === 'unknown' ? 1 : 0;
  const failed = {
    ...tried,
    failures: tried.failures + 1,
    inDoubt: tried.inDoubt + doubt,
  };
  const asked = verdict.rate.retryAfterMs ?? 0;
  if (asked > LONGEST_ASKED_MS) return pauseFor(asked, verdict, 'service_down');
  const mostFailures = verdict.kind === 'upstream' ? most.upstream : most.unsent;
  if (failed.failures >= mostFailures || failed.inDoubt >= most.charged) return null;
  const afterMs = Math.max(asked, backoffWait(tried.failures, random));
  return { step: 'retry', afterMs, rate: false, tried: failed };
}
