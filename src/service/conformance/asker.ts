import type { Call } from '../../contract/credits.ts';
import { HEADERS } from '../../contract/headers.ts';

/** A request to the service under test. */
interface CheckRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Null: without the header. */
  readonly key: string | null;
  /** The call that it is charged as if it is answered. */
  readonly call: Call;
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

interface AskOptions {
  /** Another key than the run's, or null for none. */
  readonly key?: string | null;
  readonly method?: 'GET' | 'POST';
}

/** Asks the service under test. */
export type Ask = (path: string, call: Call, options?: AskOptions) => Promise<Reply>;

const MOST_RATE_WAITS = 2;
const LONGEST_WAIT_S = 65;

/** Makes the function that asks. It waits for a 429 that names a time, because the checks may cost more than a minute allows. */
export function createAsk(send: Send, key: string, sleep: (ms: number) => Promise<void>): Ask {
  return async (path, call, { key: other, method = 'GET' } = {}) => {
    const request = { method, path, call, key: other === undefined ? key : other };
    for (let waits = 0; ; waits++) {
      const reply = await send(request);
      const seconds = Number(reply.headers[HEADERS.retryAfter] ?? Number.NaN);
      if (reply.status !== 429 || !(seconds <= LONGEST_WAIT_S) || waits === MOST_RATE_WAITS) return reply;
      await sleep(Math.max(1, seconds) * 1_000);
    }
  };
}
