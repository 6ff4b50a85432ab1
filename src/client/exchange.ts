import { askedWaitMs, httpDateMs, type RateLimit, rateLimit } from '../contract/headers.ts';
import type { ConnectionTimeouts } from '../net/connections.ts';
import type { Content } from './content.ts';

/** The result of one request as plain data: what was received, or how far the request got. */
export type Exchange = Received | TransportFailure;

/** A status and a body were received. No key is left in the headers and in the content; the content of any status but 200 may be
 * cut (see `receiver.ts`). */
export interface Received {
  readonly kind: 'response';
  readonly status: number;
  /** Names in lower case; a header that came several times is joined by `, `. */
  readonly headers: HeaderMap;
  readonly content: Content;
  /** Of the body, decompressed. */
  readonly bytes: number;
  /** Equal for equal bodies. */
  readonly digest: () => string;
  readonly elapsedMs: number;
}

export type HeaderMap = Readonly<Record<string, string>>;

/** No usable answer. `reached` decides about the charge: `never` means that no byte of the request was sent, so it cannot have been
 * charged; `maybe`: everything else. */
interface TransportFailure {
  readonly kind: 'failure';
  readonly reached: 'never' | 'maybe';
  readonly code: FailureCode;
  readonly message: string;
  /** Of an answer that began and did not arrive whole: it may state what the call cost. Empty where none began. */
  readonly headers: HeaderMap;
  readonly elapsedMs: number;
}

/** How a request failed. `NO_HOST`: no such host; `CONNECT`: refused, TLS; `BROKEN`: the connection ended before the answer did;
 * `DAMAGED`: the answer is complete and cannot be decompressed. */
export type FailureCode =
  | 'NO_HOST'
  | 'CONNECT'
  | 'CONNECT_TIMEOUT'
  | 'BROKEN'
  | 'HEADERS_TIMEOUT'
  | 'BODY_TIMEOUT'
  | 'TOTAL_TIMEOUT'
  | 'BODY_TOO_LARGE'
  | 'DAMAGED'
  | 'NOT_HTTP'
  | 'CLOSED';

/** Milliseconds. `headers` and `body` limit a silence; `total` limits the whole request, also one whose answer comes a byte a second. 7
 * MB within `total` need 0.4 Mbit/s. `failure` limits the body of any status but 200, which says little. */
export interface Timeouts extends ConnectionTimeouts {
  readonly total: number;
  readonly failure: number;
}

export const TIMEOUTS: Timeouts = {
  connect: 10_000,
  headers: 60_000,
  body: 30_000,
  total: 150_000,
  failure: 5_000,
};

/** The rate headers; `null` where one is missing or invalid. */
export interface Rate extends RateLimit {
  /** Milliseconds that the service asks to wait. */
  readonly retryAfterMs: number | null;
}

/** Reads the rate headers at `now`. Times are compared with the answer's own `Date` where it has one, so a wrong clock on either side
 * does no harm. */
export function readRate(headers: HeaderMap, now: number): Rate {
  const servedAt = httpDateMs(headers.date) ?? now;
  return { ...rateLimit(headers, servedAt), retryAfterMs: askedWaitMs(headers, servedAt) };
}

/** The `Date` of an answer; null without one, and for an answer from a cache, whose date is old. */
export function parseDate(exchange: Exchange): number | null {
  if (exchange.kind !== 'response' || Number(exchange.headers.age) > 0) return null;
  return httpDateMs(exchange.headers.date);
}
