import { count, httpDateMs, resetMs, retryAfterMs } from '../contract/header-values.ts';
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

/** The service's time of an answer, from its `Date`; null where it has none, and where the answer came from a cache with its old
 * date. */
export function dateOf(exchange: Exchange): number | null {
  if (exchange.kind !== 'response' || Number(exchange.headers.age) > 0) return null;
  return httpDateMs(exchange.headers.date);
}
