import type { FastifyReply, FastifyRequest } from 'fastify';
import { HEADERS } from './access-check.ts';

const POLL_MS = 250;
/** The page takes a longer silence for a lost connection (assets/connection.js). */
const HEARTBEAT_MS = 3_000;

/** Sends state changes as server-sent events until the page disconnects or `signal` aborts. A new page gets the current
 * state first. */
export function sendEvents(
  request: FastifyRequest,
  reply: FastifyReply,
  read: () => unknown,
  signal: AbortSignal,
): void {
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream; charset=utf-8' });
  let last = '';
  const poll = () => {
    const now = JSON.stringify(read());
    if (now === last || raw.writableNeedDrain) return;
    last = now;
    raw.write(`data: ${now}\n\n`);
  };
  poll();
  const polling = setInterval(poll, POLL_MS);
  const heartbeat = setInterval(() => raw.write('event: here\ndata:\n\n'), HEARTBEAT_MS);
  const end = () => {
    clearInterval(polling);
    clearInterval(heartbeat);
    signal.removeEventListener('abort', end);
    raw.end();
  };
  signal.addEventListener('abort', end, { once: true });
  request.raw.on('close', end);
}
