import { type Clock, steadyTime } from '../../base/clock.ts';
import { type Call, pathOf } from '../../contract/credits.ts';
import { HEADERS } from '../../contract/headers.ts';
import type { Location } from '../../geo/coordinates.ts';

/** A request to the service under test. */
export interface CheckRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Null: without the header. */
  readonly key: string | null;
  /** The call to charge if it is answered. */
  readonly call: Call;
  readonly location: Location;
}

/** The reply to a request. */
export interface Reply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed; null when it is not JSON. */
  readonly body: unknown;
}

/**
 * Sends a request of a check. The caller limits the size of replies, and writes what a request may cost into the ledger.
 *
 * @throws Broken when the reply is not an answer, NotChecked when the request may not be made
 */
export type Send = (request: CheckRequest) => Promise<Reply>;

/** A request and its reply. */
export interface CheckedExchange {
  readonly request: CheckRequest;
  readonly reply: Reply;
  /** Steady time in milliseconds. */
  readonly sentAt: number;
  readonly receivedAt: number;
  /** When it was received, in milliseconds since the epoch. */
  readonly at: number;
}

/** Asks the service under test about the location of the check, with its key, unless the options say otherwise. */
export type Ask = (call: Call, options?: Partial<CheckRequest>) => Promise<Reply>;

export interface AskParts {
  readonly send: Send;
  readonly key: string;
  readonly location: Location;
  readonly clock: Clock;
  readonly interrupt: AbortSignal;
}

const MOST_RATE_WAITS = 2;
const LONGEST_WAIT_S = 65;

/**
 * Makes the function that asks, and adds each exchange to `exchanges`. It waits for a 429 that names a time, because the checks may
 * cost more than a minute allows.
 */
export function createAsk(parts: AskParts, exchanges: CheckedExchange[]): Ask {
  const { send, key, clock, interrupt } = parts;
  return async (call, options = {}) => {
    const location = options.location ?? parts.location;
    const path = pathOf(call, location.lat, location.lng);
    const request: CheckRequest = { method: 'GET', path, key, call, location, ...options };
    for (let waits = 0; ; waits++) {
      const sentAt = steadyTime(clock);
      const reply = await send(request);
      exchanges.push({ request, reply, sentAt, receivedAt: steadyTime(clock), at: clock.now() });
      const seconds = Number(reply.headers[HEADERS.retryAfter] ?? Number.NaN);
      if (reply.status !== 429 || !(seconds <= LONGEST_WAIT_S) || waits === MOST_RATE_WAITS) return reply;
      await clock.sleep(Math.max(1, seconds) * 1_000, interrupt);
    }
  };
}

/** `data` of a body of any shape. */
export function dataOf(body: unknown): Record<string, unknown> {
  return (body as { data?: Record<string, unknown> } | null)?.data ?? {};
}

/** `meta` of a body of any shape. */
export function metaOf(body: unknown): Record<string, unknown> {
  return (body as { meta?: Record<string, unknown> } | null)?.meta ?? {};
}
