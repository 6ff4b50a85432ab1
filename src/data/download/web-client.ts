import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import pLimit from 'p-limit';
import { Agent, EnvHttpProxyAgent, request } from 'undici';
import { type Clock, steadyTime } from '../../base/clock.ts';
import { PerilbookError, resultOrNull } from '../../base/errors.ts';
import { memo } from '../../base/memo.ts';
import { ReceivedBytes } from '../../base/received-bytes.ts';
import {
  ADDRESS_MOVED,
  CHECK_NETWORK,
  downloadFailed,
  mayTryAgain,
  refusedAnswer,
  TRY_LATER,
  unexpectedStart,
} from './download-errors.ts';

export interface WebAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable;
}

export interface WebClientOptions {
  /** `perilbook/1.2.3`, or `perilbook/1.2.3 (+contact)`. */
  readonly userAgent: string;
  /** Holds HTTP_PROXY, HTTPS_PROXY and NO_PROXY, in upper or lower case. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Replaces every server: MIRROR/host/path. */
  readonly mirror?: string | undefined;
  /** How addresses begin that the mirror does not replace: those of `sources.yaml`. */
  readonly own?: readonly string[] | undefined;
  /** The timeout for headers and between two parts of a body. */
  readonly silenceMs?: number;
}

/** Sends all requests, with limits on concurrent requests in all and per host. */
export interface WebClient {
  /** The answer is closed when `read` settles. */
  get<T>(
    url: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
    read: (answer: WebAnswer) => Promise<T>,
  ): Promise<T>;
  readonly mirror?: string | undefined;
  /** The address that is asked for another: at the mirror, or itself. */
  readonly addressOf: (url: string) => string;
  close(): Promise<void>;
}

const AT_ONCE = 6;
/** The Census Bureau answers 429 to many at once. */
const AT_ONCE_PER_HOST = 2;
const SILENCE_MS = 60_000;
const MOST_REDIRECTS = 5;

