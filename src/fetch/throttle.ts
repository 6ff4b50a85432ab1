import Bottleneck from 'bottleneck';
import { type Clock, steadyTime } from '../clock.ts';
import { RATE_WINDOW_MS } from '../contract/subscriptions.ts';
import { PerilbookError } from '../errors.ts';
import { CreditReturns } from './credit-returns.ts';

/** The service's minute and ours begin at different instants, by the time that a request travels. */
const MARGIN_MS = 250;

export interface ThrottleOptions {
  readonly creditsPerMinute: number;
  /** Most calls in flight. */
  readonly sockets: number;
  readonly clock: Clock;
  readonly marginMs?: number;
  readonly windowMs?: number;
}

/** A call's leave to spend credits. */
export interface Permit {
  readonly credits: number;
  /** How many credits had come back in all when this call left: tells `correct` what the service could not know of. */
  readonly returnedBefore: number;
  /** Nothing was charged (or only a part, where a number is given): these credits come back at once. */
  refund(credits?: number): void;
}

/**
 * Bottleneck reads `Date.now()` at every job and keeps `_nextRequest = now + wait + minTime`; a job waits for
 * `_nextRequest - now`. With the default `minTime` of 0, a clock that is set back by an hour makes every job wait for an hour.
 * There is no public way to give it another clock. With `minTime: -Infinity`, a number that the option takes,
 * `_nextRequest` is -Infinity from the first job on, and no job ever waits by the clock. Rejected: a store of our own (its
 * interface is not public) and replacing `Date` (the whole process would read it).
 */
const NEVER_BY_DATE = { minTime: Number.NEGATIVE_INFINITY };

/** Makes a limiter whose first job has been: `_nextRequest` begins as the time at which the limiter was made. */
function limiterOf(options: Bottleneck.ConstructorOptions): Bottleneck {
  const limiter = new Bottleneck({ ...options, ...NEVER_BY_DATE });
  limiter.schedule({ weight: 0 }, async () => {}).catch(() => {});
  return limiter;
}

/** The throttle of one process: no window of a minute, wherever it begins, sees more credits than the limit.
 *
 * Two nested Bottleneck limiters. A weight counts against `maxConcurrent` too, so sockets (weight 1) and credits (weight
 * = price) cannot be one limiter. Bottleneck's own refresh is a fixed window that lets twice the limit through across its
 * edge, and `updateSettings` kills it for good: neither is used, credits are handed back by our own clock. */
