import type { Verdict } from '../../client/verdict.ts';
import type { Call } from '../../contract/credits.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import { type Stop, stopFor } from '../frame/stop.ts';
import { IN_A_ROW, type Standing } from './next-step.ts';

/** A call's signal about the service's health, after its retries. */
export interface HealthSignal {
  /** - `answered`. `responsive`: the service refused the call and said why (too fast, another key, another period).
   * - `refused`: rejected, or refused without a known reason. `no_news`: it says nothing about the service.
   * - `failed`: no usable answer; `paid_error`: the same, with an error that was charged like an answer; `topic_failed`: the same if only the single's topic may be the cause. */
  readonly service:
    | 'answered'
    | 'responsive'
    | 'refused'
    | 'failed'
    | 'paid_error'
    | 'topic_failed'
    | 'no_news';
  readonly isPaid: boolean;
  /** The topic of a single, and whether it was available; null if the call tells nothing about one topic. */
  readonly topic: { readonly slug: TopicSlug; readonly isAvailable: boolean } | null;
}

/** A circuit breaker: the service's health as plain data. `recordSignal` returns the next state. */
interface Breaker {
  /** Calls that failed in a row, since the last answered call. */
  readonly failures: number;
  /** Charged errors since the last answered call, whatever free refusals came between. */
  readonly paidErrors: number;
  /** Whether there are such failures that concern the service as a whole; a 5xx on the single of one topic concerns that topic. */
  readonly everywhere: boolean;
  readonly failingTopics: ReadonlySet<TopicSlug>;
  /** Calls that were rejected, or refused without a known reason, until the first answered call. */
  readonly rejections: number;
  readonly everAnswered: boolean;
  /** Whether any call was charged, useful or not. */
  readonly everPaid: boolean;
  /** Singles in a row, by topic, whose topic was unavailable. */
  readonly unavailable: ReadonlyMap<TopicSlug, number>;
}

const NO_FAILURES = {
  failures: 0,
  everywhere: false,
  failingTopics: new Set<TopicSlug>(),
};
const HEALTHY: Breaker = {
  ...NO_FAILURES,
  paidErrors: 0,
  rejections: 0,
  everAnswered: false,
  everPaid: false,
  unavailable: new Map(),
};

/** Records a call once, after its retries, and not each attempt: a service that restarts breaks all calls in flight at the same instant. */
function recordSignal(breaker: Breaker, { service, isPaid, topic }: HealthSignal): Breaker {
  const next = {
    ...breaker,
    ...afterService(breaker, service, topic?.slug),
    everPaid: breaker.everPaid || isPaid,
  };
  if (topic === null) return next;
  const unavailable = new Map(breaker.unavailable);
  if (topic.isAvailable) unavailable.delete(topic.slug);
  else unavailable.set(topic.slug, (unavailable.get(topic.slug) ?? 0) + 1);
  return { ...next, unavailable };
}

/** So many singles failed in a row that only another topic can show whether the service or their topics are down; or an error was charged. */
function isInDoubt({ failures, paidErrors, everywhere }: Breaker): boolean {
  return (failures >= IN_A_ROW.failed && !everywhere) || paidErrors > 0;
}

/** Whether to stop buying this topic as a single in this run. */
function isTopicDown(breaker: Breaker, topic: TopicSlug): boolean {
  const failures = breaker.unavailable.get(topic) ?? 0;
  return (
    failures >= IN_A_ROW.topic ||
    (failures > 0 && isInDoubt(breaker) && breaker.failingTopics.has(topic))
  );
}

function afterService(
  breaker: Breaker,
  service: HealthSignal['service'],
  topic?: TopicSlug,
): Partial<Breaker> {
  switch (service) {
    case 'answered':
      return { ...NO_FAILURES, paidErrors: 0, rejections: 0, everAnswered: true };
    case 'responsive':
      return NO_FAILURES;
    case 'refused':
      return { ...NO_FAILURES, rejections: breaker.everAnswered ? 0 : breaker.rejections + 1 };
    case 'failed':
      return { failures: breaker.failures + 1, everywhere: true };
    case 'paid_error':
      return {
        failures: breaker.failures + 1,
        paidErrors: breaker.paidErrors + 1,
        everywhere: true,
      };
    case 'topic_failed':
      return {
        failures: breaker.failures + 1,
        failingTopics: new Set([...breaker.failingTopics, topic!]),
      };
    case 'no_news':
      return {};
  }
}

