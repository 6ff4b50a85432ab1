import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../src/base/clock.ts';

/** A clock that runs `factor` times as fast as the wall clock and can be moved on. Several processes that are given the same numbers
 * read the same time. At 500 the client's 150 s for an answer are 0.3 s of the machine: where it was busy, paid answers came too late. */
export class FastClock implements Clock {
  readonly #start: number;
  readonly #factor: number;
  readonly #origin: number;
  #moved = 0;

  /**
   * @param start the time that the clock shows at `origin`
   * @param origin a time of the wall clock, milliseconds since the epoch
   */
  constructor(start: string | number, factor: number, origin: number = Date.now()) {
    this.#start = typeof start === 'number' ? start : Date.parse(start);
    this.#factor = factor;
    this.#origin = origin;
  }

  now(): number {
    return Math.round(this.#start + (Date.now() - this.#origin) * this.#factor + this.#moved);
  }

  moveTo(time: string): void {
    this.#moved += Date.parse(time) - this.now();
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const wakeAt = this.now() + ms;
    for (let left = wakeAt - this.now(); left > 0 && !signal?.aborted; left = wakeAt - this.now()) {
      // At least a millisecond: setTimeout cannot do less, and a loop of zeros would keep others from their turn.
      const slice = Math.max(1, Math.min(left / this.#factor, 50));
      await delay(slice, undefined, signal ? { signal } : {}).catch(() => {});
    }
  }
}
