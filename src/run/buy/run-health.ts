import type { TopicSlug } from '../../contract/topics.ts';
import {
  ALL_REJECTED_AFTER,
  type Breaker,
  HEALTHY,
  type HealthSignal,
  isAllRejected,
  isDown,
  isTopicDown,
  isUnanswered,
  recordSignal,
} from './breaker.ts';
import { type Stop, stopFor } from './stop.ts';

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
