import { RATE_WINDOW_MS } from '../src/contract/subscriptions.ts';
import type { Charged } from './bench-harness.ts';

/** How well a run used the credits that a minute allows. */
export interface LimitUse {
  /** Credits used in the steady state, as a share of those allowed. */
  readonly share: number;
  /** The most credits that any 60 s hold, wherever they begin. */
  readonly fullest: number;
}

/** How long a run must last to be measured: from its first charge, in milliseconds. */
export function measuredSpan(minutes: number): number {
  return (minutes + 2) * RATE_WINDOW_MS;
}

/**
 * Reads the use of the limit off the service's own charges.
 *
 * The first minute is left out: a run begins with a full minute at its disposal, which is no merit. Then a window of so
 * many minutes is laid over the charges: its credits, over those that as many minutes allow. Calls come in bursts a
 * little more than a minute apart, so a single window would hold a burst more or less by the millisecond at which it
 * begins; the share is the mean over all beginnings within the second minute.
 */
export function limitUse(charges: readonly Charged[], limit: number, minutes: number): LimitUse {
  const start = (charges[0]?.at ?? 0) + RATE_WINDOW_MS;
  const length = minutes * RATE_WINDOW_MS;
  let used = 0;
  for (const { at, credits } of charges) {
    // The beginnings, from `start` on, of the windows that hold this charge: after `at - length`, up to `at`.
    const first = Math.max(start, at - length);
    const last = Math.min(start + RATE_WINDOW_MS, at);
    used += (credits * Math.max(0, last - first)) / RATE_WINDOW_MS;
  }
  return { share: used / (limit * minutes), fullest: fullestWindow(charges) };
}

/** A charge leaves the window when it is 60 s old to the millisecond, as in the service. */
function fullestWindow(charges: readonly Charged[]): number {
  let fullest = 0;
  let sum = 0;
  let oldest = 0;
  for (const { at, credits } of charges) {
    sum += credits;
    while (charges[oldest]!.at <= at - RATE_WINDOW_MS) sum -= charges[oldest++]!.credits;
    fullest = Math.max(fullest, sum);
  }
  return fullest;
}
