import { hash } from 'node:crypto';
import type { Dispatcher } from 'undici';
import type { HttpProxy } from '../base/http-proxy.ts';
import { ReceivedBytes } from '../base/received-bytes.ts';
import { decompressed, MAX_TEXT_BYTES, parseContent, TooLarge } from './content.ts';
import type { Exchange, FailureCode, HeaderMap } from './exchange.ts';
import type { Redactor } from './redact.ts';

/** Most bytes to which the body of a failure is decompressed. */
const MOST_ERROR_BYTES = 1024 * 1024;

export interface ReceiverOptions {
  readonly maxBodyBytes: number;
  readonly redactor: Redactor;
  readonly elapsed: () => number;
  readonly settle: (exchange: Exchange) => void;
  /** Called after the head of any status but 200. */
  readonly onFailure?: () => void;
  /** The way to the service, for messages. */
  readonly proxy?: HttpProxy | null;
}

/** Receives one answer from undici and settles once, with the first certain result. Whether the request may have been charged follows from
 * the order of undici's events (start comes right before the first byte is written), not from error codes: an ECONNRESET can mean either. */
export class Receiver implements Dispatcher.DispatchHandler {
  readonly #options: ReceiverOptions;
  #controller: Dispatcher.DispatchController | null = null;
  #started = false;
  #settled = false;
  /** All that is wanted of the answer has arrived; its decompression may still be running. */
  #ended = false;
  #status = 0;
  #headers: HeaderMap = {};
  readonly #body = new ReceivedBytes();

  constructor(options: ReceiverOptions) {
    this.#options = options;
  }

