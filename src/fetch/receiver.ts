import type { Dispatcher } from 'undici';
import { ContentDecoder } from './content-decoding.ts';
import type { Exchange, FailureCode, HeaderMap } from './exchange.ts';
import type { Redactor } from './redact.ts';

/** Most bytes that are kept of the body of any status but 200: enough for every code and message. */
export const MAX_ERROR_BODY_BYTES = 64 * 1024;

export interface ReceiverOptions {
  readonly maxBodyBytes: number;
  readonly allocate: (bytes: number) => Buffer;
  readonly redactor: Redactor;
  readonly elapsed: () => number;
  readonly settle: (exchange: Exchange) => void;
}

/** Receives one answer from undici and settles once, with the first certain result. Whether the request may have been charged
 * follows from the order of undici's events (start comes right before the first byte is written), not from error codes: an
 * ECONNRESET can mean either. */
export class Receiver implements Dispatcher.DispatchHandler {
  readonly #options: ReceiverOptions;
  #controller: Dispatcher.DispatchController | null = null;
  #started = false;
  #settled = false;
  /** The answer has arrived completely; its decompression may still be running. */
  #ended = false;
  #status = 0;
  #headers: HeaderMap = {};
  #decoder: ContentDecoder | null = null;
  /** The body, where its length was declared: each chunk is copied once and released, which saves a third of the time of a large
   * body. */
  #body: Buffer | null = null;
  #chunks: Buffer[] = [];
  /** Bytes received, and bytes after decompression. */
  #received = 0;
  #bytes = 0;

  constructor(options: ReceiverOptions) {
    this.#options = options;
  }

  /** Ends the request now: at the total deadline. */
  stop(code: FailureCode, message: string): void {
    if (this.#ended) return;
    this.#fail(code, message);
    this.#controller?.abort(new Error(message));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // undici queues a request again after some ends of a socket; one that may have been charged must not be sent again without
    // the ledger.
    if (this.#started) this.#fail('BROKEN', 'The connection ended before the answer began');
    this.#started = true;
    this.#controller = controller;
    if (this.#settled) controller.abort(new Error('The request was ended before it was sent'));
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200 || this.#settled) return;
    this.#status = status;
    this.#headers = plainHeaders(headers, this.#options.redactor);
    this.#decoder = new ContentDecoder(this.#headers['content-encoding'], {
      onData: (chunk) => this.#take(chunk),
      onEnd: () => this.#respond(),
      onDamage: (message) => this.#damaged(message),
      onDrain: () => controller.resume(),
    });
    const declared = this.#declared();
    if (status === 200 && declared > this.#options.maxBodyBytes) this.#tooLarge(declared);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled) return;
    this.#received += chunk.length;
    // A compressed body may be endless and yield nothing.
    if (this.#status === 200 && this.#received > this.#options.maxBodyBytes) this.#tooLarge(this.#received);
    else if (!this.#decoder!.write(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    this.#ended = true;
    if (!this.#settled) this.#decoder!.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.#fail(...reasonOf(error, this.#started, this.#status !== 0));
  }

  /** Takes a part of the body, after decompression. */
  #take(chunk: Buffer): void {
    if (this.#settled) return;
    const before = this.#bytes;
    this.#bytes += chunk.length;
    if (this.#status === 200) {
      if (this.#bytes > this.#options.maxBodyBytes) this.#tooLarge(this.#bytes);
      else this.#keep(chunk, before);
      return;
    }
    this.#chunks.push(chunk);
    if (this.#bytes < MAX_ERROR_BODY_BYTES) return;
    this.#respond();
    this.#controller?.abort(new Error('Enough of the error body was read'));
  }

  #keep(chunk: Buffer, before: number): void {
    // The declared length is that of the compressed body, if it is compressed: then the first part is longer or the last one is
    // missing, and the parts are joined at the end.
    if (before === 0 && this.#declared() >= chunk.length) this.#body = this.#options.allocate(this.#declared());
    if (this.#body !== null && this.#bytes <= this.#body.length) {
      chunk.copy(this.#body, before);
      return;
    }
    if (this.#body !== null) this.#chunks.push(this.#body.subarray(0, before));
    this.#body = null;
    this.#chunks.push(chunk);
  }

  #declared(): number {
    return Number(this.#headers['content-length'] ?? 0) || 0;
  }

  #tooLarge(bytes: number): void {
    const limit = this.#options.maxBodyBytes;
    this.#fail('BODY_TOO_LARGE', `The answer is larger than ${limit} bytes (${bytes} so far or declared)`);
    this.#controller?.abort(new Error('The answer is too large'));
  }

  #damaged(message: string): void {
    this.#fail('DAMAGED', `The compressed answer is damaged: ${message}`);
    this.#controller?.abort(new Error('The compressed answer is damaged'));
  }

  #respond(): void {
    const whole = this.#body?.length === this.#bytes ? this.#body : null;
    const parts = this.#body === null ? this.#chunks : [this.#body.subarray(0, this.#bytes)];
    const body = whole ?? joined(parts, this.#options.allocate(this.#bytes));
    this.#settle({
      kind: 'response',
      status: this.#status,
      headers: this.#headers,
      body: this.#status === 200 ? body : errorBody(body, this.#options.redactor),
      elapsedMs: this.#options.elapsed(),
    });
  }

  #fail(code: FailureCode, message: string): void {
    // Of any status but 200 the rest of the body does not matter.
    if (this.#status !== 0 && this.#status !== 200) {
      this.#respond();
      return;
    }
    this.#settle({
      kind: 'failure',
      reached: this.#started ? 'maybe' : 'never',
      code,
      message: this.#options.redactor.text(message),
      elapsedMs: this.#options.elapsed(),
    });
  }

  #settle(exchange: Exchange): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#chunks = [];
    this.#body = null;
    this.#decoder?.close();
    this.#options.settle(exchange);
  }
}

/** Fills memory with parts, which together are as long. */
function joined(parts: readonly Buffer[], memory: Buffer): Buffer {
  let at = 0;
  for (const part of parts) at += part.copy(memory, at);
  return memory;
}

function plainHeaders(headers: Record<string, string | string[] | undefined>, redactor: Redactor): HeaderMap {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    plain[redactor.text(name.toLowerCase())] = redactor.text(Array.isArray(value) ? value.join(', ') : value);
  }
  return plain;
}

