import { createHmac } from 'node:crypto';
import { type Clock, timeLimit } from '../../clock.ts';
import { counted } from '../../format-numbers.ts';

/** A message for a webhook. */
export interface WebhookMessage {
  /** Identifies the message: the receiver may get it more than once. */
  readonly id: string;
  readonly url: string;
  /** JSON. */
  readonly body: string;
  /** Signs the requests; null: they are not signed. */
  readonly secret: string | null;
  readonly userAgent: string;
}

/** How long to wait before each retry, in seconds. Longer waits would only keep a scheduler's job alive. */
const WAITS = [1, 2, 4, 8];
/** For one attempt, from connecting to the head of the answer. */
const ATTEMPT_MS = 10_000;
/** For all attempts and waits together: most schedulers kill a stopped job after 90 s. */
const LONGEST_MS = 60_000;

/**
 * Posts a message, with retries where another attempt may succeed. Redirects are not followed: a signed message belongs to the
 * address that was configured.
 *
 * @returns null when it was delivered, else why not
 */
export async function postWebhook(message: WebhookMessage, clock: Clock): Promise<string | null> {
  using limit = timeLimit(clock, LONGEST_MS);
  for (let attempt = 0; ; attempt++) {
    const { problem, isFinal } = await attemptPost(message, clock, limit.signal);
    if (problem === null || isFinal) return problem;
    const wait = WAITS[attempt];
    if (wait !== undefined) await clock.sleep(wait * 1_000, limit.signal);
    if (wait === undefined || limit.signal.aborted) return `${problem} (${counted(attempt + 1, 'attempt')})`;
  }
}

async function attemptPost(
  { id, url, body, secret, userAgent }: WebhookMessage,
  clock: Clock,
  limit: AbortSignal,
): Promise<{ problem: string | null; isFinal: boolean }> {
  const timestamp = String(Math.floor(clock.now() / 1_000));
  const headers = {
    'content-type': 'application/json',
    'user-agent': userAgent,
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    ...(secret === null ? {} : { 'webhook-signature': `v1,${signatureOf(secret, id, timestamp, body)}` }),
  };
  using attempt = timeLimit(clock, ATTEMPT_MS);
  try {
    const signal = AbortSignal.any([limit, attempt.signal]);
    const { status, body: answer } = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
    // The status suffices, and a body may never end.
    answer?.cancel().catch(() => {});
    if (status >= 200 && status < 300) return { problem: null, isFinal: true };
    const mayPass = status === 408 || status === 429 || status >= 500;
    return { problem: `it answered with status ${status}`, isFinal: !mayPass };
  } catch (error) {
    if (limit.aborted || attempt.signal.aborted) return { problem: 'it did not answer in time', isFinal: false };
    const { code } = ((error as Error).cause ?? {}) as { code?: unknown };
    return {
      problem: `it cannot be reached (${typeof code === 'string' ? code : 'connection failed'})`,
      isFinal: false,
    };
  }
}

/**
 * The signature of the Standard Webhooks specification, for which there are libraries in most languages: HMAC-SHA256 in base64
 * over id, time and body. A secret that begins with `whsec_` is base64; any other is taken as it is.
 */
function signatureOf(secret: string, id: string, timestamp: string, body: string): string {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : secret;
  return createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
}
