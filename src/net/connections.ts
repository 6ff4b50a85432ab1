import {
  Agent,
  type Dispatcher,
  Pool,
  ProxyAgent,
  request,
  Client as SingleConnection,
} from 'undici';
import type { HttpProxy } from './http-proxy.ts';

/** Open connections, through which requests are sent. */
export type Connections = Dispatcher;

/** Receives the answer to a request as it comes. */
export type AnswerHandler = Dispatcher.DispatchHandler;

/** Ends a request whose answer is received. */
export type RequestController = Dispatcher.DispatchController;

/** Milliseconds. `headers` and `body` limit a silence. */
export interface ConnectionTimeouts {
  readonly connect: number;
  readonly headers: number;
  readonly body: number;
}

export interface ConnectionOptions {
  /** The one server to connect to; default: any. */
  readonly origin?: string;
  /** Most connections at once to one server; default: as many as are asked for. */
  readonly most?: number;
  /** The way there; null: straight. */
  readonly proxy: HttpProxy | null;
  /** Through a proxy each connection is a tunnel (CONNECT), with TLS inside for `https://`. True: for `http://` too. So nothing that the proxy
   * says in place of a tunnel can be taken for an answer, and a request without a tunnel has not left this machine. */
  readonly isTunnelAlways: boolean;
  readonly timeouts: ConnectionTimeouts;
}

/** Opens the connections of all requests to other machines. One request per connection: over HTTP/2 one broken connection would lose many
 * answers at once. Redirects are not followed here. */
export function openConnections(options: ConnectionOptions): Connections {
  const { origin, most, proxy, isTunnelAlways, timeouts } = options;
  const settings = {
    pipelining: 1,
    allowH2: false,
    connect: { timeout: timeouts.connect },
    headersTimeout: timeouts.headers,
    bodyTimeout: timeouts.body,
  };
  const limit = most === undefined ? {} : { connections: most };
  if (proxy !== null) {
    return new ProxyAgent({
      ...settings,
      ...limit,
      uri: proxy.url,
      ...(proxy.authorization !== null && { token: proxy.authorization }),
      proxyTunnel: isTunnelAlways,
      connectTimeout: timeouts.connect,
      clientFactory: (proxyOrigin, others) =>
        new Pool(proxyOrigin, { ...others, headersTimeout: timeouts.connect }),
    });
  }
  if (origin === undefined) return new Agent({ ...settings, ...limit });
  return most === 1
    ? new SingleConnection(origin, settings)
    : new Pool(origin, { ...settings, ...limit });
}

/** Requests an address once, and follows no redirect.
 * @returns the head of the answer, and its body to read or destroy */
export async function getOnce(
  connections: Connections,
  url: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  return await request(url, { dispatcher: connections, headers, signal, method: 'GET' });
}