/** Redacted before it is cut, so that no half of a key is left at the end. JSON is redacted by its decoded strings, and left as it
 * is where they contain no key. */
function errorBody(body: Buffer, redactor: Redactor): Buffer {
  return Buffer.from(withoutKey(body.toString(), redactor)).subarray(0, MAX_ERROR_BODY_BYTES);
}

function withoutKey(text: string, redactor: Redactor): string {
  try {
    const before = JSON.stringify(JSON.parse(text));
    const after = JSON.stringify(redactor.json(JSON.parse(text)));
    return after === before ? text : after;
  } catch {
    // Not JSON, or nested too deeply to be written.
    return redactor.text(text);
  }
}

function reasonOf(error: Error, started: boolean, answered: boolean): [FailureCode, string] {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  switch (code) {
    case 'UND_ERR_CONNECT_TIMEOUT':
      return ['CONNECT_TIMEOUT', 'The service did not accept a connection in time'];
    case 'UND_ERR_HEADERS_TIMEOUT':
      return ['HEADERS_TIMEOUT', 'The service did not begin to answer in time'];
    case 'UND_ERR_BODY_TIMEOUT':
      return ['BODY_TIMEOUT', 'The service stopped in the middle of its answer'];
    case 'UND_ERR_CLOSED':
    case 'UND_ERR_DESTROYED':
      return ['CLOSED', 'The client was closed'];
  }
  const detail = firstMessage(error) || code || error.name;
  if (!started) return ['CONNECT', `Cannot connect to the service: ${detail}`];
  // After a valid head, an answer that does not parse was cut. undici reports contradicting lengths as a mismatch before there
  // was a head.
  const isOfHead = ['UND_ERR_HEADERS_OVERFLOW', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'].includes(code);
  if (!answered && (error.name === 'HTTPParserError' || isOfHead)) {
    return ['NOT_HTTP', `The service's answer is not valid HTTP: ${detail}`];
  }
  return ['BROKEN', `The connection ended before the answer was complete: ${detail}`];
}

/** An AggregateError (several addresses tried) has an empty message of its own. */
function firstMessage(error: Error): string {
  if (error.message !== '' || !(error instanceof AggregateError)) return error.message;
  const [first] = error.errors as unknown[];
  return first instanceof Error ? first.message : '';
}
