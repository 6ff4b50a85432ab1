import { HEADERS } from '../contract/headers.ts';
import type { Exchange, HeaderMap } from './exchange.ts';

/** The rate headers; `null` where one is missing or invalid. */
export interface Rate {
  readonly limit: number | null;
  readonly remaining: number | null;
  /** Milliseconds until the limit is whole again. */
  readonly resetMs: number | null;
  /** Milliseconds that the service asks to wait, however long. */
  readonly retryAfterMs: number | null;
}

/** `Retry-After: 0` and past dates do not mean "at once": a thousand clients would all retry at that instant. */
export const SHORTEST_RETRY_AFTER_MS = 1_000;

const EPOCH_MS_ABOVE = 1e12;
const EPOCH_S_ABOVE = 1e9;
const DELTA_S_UP_TO = 60;

/** Reads the rate headers at `now`. Times are compared with the answer's own `Date` where it has one, so that a wrong clock on either
 * side does no harm. */
export function readRate(headers: HeaderMap, now: number): Rate {
  const servedAt = httpDate(headers.date) ?? now;
  return {
    limit: count(headers[HEADERS.rateLimit]),
    remaining: count(headers[HEADERS.rateRemaining]),
    resetMs: resetMs(headers[HEADERS.rateReset], servedAt),
    retryAfterMs: retryAfterMs(headers[HEADERS.retryAfter], servedAt),
  };
}

/** A header that must be a non-negative integer; anything else is `null`. */
export function count(text: string | undefined): number | null {
  if (text === undefined || !/^\d{1,15}$/.test(text.trim())) return null;
  return Number(text);
}

/** `X-RateLimit-Reset` in milliseconds from `now`. The contract shows no unit: it is inferred from the size of the number. */
export function resetMs(text: string | undefined, now: number): number | null {
  const value = count(text);
  if (value === null) return null;
  if (value > EPOCH_MS_ABOVE) return Math.max(0, value - now);
  if (value > EPOCH_S_ABOVE) return Math.max(0, value * 1_000 - now);
  return value <= DELTA_S_UP_TO ? value * 1_000 : value;
}

/** `Retry-After` (seconds or an HTTP date) in milliseconds from `now`, at least a second. */
export function retryAfterMs(text: string | undefined, now: number): number | null {
  if (text === undefined) return null;
  const seconds = /^\d{1,12}(\.\d{1,6})?$/.test(text.trim()) ? Number(text) : null;
  if (seconds !== null) return Math.max(SHORTEST_RETRY_AFTER_MS, Math.ceil(seconds * 1_000));
  const date = httpDate(text);
  return date === null ? null : Math.max(SHORTEST_RETRY_AFTER_MS, date - now);
}

/** The service's time of an answer, from its `Date`; null where it has none, and where the answer came from a cache with its old
 * date. */
export function dateOf(exchange: Exchange): number | null {
  if (exchange.kind !== 'response' || Number(exchange.headers.age) > 0) return null;
  return httpDate(exchange.headers.date);
}

/** Only the one format that HTTP still allows, and only dates that exist: Date.parse alone reads "7" as a month and 31 February as
 * 3 March. */
function httpDate(text: string | undefined): number | null {
  if (text === undefined) return null;
  const ms = Date.parse(text);
  return Number.isNaN(ms) || new Date(ms).toUTCString() !== text.trim() ? null : ms;
}
