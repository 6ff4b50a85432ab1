import type { Call } from '../../contract/credits.ts';
import { HEADERS } from '../../contract/headers.ts';

/** A request to the service under test. */
interface CheckRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Null: without the header. */
  readonly key: string | null;
  /** As which call it is charged, should it be answered. */
  readonly call: Call;
}

/** What came back on a request. */
export interface Reply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed; null when it is no JSON. */
  readonly body: unknown;
}

/**
 * Sends a request of a check. Whoever hands it in bounds what it receives, and keeps the books of what it may cost.
 *
 * @throws Broken when what came back is no answer, NotChecked when the request may not be made
 */
export type Send = (request: CheckRequest) => Promise<Reply>;

interface AskOptions {
  /** Another key than the run's, or null for none. */
  readonly key?: string | null;
  readonly method?: 'GET' | 'POST';
}

/** Asks the service under test. */
export interface Asker {
  ask(path: string, call: Call, options?: AskOptions): Promise<Reply>;
}

const MOST_RATE_WAITS = 2;
const LONGEST_WAIT_S = 65;

/** Makes the asker. A 429 that names a time is waited for: the run may spend more than one minute allows. */
export function createAsker(send: Send, key: string, sleep: (ms: number) => Promise<void>): Asker {
  return {
    async ask(path, call, { key: other, method = 'GET' } = {}) {
      const request = { method, path, call, key: other === undefined ? key : other };
      for (let waits = 0; ; waits++) {
        const reply = await send(request);
        const seconds = Number(reply.headers[HEADERS.retryAfter] ?? Number.NaN);
        if (reply.status !== 429 || !(seconds <= LONGEST_WAIT_S) || waits === MOST_RATE_WAITS) return reply;
        await sleep(Math.max(1, seconds) * 1_000);
      }
    },
  };
}
