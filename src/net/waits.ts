/** The longest wait that a server may ask for, and that a user has the patience for, in milliseconds: ten minutes. */
export const LONGEST_ASKED_MS = 10 * 60_000;

const FIRST_WAIT_MS = 1_000;
const LONGEST_BACKOFF_MS = 60_000;

/** The bound of the wait before another attempt, in milliseconds: a second, doubled with each attempt, at most a minute.
 * @param attempts those before, from 0 */
export function backoffBound(attempts: number): number {
  return Math.min(LONGEST_BACKOFF_MS, FIRST_WAIT_MS * 2 ** attempts);
}

/** The wait before another attempt, in milliseconds: between half of `backoffBound` and all of it. Requests that failed together are not
 * repeated together; and so many attempts surely last so long: drawn from zero, seven of them ended within 12 seconds in one case of 35.
 * @param attempts those before, from 0
 * @param random from 0 up to 1 */
export function backoffWait(attempts: number, random: () => number): number {
  return Math.round(backoffBound(attempts) * (0.5 + random() / 2));
}
