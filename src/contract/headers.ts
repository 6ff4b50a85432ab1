/** The contract's header names, in the lower case that both sides' HTTP libraries use. */
export const HEADERS = {
  key: 'x-api-key',
  creditCost: 'x-credit-cost',
  rateLimit: 'x-ratelimit-limit',
  rateRemaining: 'x-ratelimit-remaining',
  rateReset: 'x-ratelimit-reset',
  retryAfter: 'retry-after',
  /** Our extension: `true` when our own service answers from made-up data. */
  sampleData: 'x-sample-data',
} as const;

/** `Retry-After: 0` and past dates do not mean "at once": a thousand clients would all retry at that instant. */
export const SHORTEST_RETRY_AFTER_MS = 1_000;

/** A longer wait than a year is a mistake: a run would be resumed in the year 33715. */
const LONGEST_WAIT_MS = 366 * 86_400_000;
const believed = (waitMs: number): number | null => (waitMs <= LONGEST_WAIT_MS ? waitMs : null);

/** `Retry-After` (seconds or an HTTP date) in milliseconds from `now`, at least a second; null for more than a year. */
export function retryAfterMs(text: string | undefined, now: number): number | null {
  if (text === undefined) return null;
  const seconds = /^\d{1,12}(\.\d{1,6})?$/.test(text.trim()) ? Number(text) : null;
  if (seconds !== null) return believed(Math.max(SHORTEST_RETRY_AFTER_MS, Math.ceil(seconds * 1_000)));
  const date = httpDateMs(text);
  return date === null ? null : believed(Math.max(SHORTEST_RETRY_AFTER_MS, date - now));
}

/** A date of HTTP in milliseconds since the epoch; null for any other text. Only the one format that HTTP still allows, and only dates
 * that exist: Date.parse alone reads "7" as a month and 31 February as 3 March. */
export function httpDateMs(text: string | undefined): number | null {
  if (text === undefined) return null;
  const ms = Date.parse(text);
  return Number.isNaN(ms) || new Date(ms).toUTCString() !== text.trim() ? null : ms;
}

const EPOCH_MS_ABOVE = 1e12;
const EPOCH_S_ABOVE = 1e9;
const DELTA_S_UP_TO = 60;

/** A header that must be a non-negative integer; anything else is `null`. */
export function count(text: string | undefined): number | null {
  if (text === undefined || !/^\d{1,15}$/.test(text.trim())) return null;
  return Number(text);
}

/** `X-RateLimit-Reset` in milliseconds from `now`. The contract shows no unit: it is inferred from the size of the number
 * (docs/developer/service-api.md, 2.10). */
export function resetMs(text: string | undefined, now: number): number | null {
  const value = count(text);
  if (value === null) return null;
  if (value > EPOCH_MS_ABOVE) return believed(Math.max(0, value - now));
  if (value > EPOCH_S_ABOVE) return believed(Math.max(0, value * 1_000 - now));
  return value <= DELTA_S_UP_TO ? value * 1_000 : value;
}
