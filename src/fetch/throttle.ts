import Bottleneck from 'bottleneck';
import { type Clock, sleepUntilSteady, steadyTime } from '../clock.ts';
import { RATE_WINDOW_MS } from '../contract/subscriptions.ts';
import { PerilbookError } from '../errors.ts';

/** The service's minute begins later than ours, by the time that a request takes to arrive. */
const MARGIN_MS = 250;

/** How long the credits of a call that has ended count in the minute. */
const HOLD_MS = RATE_WINDOW_MS + MARGIN_MS;

export interface ThrottleOptions {
  readonly creditsPerMinute: number;
  /** Most calls in flight. */
  readonly sockets: number;
  readonly clock: Clock;
}

/** Permission for a call to spend credits. */
export interface Permit {
  readonly credits: number;
  /** How many credits had been returned in all when this call was sent: `correct` needs it. */
  readonly returnedBefore: number;
  /** Returns credits at once that were not charged: all of them, or as many as given. */
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
  readonly #sockets: Bottleneck;
  readonly #credits: Bottleneck;
  /** The jobs that are running. */
  readonly #begun = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();
  /** Credits that are given back later, in the order of their times. One timer serves them all: with a timer and a listener for each
   * call, 3,000 calls in a minute took five times as long. */
  readonly #due: { readonly at: number; readonly credits: number }[] = [];
  #wake = new AbortController();
  #isGiving = false;
  #available: number;
  #returned = 0;
  #pausedUntil = 0;

  constructor({ creditsPerMinute, sockets, clock }: ThrottleOptions) {
    this.#clock = clock;
    this.#limit = creditsPerMinute;
    this.#available = creditsPerMinute;
    this.#sockets = limiterOf({ maxConcurrent: sockets });
    this.#credits = limiterOf({ reservoir: creditsPerMinute });
  }

  /** Calls that are being made now. */
  get inFlight(): number {
    return this.#begun.size;
  }

  /** Credits that could be spent now; below zero after a correction by the service. */
  get available(): number {
    return this.#available;
  }

  /** Runs the job once a socket and its credits are free. The signal ends the waiting, never a running job. Queue only a bounded
   * number: Bottleneck starts some hundred jobs a second and keeps every waiting one in memory. */
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

  /** Corrects the credits by the service's own count, but only downwards: a higher number may lack calls in flight. What others
   * spent (another process, another machine) is withheld until the reset. The service counted when it charged: credits that were
   * returned here between the request and its answer are not in its number, and were not spent by others. */
  correct(remaining: number, resetMs: number | null, permit?: Pick<Permit, 'returnedBefore'>): void {
    const returnedSince = permit ? this.#returned - permit.returnedBefore : 0;
    const excess = this.#available - returnedSince - Math.max(0, remaining);
    if (excess <= 0 || this.#closing.signal.aborted) return;
    this.#give(-excess);
    this.#giveLater(excess, Math.min(resetMs ?? HOLD_MS, HOLD_MS));
  }

  /** No job starts before this steady time. A shorter pause does not end a longer one. */
  pauseUntil(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, ms);
  }

  /** Rejects waiting jobs, waits for running ones, and leaves no timer behind. */
  async close(): Promise<void> {
    const wasOpen = !this.#closing.signal.aborted;
    this.#closing.abort();
    this.#wake.abort();
    // Only the jobs are waited for: what else Bottleneck waits for must not delay the end of a run. Its stop() drops that with its
    // timers, and may be called only once.
    if (wasOpen) for (const limiter of [this.#credits, this.#sockets]) void limiter.stop({ dropWaitingJobs: true });
    while (this.#begun.size > 0) await Promise.allSettled(this.#begun);
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
        // From the end, not from the start: the service may count the call at any time in between.
        if (held > 0) this.#giveLater(held, HOLD_MS);
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

  /** By steady time: by the wall clock, setting it would return credits early or late. */
  #giveLater(credits: number, afterMs: number): void {
    const at = steadyTime(this.#clock) + afterMs;
    const before = this.#due.findLastIndex((due) => due.at <= at);
    this.#due.splice(before + 1, 0, { at, credits });
    if (before === -1) this.#wake.abort();
    if (!this.#isGiving) void this.#giveDue();
  }

  async #giveDue(): Promise<void> {
    this.#isGiving = true;
    while (this.#due.length > 0 && !this.#closing.signal.aborted) {
      const now = steadyTime(this.#clock);
      const later = this.#due.findIndex(({ at }) => at > now);
      const given = this.#due.splice(0, later === -1 ? this.#due.length : later);
      if (given.length > 0) this.#give(given.reduce((sum, { credits }) => sum + credits, 0));
      else {
        this.#wake = new AbortController();
        await sleepUntilSteady(this.#clock, this.#due[0]!.at, this.#wake.signal);
      }
    }
    this.#isGiving = false;
  }

  #give(credits: number): void {
    this.#available += credits;
    if (credits > 0) this.#returned += credits;
    void this.#credits.incrementReservoir(credits);
  }

  #overweight(credits: number): PerilbookError {
    return new PerilbookError(
      'USAGE',
      `A call of ${credits} credits can never start: the subscription allows ${this.#limit} credits per minute`,
      'Choose cheaper calls (single topics), or correct the credits per minute of the subscription in the job file.',
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
