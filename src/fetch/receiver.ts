import type { Dispatcher } from 'undici';
import type { Exchange, FailureCode, HeaderMap } from './exchange.ts';
import { redact, redactBytes } from './redact.ts';

/** Most bytes that are kept of the body of any status but 200: enough for every code and message. */
export const MAX_ERROR_BODY_BYTES = 64 * 1024;

export interface ReceiverOptions {
  readonly maxBodyBytes: number;
  readonly key: string;
  readonly elapsed: () => number;
  readonly settle: (exchange: Exchange) => void;
}

/** Receives one answer from undici and settles once, with the first thing that is certain. Whether the request may have
 * been charged is read from undici's own order of events (start comes right before the first byte is written), not from
 * error codes: the same ECONNRESET means either. */
export class Receiver implements Dispatcher.DispatchHandler {
  readonly #options: ReceiverOptions;
  #controller: Dispatcher.DispatchController | null = null;
  #started = false;
  #settled = false;
  #status = 0;
  #headers: HeaderMap = {};
  /** The body, where its length was told: each chunk is copied once and let go, which takes a third off the time in which a
   * large one is received. */
  #body: Buffer | null = null;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(options: ReceiverOptions) {
    this.#options = options;
  }

  /** Ends the request now: by the caller's signal or the total deadline. */
  stop(code: FailureCode, message: string): void {
    this.#fail(code, message);
    this.#controller?.abort(new Error(message));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // undici puts a request back into its queue after some ends of a socket; one that may have been charged must not be
    // sent again without anyone knowing.
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
    this.#headers = plainHeaders(headers, this.#options.key);
    const declared = Number(this.#headers['content-length'] ?? 0);
    if (status !== 200) return;
    if (declared > this.#options.maxBodyBytes) this.#tooLarge(controller, declared);
    else if (declared > 0) this.#body = Buffer.allocUnsafeSlow(declared);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled) return;
    const before = this.#bytes;
    this.#bytes += chunk.length;
    if (this.#status === 200) {
      if (this.#bytes > this.#options.maxBodyBytes) this.#tooLarge(controller, this.#bytes);
      else this.#take(chunk, before);
      return;
    }
    this.#chunks.push(chunk);
    if (this.#bytes < MAX_ERROR_BODY_BYTES) return;
    this.#respond();
    controller.abort(new Error('Enough of the error body was read'));
  }

  #take(chunk: Buffer, before: number): void {
    if (this.#body !== null && this.#bytes <= this.#body.length) {
      chunk.copy(this.#body, before);
      return;
    }
    // undici refuses a body that is longer than it was told to be; but a paid answer is not cut on its word.
    if (this.#body !== null) this.#chunks.push(this.#body.subarray(0, before));
    this.#body = null;
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#respond();
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.#fail(...reasonOf(error, this.#started, this.#status !== 0));
  }

  #tooLarge(controller: Dispatcher.DispatchController, bytes: number): void {
    const limit = this.#options.maxBodyBytes;
    this.#fail('BODY_TOO_LARGE', `The answer is larger than ${limit} bytes (${bytes} so far or declared)`);
    controller.abort(new Error('The answer is too large'));
  }

  #respond(): void {
    const body = this.#body?.length === this.#bytes ? this.#body : Buffer.concat(this.#chunks);
    this.#settle({
      kind: 'response',
      status: this.#status,
      headers: this.#headers,
      body: this.#status === 200 ? redactBytes(body, this.#options.key) : errorBody(body, this.#options.key),
      elapsedMs: this.#options.elapsed(),
    });
  }

  #fail(code: FailureCode, message: string): void {
    // Any status but 200 has said everything that matters; the rest of its body is only wording.
    if (this.#status !== 0 && this.#status !== 200) {
      this.#respond();
      return;
    }
    this.#settle({
      kind: 'failure',
      reached: this.#started ? 'maybe' : 'never',
      code,
      message: redact(message, this.#options.key),
      elapsedMs: this.#options.elapsed(),
    });
  }

  #settle(exchange: Exchange): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#chunks = [];
    this.#body = null;
    this.#options.settle(exchange);
  }
}

function plainHeaders(headers: Record<string, string | string[] | undefined>, key: string): HeaderMap {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) plain[name.toLowerCase()] = redact(Array.isArray(value) ? value.join(', ') : value, key);
  }
  return plain;
}

/** Redacted before it is cut, so that no half of a key is left at the edge. */
function errorBody(body: Buffer, key: string): Buffer {
  return Buffer.from(redact(body.toString(), key)).subarray(0, MAX_ERROR_BODY_BYTES);
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
  // After a valid head, what does not parse is an answer that was cut.
  if (!answered && (error.name === 'HTTPParserError' || code === 'UND_ERR_HEADERS_OVERFLOW')) {
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
