import type { Clock } from '../../src/base/clock.ts';

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** A clock that stands still until it is moved. */
export class MovedClock implements Clock {
  #now = 1_000_000;
  #sleepers: Sleeper[] = [];

  now(): number {
    return this.#now;
  }

  get sleeping(): number {
    return this.#sleepers.length;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const sleeper = { at: this.#now + ms, wake: resolve };
      const leave = () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        resolve();
      };
      if (signal?.aborted) return resolve();
      this.#sleepers.push(sleeper);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  /** Moves the clock, ends the sleeps that are due, and gives the work that follows time to happen. */
  async move(ms: number): Promise<void> {
    this.#now += ms;
    const due = this.#sleepers.filter(({ at }) => at <= this.#now);
    this.#sleepers = this.#sleepers.filter(({ at }) => at > this.#now);
    for (const { wake } of due) wake();
    await settled();
  }
}

/** Lets Bottleneck's own timers (a few ticks a job) run. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 25));
}
