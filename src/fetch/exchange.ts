/** What came of one request, as plain data: what was received, or how far it got. */
export type Exchange = Received | TransportFailure;

/** A status and a body were received; the body is decompressed. That of any status but 200 has no key in it and may be cut
 * (see `receiver.ts`); that of a 200 is as it came: whoever takes strings out of it redacts them. */
export interface Received {
  readonly kind: 'response';
  readonly status: number;
  /** Names in lower case; a header that came several times is joined by `, `. */
  readonly headers: HeaderMap;
  readonly body: Buffer;
  readonly elapsedMs: number;
}

export type HeaderMap = Readonly<Record<string, string>>;

/** No usable answer. `reached` decides the money: `never` means that surely no byte of the request left, so it cannot
 * have been charged; `maybe` is everything after that. */
export interface TransportFailure {
  readonly kind: 'failure';
  readonly reached: 'never' | 'maybe';
  readonly code: FailureCode;
  readonly message: string;
  readonly elapsedMs: number;
}

/** How a request failed. `CONNECT`: refused, no such host, TLS; `BROKEN`: the connection ended before the answer did;
 * `DAMAGED`: the answer came whole and cannot be decompressed. */
export type FailureCode =
  | 'CONNECT'
  | 'CONNECT_TIMEOUT'
  | 'BROKEN'
  | 'HEADERS_TIMEOUT'
  | 'BODY_TIMEOUT'
  | 'TOTAL_TIMEOUT'
  | 'BODY_TOO_LARGE'
  | 'DAMAGED'
  | 'NOT_HTTP'
  | 'ABORTED'
  | 'CLOSED';