/** The service's health by the run's calls, and whether the run continues. */
export class RunHealth {
  /** The steady time since which the service has answered nothing; null while it answers. */
  unansweredSince: number | null = null;
  readonly #topics: readonly TopicSlug[];
  readonly #setAside: Map<TopicSlug, string>;
  readonly #stopping = new AbortController();
  /** Attempts at singles in a row, by topic, that the service failed to answer. */
  readonly #failedAttempts = new Map<TopicSlug, number>();
  #isUnreachable = false;
  #breaker: Breaker = HEALTHY;
  #lastFailure = '';
  #stop: Stop | null = null;

  /** @param topics the topics that the job buys @param setAside gets those that the service lacks @param paidFailures those of the batches
   * before, since the last answer */
  constructor(topics: readonly TopicSlug[], setAside: Map<TopicSlug, string>, paidFailures = 0) {
    this.#breaker = { ...HEALTHY, paidErrors: paidFailures };
    this.#topics = topics;
    this.#setAside = setAside;
  }

  /** Failures that state a cost, since the last answered call. */
  get paidFailures(): number {
    return this.#breaker.paidErrors;
  }

  get stopped(): Stop | null {
    return this.#stop;
  }

  /** Aborts when no further call may begin; calls in flight are completed. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Every call was given up, and none was charged. A few such calls suffice at a run's end: one of four cells must also report the outage. */
  get isUnanswered(): boolean {
    return !this.#breaker.everPaid && this.#breaker.everywhere;
  }

  isTopicDown(topic: TopicSlug): boolean {
    return this.#setAside.has(topic) || isTopicDown(this.#breaker, topic);
  }

  /** Records an attempt, before its retries. */
  recordAttempt(call: Call, verdict: Verdict): void {
    this.#isUnreachable =
      verdict.kind === 'transport' && ['CONNECT', 'CONNECT_TIMEOUT'].includes(verdict.code);
    if (call.kind !== 'single') return;
    if (verdict.kind !== 'upstream') this.#failedAttempts.delete(call.topic);
    else this.#failedAttempts.set(call.topic, (this.#failedAttempts.get(call.topic) ?? 0) + 1);
  }

  /** What is known before a call: after one that was given up, the next that takes its turn is tried once. */
  standingOf(call: Call, known: 'fresh' | 'topic_unavailable'): Standing {
    if (known !== 'fresh' || this.doubtOf(call) === null) return known;
    const { failures, everywhere, unavailable, everAnswered } = this.#breaker;
    if (this.#isUnreachable)
      return failures > 0 && everywhere ? 'given_up' : everAnswered ? 'restarting' : known;
    const wasGivenUp =
      isInDoubt(this.#breaker) || (call.kind === 'single' && unavailable.has(call.topic));
    return wasGivenUp ? 'given_up' : known;
  }

  /** What a call must show before others of the same doubt are sent (`Turns`); null for none. */
  doubtOf(call: Call): string | null {
    if (this.#isUnreachable || isInDoubt(this.#breaker)) return 'service';
    return call.kind === 'single' && (this.#failedAttempts.get(call.topic) ?? 0) >= IN_A_ROW.topic
      ? call.topic
      : null;
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
    const isPaid = this.#breaker.paidErrors >= IN_A_ROW.charged;
    const what = isPaid ? 'The service charges for failures' : 'The service does not answer';
    return stopFor('service_down', `${what} (${this.#lastFailure}).`);
  }

  record(signal: HealthSignal): void {
    this.#breaker = recordSignal(this.#breaker, signal);
    if (signal.topic?.isAvailable) this.#setAside.delete(signal.topic.slug);
    // Unusable answers of a topic do not show that the service lacks it.
    if (signal.service === 'failed' || signal.topic?.isAvailable !== false) return;
    for (const topic of this.#breaker.unavailable.keys()) {
      // What a row says about it where it was not tried.
      if (isTopicDown(this.#breaker, topic))
        this.#setAside.set(topic, 'unavailable at the service');
    }
  }

  /** Records a call that was given up. Stops the run where too many were. */
  recordFailure(message: string): void {
    this.#lastFailure = message;
    const { failures, paidErrors, everywhere, rejections, everAnswered } = this.#breaker;
    // The service may lack just the topics that fail again and again, and concurrent calls ask for the same topic many times in a row.
    const isDown =
      (failures >= IN_A_ROW.failed && everywhere) ||
      paidErrors >= IN_A_ROW.charged ||
      this.#topics.every((topic) => this.isTopicDown(topic));
    if (!everAnswered && rejections >= IN_A_ROW.refused) {
      const why = `No request was answered, and ${IN_A_ROW.refused} were refused. ${message}.`;
      this.stop(stopFor('misdirected', why));
    } else if (isDown) this.stop(this.outage());
  }
}
