/** The longest wait that a server may ask for, and that a user has the patience for, in milliseconds: ten minutes. */
export const LONGEST_ASKED_MS = 10 * 60_000;

const FIRST_WAIT_MS = 1_000;
const LONGEST_BACKOFF_MS = 60_000;

/** The bound of the wait before another attempt, in milliseconds: a second, doubled with each attempt, at most a minute. The caller draws the
 * wait within it, so that requests that failed together are not repeated together.
 * @param attempts those before, from 0 */
export function backoffBound(attempts: number): number {
  return Math.min(LONGEST_BACKOFF_MS, FIRST_WAIT_MS * 2 ** attempts);
}
