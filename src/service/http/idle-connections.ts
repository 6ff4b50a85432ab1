import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Makes `closeIdleConnections` of a server close idle connections only. Node regards a connection as idle as soon as its
 * response has been ended, although megabytes may still have to be sent; `close` calls it first, which would cut bodies in
 * flight. To be called before the server listens.
 */
export function spareBusyConnections(server: Server): void {
  const responsesOn = new Map<Socket, { count: number }>();
  server.on('connection', (socket: Socket) => {
    responsesOn.set(socket, { count: 0 });
    socket.once('close', () => responsesOn.delete(socket));
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const responses = responsesOn.get(socket);
    if (responses === undefined) return;
    responses.count += 1;
    response.on('finish', () => {
      responses.count -= 1;
    });
  });
  server.closeIdleConnections = () => {
    for (const [socket, { count }] of responsesOn) if (count === 0) socket.destroy();
  };
}
