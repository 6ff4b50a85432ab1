/** Time as the program sees it. Passed in everywhere, so that tests move it instead of waiting for it. */
export interface Clock {
  /** Milliseconds since the epoch, UTC. Jumps when the machine's clock is set, and when the machine wakes. */
  now(): number;
  /** Resolves after `ms` milliseconds, or at once when the signal aborts (it does not reject: the caller looks at the signal). */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Milliseconds from any beginning that never jump, the same for all processes of a machine until it is started again.
   * Spans are measured by it (`steadyTime`). A clock that cannot be set needs none. */
  steady?(): number;
}

/** Time for measuring spans: does not jump when the clock is set. Says nothing of the date. */
export function steadyTime(clock: Clock): number {
  return clock.steady?.() ?? clock.now();
}

/** setTimeout fires at once for more than 2^31-1 ms; longer waits (a month to the anniversary) go in slices. A slice is
 * one minute, not 24 days, so that a machine that was suspended wakes on the wall clock's time. */
const LONGEST_SLICE_MS = 60_000;

/** Up to here a wait is a span (the minute of the limit, what a service asks for); longer ones are waits for a date. */
const LONGEST_SPAN_MS = 15 * 60_000;

/** Waits until a steady time, however far off: a span of hours is not a wait for a date, and setting the clock must not end it. */
export async function sleepUntilSteady(
  clock: Clock,
  at: number,
  signal?: AbortSignal,
): Promise<void> {
  for (
    let left = at - steadyTime(clock);
    left > 0 && !signal?.aborted;
    left = at - steadyTime(clock)
  ) {
    await clock.sleep(Math.min(left, LONGEST_SPAN_MS), signal);
  }
}

/** A signal that aborts when a span is over, unless it is disposed of before. */
export function timeLimit(clock: Clock, ms: number): Disposable & { readonly signal: AbortSignal } {
  const over = new AbortController();
  const disposed = new AbortController();
  void clock.sleep(ms, disposed.signal).then(() => {
    if (!disposed.signal.aborted) over.abort();
  });
  return { signal: over.signal, [Symbol.dispose]: () => disposed.abort() };
}

/** Makes a clock of a wall clock, which may be set, and a steady one, which is not. `pause` may stand still together with the machine. */
export function makeClock(
  wall: () => number,
  steady: () => number,
  pause: Clock['sleep'] = timer,
): Clock {
  return {
    now: wall,
    steady,
    async sleep(ms, signal) {
      const wakeAt = { wall: wall() + ms, steady: steady() + ms };
      // Neither makes a wait longer than was asked for; only a wait for a date ends early, when the date has come.
      const left = () => {
        const span = wakeAt.steady - steady();
        return ms > LONGEST_SPAN_MS ? Math.min(span, wakeAt.wall - wall()) : span;
      };
      for (let rest = left(); rest > 0 && !signal?.aborted; rest = left()) {
        await pause(Math.min(rest, LONGEST_SLICE_MS), signal);
      }
    },
  };
}

/** Resolves, and does not reject, when the signal aborts: node:timers/promises makes an error with a stack, and a call to the service
 * ends a timer each time. */
function timer(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timeout);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timeout = setTimeout(end, ms);
    signal?.addEventListener('abort', end, { once: true });
    if (signal?.aborted) end();
  });
}

export const systemClock: Clock = makeClock(Date.now, () =>
  Number(process.hrtime.bigint() / 1_000_000n),
);