export class Throttle implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #holdMs: number;
  readonly #sockets: Bottleneck;
  readonly #credits: Bottleneck;
  readonly #returns: CreditReturns;
  /** The jobs that have begun. */
  readonly #begun = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();
  #available: number;
  #returned = 0;
  #pausedUntil = 0;

  constructor({ creditsPerMinute, sockets, clock, marginMs = MARGIN_MS, windowMs = RATE_WINDOW_MS }: ThrottleOptions) {
    this.#clock = clock;
    this.#limit = creditsPerMinute;
    this.#available = creditsPerMinute;
    this.#holdMs = windowMs + marginMs;
    this.#sockets = limiterOf({ maxConcurrent: sockets });
    this.#credits = limiterOf({ reservoir: creditsPerMinute });
    this.#returns = new CreditReturns(clock, (credits) => this.#give(credits));
  }

  /** Calls that are being made now. */
  get inFlight(): number {
    return this.#begun.size;
  }

  /** Credits that could be spent now; below zero after a correction by the service. */
  get available(): number {
    return this.#available;
  }

  /** Until when nobody starts, by the steady time; in the past when nothing is paused. */
  get pausedUntil(): number {
    return this.#pausedUntil;
  }

  /** Runs the job once a socket and its credits are free. The signal ends the waiting, never a job that has begun. Queue
   * only a bounded number: Bottleneck starts some hundred jobs a second and keeps every one that waits. */
  async schedule<T>(credits: number, job: (permit: Permit) => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (credits > this.#limit) throw this.#overweight(credits);
    const waiting = signal ? AbortSignal.any([signal, this.#closing.signal]) : this.#closing.signal;
    if (waiting.aborted) throw interrupted();
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const giveUp = () => reject(interrupted());
    waiting.addEventListener('abort', giveUp, { once: true });
    const begin = () => {
      waiting.removeEventListener('abort', giveUp);
      return job;
    };
    void this.#sockets
      .schedule(() => (waiting.aborted ? skipped : this.#withCredits(credits, begin, waiting)))
      .then((ran) => ran && resolve(ran.value as T), reject)
      .finally(() => waiting.removeEventListener('abort', giveUp));
    return promise;
  }

  /** Takes in the service's own count. It is trusted only downwards: a higher number may not know of calls in flight. What
   * it lacks (another process, another machine) is held back until the reset. The service counted when it charged; what
   * came back here between the call's leaving and its answer is not in its number, and is no one else's spending. */
  correct(remaining: number, resetMs: number | null, permit?: Pick<Permit, 'returnedBefore'>): void {
    const returnedSince = permit ? this.#returned - permit.returnedBefore : 0;
    const excess = this.#available - returnedSince - Math.max(0, remaining);
    if (excess <= 0 || this.#closing.signal.aborted) return;
    this.#give(-excess);
    this.#returns.add(steadyTime(this.#clock) + Math.min(resetMs ?? this.#holdMs, this.#holdMs), excess);
  }

  /** Nobody starts before `ms`, by the steady time. A shorter pause does not end a longer one. */
  pauseUntil(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, ms);
  }

  /** Rejects what waits, lets what has begun land, and leaves no timer behind. */
  async close(): Promise<void> {
    const wasOpen = !this.#closing.signal.aborted;
    this.#closing.abort();
    // Only the jobs are waited for: whatever Bottleneck still waits for must not hold up the end of a run. Its stop() drops
    // that, timers and all, and may be called once only.
    if (wasOpen) for (const limiter of [this.#credits, this.#sockets]) void limiter.stop({ dropWaitingJobs: true });
    while (this.#begun.size > 0) await Promise.allSettled(this.#begun);
    await this.#returns.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #withCredits<T>(credits: number, begin: () => (permit: Permit) => Promise<T>, waiting: AbortSignal): Promise<Ran<T>> {
    return this.#credits.schedule({ weight: credits }, async () => {
      this.#available -= credits;
      let held = credits;
      const refund = (amount = held) => {
        const back = Math.max(0, Math.min(amount, held));
        held -= back;
        if (back > 0) this.#give(back);
      };
      await this.#unpaused(waiting);
      if (waiting.aborted) {
        refund();
        return null;
      }
      const job = begin();
      const running = (async () => job({ credits, returnedBefore: this.#returned, refund }))();
      this.#begun.add(running);
      try {
        return { value: await running };
      } finally {
        this.#begun.delete(running);
        // From the end, not the start: the service may count the call at any instant in between.
        if (held > 0) this.#returns.add(steadyTime(this.#clock) + this.#holdMs, held);
        held = 0;
      }
    });
  }

  async #unpaused(waiting: AbortSignal): Promise<void> {
    for (let ms = this.#pauseMs(); ms > 0 && !waiting.aborted; ms = this.#pauseMs())
      await this.#clock.sleep(ms, waiting);
  }

  #pauseMs(): number {
    return this.#pausedUntil - steadyTime(this.#clock);
  }

  #give(credits: number): void {
    this.#available += credits;
    if (credits > 0) this.#returned += credits;
    void this.#credits.incrementReservoir(credits);
  }

  #overweight(credits: number): PerilbookError {
    return new PerilbookError(
      'USAGE',
      `A call of ${credits} credits can never start: the subscription allows ${this.#limit} credits a minute`,
      'Choose smaller calls (single topics), or correct the credits a minute of the subscription in the job file.',
      { credits, creditsPerMinute: this.#limit },
    );
  }
}

type Ran<T> = { readonly value: T } | null;

const skipped: Promise<null> = Promise.resolve(null);

function interrupted(): PerilbookError {
  return new PerilbookError(
    'INTERRUPTED',
    'Interrupted while waiting for the rate limit',
    'Run the same command again to go on where it stopped.',
  );
}
