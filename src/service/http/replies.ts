import type { FastifyReply } from 'fastify';
import type { Call } from '../../contract/credits.ts';
import {
  type ErrorEnvelope,
  type Meta,
  SERVICE_FAILURES,
  type ServiceFailure,
} from '../../contract/envelopes.ts';
import { HEADERS } from '../../contract/headers.ts';
import { RATE_WINDOW_MS } from '../../contract/subscriptions.ts';
import { joinedText, type TextPart } from '../../data/topics/result-text.ts';
import type { Location } from '../../geo/coordinates.ts';
import type { Charge } from '../accounts/calls.ts';
import type { EncodedBody } from './content-encoding.ts';

/** A failure that is not a response yet. */
export interface FailureReply {
  readonly failure: ServiceFailure;
  readonly message: string;
  /** Seconds after which the same request may succeed. */
  readonly retryAfter?: number;
  /** The failure comes from sample data. */
  readonly sample?: boolean;
  /** The web server's own status, such as 431, in place of the failure's. */
  readonly status?: number;
}

/** The `meta` of an answer. @param timestamp ISO 8601 */
export function makeMeta(
  requestId: string,
  timestamp: string,
  credits: number,
  sample = false,
): Meta {
  return {
    request_id: requestId,
    timestamp,
    credit_cost: credits,
    ...(sample ? { sample_data: true } : {}),
  };
}

/** The body of an error (docs/developer/service-api.md, 6.7). */
function failureEnvelope(
  { failure, message, sample }: FailureReply,
  requestId: string,
  now: number,
): ErrorEnvelope {
  const meta = {
    ...makeMeta(requestId, new Date(now).toISOString(), 0, sample),
    credit_cost: 0 as const,
  };
  return { error: { code: failure, message }, meta };
}

/** Sends a failure with its status and headers; no cache may keep it. */
export function sendFailure(reply: FastifyReply, failure: FailureReply, now: number): FastifyReply {
  if (failure.retryAfter !== undefined) reply.header(HEADERS.retryAfter, failure.retryAfter);
  if (failure.sample) reply.header(HEADERS.sampleData, 'true');
  if (failure.failure === 'UNAUTHENTICATED')
    reply.header('www-authenticate', 'ApiKey realm="perilbook"');
  return reply
    .code(failure.status ?? SERVICE_FAILURES[failure.failure])
    .header('cache-control', 'no-store')
    .header('date', new Date(now).toUTCString())
    .send(failureEnvelope(failure, reply.request.id, now));
}

/** A body, and the charge that is pending until the body is delivered. */
export interface PaidAnswer {
  readonly body: string | Buffer;
  readonly charge: Charge;
  /** It contains sample data. */
  readonly sample: boolean;
}

/** Sends a success with its headers (docs/developer/service-api.md, 2.6). It is written straight to the response: nothing is left to
 * serialize, and sending through the framework takes as long as finding the answer. */
export function sendSuccess(
  reply: FastifyReply,
  { body, coding }: EncodedBody,
  { charge, sample }: Omit<PaidAnswer, 'body'>,
  now: number,
): void {
  reply.hijack();
  reply.raw.writeHead(200, [
    ...['content-type', 'application/json; charset=utf-8'],
    ...['content-length', String(Buffer.byteLength(body))],
    ...['cache-control', 'no-store'],
    ...['vary', 'accept-encoding'],
    ...(coding === null ? [] : ['content-encoding', coding]),
    // By the clock that also decides in which period and minute a call counts.
    ...['date', new Date(now).toUTCString()],
    ...[HEADERS.creditCost, String(charge.credits)],
    ...[HEADERS.rateLimit, String(charge.limit)],
    ...[HEADERS.rateRemaining, String(charge.remaining)],
    // A new charge is the last to leave the minute.
    ...[HEADERS.rateReset, String(RATE_WINDOW_MS / 1_000)],
    ...(sample ? [HEADERS.sampleData, 'true'] : []),
  ]);
  reply.raw.end(body);
}

/** The body of a success: the envelope of a single topic, or of a bundle (docs/developer/service-api.md, 3.1 and 3.2). */
export function successText(
  call: Call,
  location: Location,
  answer: readonly TextPart[],
  meta: Meta,
): string | Buffer {
  const locationText = `{"lat":${location.lat},"lng":${location.lng}}`;
  const [start, end] =
    call.kind === 'single'
      ? [`{"data":{"topic":"${call.topic}","location":${locationText},"result":`, '}']
      : [`{"data":{"location":${locationText},"topics":{`, '}}'];
  return joinedText([start, ...answer, `${end},"meta":${JSON.stringify(meta)}}`]);
}
