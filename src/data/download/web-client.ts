import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import pLimit from 'p-limit';
import { Agent, EnvHttpProxyAgent, request } from 'undici';
import { PerilbookError } from '../../base/errors.ts';
import { memo } from '../../base/memo.ts';
import { ReceivedBytes } from '../../base/received-bytes.ts';
import { ADDRESS_MOVED, CHECK_NETWORK, downloadFailed, TRY_LATER } from './download-errors.ts';

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

export function createWebClient({
  userAgent,
  env,
  mirror,
  own = [],
  silenceMs = SILENCE_MS,
}: WebClientOptions): WebClient {
  const timeouts = {
    headersTimeout: silenceMs,
    bodyTimeout: silenceMs,
    connect: { timeout: Math.min(silenceMs, 20_000) },
  };
  // '' stops undici from reading process.env itself.
  const proxy = (name: string) => env[name.toLowerCase()] ?? env[name] ?? '';
  const proxies = { httpProxy: proxy('HTTP_PROXY'), httpsProxy: proxy('HTTPS_PROXY'), noProxy: proxy('NO_PROXY') };
  const isProxied = proxies.httpProxy !== '' || proxies.httpsProxy !== '';
  const dispatcher = isProxied ? new EnvHttpProxyAgent({ ...timeouts, ...proxies }) : new Agent(timeouts);
  const everywhere = pLimit(AT_ONCE);

  const addressOf = (url: string) =>
    mirror === undefined || own.some((start) => url.startsWith(start)) ? url : mirrored(url, mirror);
  const limitOf = memo((_host: string) => pLimit(AT_ONCE_PER_HOST));

  async function send(url: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<WebAnswer> {
    let at = addressOf(url);
    let sent = { 'user-agent': userAgent, accept: '*/*', ...headers };
    // undici's redirect interceptor would follow to an unencrypted address, and would forward the key, whose header it does not know.
    for (let redirects = 0; ; redirects++) {
      const answer = await request(at, { dispatcher, headers: sent, signal, method: 'GET' });
      const location = answer.headers.location;
      if (answer.statusCode < 300 || answer.statusCode >= 400 || typeof location !== 'string') {
        return { status: answer.statusCode, headers: plainHeaders(answer.headers), body: answer.body };
      }
      answer.body.on('error', () => {}).destroy();
      const next = new URL(location, at);
      if (redirects === MOST_REDIRECTS)
        throw downloadFailed(`${url} leads from one address to the next`, ADDRESS_MOVED);
      if (next.protocol !== 'https:' && new URL(at).protocol === 'https:') {
        throw downloadFailed(`${url} leads to ${next.origin}, which is not encrypted`, ADDRESS_MOVED);
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
            throw signal.aborted ? signal.reason : isOfConnection(error) ? connectionError(asked, error) : error;
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

/** MIRROR/www2.census.gov/geo/…, with the query. */
function mirrored(url: string, mirror: string): string {
  const { host, pathname, search } = new URL(url);
  return `${mirror.replace(/\/+$/, '')}/${host}${pathname}${search}`;
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
  const hint =
    error.hint === ADDRESS_MOVED
      ? `The mirror ${client.mirror} may not have it; the stored data is unchanged.`
      : error.hint;
  return new PerilbookError(error.code, message, hint, error.context, error);
}

function plainHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
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

const DISK_CODES = new Set('ENOSPC EDQUOT EACCES EPERM EROFS ENOENT EISDIR ENOTDIR EIO EFBIG'.split(' '));
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
    return downloadFailed(`${host} cannot be reached: ${error.message || codeOf(error)}`, CHECK_NETWORK, again, error);
  }
  if (/TIMEOUT/.test(codeOf(error))) return downloadFailed(`${host} did not answer in time`, TRY_LATER, again, error);
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

/** Reads the text of an answer.
 * @throws PerilbookError DOWNLOAD_FAILED for more than `mostBytes`, counted after unpacking */
export async function textOfAnswer(answer: WebAnswer, url: string, mostBytes: number): Promise<string> {
  const bytes = new ReceivedBytes();
  for await (const chunk of unpackedBody(answer)) {
    bytes.add(chunk as Buffer);
    if (bytes.length > mostBytes) {
      throw downloadFailed(`${url} answers with more than ${Math.round(mostBytes / 1e6)} MB`, ADDRESS_MOVED);
    }
  }
  return bytes.concat().toString('utf8');
}