export function createWebClient(options: WebClientOptions): WebClient {
  const { userAgent, env, mirror, own = [], silenceMs = SILENCE_MS } = options;
  const timeouts = {
    headersTimeout: silenceMs,
    bodyTimeout: silenceMs,
    connect: { timeout: Math.min(silenceMs, 20_000) },
  };
  // '' stops undici from reading process.env itself.
  const proxy = (name: string) => env[name.toLowerCase()] ?? env[name] ?? '';
  const proxies = {
    httpProxy: proxy('HTTP_PROXY'),
    httpsProxy: proxy('HTTPS_PROXY'),
    noProxy: proxy('NO_PROXY'),
  };
  const isProxied = proxies.httpProxy !== '' || proxies.httpsProxy !== '';
  const dispatcher = isProxied
    ? new EnvHttpProxyAgent({ ...timeouts, ...proxies })
    : new Agent(timeouts);
  const everywhere = pLimit(AT_ONCE);

  const addressOf = (url: string) => {
    if (mirror === undefined || own.some((start) => url.startsWith(start))) return url;
    const { host, pathname, search } = new URL(url);
    return `${mirror.replace(/\/+$/, '')}/${host}${pathname}${search}`;
  };
  const limitOf = memo((_host: string) => pLimit(AT_ONCE_PER_HOST));

  async function send(
    url: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<WebAnswer> {
    let at = addressOf(url);
    let sent = { 'user-agent': userAgent, accept: '*/*', ...headers };
    // undici's redirect interceptor would follow to an unencrypted address, and would forward the key, whose header it does not know.
    for (let redirects = 0; ; redirects++) {
      const answer = await request(at, { dispatcher, headers: sent, signal, method: 'GET' });
      const location = answer.headers.location;
      if (answer.statusCode < 300 || answer.statusCode >= 400 || typeof location !== 'string') {
        const all = Object.entries(answer.headers).map(([name, value]) => [name, String(value)]);
        return { status: answer.statusCode, headers: Object.fromEntries(all), body: answer.body };
      }
      answer.body.on('error', () => {}).destroy();
      const next = new URL(location, at);
      if (redirects === MOST_REDIRECTS)
        throw downloadFailed(`${url} leads from one address to the next`, ADDRESS_MOVED);
      if (next.protocol !== 'https:' && new URL(at).protocol === 'https:') {
        throw downloadFailed(
          `${url} leads to ${next.origin}, which is not encrypted`,
          ADDRESS_MOVED,
        );
      }
      // The key must not be sent to another host.
      if (next.host !== new URL(at).host) sent = { 'user-agent': userAgent, accept: '*/*' };
      at = next.href;
    }
  }

  return {
    mirror,
    addressOf,
    async get(url, headers, signal, read) {
      const host = new URL(url).host;
      const asked = addressOf(url);
      return await limitOf(host)(() =>
        everywhere(async () => {
          signal.throwIfAborted();
          const answer = await send(url, headers, signal).catch((error: unknown) => {
            throw signal.aborted ? signal.reason : connectionError(asked, error);
          });
          // Destroying an unread body emits an error that does not matter.
          answer.body.on('error', () => {});
          try {
            return await read(answer);
          } catch (error) {
            throw signal.aborted
              ? signal.reason
              : isOfConnection(error)
                ? connectionError(asked, error)
                : error;
          } finally {
            answer.body.destroy();
          }
        }),
      );
    },
    async close() {
      await dispatcher.destroy();
    },
  };
}

/** A message about an address, with the one that was asked. */
export function askedAddress(message: string, { addressOf }: WebClient): string {
  // Only the first: others are quoted from an answer.
  return message.replace(/https?:\/\/[^\s,]+/, addressOf);
}

/** The error of a mirror, which may lack what the agency has. */
export function askedOfMirror(error: PerilbookError, client: WebClient): PerilbookError {
  const message = askedAddress(error.message, client);
  if (message === error.message) return error;
  const lacking = `The mirror ${client.mirror} may not have it; the stored data is unchanged.`;
  const hint = error.hint === ADDRESS_MOVED ? lacking : error.hint;
  return new PerilbookError(error.code, message, hint, error.context, error);
}

/** Whether an error comes from the socket, undici or zlib. */
function isOfConnection(error: unknown): boolean {
  return (
    error instanceof Error &&
    error.name !== 'PerilbookError' &&
    /^(E[A-Z]+|UND_ERR_.*|Z_.*|HPE_.*)$/.test(codeOf(error)) &&
    !DISK_CODES.has(codeOf(error))
  );
}

const DISK_CODES = new Set(
  'ENOSPC EDQUOT EACCES EPERM EROFS ENOENT EISDIR ENOTDIR EIO EFBIG'.split(' '),
);
const codeOf = (error: Error): string => String((error as NodeJS.ErrnoException).code ?? '');

const NO_NAME = new Set(['ENOTFOUND', 'EAI_AGAIN']);
const NO_WAY = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH']);

function connectionError(url: string, error: unknown): unknown {
  if (!(error instanceof Error) || error.name === 'PerilbookError') return error;
  const { host } = new URL(url);
  const again = { again: true } as const;
  if (NO_NAME.has(codeOf(error))) {
    return downloadFailed(`The address of ${host} was not found`, CHECK_NETWORK, again, error);
  }
  if (NO_WAY.has(codeOf(error))) {
    return downloadFailed(
      `${host} cannot be reached: ${error.message || codeOf(error)}`,
      CHECK_NETWORK,
      again,
      error,
    );
  }
  if (/TIMEOUT/.test(codeOf(error)))
    return downloadFailed(`${host} did not answer in time`, TRY_LATER, again, error);
  const reason = error.message || codeOf(error);
  return downloadFailed(`The connection to ${host} broke off: ${reason}`, TRY_LATER, again, error);
}

/** The body, unpacked if the server sent it as gzip. */
export function unpackedBody({ headers, body }: WebAnswer): Readable {
  if (!/gzip/i.test(headers['content-encoding'] ?? '')) return body;
  const unpacked = createGunzip();
  body.on('error', (error) => unpacked.destroy(error));
  return body.pipe(unpacked);
}

/** What a request needs besides its address. */
export interface RequestContext {
  readonly client: WebClient;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** Default: 6. */
  readonly mostAttempts?: number;
  /** Called before each wait. @param tookMs how long the attempt took */
  readonly onWait?: (reason: string, waitMs: number, tookMs: number) => void;
}

const MOST_ATTEMPTS = 6;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
/** Longer waits end the download. */
const LONGEST_ASKED_MS = 10 * 60_000;

/** Repeats `work` after transient failures, with growing waits or the wait that the server asks for. An attempt after which `progress`
 * is higher resets the count of attempts. undici's RetryAgent was rejected: it resumes only within one request, but here a partial file
 * outlives the process; it also takes no clock, and does not report why it waits. */
export async function withAttempts<T>(
  { clock, random, signal, mostAttempts = MOST_ATTEMPTS, onWait = () => {} }: RequestContext,
  work: () => Promise<T>,
  progress: () => number = () => 0,
): Promise<T> {
  let attempts = 0;
  let before = progress();
  for (;;) {
    const startedAt = steadyTime(clock);
    try {
      signal.throwIfAborted();
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      const now = progress();
      attempts = now > before ? 1 : attempts + 1;
      before = Math.max(before, now);
      if (!mayTryAgain(error) || attempts >= mostAttempts) throw error;
      const asked = error.context.waitMs ?? 0;
      if (asked > LONGEST_ASKED_MS) throw error;
      const backoff =
        Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempts - 1)) * (0.5 + random() / 2);
      const waitMs = Math.round(Math.max(asked, backoff));
      onWait(error.message, waitMs, steadyTime(clock) - startedAt);
      await clock.sleep(waitMs, signal);
    }
  }
}

