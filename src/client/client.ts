import { type Clock, steadyTime, systemClock } from '../base/clock.ts';
import { PerilbookError } from '../base/errors.ts';
import { memo } from '../base/memo.ts';
import { type Call, formatPath } from '../contract/credits.ts';
import { HEADERS } from '../contract/headers.ts';
import type { Location } from '../geo/coordinates.ts';
import { type Connections, openConnections } from '../net/connections.ts';
import type { HttpProxy } from '../net/http-proxy.ts';
import { ACCEPT_ENCODING } from '../net/unpack.ts';
import { MAX_BODY_BYTES } from './content.ts';
import {
  type Exchange,
  type FailureCode,
  type HeaderMap,
  TIMEOUTS,
  type Timeouts,
} from './exchange.ts';
import { type MayBegin, Receiver } from './receiver.ts';
import { cleanText, makeRedactor } from './redact.ts';

/** A timer that fires this late shows that this process was stopped (Ctrl-Z), not that the service is slow. */
const STOPPED_MS = 1_000;
const READ_ON_MS = 10_000;

export interface ClientOptions {
  /** The service's address, which the settings have checked; its path, if any, comes before `/v1`. */
  readonly baseUrl: string;
  /** Most connections, and so most requests at once. */
  readonly sockets: number;
  readonly timeouts?: Partial<Timeouts>;
  /** Default: by the kind of call. */
  readonly maxBodyBytes?: number;
  readonly userAgent: string;
  /** The way to the service; default: straight. */
  readonly proxy?: HttpProxy | null | undefined;
  readonly clock?: Clock;
  /** Keys that are removed from everything that is received, beside the key of the request. */
  readonly secrets?: readonly string[];
  /** False: the texts of `details` are not read, so they are not searched for keys. The search takes as long as parsing. */
  readonly readsDetails?: boolean;
  /** Called with a line for each request and each answer, without any key. */
  readonly trace?: ((line: string) => void) | undefined;
}

/** Any request to the service, as `service check` sends it. */
export interface PlainRequest {
  readonly method: 'GET' | 'POST';
  /** Path and query, below the service's address. */
  readonly path: string;
  /** Null: without the header. */
  readonly key: string | null;
}

export interface Client extends AsyncDisposable {
  /** Sends one call, once; never rejects because of the network or the service.
   * @param request.isFresh on a connection of its own: a server that cuts each reused connection would cut the retry as well
   * @param request.mayBegin asked when the connection is there; false: nothing is sent */
  send(request: {
    readonly call: Call;
    readonly location: Location;
    readonly key: string;
    readonly isFresh?: boolean;
    readonly mayBegin?: MayBegin;
  }): Promise<Exchange>;
  /** Sends any request once, as `send` does. */
  sendPlain(request: PlainRequest, mayBegin?: MayBegin): Promise<Exchange>;
  /** Waits for the requests in flight, then closes every connection. */
  close(): Promise<void>;
}

