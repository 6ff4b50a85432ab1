import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../clock.ts';
import { failureEnvelope } from './replies.ts';

/** What the HTTP parser could not read, by its error code; anything else is a 400. */
const STATUS: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Answers bytes that are no HTTP request with the service's own error shape, and closes the connection. */
export function refuseBrokenRequest(error: NodeJS.ErrnoException, socket: Socket, clock: Clock): void {
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0) {
    // Nobody reads, or a response is already on its way and another would end up inside it.
    socket.destroy();
    return;
  }
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
}
