import type { TopicSlug } from '../../contract/topics.ts';
import { type Stop, stopFor } from '../stop.ts';

/** A call's signal about the service's health, after its retries. */
export interface HealthSignal {
  /**
   * - `answered`. `responsive`: the service refused the call and said why (too fast, another key, another period).
   * - `refused`: rejected, or refused without a known reason.
   * - `failed`: no usable answer; `topic_failed`: the same if only the single's topic may be the cause.
   * - `no_news`: it says nothing about the service.
   */
  readonly service: 'answered' | 'responsive' | 'refused' | 'failed' | 'topic_failed' | 'no_news';
  readonly isPaid: boolean;
  /** The topic of a single, and whether it was available; null if the call tells nothing about one topic. */
  readonly topic: { readonly slug: TopicSlug; readonly isAvailable: boolean } | null;
}

/** A circuit breaker: the service's health as plain data. `recordSignal` returns the next state. */
export interface Breaker {
  /** Calls that failed in a row, since the last answered call. */
  readonly failures: number;
  /** Whether there are such failures that concern the service as a whole; a 5xx on the single of one topic concerns that topic. */
  readonly everywhere: boolean;
  /** The topics of the singles among these calls. */
  readonly failingTopics: ReadonlySet<TopicSlug>;
  /** Calls that were rejected, or refused without a known reason, until the first answered call. */
  readonly rejections: number;
  readonly everAnswered: boolean;
  /** Whether any call was charged, useful or not. */
  readonly everPaid: boolean;
  /** Singles in a row, by topic, whose topic was unavailable. */
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

/** Eight calls in a row that were given up after retries are more than a short disturbance. */
export const DOWN_AFTER = 8;
/** After five failures in a row, more attempts at a topic cost time without result. */
export const TOPIC_DOWN_AFTER = 5;
/** Locations are checked before they are bought: if the first 25 are all rejected, the service's address is probably wrong. */
export const ALL_REJECTED_AFTER = 25;

/** Records a call once, after its retries, and not each attempt: a service that restarts breaks all calls in flight
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

/** Every call was given up and none was charged. At the end of a run, a few such calls suffice: a run that buys four cells a
 * night must also report that the service is down. */
export function isUnanswered(breaker: Breaker): boolean {
  return !breaker.everPaid && breaker.everywhere;
}

/** Whether to stop buying this topic as a single in this run. */
export function isTopicDown(breaker: Breaker, topic: TopicSlug, after = TOPIC_DOWN_AFTER): boolean {
  return (breaker.unavailable.get(topic) ?? 0) >= after;
}

/** No call was answered and all were rejected: the address is wrong, not the locations. */
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
    case 'failed':
      return { failures: breaker.failures + 1, everywhere: true };
    case 'topic_failed':
      return { failures: breaker.failures + 1, failingTopics: new Set([...breaker.failingTopics, topic!]) };
    case 'no_news':
      return {};
  }
}

/** The service's health by the run's calls, and whether the run continues. */
export class RunHealth {
  /** The steady time since which the service has asked every call to slow down and answered none; null otherwise. */
  slowedDownSince: number | null = null;
  readonly #topics: readonly TopicSlug[];
  readonly #stopping = new AbortController();
  #breaker: Breaker = HEALTHY;
  #lastFailure = '';
  #stop: Stop | null = null;

  /** @param topics the topics that the job buys */
  constructor(topics: readonly TopicSlug[]) {
    this.#topics = topics;
  }

  get stopped(): Stop | null {
    return this.#stop;
  }

  /** Aborts when no further call may begin; calls in flight are completed. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Every call was given up, and none was charged. */
  get isUnanswered(): boolean {
    return isUnanswered(this.#breaker);
  }

  isTopicDown(topic: TopicSlug): boolean {
    return isTopicDown(this.#breaker, topic);
  }

  /** Stops the other calls, and throws the error on. */
  stopAtError(error: unknown): never {
    this.stop(stopFor('interrupted', 'Stopped by an error.'));
    throw error;
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
