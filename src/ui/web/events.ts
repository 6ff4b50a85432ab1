import type { FastifyReply, FastifyRequest } from 'fastify';
import { HEADERS } from './access-check.ts';

const LOOK_MS = 250;
const HEARTBEAT_MS = 15_000;

/** Tells a page what changes, as server-sent events, until it goes or `signal` aborts. A page that comes late or again gets
 * the present state first. */
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
  const look = () => {
    const now = JSON.stringify(read());
    if (now === last || raw.writableNeedDrain) return;
    last = now;
    raw.write(`data: ${now}\n\n`);
  };
  look();
  const looking = setInterval(look, LOOK_MS);
  const beating = setInterval(() => raw.write(': here\n\n'), HEARTBEAT_MS);
  const end = () => {
    clearInterval(looking);
    clearInterval(beating);
    signal.removeEventListener('abort', end);
    raw.end();
  };
  signal.addEventListener('abort', end, { once: true });
  request.raw.on('close', end);
}
