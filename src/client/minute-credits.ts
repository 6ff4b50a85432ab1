import Bottleneck from 'bottleneck';
import { type Clock, sleepUntilSteady, steadyTime } from '../base/clock.ts';
import { RATE_WINDOW_MS } from '../contract/subscriptions.ts';

/** The service's minute begins later than ours, by the time that a request takes to arrive. */
const MARGIN_MS = 250;

/** How long the credits of a call that has ended count in the minute. */
const HOLD_MS = RATE_WINDOW_MS + MARGIN_MS;

/** Bottleneck starts some 250 jobs a second, so that processes that share a minute take turns: without it the first to wake up took
 * 85 % of each minute. It would hold up larger limits than this. */
const MOST_IN_TURN = 10_000;

/** If wall clock and steady clock drift apart by more than this, the wall clock was set. */
const CLOCK_SET_MS = 50;

/** The credits that may be spent within a minute, first come, first served: `take` waits for them, `giveBack` returns them, at once
 * or when a minute has passed.
 *
 * Bottleneck queues the waiting calls; the credits are counted here. Its own reservoir was rejected: a refresh is a fixed window that lets
 * twice the limit through across its edge, and it is read in a later turn, when it has changed. */
export class MinuteCredits {
  readonly #clock: Clock;
  readonly #limit: number;
  #queue = new Bottleneck({ maxConcurrent: 1 });
  /** The wall clock minus the steady one, when the queue was made. */
  #clockOffset = clockOffset();
  /** The calls that wait, the first first. */
  readonly #turns = new Set<Turn>();
  /** Below zero after a correction. */
  #available: number;
  #returned = 0;
  #given = Promise.withResolvers<void>();
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
  }

  /** Credits that could be taken now; below zero after a correction. */
  get available(): number {
    return this.#available;
  }

  /** Credits that were given back so far. */
  get returned(): number {
    return this.#returned;
  }

  /** Takes credits, at most the limit, as soon as they are there. Once it is closed it rejects, or never ends. */
  async take(credits: number): Promise<void> {
    if (this.#limit > MOST_IN_TURN && this.#turns.size === 0 && this.#available >= credits) {
      this.#available -= credits;
      return;
    }
    const turn: Turn = { credits };
    this.#turns.add(turn);
    try {
      await this.#takeInTurn(turn);
    } finally {
      this.#turns.delete(turn);
    }
  }

  giveBack(credits: number, when: 'now' | 'in a minute'): void {
    if (when === 'in a minute') this.#giveLater(credits, HOLD_MS);
    else this.#give(credits);
  }

  /** Withholds credits that others have spent, until the service's reset, or for a minute where it states none. */
  withhold(credits: number, resetMs: number | null): void {
    this.#available -= credits;
    this.#giveLater(credits, Math.min(resetMs ?? HOLD_MS, HOLD_MS));
  }

  /** Ends all waiting and clears its timers. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#wake.abort();
    void this.#queue.stop();
  }

  async #takeInTurn(turn: Turn): Promise<void> {
    for (;;) {
      this.#renewQueue();
      const queue = this.#queue;
      try {
        if (await queue.schedule(() => this.#takeWhenThere(turn, queue))) return;
      } catch (error) {
        // Else a new queue has replaced it.
        if (this.#isClosed) throw error;
      }
    }
  }

  /** @returns whether the credits were taken; false for a call that must go to the end of the newest queue */
  async #takeWhenThere(turn: Turn, queue: Bottleneck): Promise<boolean> {
    const isFirst = () => this.#turns.values().next().value === turn;
    while (isFirst() && queue === this.#queue && this.#available < turn.credits)
      await this.#given.promise;
    // The first one takes what is there, whichever queue it has waited in.
    if (!isFirst() || this.#available < turn.credits) return false;
    this.#available -= turn.credits;
    // Before the next one begins.
    this.#turns.delete(turn);
    return true;
  }

  /** Bottleneck starts no job before the wall clock reads the time of the latest one: where the clock is set back by an hour, it waits
   * for an hour. So waiting calls move to a new queue. They come there in any order, and go to its end until it is their turn. */
  #renewQueue(): void {
    if (this.#isClosed || Math.abs(clockOffset() - this.#clockOffset) <= CLOCK_SET_MS) return;
    const old = this.#queue;
    this.#queue = new Bottleneck({ maxConcurrent: 1 });
    this.#clockOffset = clockOffset();
    void old.stop();
    this.#wakeFirst();
  }

  #wakeFirst(): void {
    this.#given.resolve();
    this.#given = Promise.withResolvers();
  }

  #give(credits: number): void {
    this.#available += credits;
    this.#returned += credits;
    this.#wakeFirst();
    this.#renewQueue();
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

/** A call that waits for credits. */
interface Turn {
  readonly credits: number;
}

function clockOffset(): number {
  return Date.now() - performance.now();
}
