import { pipeline, type Readable, Transform } from 'node:stream';
import pLimit from 'p-limit';
import { type Clock, steadyTime } from '../../base/clock.ts';
import { PerilbookError, resultOrNull } from '../../base/errors.ts';
import { memo } from '../../base/memo.ts';
import { saidOf } from '../../base/shown-address.ts';
import {
  connectionFailure,
  errorCode,
  explainProxy,
  failureDetail,
} from '../../net/connection-failure.ts';
import { type Connections, getOnce, openConnections } from '../../net/connections.ts';
import { type HttpProxy, proxyFor } from '../../net/http-proxy.ts';
import { ReceivedBytes } from '../../net/received-bytes.ts';
import { unpackedBody } from '../../net/unpack.ts';
import { backoffWait, LONGEST_ASKED_MS } from '../../net/waits.ts';
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
  /** Holds HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY, in upper or lower case. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Replaces every server: MIRROR/host/path. */
  readonly mirror?: string | undefined;
  /** How addresses begin that the mirror does not replace: those of `sources.yaml`. */
  readonly own?: readonly string[] | undefined;
  /** The timeout for headers and between two parts of a body. */
  readonly silenceMs?: number;
  /** A body that brings less than `LEAST_BYTES` in this time is ended. */
  readonly slowMs?: number;
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

/** A server that sends a byte a minute is never silent, and never done: less than this in `SLOW_MS` counts as no answer. It is a tenth of a
 * slow modem. */
const LEAST_BYTES = 64 * 1024;
const SLOW_MS = 5 * 60_000;

/** Makes the client of downloads. Connections are kept by proxy. */
export function createWebClient(options: WebClientOptions): WebClient {
  const { userAgent, env, mirror, own = [], silenceMs = SILENCE_MS, slowMs = SLOW_MS } = options;
  const timeouts = {
    connect: Math.min(silenceMs, 20_000),
    headers: silenceMs,
    body: silenceMs,
  };
  const ways = new Map<string, Connections>();
  /** An agency's file is checked whatever sent it, so http:// needs no tunnel. */
  const wayThrough = (proxy: HttpProxy | null): Connections => {
    const way = ways.get(proxy?.url ?? '');
    if (way !== undefined) return way;
    const opened = openConnections({ proxy, isTunnelAlways: false, timeouts });
    ways.set(proxy?.url ?? '', opened);
    return opened;
  };
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
      const answer = await getOnce(wayThrough(proxyFor(at, env)), at, sent, signal);
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
            throw signal.aborted ? signal.reason : connectionError(asked, error, env);
          });
          // Destroying an unread body emits an error that does not matter.
          answer.body.on('error', () => {});
          const body = endedIfSlow(answer.body, slowMs, () => tooSlow(asked));
          try {
            return await read({ ...answer, body });
          } catch (error) {
            throw signal.aborted
              ? signal.reason
              : isOfConnection(error)
                ? connectionError(asked, error, env)
                : error;
          } finally {
            answer.body.destroy();
          }
        }),
      );
    },
    async close() {
      await Promise.all([...ways.values()].map((way) => way.destroy()));
    },
  };
}

/** The body, which ends with an error once it brings too little for too long. */
function endedIfSlow(body: Readable, slowMs: number, error: () => Error): Readable {
  let received = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length;
      done(null, chunk);
    },
  });
  counted.on('error', () => {});
  const watch = setInterval(() => {
    // A reader that waits for the disk has what it did not read yet.
    if (received < LEAST_BYTES && counted.readableLength === 0) counted.destroy(error());
    received = 0;
  }, slowMs);
  pipeline(body, counted, () => clearInterval(watch));
  return counted;
}

function tooSlow(url: string): PerilbookError {
  const { host } = new URL(url);
  return downloadFailed(`${host} sends too slowly`, TRY_LATER, { again: true, isSlow: true });
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
    /^(E[A-Z]+|UND_ERR_.*|Z_.*|HPE_.*)$/.test(errorCode(error)) &&
    !DISK_CODES.has(errorCode(error))
  );
}

const DISK_CODES = new Set(
  'ENOSPC EDQUOT EACCES EPERM EROFS ENOENT EISDIR ENOTDIR EIO EFBIG'.split(' '),
);

function connectionError(url: string, error: unknown, env: WebClientOptions['env']): unknown {
  if (!(error instanceof Error) || error.name === 'PerilbookError') return error;
  const { host } = new URL(url);
  const failed = (message: string, hint: string, again = true) =>
    downloadFailed(message, hint, again ? { again } : null, error);
  const detail = failureDetail(error);
  const proxy = proxyFor(url, env);
  if (proxy !== null && isOfProxy(error)) {
    const status = /\d{3}/.exec(detail)?.[0] ?? '';
    return failed(explainProxy(proxy, error, host), CHECK_NETWORK, !/^4/.test(status));
  }
  const failure = connectionFailure(error);
  switch (failure) {
    case 'no_such_host':
      // DNS says that there is no such name: a second attempt would hear the same.
      return failed(`The address of ${proxy?.name ?? host} was not found`, CHECK_NETWORK, false);
    case 'dns_silent':
      return failed(`The address of ${proxy?.name ?? host} was not found`, CHECK_NETWORK);
    case 'unreachable':
      return failed(`${proxy?.name ?? host} cannot be reached: ${detail}`, CHECK_NETWORK);
    case 'timeout':
    case 'connect_timeout':
    case 'headers_timeout':
    case 'body_timeout':
      return failed(`${host} did not answer in time`, TRY_LATER);
    default:
      return failed(`The connection to ${host} broke off: ${detail}`, TRY_LATER);
  }
}

/** Whether a proxy refused the way, in undici's words. */
function isOfProxy(error: Error): boolean {
  return /^Proxy (response|Authentication)/.test(failureDetail(error));
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

/** Repeats `work` after transient failures, with growing waits or the wait that the server asks for. An attempt after which `progress`
 * is higher resets the count of attempts, unless it was too slow. undici's RetryAgent was rejected: it resumes only within one request, but
 * here a partial file outlives the process; it also takes no clock, and does not report why it waits. */
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
      const mayAgain = mayTryAgain(error);
      attempts = now > before && !(mayAgain && error.context.isSlow === true) ? 1 : attempts + 1;
      before = Math.max(before, now);
      if (!mayAgain || attempts >= mostAttempts) throw error;
      const asked = error.context.waitMs ?? 0;
      if (asked > LONGEST_ASKED_MS) throw error;
      const waitMs = Math.max(asked, backoffWait(attempts - 1, random));
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
      for await (const chunk of unpackedBody(answer.body, answer.headers['content-encoding'])) {
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
      throw downloadFailed(`${url} answered with ${saidOf(url, problem)}`, TRY_LATER, {
        again: true,
      });
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
  const text = `${url} answered with the error ${saidOf(url, `${code}: ${reason}`)}`;
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
