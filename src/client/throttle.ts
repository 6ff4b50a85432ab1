import { type Clock, steadyTime } from '../base/clock.ts';
import { PerilbookError } from '../base/errors.ts';
import { counted } from '../base/format-numbers.ts';
import { MinuteCredits } from './minute-credits.ts';

export interface ThrottleOptions {
  readonly creditsPerMinute: number;
  /** Most calls in flight. */
  readonly sockets: number;
  readonly clock: Clock;
}

export interface Permit {
  readonly credits: number;
  /** How many credits had been returned in all when this call was sent: `correct` needs it. */
  readonly returnedBefore: number;
  /** Returns uncharged credits at once: all of them, or `credits`. */
  refund(credits?: number): void;
}

/** The throttle of one process: no window of 60 seconds sees more credits than the limit. A call waits for a connection, then for its
 * credits, both first come, first served, except that calls of begun places go first. Connections are counted here: a second Bottleneck for them took a millisecond a call. */
export class Throttle implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #credits: MinuteCredits;
  #freeSockets: number;
  readonly #waitingForSocket: (() => void)[] = [];
  /** The jobs that are running. */
  readonly #begun = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();
  #pausedUntil = 0;

  constructor({ creditsPerMinute, sockets, clock }: ThrottleOptions) {
    this.#clock = clock;
    this.#limit = creditsPerMinute;
    this.#credits = new MinuteCredits(creditsPerMinute, clock);
    this.#freeSockets = sockets;
  }

  /** Calls that are being made now. */
  get inFlight(): number {
    return this.#begun.size;
  }

  /** Credits that could be spent now; below zero after a correction by the service. */
  get available(): number {
    return this.#credits.available;
  }

  /** Runs the job once a connection and its credits are free. The signal ends the waiting, never a running job. Queue only a bounded
   * number: every waiting job is kept in memory.
   *
   * @param isBegun whether the place of this call was asked about before: if the credits end early, few places are incomplete */
  async schedule<T>(
    credits: number,
    job: (permit: Permit) => Promise<T>,
    signal?: AbortSignal,
    isBegun = false,
  ): Promise<T> {
    if (credits > this.#limit) throw this.#overweight(credits);
    const signals = signal ? [signal, this.#closing.signal] : [this.#closing.signal];
    const isOver = () => signals.some(({ aborted }) => aborted);
    if (isOver()) throw interrupted();
    const { promise: acquired, resolve, reject } = Promise.withResolvers<void>();
    const giveUp = () => reject(interrupted());
    for (const each of signals) each.addEventListener('abort', giveUp);
    try {
      this.#acquire(credits, isBegun, isOver).then(resolve, reject);
      await acquired;
    } finally {
      for (const each of signals) each.removeEventListener('abort', giveUp);
    }
    return await this.#run(credits, job);
  }

  /** Corrects the credits by the service's own count, but only downwards: a higher number may lack calls in flight. What others
   * spent (another process, another machine) is withheld until the reset. The service counted when it charged: credits that were
   * returned here between the request and its answer are not in its number, and were not spent by others. */
  correct(
    remaining: number,
    resetMs: number | null,
    permit?: Pick<Permit, 'returnedBefore'>,
  ): void {
    const returnedSince = permit ? this.#credits.returned - permit.returnedBefore : 0;
    const excess = this.available - returnedSince - Math.max(0, remaining);
    if (excess > 0) this.#credits.withhold(excess, resetMs);
  }

  /** No job starts before this steady time. A shorter pause does not end a longer one. */
  pauseUntil(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, ms);
  }

  /** Rejects waiting jobs, waits for running ones, and clears its timers. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#credits.close();
    while (this.#begun.size > 0) await Promise.allSettled(this.#begun);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Waits for a connection, the credits and the end of a pause. Holds nothing if the wait was cancelled. */
  async #acquire(credits: number, isBegun: boolean, isOver: () => boolean): Promise<void> {
    if (this.#freeSockets > 0) this.#freeSockets--;
    else {
      await new Promise<void>((resolve) => {
        if (isBegun) this.#waitingForSocket.unshift(resolve);
        else this.#waitingForSocket.push(resolve);
      });
    }
    await this.#credits.take(credits);
    for (let ms = this.#pauseMs(); ms > 0 && !isOver(); ms = this.#pauseMs()) {
      await this.#clock.sleep(ms, this.#closing.signal);
    }
    if (!isOver()) return;
    this.#credits.giveBack(credits, 'now');
    this.#releaseSocket();
  }

  async #run<T>(credits: number, job: (permit: Permit) => Promise<T>): Promise<T> {
    let held = credits;
    const refund = (amount = held) => {
      const back = Math.max(0, Math.min(amount, held));
      held -= back;
      this.#credits.giveBack(back, 'now');
    };
    const running = (async () =>
      job({ credits, returnedBefore: this.#credits.returned, refund }))();
    this.#begun.add(running);
    try {
      return await running;
    } finally {
      this.#begun.delete(running);
      // Counted from the end of the call: the service may have counted it at any time until then.
      this.#credits.giveBack(held, 'in a minute');
      held = 0;
      this.#releaseSocket();
    }
  }

  #releaseSocket(): void {
    const next = this.#waitingForSocket.shift();
    if (next === undefined) this.#freeSockets++;
    else next();
  }

  #pauseMs(): number {
    return this.#pausedUntil - steadyTime(this.#clock);
  }

  #overweight(credits: number): PerilbookError {
    const allowed = `the subscription allows ${counted(this.#limit, 'credit')} per minute`;
    const hint =
      'Choose cheaper calls (single topics), or correct the credits per minute of the subscription in the job file.';
    return new PerilbookError(
      'USAGE',
      `A call of ${counted(credits, 'credit')} can never start: ${allowed}`,
      hint,
    );
  }
}

function interrupted(): PerilbookError {
  const hint = 'Run the same command again to resume.';
  return new PerilbookError('INTERRUPTED', 'Interrupted while waiting for the rate limit', hint);
}
