import { type Clock, makeClock } from '../src/base/clock.ts';
import { FastClock } from './fast-clock.ts';

/** A fast clock whose wall time can be set, as by a time server or a machine that wakes, while its steady time goes on. */
export class JumpingClock implements Clock {
  readonly #time: FastClock;
  #offset = 0;

  /** @param origin as of a `FastClock` */
  constructor(start: number, factor: number, origin?: FastClock) {
    this.#time = new FastClock(start, factor, origin);
  }

  now = (): number => this.#time.now() + this.#offset;

  steady = (): number => this.#time.now();

  /** As the program's own clock sleeps, by both times. */
  sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    makeClock(this.now, this.steady, (pause, wake) => this.#time.sleep(pause, wake)).sleep(
      ms,
      signal,
    );

  jump(ms: number): void {
    this.#offset += ms;
  }

  moveTo(time: string): void {
    this.jump(Date.parse(time) - this.now());
  }
}
