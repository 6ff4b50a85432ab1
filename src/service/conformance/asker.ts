import { HEADERS } from '../../contract/headers.ts';
import { PerilbookError } from '../../errors.ts';

/** What came back on a request. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed; null when it is no JSON. */
  readonly body: unknown;
}

export interface AskOptions {
  /** Another key than the run's, or null for none. */
  readonly key?: string | null;
  readonly method?: 'GET' | 'POST';
}

/** Asks the service under test, and counts what it says it charged. */
export interface Asker {
  ask(path: string, options?: AskOptions): Promise<Reply>;
  creditsSpent(): number;
}

/** An enterprise bundle may take this long, at first asking. */
const TIMEOUT_MS = 60_000;
const MOST_RATE_WAITS = 2;
const LONGEST_WAIT_S = 65;

/**
 * Makes the asker. A 429 that names a time is waited for: the run may spend more than one minute allows.
 *
 * @throws PerilbookError USAGE when the address is none, or would send the key over plain HTTP to another machine
 */
export function createAsker(baseUrl: string, key: string, sleep: (ms: number) => Promise<void>): Asker {
  const base = checkedAddress(baseUrl);
  let spent = 0;

  async function once(path: string, { key: other, method = 'GET' }: AskOptions): Promise<Reply> {
    const sent = other === undefined ? key : other;
    const response = await fetch(base + path, {
      method,
      headers: sent === null ? {} : { [HEADERS.key]: sent },
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await response.text();
    spent += Number(response.headers.get(HEADERS.creditCost) ?? 0) || 0;
    return { status: response.status, headers: response.headers, body: parsed(text) };
  }

  return {
    async ask(path, options = {}) {
      for (let waits = 0; ; waits++) {
        const reply = await reached(() => once(path, options), baseUrl);
        const seconds = Number(reply.headers.get(HEADERS.retryAfter) ?? Number.NaN);
        if (reply.status !== 429 || !(seconds <= LONGEST_WAIT_S) || waits === MOST_RATE_WAITS) return reply;
        await sleep(Math.max(1, seconds) * 1_000);
      }
    },
    creditsSpent: () => spent,
  };
}

function checkedAddress(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  const isLocal = url !== null && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (url !== null && (url.protocol === 'https:' || (url.protocol === 'http:' && isLocal))) {
    return baseUrl.replace(/\/+$/, '');
  }
  throw new PerilbookError(
    'USAGE',
    `Cannot check the service at "${baseUrl}"`,
    'Name an https:// address; plain http:// would show the key, and is for this machine only.',
  );
}

async function reached(ask: () => Promise<Reply>, baseUrl: string): Promise<Reply> {
  try {
    return await ask();
  } catch (error) {
    throw new PerilbookError(
      'SERVICE_DOWN',
      `Cannot reach the service at ${baseUrl}: ${(error as Error).message}`,
      'Check the address and that the service runs.',
      {},
      error,
    );
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
