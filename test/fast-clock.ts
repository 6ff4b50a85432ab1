import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../src/base/clock.ts';

/** How often a process looks at the time while something waits for it. */
const TURN_MS = 5;

/** The most that passes between two looks. A process that looks later got no turn: the machine was busy. */
const MOST_A_TURN_MS = 10;

/** The time of this process, which stands still while it gets no turn. */
class OwnTime {
  #passed = 0;
  #seen = performance.now();
  #waiting = 0;
  #turns: NodeJS.Timeout | undefined;

  passed = (): number => {
    const now = performance.now();
    this.#passed += Math.min(now - this.#seen, MOST_A_TURN_MS);
    this.#seen = now;
    return this.#passed;
  };

  /** Looks at the time until it is disposed of, as long as something waits for it. */
  waiting(): Disposable {
    if (this.#waiting++ === 0) this.#turns = setInterval(this.passed, TURN_MS);
    return {
      [Symbol.dispose]: () => {
        if (--this.#waiting === 0) clearInterval(this.#turns);
      },
    };
  }
}

/**
 * A clock that runs `factor` times as fast as the wall clock and can be moved on. At 50 the client's 150 s for an answer are 3 s of the machine.
 * So time stands still while this process gets no turn: where the machine was busy, answers that were paid came too late, and
 * were bought twice. Several clocks of a process may have one time. Those of several processes that are given the same numbers read the
 * same time, which then runs in any case.
 */
export class FastClock implements Clock {
  readonly #start: number;
  readonly #factor: number;
  readonly #own: OwnTime;
  readonly #passed: () => number;
  #moved = 0;

  /**
   * @param start the time that the clock shows at its origin
   * @param origin the clock whose time this one has, too; or a time of the wall clock that other processes are given too, milliseconds since
   * the epoch; left out: now
   */
  constructor(start: string | number, factor: number, origin?: FastClock | number) {
    this.#start = typeof start === 'number' ? start : Date.parse(start);
    this.#factor = factor;
    this.#own = origin instanceof FastClock ? origin.#own : new OwnTime();
    this.#passed = typeof origin === 'number' ? () => Date.now() - origin : this.#own.passed;
  }

  now(): number {
    return Math.round(this.#start + this.#passed() * this.#factor + this.#moved);
  }

  moveTo(time: string): void {
    this.#moved += Date.parse(time) - this.now();
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const wakeAt = this.now() + ms;
    using _ = this.#own.waiting();
    for (let left = wakeAt - this.now(); left > 0 && !signal?.aborted; left = wakeAt - this.now()) {
      // At least a millisecond: setTimeout cannot do less, and a loop of zeros would keep others from their turn.
      const slice = Math.max(1, Math.min(left / this.#factor, 50));
      await delay(slice, undefined, signal ? { signal } : {}).catch(() => {});
    }
  }
}
