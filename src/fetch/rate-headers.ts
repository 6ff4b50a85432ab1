import { HEADERS } from '../contract/headers.ts';
import { httpDateMs, retryAfterMs } from '../contract/retry-after.ts';
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

const EPOCH_MS_ABOVE = 1e12;
const EPOCH_S_ABOVE = 1e9;
const DELTA_S_UP_TO = 60;

/** Reads the rate headers at `now`. Times are compared with the answer's own `Date` where it has one, so that a wrong clock on either
 * side does no harm. */
export function readRate(headers: HeaderMap, now: number): Rate {
  const servedAt = httpDateMs(headers.date) ?? now;
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

/** The service's time of an answer, from its `Date`; null where it has none, and where the answer came from a cache with its old
 * date. */
export function dateOf(exchange: Exchange): number | null {
  if (exchange.kind !== 'response' || Number(exchange.headers.age) > 0) return null;
  return httpDateMs(exchange.headers.date);
}