/** Opens the client of one service. It never follows a redirect: the key would be sent to an address that the user did not choose. */
export function createClient(options: ClientOptions): Client {
  const { origin, pathname } = new URL(options.baseUrl);
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const clock = options.clock ?? systemClock;
  const { trace, secrets = [], readsDetails = true, proxy = null } = options;
  let sent = 0;
  const connections = (most: number): Connections =>
    openConnections({ origin, most, proxy, isTunnelAlways: true, timeouts });
  const pool = connections(options.sockets);
  const redactorOf = memo((key: string | null) =>
    makeRedactor(key === null ? secrets : [key, ...secrets], !readsDetails),
  );

  async function exchange(
    { method, path: below, key }: PlainRequest,
    kind: Call['kind'],
    mayBegin?: MayBegin,
    isFresh = false,
  ) {
    const deadline = new AbortController();
    const number = ++sent;
    const startedAt = steadyTime(clock);
    const { promise, resolve } = Promise.withResolvers<Exchange>();
    const elapsed = () => steadyTime(clock) - startedAt;
    const redactor = redactorOf(key);
    const maxBodyBytes = options.maxBodyBytes ?? MAX_BODY_BYTES[kind];
    const stopAfter = async (ms: number, code: FailureCode, message: string) => {
      const began = elapsed();
      await clock.sleep(ms, deadline.signal);
      const late = elapsed() - began - ms;
      // A process that was stopped (Ctrl-Z) continues here first: the answer may have arrived long ago and only be unread.
      if (late > STOPPED_MS) await clock.sleep(READ_ON_MS, deadline.signal);
      if (!deadline.signal.aborted) receiver.stop(code, message);
    };
    const onFailure = () =>
      void stopAfter(timeouts.failure, 'BODY_TIMEOUT', 'The body of a failure did not end');
    const receiver = new Receiver({
      maxBodyBytes,
      redactor,
      elapsed,
      settle: resolve,
      onFailure,
      ...(mayBegin && { mayBegin }),
      proxy,
    });
    void stopAfter(
      timeouts.total,
      'TOTAL_TIMEOUT',
      `The answer was not complete after ${timeouts.total} ms`,
    );
    const headers = {
      ...(key === null ? {} : { [HEADERS.key]: key }),
      accept: 'application/json',
      'accept-encoding': ACCEPT_ENCODING,
      'user-agent': options.userAgent,
    };
    const path = pathname.replace(/\/+$/, '') + below;
    trace?.(redactor.text(`debug ${number} > ${method} ${path}  ${headerText(headers)}`));
    const own = isFresh ? connections(1) : null;
    (own ?? pool).dispatch({ origin, method, path, headers }, receiver);
    try {
      const exchange = await promise;
      trace?.(exchangeLine(number, exchange));
      return exchange;
    } finally {
      // With a reason: without one, an error with a stack is made for each call.
      deadline.abort(null);
      // It ends with its request, or with the answer that is refused here.
      void own?.destroy();
    }
  }

  let closing: Promise<void> | null = null;
  const close = () => {
    closing ??= pool.close();
    return closing;
  };

  return {
    async send({ call, location: { lat, lng }, isFresh, mayBegin, ...request }) {
      requireSendable(request.key);
      return await exchange(
        { ...request, method: 'GET', path: formatPath(call, lat, lng) },
        call.kind,
        mayBegin,
        isFresh,
      );
    },
    sendPlain: (request, mayBegin) => exchange(request, 'enterprise', mayBegin),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** @throws KEY_REFUSED for a key that no header can carry; to be called before a call is claimed, not between claim and send */
export function requireSendable(key: string): void {
  if (/^[\x21-\x7e]+$/.test(key)) return;
  const message =
    'The key is empty or has characters that no key can have (a space, a line break, a quote from a word processor)';
  throw new PerilbookError(
    'KEY_REFUSED',
    message,
    'Copy the key again, without anything before or after it.',
  );
}

const SECRET_NAME = /key|auth|token|secret|cookie|session|signature|password|credential/i;
const MAX_VALUE = 200;

/** An answer as one line: status, time, stated credits, headers; or how the request failed. */
function exchangeLine(number: number, exchange: Exchange): string {
  const took = `${Math.round(exchange.elapsedMs)} ms`;
  if (exchange.kind === 'failure') {
    const { code, reached, message } = exchange;
    const money = reached === 'never' ? 'never sent' : 'maybe charged';
    return `debug ${number} < ${code} after ${took}, ${money}: ${cleanText(message, MAX_VALUE)}`;
  }
  const { status, headers, bytes } = exchange;
  const credits = cleanText(headers[HEADERS.creditCost] ?? 'not stated', MAX_VALUE);
  return `debug ${number} < ${status} after ${took}, credits: ${credits}, ${bytes} bytes  ${headerText(headers)}`;
}

function headerText(headers: HeaderMap): string {
  return Object.entries(headers)
    .map(([name, value]) => `${cleanText(name, MAX_VALUE)}: ${shown(name, value)}`)
    .join('; ');
}

function shown(name: string, value: string): string {
  if (SECRET_NAME.test(name)) return '[hidden]';
  // The query of an address may contain a secret.
  return cleanText(name === 'location' ? value.replace(/[?#].*$/s, '?…') : value, MAX_VALUE);
}
