import type { Clock } from '../src/base/clock.ts';

/** A clock that a test moves. `sleep` moves it itself, so that whatever waits goes on at once, at the right time. */
export class MovedClock implements Clock {
  #now: number;

  constructor(start: number | string) {
    this.#now = typeof start === 'number' ? start : Date.parse(start);
  }

  now = (): number => this.#now;

  move(ms: number): void {
    this.#now += ms;
  }

  moveTo(time: string): void {
    this.#now = Date.parse(time);
  }

  async sleep(ms: number): Promise<void> {
    const wakeAt = this.#now + ms;
    // Others may still have something to do at this moment.
    await new Promise((resolve) => setImmediate(resolve));
    this.#now = Math.max(this.#now, wakeAt);
  }
}
