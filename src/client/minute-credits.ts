import Bottleneck from 'bottleneck';
import { type Clock, sleepUntilSteady, steadyTime } from '../base/clock.ts';
import { RATE_WINDOW_MS } from '../contract/subscriptions.ts';

/** The service's minute begins later than ours, by the time that a request takes to arrive. */
const MARGIN_MS = 250;

/** How long the credits of a call that has ended count in the minute. */
const HOLD_MS = RATE_WINDOW_MS + MARGIN_MS;

/** Bottleneck starts some hundred jobs a second, each in a turn of its own. Of a larger limit a job takes as many credits as last
 * for a thousandth of the minute, and calls divide them; up to 1,000 credits a minute, a job is a call. */
const JOBS_PER_MINUTE = 1_000;

/**
 * The credits that may be spent within a minute, first come, first served: `take` waits for them, `giveBack` returns them, at once
 * or when a minute has passed.
 *
 * Bottleneck is the queue. Its own refresh is a fixed window that lets twice the limit through across its edge, and `updateSettings`
 * ends it for good: neither is used.
 */
export class MinuteCredits {
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #queue: Bottleneck;
  /** Credits that were taken out of the queue and belong to no call yet. */
  #divided = 0;
  #available: number;
  #returned = 0;
  /** Credits that are given back later, in the order of their times. One timer serves them all: with a timer and a listener for each
   * call, 3,000 calls in a minute took five times as long. */
  readonly #due: { readonly at: number; readonly credits: number }[] = [];
  #wake = new AbortController();
  #isGiving = false;
  #isClosed = false;

  constructor(limit: number, clock: Clock) {
    this.#clock = clock;
    this.#limit = limit;
    this.#available = limit;
    this.#queue = queueOf(limit);
  }

  /** Credits that could be taken now; below zero after a correction. */
  get available(): number {
    return this.#available;
  }

  /** Credits that were given back so far. */
  get returned(): number {
    return this.#returned;
  }

  /** Takes credits, at most the limit, as soon as they are there. Rejects when it is closed. */
  async take(credits: number): Promise<void> {
    if (this.#divided < credits) {
      const weight = Math.max(credits, Math.floor(this.#limit / JOBS_PER_MINUTE));
      await this.#queue.schedule({ weight }, async () => {});
      this.#divided += weight;
    }
    this.#divided -= credits;
    this.#available -= credits;
  }

  giveBack(credits: number, when: 'now' | 'in a minute'): void {
    if (when === 'in a minute') this.#giveLater(credits, HOLD_MS);
    else if (credits > 0) this.#give(credits);
  }

  /** Withholds credits that others have spent, until the service's reset, or for a minute where it states none. */
  withhold(credits: number, resetMs: number | null): void {
    if (this.#isClosed) return;
    // First the credits that no call holds.
    const spare = Math.min(this.#divided, credits);
    this.#divided -= spare;
    this.#available -= credits;
    void this.#queue.incrementReservoir(spare - credits);
    this.#giveLater(credits, Math.min(resetMs ?? HOLD_MS, HOLD_MS));
  }

  /** Ends all waiting and clears its timers. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#wake.abort();
    // What else Bottleneck waits for must not delay the end of a run. Its stop() drops that, and may be called only once.
    void this.#queue.stop({ dropWaitingJobs: true });
  }

  #give(credits: number): void {
    this.#available += credits;
    this.#returned += credits;
    void this.#queue.incrementReservoir(credits);
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
    while (this.#due.length > 0 && !this.#isClosed) {
      const now = steadyTime(this.#clock);
      const later = this.#due.findIndex(({ at }) => at > now);
      const due = this.#due.splice(0, later === -1 ? this.#due.length : later);
      if (due.length > 0) this.#give(due.reduce((sum, { credits }) => sum + credits, 0));
      else {
        this.#wake = new AbortController();
        await sleepUntilSteady(this.#clock, this.#due[0]!.at, this.#wake.signal);
      }
    }
    this.#isGiving = false;
  }
}

/**
 * Makes the queue. `minTime` and the first job do more than Bottleneck's documents promise; `throttle-date.test.ts` notices a version
 * that changes them. Bottleneck keeps the time of the next job (`now + wait + minTime`) by `Date.now()`, so that a clock that is set
 * back by an hour holds every job for an hour, and no option changes that. With -Infinity no job waits by the clock, from the second
 * one on: the time begins as that at which the limiter was made. Rejected: a store of our own (its interface is not public), and
 * replacing `Date` (the whole process would read it).
 */
function queueOf(reservoir: number): Bottleneck {
  const queue = new Bottleneck({ reservoir, minTime: Number.NEGATIVE_INFINITY });
  queue.schedule({ weight: 0 }, async () => {}).catch(() => {});
  return queue;
}
