import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../src/base/clock.ts';

/** How often a process looks at the time while something waits for it. */
const TURN_MS = 5;

/** The most that passes between two looks. A process that looks later got no turn: the machine was busy. */
const MOST_A_TURN_MS = 10;

/**
 * A clock that runs `factor` times as fast as the wall clock and can be moved on. At 50 the client's 150 s for an answer are 3 s of the machine.
 * So time stands still while this process gets no turn: where the machine was busy, answers that were paid came too late, and
 * were bought twice. Several processes that are given the same numbers read the same time, which then runs in any case.
 */
export class FastClock implements Clock {
  readonly #start: number;
  readonly #factor: number;
  readonly #origin: number | undefined;
  #moved = 0;
  #passed = 0;
  #seen = performance.now();
  #waiting = 0;
  #turns: NodeJS.Timeout | undefined;

  /**
   * @param start the time that the clock shows at `origin`
   * @param origin a time of the wall clock that other processes are given too, milliseconds since the epoch; left out: now
   */
  constructor(start: string | number, factor: number, origin?: number) {
    this.#start = typeof start === 'number' ? start : Date.parse(start);
    this.#factor = factor;
    this.#origin = origin;
  }

  now(): number {
    const passed = this.#origin === undefined ? this.#ownTime() : Date.now() - this.#origin;
    return Math.round(this.#start + passed * this.#factor + this.#moved);
  }

  moveTo(time: string): void {
    this.#moved += Date.parse(time) - this.now();
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const wakeAt = this.now() + ms;
    if (this.#waiting++ === 0) this.#turns = setInterval(() => this.#ownTime(), TURN_MS);
    for (let left = wakeAt - this.now(); left > 0 && !signal?.aborted; left = wakeAt - this.now()) {
      // At least a millisecond: setTimeout cannot do less, and a loop of zeros would keep others from their turn.
      const slice = Math.max(1, Math.min(left / this.#factor, 50));
      await delay(slice, undefined, signal ? { signal } : {}).catch(() => {});
    }
    if (--this.#waiting === 0) clearInterval(this.#turns);
  }

  #ownTime(): number {
    const now = performance.now();
    this.#passed += Math.min(now - this.#seen, MOST_A_TURN_MS);
    this.#seen = now;
    return this.#passed;
  }
}
