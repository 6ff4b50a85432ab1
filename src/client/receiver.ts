import { hash } from 'node:crypto';
import {
  type ConnectionFailure,
  connectionFailure,
  explainProxy,
  failureDetail,
} from '../net/connection-failure.ts';
import type { AnswerHandler, RequestController } from '../net/connections.ts';
import type { HttpProxy } from '../net/http-proxy.ts';
import { ReceivedBytes } from '../net/received-bytes.ts';
import { decompressBody, TooLarge } from '../net/unpack.ts';
import { MAX_TEXT_BYTES, parseContent } from './content.ts';
import type { Exchange, FailureCode, HeaderMap } from './exchange.ts';
import type { Redactor } from './redact.ts';

/** Most bytes to which the body of a failure is decompressed. */
const MOST_ERROR_BYTES = 1024 * 1024;

export type MayBegin = () => boolean;

export interface ReceiverOptions {
  readonly maxBodyBytes: number;
  readonly redactor: Redactor;
  readonly elapsed: () => number;
  readonly settle: (exchange: Exchange) => void;
  /** Whether the request may still be sent; default: yes. */
  readonly mayBegin?: MayBegin;
  /** Called after the head of any status but 200. */
  readonly onFailure?: () => void;
  /** The way to the service, for messages. */
  readonly proxy?: HttpProxy | null;
}

/** Receives one answer from undici and settles once, with the first certain result. Whether the request may have been charged follows from
 * the order of undici's events (start comes right before the first byte is written), not from error codes: an ECONNRESET can mean either. */
export class Receiver implements AnswerHandler {
  readonly #options: ReceiverOptions;
  #controller: RequestController | null = null;
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

  onRequestStart(controller: RequestController): void {
    // undici queues a request again after some ends of a socket; one that may have been charged must not be sent again without the ledger.
    if (this.#started) this.#fail('BROKEN', 'The connection ended before the answer began');
    else if (this.#options.mayBegin?.() === false)
      this.#fail(
        'CONNECT_TIMEOUT',
        'The request was not sent, because it was held up for too long',
      );
    else this.#started = true;
    this.#controller = controller;
    if (this.#settled) controller.abort(new Error('The request was ended before it was sent'));
  }

  onResponseStart(_controller: RequestController, status: number, headers: RawHeaders): void {
    if (status < 200 || this.#settled) return;
    this.#status = status;
    this.#headers = plainHeaders(headers, this.#options.redactor);
    // At once: a slow answer would end at a deadline, be asked for again, and perhaps be paid again.
    if (status !== 200) this.#options.onFailure?.();
    else if (Number(this.#headers['content-length']) > this.#options.maxBodyBytes) this.#tooLarge();
  }

  onResponseData(controller: RequestController, chunk: Buffer): void {
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

  onResponseError(_controller: RequestController | null, error: Error): void {
    if (!this.#ended)
      this.#fail(
        ...explainFailure(error, this.#started, this.#status !== 0, this.#options.proxy ?? null),
      );
  }

  async #respond(): Promise<void> {
    const isAnswer = this.#status === 200;
    const most = isAnswer ? this.#options.maxBodyBytes : MOST_ERROR_BYTES;
    try {
      const body = await decompressBody(this.#body.concat(), most);
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
      headers: this.#headers,
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

const NO_TLS =
  'The service does not speak TLS there: if its address begins with http://, not https://, write that';

type Failure = [FailureCode, string];

/** The failures that say all by themselves. */
const FAILURES: Readonly<Partial<Record<ConnectionFailure, Failure>>> = {
  connect_timeout: ['CONNECT_TIMEOUT', 'The service did not accept a connection in time'],
  headers_timeout: ['HEADERS_TIMEOUT', 'The service did not begin to answer in time'],
  body_timeout: ['BODY_TIMEOUT', 'The service stopped in the middle of its answer'],
  no_tls: ['CONNECT', NO_TLS],
  closed: ['CLOSED', 'The client was closed'],
};

function explainFailure(
  error: Error,
  started: boolean,
  answered: boolean,
  proxy: HttpProxy | null,
): Failure {
  const failure = connectionFailure(error);
  const isUnknown = failure === 'no_such_host';
  if (proxy !== null && !started)
    return [isUnknown ? 'NO_HOST' : 'CONNECT', explainProxy(proxy, error, 'the service')];
  const known = FAILURES[failure];
  if (known !== undefined) return known;
  const detail = failureDetail(error);
  if (!started)
    return isUnknown
      ? ['NO_HOST', `The name of the service is unknown; check base_url: ${detail}`]
      : ['CONNECT', `Cannot connect to the service: ${detail}`];
  // After a valid head, an answer that does not parse was cut. undici reports contradicting lengths as a mismatch before there was a head.
  if (!answered && failure === 'not_http')
    return ['NOT_HTTP', `The service's answer is not valid HTTP: ${detail}`];
  return ['BROKEN', `The connection ended before the answer was complete: ${detail}`];
}
