import { randomUUID } from 'node:crypto';
import { type IncomingMessage, METHODS, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply, type RouteHandlerMethod } from 'fastify';
import type { Clock } from '../../base/clock.ts';
import { PerilbookError } from '../../base/errors.ts';
import { isAccountsFailure } from '../accounts/calls.ts';
import { type FailureReply, sendFailure } from './replies.ts';

export interface ConnectionLimits {
  /** Most connections at once; further ones are closed unanswered. */
  readonly connections?: number;
  /** Most connections of one address: for a further one, the oldest that waits for a request is closed. Default: half of all. */
  readonly ofAddress?: number;
  /** How long a request may take to arrive, in milliseconds: it is one line and a few headers. */
  readonly receiveTimeout?: number;
  /** How long a connection may be silent, in milliseconds; after that the reader of a 6 MB bundle has stalled. */
  readonly idleTimeout?: number;
}

const DEFAULT_LIMITS = {
  connections: 1_000,
  receiveTimeout: 10_000,
  idleTimeout: 120_000,
} as const;
/** Longer than the minute for which a client may wait for its rate limit, so that its connection is still open. */
const KEEP_ALIVE_MS = 75_000;
const MAX_HEADER_BYTES = 16_384;

/** The web server without routes: its limits, and the handlers that give every error of a request one shape. Bytes that are
 * no request get Node's and Fastify's own answers.
 * @param onError receives errors that are answered with a 5xx */
export function createWebServer(
  clock: Pick<Clock, 'now'>,
  onError: (error: unknown) => void,
  limits: ConnectionLimits = {},
): FastifyInstance {
  const { connections, receiveTimeout, idleTimeout } = { ...DEFAULT_LIMITS, ...limits };
  const { ofAddress = Math.ceil(connections / 2) } = limits;
  const app = fastify({
    logger: false,
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    // HEAD would be answered, and charged, as GET.
    exposeHeadRoutes: false,
    return503OnClosing: false,
    connectionTimeout: idleTimeout,
    requestTimeout: receiveTimeout,
    keepAliveTimeout: KEEP_ALIVE_MS,
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: receiveTimeout,
      // Node checks every 30 s by default: a time-out of 10 s could take 40.
      connectionsCheckingInterval: Math.ceil(receiveTimeout / 10),
    },
    // A slug that is too long is an unknown topic like any other.
    routerOptions: { maxParamLength: MAX_HEADER_BYTES },
    bodyLimit: 1_024,
    forceCloseConnections: 'idle',
    frameworkErrors: (error, _request, reply) => {
      sendFailure(reply as FastifyReply, failureOfError(error), clock.now());
    },
  });
  app.server.maxConnections = connections;
  limitConnections(app.server, ofAddress);
  for (const method of METHODS)
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  app.setNotFoundHandler((_request, reply) =>
    sendFailure(
      reply,
      { failure: 'UNKNOWN_TOPIC', message: 'There is nothing at this path' },
      clock.now(),
    ),
  );
  app.setErrorHandler((error, _request, reply) => {
    const failure = failureOfError(error);
    if (failure.failure !== 'INVALID_PARAMETER' && !isAccountsFailure(error)) onError(error);
    return sendFailure(reply, failure, clock.now());
  });
  return app;
}

/** Adds a path for GET, and refuses every other method with 405 and `Allow` (docs/developer/service-api.md, 2.11).
 * @param head whether HEAD is answered like GET, without the body; never for charged calls */
export function addReading(
  app: FastifyInstance,
  clock: Pick<Clock, 'now'>,
  url: string,
  head: 'as GET' | 'refused',
  handler: RouteHandlerMethod,
): void {
  const allowed = head === 'refused' ? ['GET'] : ['GET', 'HEAD'];
  const allow = allowed.join(', ');
  const refuse = (reply: FastifyReply) => {
    const message = `The method ${reply.request.method} is not allowed here; allowed: ${allow}`;
    return sendFailure(
      reply.header('allow', allow),
      { failure: 'METHOD_NOT_ALLOWED', message },
      clock.now(),
    );
  };
  app.route({ method: allowed, url, handler });
  app.route({
    method: app.supportedMethods.filter((method) => !allowed.includes(method)),
    url,
    // Before the body is parsed, whatever its content type.
    onRequest: async (_request, reply) => refuse(reply),
    handler: (_request, reply) => refuse(reply),
  });
}

function failureOfError(error: unknown): FailureReply {
  const { statusCode: status } = error as { statusCode?: unknown };
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return { failure: 'INVALID_PARAMETER', message: 'The request cannot be read', status };
  }
  if (isAccountsFailure(error)) {
    return {
      failure: 'UPSTREAM_UNAVAILABLE',
      message: 'The service cannot reach its accounts now',
    };
  }
  // Another process holds the data or the accounts; this passes.
  if (isBusy(error) || (error instanceof PerilbookError && isBusy(error.cause))) {
    return { failure: 'UPSTREAM_UNAVAILABLE', message: 'The service is busy' };
  }
  return { failure: 'INTERNAL', message: 'The service failed' };
}

const isBusy = (error: unknown): boolean =>
  String((error as { code?: unknown } | undefined)?.code).startsWith('SQLITE_BUSY');

/** Stops listening and lets requests in flight end; cuts the others after `ms` milliseconds. */
export async function closeWithin(app: FastifyInstance, ms: number): Promise<void> {
  const bound = setTimeout(() => app.server.closeAllConnections(), ms);
  // A connection that was busy when closing began becomes idle later, and would be kept alive.
  const sweep = setInterval(() => app.server.closeIdleConnections(), 50);
  try {
    await app.close();
  } finally {
    clearTimeout(bound);
    clearInterval(sweep);
  }
}

/** Closes connections that wait for a request where one address has more than `ofAddress`, so that its silent connections shut
 * out neither others nor its own calls.
 * Also makes `closeIdleConnections` of a server close idle connections only. Node regards a connection as idle as soon as its
 * response has been ended, although megabytes may still have to be sent; `close` calls it first, which would cut bodies in
 * flight. To be called before the server listens. */
function limitConnections(server: Server, ofAddress: number): void {
  // Responses on a connection finish in order, so checking the last one suffices.
  const lastOn = new Map<Socket, ServerResponse | null>();
  const isIdle = (socket: Socket) => lastOn.get(socket)?.writableFinished !== false;
  server.on('connection', (socket: Socket) => {
    const { remoteAddress: address } = socket;
    const others = [...lastOn.keys()].filter(({ remoteAddress }) => remoteAddress === address);
    if (others.length >= ofAddress) (others.find(isIdle) ?? socket).destroy();
    lastOn.set(socket, null);
    socket.once('close', () => lastOn.delete(socket));
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    if (lastOn.has(socket)) lastOn.set(socket, response);
  });
  server.closeIdleConnections = () => {
    for (const socket of lastOn.keys()) if (isIdle(socket)) socket.destroy();
  };
}

/** The error of a server that cannot listen at an address; other errors stay as they are. */
export function listenFailure(error: unknown, host: string, port: number): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'EADDRINUSE' && code !== 'EACCES' && code !== 'EADDRNOTAVAIL') return error;
  const message = `Cannot listen on ${host}:${port}: ${code === 'EADDRINUSE' ? 'the port is in use' : code}`;
  return new PerilbookError(
    'USAGE',
    message,
    'Choose another port, or 0 for a free one.',
    {},
    error,
  );
}