/** Far above any page of a layer. */
const MOST_BYTES = 300_000_000;

/** Requests a text.
 * @throws PerilbookError DOWNLOAD_FAILED for more than `mostBytes`, counted after unpacking, too */
export async function getText(
  url: string,
  context: RequestContext,
  mostBytes = MOST_BYTES,
): Promise<string> {
  return await withAttempts(context, () => askedText(url, context, mostBytes));
}

async function askedText(url: string, context: RequestContext, mostBytes: number): Promise<string> {
  return await context.client.get(
    url,
    { 'accept-encoding': 'gzip' },
    context.signal,
    async (answer) => {
      if (answer.status !== 200) throw refusedAnswer(url, answer, context.clock.now());
      const bytes = new ReceivedBytes();
      for await (const chunk of unpackedBody(answer)) {
        bytes.add(chunk as Buffer);
        if (bytes.length > mostBytes) {
          throw downloadFailed(
            `${url} answers with more than ${Math.round(mostBytes / 1e6)} MB`,
            ADDRESS_MOVED,
          );
        }
      }
      return bytes.concat().toString('utf8');
    },
  );
}

/** Requests JSON from an ArcGIS server, which reports errors with status 200.
 * @throws PerilbookError DOWNLOAD_FAILED */
export async function getArcgisJson(
  url: string,
  context: RequestContext,
): Promise<Record<string, unknown>> {
  return await withAttempts(context, async () => {
    const text = await askedText(url, context, MOST_BYTES);
    const value = resultOrNull(() => JSON.parse(text) as Record<string, unknown> | null);
    if (typeof value !== 'object' || value === null) {
      const problem =
        unexpectedStart('answer.json', Buffer.from(text.slice(0, 1_024))) ?? 'no whole JSON';
      throw downloadFailed(`${url} answered with ${problem}`, TRY_LATER, { again: true });
    }
    if (value.error !== undefined) throw arcgisError(url, value.error);
    return value;
  });
}

const NEEDS_ACCOUNT =
  'The layer now needs an account: download the data by hand and load it with: perilbook data load LOADER FILE.';

function arcgisError(url: string, error: unknown) {
  const { code = 0, message = '', details = [] } = (error ?? {}) as Record<string, unknown>;
  const reason = [message, ...(Array.isArray(details) ? details : [details])]
    .filter(Boolean)
    .join('; ');
  const text = `${url} answered with the error ${code}: ${reason}`;
  const [, seconds] = /retry after (\d+) sec/i.exec(reason) ?? [];
  if (Number(code) === 429 || Number(code) >= 500 || seconds !== undefined) {
    const wait = seconds === undefined ? {} : { waitMs: Number(seconds) * 1_000 };
    return downloadFailed(text, TRY_LATER, { again: true, ...wait });
  }
  return downloadFailed(
    text,
    [403, 498, 499].includes(Number(code)) ? NEEDS_ACCOUNT : ADDRESS_MOVED,
  );
}
