import Bottleneck from 'bottleneck';
import { type Clock, steadyTime } from '../clock.ts';
import { RATE_WINDOW_MS } from '../contract/subscriptions.ts';
import { PerilbookError } from '../errors.ts';
import { CreditReturns } from './credit-returns.ts';

/** The service's minute and ours begin at different instants, by the time that a request travels. */
export const MARGIN_MS = 250;

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

/** Opens the throttle of one process: no window of a minute, wherever it begins, sees more credits than the limit. */
export function createThrottle(options: ThrottleOptions): Throttle {
  return new Throttle(options);
}

/** Two nested Bottleneck limiters. A weight counts against `maxConcurrent` too, so sockets (weight 1) and credits (weight
 * = price) cannot be one limiter. Bottleneck's own refresh is a fixed window that lets twice the limit through across its
 * edge, and `updateSettings` kills it for good: neither is used, credits are handed back by our own clock. */
export class Throttle {
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #holdMs: number;
  readonly #sockets: Bottleneck;
  readonly #credits: Bottleneck;
  readonly #returns: CreditReturns;
  readonly #scheduled = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();
  #available: number;
  #returned = 0;
  #inFlight = 0;
  #pausedUntil = 0;

  constructor({ creditsPerMinute, sockets, clock, marginMs = MARGIN_MS, windowMs = RATE_WINDOW_MS }: ThrottleOptions) {
    this.#clock = clock;
    this.#limit = creditsPerMinute;
    this.#available = creditsPerMinute;
    this.#holdMs = windowMs + marginMs;
    this.#sockets = new Bottleneck({ maxConcurrent: sockets });
    this.#credits = new Bottleneck({ reservoir: creditsPerMinute });
    this.#returns = new CreditReturns(clock, (credits) => this.#give(credits));
  }

  /** Calls that are being made now. */
  get inFlight(): number {
    return this.#inFlight;
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
    const scheduled = this.#sockets
      .schedule(() => (waiting.aborted ? skipped : this.#withCredits(credits, begin, waiting)))
      .then((ran) => ran && resolve(ran.value as T), reject)
      .finally(() => {
        waiting.removeEventListener('abort', giveUp);
        this.#scheduled.delete(scheduled);
      });
    this.#scheduled.add(scheduled);
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
    this.#closing.abort();
    // Bottleneck's own stop() rejects promises that nobody may hold, and cannot be called twice. Instead all that waits
    // is let through: each finds the throttle closed and ends without doing anything.
    await this.#credits.incrementReservoir(2 ** 52);
    while (this.#scheduled.size > 0) await Promise.allSettled(this.#scheduled);
    await this.#returns.close();
    await Promise.all([this.#sockets.disconnect(), this.#credits.disconnect()]);
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
      this.#inFlight++;
      try {
        return { value: await begin()({ credits, returnedBefore: this.#returned, refund }) };
      } finally {
        this.#inFlight--;
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
