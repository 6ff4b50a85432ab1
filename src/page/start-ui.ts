import type { AddressInfo } from 'node:net';
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { resultOrNull } from '../base/errors.ts';
import { listenFailure } from '../service/http/web-server.ts';
import type { UiDependencies } from './files/dependencies.ts';
import { RefusedRequest, sendError, statusOfError } from './files/page-words.ts';
import {
  accessRefusal,
  cookieName,
  HEADERS,
  hostRefusal,
  Peers,
  requestRefusal,
  Sessions,
} from './web/access.ts';
import { UiApi } from './web/api.ts';
import { HTML } from './web/assets.ts';
import { addRoutes } from './web/routes.ts';

/** The page's server. */
export interface RunningUi {
  readonly port: number;
  /** An address that works once. */
  newAddress(): string;
  /** Finishes calls in flight, writes the outputs, and stops the server; resolves to the number of stopped runs. */
  close(): Promise<number>;
}

/** The page listens on this machine only. There is no option to change that. */
const HOST = '127.0.0.1';

const MOST_JSON = 64 * 1024;

/** Starts the page. @throws USAGE when it cannot listen on the port, INPUT_UNREADABLE for the first file */
export async function startUi(options: UiDependencies): Promise<RunningUi> {
  const closing = new AbortController();
  const api = new UiApi(options);
  const sessions = new Sessions();
  await api.begin();
  const peers = new Peers();
  let port = options.port;
  const app = fastify({
    logger: false,
    bodyLimit: MOST_JSON,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    // An address that cannot be decoded (`/%`) would be answered before any hook runs.
    rewriteUrl: ({ url = '/' }) =>
      resultOrNull(() => decodeURIComponent(url)) === null ? '/undecodable' : url,
  });
  app.addHook('onSend', async (_request, reply) => {
    for (const [name, value] of Object.entries(HEADERS))
      if (!reply.hasHeader(name)) reply.header(name, value);
  });
  app.setErrorHandler((error, _request, reply) => {
    // A page that is closed during an upload is no bug.
    if (statusOfError(error) === 500 && !reply.raw.destroyed) options.onBug(error);
    return sendError(reply, error);
  });
  app.setNotFoundHandler((_request, reply) =>
    sendError(reply, new RefusedRequest(404, 'NO_PATH', 'Unknown path', 'Reload the page.')),
  );
  app.addHook('onRequest', async (request, reply) => {
    // Its connection is closed by the listener above; nothing is read or answered before it is known whose it is.
    if (!(await peers.isOwn(request.raw.socket))) return reply.hijack();
    const token = tokenOf(request);
    const refusal =
      token === null
        ? accessRefusal(request, port, sessions)
        : hostRefusal(request.headers.host, port);
    if (refusal !== null) return refuse(request, reply, refusal);
    if (token === null) return undefined;
    const session = sessions.exchange(token);
    if (session === null)
      return refuse(request, reply, requestRefusal(401, 'TOKEN', 'This address was already used'));
    // A session cookie: without an expiry.
    const cookie = `${cookieName(port)}=${session}; HttpOnly; SameSite=Strict; Path=/`;
    // Not a redirect: a browser that came from a file would not send a strict cookie with it.
    return reply.header('set-cookie', cookie).type(HTML).send(ENTRY);
  });
  app.server.on('connection', (socket) => {
    void peers.isOwn(socket).then((isOwn) => {
      if (!isOwn) socket.destroy();
    });
  });
  addRoutes(app, api, closing.signal);
  try {
    await app.listen({ port, host: HOST });
  } catch (error) {
    await app.close();
    throw listenFailure(error, HOST, port);
  }
  port = (app.server.address() as AddressInfo).port;
  return {
    port,
    newAddress: () => `http://${HOST}:${port}/?token=${sessions.newToken()}`,
    async close() {
      // The page still gets the updates of the runs that are stopped.
      const stopped = await api.close();
      closing.abort();
      await app.close();
      return stopped;
    },
  };
}

const ENTRY =
  '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=/"><link rel="icon" href="/assets/icon.svg" type="image/svg+xml"><title>Perilbook</title>\n';

/** The token of an address from the terminal; only for the first page. */
function tokenOf({ method, url }: FastifyRequest): string | null {
  const [path, query] = url.split('?', 2);
  return method === 'GET' && path === '/' ? new URLSearchParams(query).get('token') : null;
}

/** A browser gets a page, a program gets JSON. */
function refuse(
  request: FastifyRequest,
  reply: FastifyReply,
  refusal: RefusedRequest,
): FastifyReply {
  if (!request.headers.accept?.includes('text/html')) return sendError(reply, refusal);
  const { message, hint } = refusal.words;
  return reply
    .code(refusal.status)
    .type(HTML)
    .send(
      `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>Error: ${message} · Perilbook</title><main><h1>${message}</h1><p>${hint}</p></main></html>\n`,
    );
}