  /** Ends the request at the total deadline. */
  stop(code: FailureCode, message: string): void {
    if (this.#ended) return;
    this.#fail(code, message);
    this.#controller?.abort(new Error(message));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // undici queues a request again after some ends of a socket; one that may have been charged must not be sent again without the ledger.
    if (this.#started) this.#fail('BROKEN', 'The connection ended before the answer began');
    this.#started = true;
    this.#controller = controller;
    if (this.#settled) controller.abort(new Error('The request was ended before it was sent'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: RawHeaders,
  ): void {
    if (status < 200 || this.#settled) return;
    this.#status = status;
    this.#headers = plainHeaders(headers, this.#options.redactor);
    // At once: a slow answer would end at a deadline, be asked for again, and perhaps be paid again.
    if (status !== 200) this.#options.onFailure?.();
    else if (Number(this.#headers['content-length']) > this.#options.maxBodyBytes) this.#tooLarge();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled || this.#ended) return;
    this.#body.add(chunk);
    if (this.#status === 200) {
      if (this.#body.length > this.#options.maxBodyBytes) this.#tooLarge();
    } else if (this.#body.length >= MAX_TEXT_BYTES) {
      this.onResponseEnd();
      controller.abort(new Error('Enough of the error body was read'));
    }
  }

  onResponseEnd(): void {
    if (this.#settled || this.#ended) return;
    this.#ended = true;
    void this.#respond();
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (!this.#ended)
      this.#fail(
        ...explainFailure(error, this.#started, this.#status !== 0, this.#options.proxy ?? null),
      );
  }

  async #respond(): Promise<void> {
    const isAnswer = this.#status === 200;
    const most = isAnswer ? this.#options.maxBodyBytes : MOST_ERROR_BYTES;
    try {
      const body = await decompressed(this.#body.concat(), most);
      this.#settleWith(body);
    } catch (error) {
      // Of any status but 200 the body does not matter.
      if (!isAnswer) this.#settleWith(Buffer.alloc(0));
      else if (error instanceof TooLarge) this.#tooLarge();
      else this.#fail('DAMAGED', `The compressed answer is damaged: ${(error as Error).message}`);
    }
  }

  #settleWith(body: Buffer): void {
    this.#settle({
      kind: 'response',
      status: this.#status,
      headers: this.#headers,
      content: parseContent(body, this.#options.redactor),
      bytes: body.length,
      digest: () => hash('sha1', body),
      elapsedMs: this.#options.elapsed(),
    });
  }

  #tooLarge(): void {
    this.#fail('BODY_TOO_LARGE', `The answer is larger than ${this.#options.maxBodyBytes} bytes`);
    this.#controller?.abort(new Error('The answer is too large'));
  }

  #fail(code: FailureCode, message: string): void {
    // Of any status but 200 the rest of the body does not matter.
    if (this.#status !== 0 && this.#status !== 200) {
      this.onResponseEnd();
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
    this.#body.clear();
    this.#options.settle(exchange);
  }
}

type RawHeaders = Record<string, string | string[] | undefined>;

function plainHeaders(headers: RawHeaders, redactor: Redactor): HeaderMap {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    plain[redactor.text(name.toLowerCase())] = redactor.text(
      Array.isArray(value) ? value.join(', ') : value,
    );
  }
  return plain;
}

/** What kept a request from leaving this machine, where a proxy stands between it and the service. */
function explainProxy({ name, variable }: HttpProxy, error: Error): string {
  const detail = firstMessage(error) || error.name;
  const [, status] = /^Proxy response \((\d+)\)/.exec(detail) ?? [];
  const proxy = `The proxy ${name} (${variable})`;
  if (status === '407')
    return `${proxy} demands a user and a password (407): http://USER:PASSWORD@${name}`;
  if (status !== undefined)
    return `${proxy} gives no way to the service (${status}); NO_PROXY names hosts without a proxy`;
  return `Cannot connect to the service through the proxy ${name} (${variable}): ${detail}`;
}

function explainFailure(
  error: Error,
  started: boolean,
  answered: boolean,
  proxy: HttpProxy | null,
): Failure {
  if (proxy !== null && !started) return ['CONNECT', explainProxy(proxy, error)];
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const known = FAILURES.get(code);
  if (known !== undefined) return known;
  const detail = firstMessage(error) || code || error.name;
  if (!started) return ['CONNECT', `Cannot connect to the service: ${detail}`];
  // After a valid head, an answer that does not parse was cut. undici reports contradicting lengths as a mismatch before there was a head.
  const isOfHead = ['UND_ERR_HEADERS_OVERFLOW', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'].includes(
    code,
  );
  // undici's words for an interim answer that it refuses; it accepts the others.
  const isContinue = code === 'UND_ERR_SOCKET' && detail === 'bad response';
  if (!answered && (error.name === 'HTTPParserError' || isOfHead || isContinue)) {
    const what = isContinue ? 'it begins with 100 Continue, which nobody asked for' : detail;
    return ['NOT_HTTP', `The service's answer is not valid HTTP: ${what}`];
  }
  return ['BROKEN', `The connection ended before the answer was complete: ${detail}`];
}

const NO_TLS =
  'The service does not speak TLS there: if its address begins with http://, not https://, write that';

type Failure = [FailureCode, string];

const FAILURES: ReadonlyMap<string, Failure> = new Map([
  [
    'UND_ERR_CONNECT_TIMEOUT',
    ['CONNECT_TIMEOUT', 'The service did not accept a connection in time'],
  ],
  ['UND_ERR_HEADERS_TIMEOUT', ['HEADERS_TIMEOUT', 'The service did not begin to answer in time']],
  ['UND_ERR_BODY_TIMEOUT', ['BODY_TIMEOUT', 'The service stopped in the middle of its answer']],
  ['ERR_SSL_WRONG_VERSION_NUMBER', ['CONNECT', NO_TLS]],
  ['UND_ERR_CLOSED', ['CLOSED', 'The client was closed']],
  ['UND_ERR_DESTROYED', ['CLOSED', 'The client was closed']],
]);

/** An AggregateError (several addresses tried) has an empty message of its own. */
function firstMessage(error: Error): string {
  if (error.message !== '' || !(error instanceof AggregateError)) return error.message;
  const [first] = error.errors as unknown[];
  return first instanceof Error ? first.message : '';
}
