import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../../src/base/clock.ts';

/** Turns of the event loop without any news after which everything waits: what travels on loopback within one process
 * needs one or two. */
const QUIET_TURNS = 4;

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** A clock that stands still until it is set. */
export class StandingClock implements Clock {
  #now: number;
  #sleepers: Sleeper[] = [];

  constructor(start: number) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  /** How many wait for a time to come. */
  get sleeping(): number {
    return this.#sleepers.length;
  }

  /** When the first of them wakes. */
  get nextWaking(): number {
    return Math.min(...this.#sleepers.map(({ at }) => at));
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const sleeper = { at: this.#now + ms, wake: resolve };
    this.#sleepers.push(sleeper);
    const leave = () => {
      this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
      resolve();
    };
    signal?.addEventListener('abort', leave, { once: true });
    await promise;
    signal?.removeEventListener('abort', leave);
  }

  /** Sets the time, and ends the sleeps that are due. */
  set(time: number): void {
    this.#now = time;
    const due = this.#sleepers.filter(({ at }) => at <= time);
    this.#sleepers = this.#sleepers.filter(({ at }) => at > time);
    for (const { wake } of due) wake();
  }
}

/** A clock that stands still while anything happens, and leaps to the next waking when all wait. A slow machine then
 * changes nothing: no deadline passes while an answer is on its way, and an hour of waiting takes milliseconds.
 *
 * Callers report events (`stir`), and work that other threads do (`during`). */
export class LeapingClock extends StandingClock {
  readonly #quietTurns: number;
  #news = 0;
  #busy = 0;
  #leaping: Promise<void> | null = null;

  /** @param quietTurns more than 4 where it matters how much a run buys before it waits: from one answer to the next request
   * it goes through the store and the throttle, which take turns of their own */
  constructor(start: string, quietTurns = QUIET_TURNS) {
    super(Date.parse(start));
    this.#quietTurns = quietTurns;
  }

  moveTo(time: string): void {
    this.set(Date.parse(time));
    this.stir();
  }

  /** Something happened: the side that is to answer gets the time for it. */
  stir(): void {
    this.#news++;
  }

  /** Stands still while the work goes on. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.#busy++;
    return work.finally(() => {
      this.#busy--;
      this.stir();
    });
  }

  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const slept = super.sleep(ms, signal);
    this.stir();
    this.#leaping ??= this.#leap().finally(() => {
      this.#leaping = null;
    });
    return slept;
  }

  async #leap(): Promise<void> {
    for (let quiet = 0, seen = -1; this.sleeping > 0; ) {
      // A timer and an immediate: between the two the loop has looked for what came in.
      await delay(1);
      await turn();
      quiet = this.#busy > 0 || this.#news !== seen ? 0 : quiet + 1;
      seen = this.#news;
      if (quiet < this.#quietTurns || this.sleeping === 0) continue;
      quiet = 0;
      this.set(Math.max(this.now(), this.nextWaking));
    }
  }
}
