import { type Clock, steadyTime } from '../../base/clock.ts';
import { mayTryAgain } from './download-errors.ts';

export interface AttemptOptions {
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** Called before each wait. @param tookMs how long the attempt took */
  /** The most attempts; default: 6. */
  readonly mostAttempts?: number;
  readonly onWait?: (reason: string, waitMs: number, tookMs: number) => void;
}

const MOST_ATTEMPTS = 6;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
/** Longer waits end the download. */
const LONGEST_ASKED_MS = 10 * 60_000;

/** Repeats `work` after transient failures, with growing waits or the wait that the server asks for. An attempt after which `progress`
 * is higher resets the count of attempts. undici's RetryAgent was rejected: it resumes only within one request, but here a partial file
 * outlives the process; it also takes no clock, and does not report why it waits. */
export async function withAttempts<T>(
  { clock, random, signal, mostAttempts = MOST_ATTEMPTS, onWait = () => {} }: AttemptOptions,
  work: () => Promise<T>,
  progress: () => number = () => 0,
): Promise<T> {
  let attempts = 0;
  let before = progress();
  for (;;) {
    const startedAt = steadyTime(clock);
    try {
      signal.throwIfAborted();
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      const now = progress();
      attempts = now > before ? 1 : attempts + 1;
      before = Math.max(before, now);
      if (!mayTryAgain(error) || attempts >= mostAttempts) throw error;
      const asked = error.context.waitMs ?? 0;
      if (asked > LONGEST_ASKED_MS) throw error;
      const backoff = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempts - 1)) * (0.5 + random() / 2);
      const waitMs = Math.round(Math.max(asked, backoff));
      onWait(error.message, waitMs, steadyTime(clock) - startedAt);
      await clock.sleep(waitMs, signal);
    }
  }
}
