import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { type Client, type ClientOptions, createClient } from '../../src/client/client.ts';

/** A real HTTP server on a free port, closed when the test ends. */
export async function serveHttp(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A raw TCP server: `answer` gets each socket once the request's head has arrived whole. */
export async function serveRaw(t: TestContext, answer: (socket: Socket, head: string) => unknown): Promise<string> {
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

/** A raw TCP server that gets each socket as soon as it is connected. */
export async function serveSockets(t: TestContext, connected: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    connected(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A client with short timeouts, closed when the test ends. */
export function clientOf(t: TestContext, baseUrl: string, options: Partial<ClientOptions> = {}): Client {
  const timeouts = { connect: 1_000, headers: 400, body: 400, total: 2_000, ...options.timeouts };
  const client = createClient({ baseUrl, sockets: 4, userAgent: 'perilbook-test', ...options, timeouts });
  t.after(() => client.close());
  return client;
}
