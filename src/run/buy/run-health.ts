import type { TopicSlug } from '../../contract/topics.ts';
import { type Stop, stopFor } from '../stop.ts';

/** What a call says about the service when its retries are over. */
export interface HealthSignal {
  /**
   * - `answered`. `responsive`: the service refused the call and said why (too fast, another key, another period).
   * - `refused`: rejected, or refused without a known reason; `location_rejected`: the same for a location that nobody checked.
   * - `failed`: no usable answer; `topic_failed`: the same where only the single's topic may be at fault.
   * - `no_news`: it says nothing about the service.
   */
  readonly service: 'answered' | 'responsive' | 'refused' | 'location_rejected' | 'failed' | 'topic_failed' | 'no_news';
  readonly isPaid: boolean;
  /** The topic of a single, and whether it was available; null where the call says nothing about one topic. */
  readonly topic: { readonly slug: TopicSlug; readonly isAvailable: boolean } | null;
}

/** A circuit breaker: what a run knows about the service's health. Plain data; `recordSignal` makes the next one. */
export interface Breaker {
  /** Calls that failed in a row, over all calls, since the last that was answered. */
  readonly failures: number;
  /** Whether these failures concern the service as a whole; a 5xx on the single of one topic concerns that topic. */
  readonly everywhere: boolean;
  /** The topics whose singles are among them. */
  readonly failingTopics: ReadonlySet<TopicSlug>;
  /** Calls that were rejected, or refused without a known reason, as long as none was ever answered. */
  readonly rejections: number;
  readonly everAnswered: boolean;
  /** Whether anything was ever paid for, of use or not. */
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

/** Eight calls in a row, each given up after its own retries, are not a short disturbance. */
export const DOWN_AFTER = 8;
/** A topic that was unavailable five times in a row costs more time than it will return. */
export const TOPIC_DOWN_AFTER = 5;
/** Locations are checked before they are bought: if the first 25 are all rejected, the service's address is probably wrong. */
export const ALL_REJECTED_AFTER = 25;

/** Records a call once, when its retries are over, and not each attempt: a service that restarts breaks all the calls in flight
 * at the same instant. */
export function recordSignal(breaker: Breaker, { service, isPaid, topic }: HealthSignal): Breaker {
  const next = { ...breaker, ...afterService(breaker, service, topic?.slug), everPaid: breaker.everPaid || isPaid };
  if (topic === null) return next;
  const unavailable = new Map(breaker.unavailable);
  if (topic.isAvailable) unavailable.delete(topic.slug);
  else unavailable.set(topic.slug, (unavailable.get(topic.slug) ?? 0) + 1);
  return { ...next, unavailable };
}

/** The run should pause: the service is down. One topic that fails again and again is not enough: concurrent calls ask for the
 * same topic many times in a row. */
export function isDown(breaker: Breaker, after = DOWN_AFTER): boolean {
  return breaker.failures >= after && (breaker.everywhere || breaker.failingTopics.size > 1);
}

/** Every call was given up and none was ever paid for. When nothing is left to buy, a few such calls are as good as eight: a run
 * that buys four cells a night must also say that the service is down. */
export function isUnanswered(breaker: Breaker): boolean {
  return !breaker.everPaid && breaker.failures > 0 && breaker.everywhere;
}

/** This topic should not be bought as a single again in this run. */
export function isTopicDown(breaker: Breaker, topic: TopicSlug, after = TOPIC_DOWN_AFTER): boolean {
  return (breaker.unavailable.get(topic) ?? 0) >= after;
}

/** Nothing was ever answered and everything was rejected: the address is wrong, not the locations. */
export function isAllRejected(breaker: Breaker, after = ALL_REJECTED_AFTER): boolean {
  return !breaker.everAnswered && breaker.rejections >= after;
}

const NO_FAILURES = { failures: 0, everywhere: false, failingTopics: new Set<TopicSlug>() };

function afterService(breaker: Breaker, service: HealthSignal['service'], topic?: TopicSlug): Partial<Breaker> {
  switch (service) {
    case 'answered':
      return { ...NO_FAILURES, rejections: 0, everAnswered: true };
    case 'responsive':
      return NO_FAILURES;
    case 'refused':
      return { ...NO_FAILURES, rejections: breaker.everAnswered ? 0 : breaker.rejections + 1 };
    case 'location_rejected':
      return { ...NO_FAILURES, rejections: 0 };
    case 'failed':
      return { failures: breaker.failures + 1, everywhere: true };
    case 'topic_failed':
      return { failures: breaker.failures + 1, failingTopics: new Set([...breaker.failingTopics, topic!]) };
    case 'no_news':
      return {};
  }
}

/** How the run stands: the service's health as its calls show it, and whether the run goes on. */
export class RunHealth {
  /** Since when, by the steady time, every call was asked to slow down and none was answered; null where that is not so. */
  slowedDownSince: number | null = null;
  readonly #topics: readonly TopicSlug[];
  readonly #stopping = new AbortController();
  #breaker: Breaker = HEALTHY;
  #lastFailure = '';
  #stop: Stop | null = null;

  /** @param topics those that the job buys */
  constructor(topics: readonly TopicSlug[], interrupt: AbortSignal) {
    this.#topics = topics;
    const onInterrupt = () => this.stop(stopFor('interrupted', 'Interrupted.'));
    if (interrupt.aborted) onInterrupt();
    else interrupt.addEventListener('abort', onInterrupt, { once: true });
  }

  get stopped(): Stop | null {
    return this.#stop;
  }

  /** Aborts when no further call shall begin; calls in flight are completed. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Every call was given up, and none was ever paid for. */
  get isUnanswered(): boolean {
    return isUnanswered(this.#breaker);
  }

  isTopicDown(topic: TopicSlug): boolean {
    return isTopicDown(this.#breaker, topic);
  }

  /** Stops the buying; the first reason counts. */
  stop(stop: Stop): void {
    this.#stop ??= stop;
    this.#stopping.abort();
  }

  outage(): Stop {
    return stopFor('service_down', `The service does not answer (${this.#lastFailure}).`);
  }

  record(signal: HealthSignal): void {
    this.#breaker = recordSignal(this.#breaker, signal);
  }

  /** Records a call that was given up. Stops the run where too many were. */
  recordFailure(message: string): void {
    this.#lastFailure = message;
    if (isAllRejected(this.#breaker)) {
      const why = `No request was answered, and ${ALL_REJECTED_AFTER} were refused. ${message}.`;
      this.stop(stopFor('misdirected', why));
    } else if (isDown(this.#breaker) || this.#topics.every((topic) => this.isTopicDown(topic))) {
      this.stop(this.outage());
    }
  }
}
