import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net';
import type { TestContext } from 'node:test';
import { type Client, type ClientOptions, createClient } from '../../src/client/client.ts';

/** Listens on a free port until the test ends; connections that are open then are cut. */
async function serve(t: TestContext, server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A real HTTP server. */
export const serveHttp = (t: TestContext, listener: RequestListener) =>
  serve(t, createServer(listener));

/** A raw TCP server that gets each socket as soon as it is connected. */
export const serveSockets = (t: TestContext, connected: (socket: Socket) => void) =>
  serve(t, createTcpServer(connected));

/** A raw TCP server: `answer` gets each socket once the request's head has arrived whole. */
export async function serveRaw(
  t: TestContext,
  answer: (socket: Socket, head: string) => unknown,
): Promise<string> {
  return serveSockets(t, (socket) => {
    let head = '';
    socket.on('data', (chunk) => {
      head += chunk.toString();
      if (!head.includes('\r\n\r\n')) return;
      answer(socket, head);
      head = '';
    });
  });
}

/** A client with short timeouts, closed when the test ends. */
export function clientOf(
  t: TestContext,
  baseUrl: string,
  options: Partial<ClientOptions> = {},
): Client {
  const timeouts = { connect: 1_000, headers: 400, body: 400, total: 2_000, ...options.timeouts };
  const client = createClient({
    baseUrl,
    sockets: 4,
    userAgent: 'perilbook-test',
    ...options,
    timeouts,
  });
  t.after(() => client.close());
  return client;
}
