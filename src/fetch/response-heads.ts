import type { Socket } from 'node:net';
import { buildConnector } from 'undici';

/** undici itself refuses heads of more than 16 KB. */
const MOST_HEAD_BYTES = 64 * 1024;
const EMPTY = Buffer.alloc(0);

/**
 * Repairs the heads of answers so that undici can parse them. Its parser ends the connection at two things that RFC 9110 lets a
 * client accept, and the answer was paid for: an unexpected interim answer (100 Continue, 103 Early Hints), and a Content-Length
 * given twice with the same value.
 */
export class ResponseHeads {
  /** The head as far as it has arrived; null while a body is passed on. */
  #head: string | null = '';

  /** A request is written: a head comes next. */
  expect(): void {
    this.#head = '';
  }

  /** The bytes for the parser; empty until the head is complete. */
  pass(chunk: Buffer): Buffer {
    if (this.#head === null) return chunk;
    let head = this.#head + chunk.toString('latin1');
    for (;;) {
      // Not a head that can be repaired: the parser reports what is wrong with it.
      const isHttp = 'HTTP/'.startsWith(head.slice(0, 5)) || head.startsWith('HTTP/');
      const end = head.indexOf('\r\n\r\n');
      const known = end < 0 ? head : head.slice(0, end);
      if (!isHttp || /(^|[^\r])\n/.test(known) || known.length > MOST_HEAD_BYTES) return this.#passOn(head);
      if (end < 0) {
        this.#head = head;
        return EMPTY;
      }
      if (!/^HTTP\/\d\.\d 1\d\d\b/.test(known)) return this.#passOn(oneContentLength(known) + head.slice(end));
      head = head.slice(end + 4);
    }
  }

  #passOn(text: string): Buffer {
    this.#head = null;
    return Buffer.from(text, 'latin1');
  }
}

/** `Content-Length: 5` twice, or `Content-Length: 5, 5`, is 5 (RFC 9110, 8.6). Different values stay, and the parser refuses
 * them. */
function oneContentLength(head: string): string {
  const [status = '', ...lines] = head.split('\r\n');
  const isLength = (line: string) => /^content-length[ \t]*:/i.test(line);
  const values = lines.filter(isLength).flatMap((line) => line.slice(line.indexOf(':') + 1).split(','));
  const [length, ...others] = new Set(values.map((value) => value.trim()));
  if (values.length < 2 || others.length > 0) return head;
  return [status, ...lines.filter((line) => !isLength(line)), `content-length: ${length}`].join('\r\n');
}

/** undici's own connector, with each answer read through `ResponseHeads`. */
export function connectorOf(timeoutMs: number): buildConnector.connector {
  const connect = buildConnector({ timeout: timeoutMs, allowH2: false });
  return (options, callback) => {
    connect(options, (...[error, socket]) => {
      if (socket) repairHeads(socket);
      (callback as (error: Error | null, socket: Socket | null) => void)(error, socket);
    });
  };
}

/** undici reads a socket only by `read`, and writes a request without a body by one `write`. */
function repairHeads(socket: Socket): void {
  const heads = new ResponseHeads();
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  socket.write = (...args: unknown[]) => {
    heads.expect();
    return write(...args);
  };
  socket.read = (size?: number) => {
    for (let chunk = read(size); chunk !== null; chunk = read(size)) {
      const passed = heads.pass(chunk);
      if (passed.length > 0) return passed;
    }
    return null;
  };
}
