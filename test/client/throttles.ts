import type { TestContext } from 'node:test';
import { Throttle, type ThrottleOptions } from '../../src/client/throttle.ts';
import { StandingClock } from '../faults/leaping-clock.ts';

/** A clock that stands still until it is moved. */
export class MovedClock extends StandingClock {
  constructor() {
    super(1_000_000);
  }

  /** Moves the clock, ends the sleeps that are due, and gives the work that follows time to happen. */
  async move(ms: number): Promise<void> {
    this.set(this.now() + ms);
    await settled();
  }
}

/** Lets Bottleneck's own timers (a few ticks a job) run: by turns of the event loop, which a busy machine does not skip. */
export async function settled(): Promise<void> {
  for (let turns = 0; turns < 8; turns++) await new Promise((resolve) => setTimeout(resolve, 3));
}

/** How long spent credits stay away. */
export const HOLD_MS = 60_250;

/** A throttle of 300 credits a minute with a clock that is moved by hand, closed when the test ends. */
export function setUp(t: TestContext, options: Partial<ThrottleOptions> = {}) {
  const clock = new MovedClock();
  const throttle = new Throttle({ creditsPerMinute: 300, sockets: 8, clock, ...options });
  t.after(() => throttle.close());
  const started: number[] = [];
  /** Schedules calls that land at once; `started` fills with the times at which they began. */
  const spend = (credits: number, times = 1) =>
    Array.from({ length: times }, () =>
      throttle.schedule(credits, async () => {
        started.push(clock.now());
      }),
    );
  return { clock, throttle, started, spend };
}

/** A job whose end the test decides. */
export function heldJob() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { job: () => promise, land: resolve };
}
