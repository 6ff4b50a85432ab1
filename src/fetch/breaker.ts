import type { Call } from '../contract/credits.ts';
import type { TopicSlug } from '../contract/topics.ts';
import type { TopicReading } from './envelope.ts';
import type { Verdict } from './verdict.ts';

/** What a run knows about the service's health. Plain data; `observe` makes the next one. */
export interface Breaker {
  /** Calls that failed in a row, over all calls, since the last that was answered. */
  readonly failures: number;
  /** Whether these failures speak of the service as a whole; a 5xx on one topic's single speaks of that topic. */
  readonly everywhere: boolean;
  /** The topics whose singles are among them. */
  readonly failingTopics: ReadonlySet<TopicSlug>;
  /** Calls that were rejected, or refused without a known reason, as long as not one was ever answered. */
  readonly rejections: number;
  readonly everAnswered: boolean;
  /** Whether anything was ever paid, be it of use or not. */
  readonly everPaid: boolean;
  /** Singles in a row, by topic, that found the topic unavailable. */
  readonly unavailable: ReadonlyMap<TopicSlug, number>;
}

export const HEALTHY: Breaker = {
  failures: 0,
  everywhere: false,
  failingTopics: new Set(),
  rejections: 0,
  everAnswered: false,
  everPaid: false,
  unavailable: new Map(),
};

/** Eight calls in a row, each given up after its own retries, are no blip. */
export const DOWN_AFTER = 8;
/** A topic that was unavailable five times in a row costs more in time than it will bring. */
export const TOPIC_DOWN_AFTER = 5;
/** Places are checked before they are asked about: if the first 25 are all rejected, the address is wrong, not the places. */
export const ALL_REJECTED_AFTER = 25;

/** Takes in the last verdict of a call: once per call, when its retries are over, not once per attempt (a service that
 * restarts cuts all the calls in flight in one instant). */
export function observe(breaker: Breaker, call: Call, verdict: Verdict): Breaker {
  return {
    ...breaker,
    ...overall(breaker, call, verdict),
    unavailable: call.kind === 'single' ? topicsAfter(breaker.unavailable, call.topic, verdict) : breaker.unavailable,
  };
}

/** Takes in what came of asking once more for a topic that a bundle reported unavailable: a failure there is no news of
 * the service. */
export function observeSecondLook(breaker: Breaker, call: Call, verdict: Verdict): Breaker {
  const next = observe(breaker, call, verdict);
  return verdict.kind === 'upstream' ? { ...breaker, unavailable: next.unavailable } : next;
}

/** The run should pause: the service is down. One topic that fails again and again is not enough: calls in lockstep ask
 * for the same topic many times in a row. */
export function isDown(breaker: Breaker, after = DOWN_AFTER): boolean {
  return breaker.failures >= after && (breaker.everywhere || breaker.failingTopics.size > 1);
}

/** Every call was given up and not one was ever paid: when nothing is left to ask, a few are as good as eight. A run
 * that buys four cells a night must say too that the service is down. */
export function isUnanswered(breaker: Breaker): boolean {
  return !breaker.everPaid && breaker.failures > 0 && breaker.everywhere;
}

/** This topic should not be asked for as a single again in this run. */
export function isTopicDown(breaker: Breaker, topic: TopicSlug, after = TOPIC_DOWN_AFTER): boolean {
  return (breaker.unavailable.get(topic) ?? 0) >= after;
}

/** Nothing was ever answered and everything was rejected: the address, not the places, is at fault. */
export function isAllRejected(breaker: Breaker, after = ALL_REJECTED_AFTER): boolean {
  return !breaker.everAnswered && breaker.rejections >= after;
}

const NO_FAILURES = { failures: 0, everywhere: false, failingTopics: new Set<TopicSlug>() };

function overall(breaker: Breaker, call: Call, verdict: Verdict): Partial<Breaker> {
  const failedEverywhere = { failures: breaker.failures + 1, everywhere: true };
  switch (verdict.kind) {
    case 'answered':
      return { ...NO_FAILURES, rejections: 0, everAnswered: true, everPaid: true };
    case 'no_data':
      return { ...NO_FAILURES, rejections: 0, everAnswered: true };
    case 'upstream':
      return call.kind === 'single'
        ? { failures: breaker.failures + 1, failingTopics: new Set([...breaker.failingTopics, call.topic]) }
        : failedEverywhere;
    case 'transport':
      // What the user interrupted says nothing about the service.
      return verdict.code === 'ABORTED' || verdict.code === 'CLOSED' ? {} : failedEverywhere;
    case 'rejected':
    case 'unexplained':
      return { ...NO_FAILURES, rejections: breaker.everAnswered ? 0 : breaker.rejections + 1 };
    case 'malformed':
      // Paid for and of no use: as good a reason to stop as no answer.
      return { ...failedEverywhere, everPaid: true };
    default:
      // It lives and says what it wants: slower, another key, another period.
      return NO_FAILURES;
  }
}

function topicsAfter(
  unavailable: ReadonlyMap<TopicSlug, number>,
  topic: TopicSlug,
  verdict: Verdict,
): ReadonlyMap<TopicSlug, number> {
  const missing =
    verdict.kind === 'upstream' ||
    verdict.kind === 'malformed' ||
    (verdict.kind === 'answered' && isUnavailable(verdict.results.get(topic)));
  if (!missing && verdict.kind !== 'answered' && verdict.kind !== 'no_data') return unavailable;
  const next = new Map(unavailable);
  if (missing) next.set(topic, (unavailable.get(topic) ?? 0) + 1);
  else next.delete(topic);
  return next;
}

function isUnavailable(reading: TopicReading<unknown> | undefined): boolean {
  return reading?.ok === false && reading.reason !== 'no_data';
}
