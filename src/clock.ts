import { setTimeout as delay } from 'node:timers/promises';

/** Time as the program sees it. Passed in everywhere, so that tests move it instead of waiting for it. */
export interface Clock {
  /** Milliseconds since the epoch, UTC. */
  now(): number;
  /** Resolves after `ms` milliseconds, or at once when the signal aborts (it does not reject: the caller looks at the signal). */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** setTimeout fires at once for more than 2^31-1 ms; longer waits (a month to the anniversary) go in slices. A slice is
 * one minute, not 24 days, so that a machine that was suspended wakes on the wall clock's time. */
const LONGEST_SLICE_MS = 60_000;

export const systemClock: Clock = {
  now: Date.now,
  async sleep(ms, signal) {
    const wakeAt = Date.now() + ms;
    for (let left = ms; left > 0 && !signal?.aborted; left = wakeAt - Date.now()) {
      await delay(Math.min(left, LONGEST_SLICE_MS), undefined, signal ? { signal } : {}).catch((error: unknown) => {
        if (!signal?.aborted) throw error;
      });
    }
  },
};
