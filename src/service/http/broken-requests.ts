import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { type FailureReply, failureEnvelope } from './replies.ts';

/** The status for errors of the HTTP parser, by code; for any other it is 400. */
const STATUS: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** How long a refused client may take to read its answer, in milliseconds. Closing at once could reset the connection before
 * the answer is read; waiting for the client would let silent clients use up the connection limit. */
const LINGER_MS = 1_000;

/** Sockets whose answer is being sent; further input is discarded. */
const refused = new WeakSet<Socket>();

/** Answers bytes that are not an HTTP request with the service's own error shape, and closes the connection whether or not
 * the client closes its side. */
export function refuseBrokenRequest(error: NodeJS.ErrnoException, socket: Socket, clock: Pick<Clock, 'now'>): void {
  if (refused.has(socket) && error.code !== 'ECONNRESET') return;
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0) {
    // The client has gone, or a response is on its way and another would end up inside it.
    socket.destroy();
    return;
  }
  refused.add(socket);
  const status = STATUS[error.code ?? ''] ?? 400;
  const failure = { failure: 'INVALID_PARAMETER', message: 'The request cannot be read' } as const;
  const body = JSON.stringify(failureEnvelope(failure, randomUUID(), clock.now()));
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
  const cut = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(cut));
}

/** Answers requests with an `Expect` other than `100-continue` in the service's own error shape: Node would send a 417
 * without a body. */
export function refuseExpectations(server: Server, clock: Pick<Clock, 'now'>): void {
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const failure: FailureReply = { failure: 'INVALID_PARAMETER', message: 'The header "Expect" cannot be met' };
    const body = JSON.stringify(failureEnvelope(failure, randomUUID(), clock.now()));
    response.writeHead(417, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
      connection: 'close',
    });
    response.end(body);
  });
}
