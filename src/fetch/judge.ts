import { STATUS_CODES } from 'node:http';
import { type Call, CREDITS } from '../contract/credits.ts';
import { HEADERS } from '../contract/headers.ts';
import type { TopicResult } from '../contract/values.ts';
import type { Location } from '../geo/coordinates.ts';
import { type Reading, readEnvelope } from './envelope.ts';
import { readErrorBody } from './error-body.ts';
import type { Exchange, Failure, Received } from './exchange.ts';
import { count, type Rate, readRate } from './rate-headers.ts';
import { cleanText } from './redact.ts';
import type { Refused, Transport, Verdict } from './verdict.ts';

const NO_RATE: Rate = { limit: null, remaining: null, resetMs: null, retryAfterMs: null };
const QUOTA_CODE = 'QUOTA_EXCEEDED';
const MAX_ADDRESS = 100;

/** Says what an exchange means and what it cost. `location` is what was asked; `now` is when the answer came. */
export function judge(exchange: Exchange, call: Call, location: Location, now: number): Verdict<TopicResult> {
  return judgeRead(exchange, call, hasAnswer(exchange) ? readEnvelope(call, location, exchange.body) : null, now);
}

/** Whether there is a body to read: of anything but a 200 only the first words matter. */
export function hasAnswer(exchange: Exchange): exchange is Received {
  return exchange.kind === 'response' && exchange.status === 200;
}

/** The same where the body was read by somebody else; `reading` is null for what has no answer. The body is not looked
 * at: after a worker took it over, it is no longer here. */
export function judgeRead<Result>(
  exchange: Exchange,
  call: Call,
  reading: Reading<Result> | null,
  now: number,
): Verdict<Result> {
  if (exchange.kind === 'failure') return judgeFailure(exchange);
  return reading === null ? judgeStatus(exchange, call, now) : judgeAnswer(exchange, call, reading, now);
}

function judgeFailure({ reached, code, message }: Failure): Transport {
  const charged = reached === 'never' ? 0 : 'unknown';
  return { kind: 'transport', charged, code, message, discrepancy: null, requestId: null, rate: NO_RATE };
}

function judgeAnswer<Result>(
  { headers }: Received,
  call: Call,
  reading: Reading<Result>,
  now: number,
): Verdict<Result> {
  const cost = costOf(headers[HEADERS.creditCost], reading.creditCost, CREDITS[call.kind]);
  const judged = {
    discrepancy: [cost.note, reading.metaNote].filter((note) => note !== null).join('; ') || null,
    requestId: reading.requestId,
    rate: readRate(headers, now),
  };
  if (!reading.ok) {
    const { reason, message } = reading;
    return { kind: 'malformed', charged: chargeOf(cost), reason, message, ...judged };
  }
  const { results, unknownTopics, timestamp } = reading;
  // What was answered was charged (contract): a service that states less is not believed, or a budget would have no end.
  const charged = Math.max(cost.stated ?? 0, CREDITS[call.kind]);
  return { kind: 'answered', charged, message: 'Answered', results, unknownTopics, timestamp, ...judged };
}

/** What an answer of no use cost. A 200 is charged (contract): one that states less than the contract's price, or nothing, may
 * have cost the price all the same, and only the provider's bill can tell. */
function chargeOf({ stated, price }: Cost): number | 'unknown' {
  return stated !== null && stated >= price ? stated : 'unknown';
}

interface Cost {
  /** The larger of what header and `meta` state; `null` where neither is credible. */
  readonly stated: number | null;
  /** The contract's price. */
  readonly price: number;
  readonly note: string | null;
}

/** A number beyond this is no price (the dearest call costs 35): a garbled header must not use up the quota for a month. */
const MOST_CREDIBLE_COST = 1_000;

/** The larger statement wins: counting too little would spend credits that were not planned. */
function costOf(header: string | undefined, meta: unknown, price: number): Cost {
  const inMeta = typeof meta === 'number' && Number.isSafeInteger(meta) && meta >= 0 ? meta : null;
  const inHeader = count(header);
  if (inHeader === null && inMeta === null) return { stated: null, price, note: 'the service did not state the cost' };
  const credible = [inHeader, inMeta].filter((cost) => cost !== null && cost <= MOST_CREDIBLE_COST) as number[];
  const agree = (inHeader ?? price) === price && (inMeta ?? price) === price;
  const parts = [inHeader === null ? null : `${inHeader} in the header`, inMeta === null ? null : `${inMeta} in meta`];
  const said = parts.filter((part) => part !== null).join(' and ');
  return {
    stated: credible.length === 0 ? null : Math.max(...credible),
    price,
    note: agree ? null : `the service states a cost of ${said}; the contract's price is ${price}`,
  };
}

function judgeStatus({ status, headers, body }: Received, call: Call, now: number): Verdict<never> {
  const error = readErrorBody(body);
  const said = error.message === null ? '' : `: ${error.message}`;
  const statedCost = Math.max(count(headers[HEADERS.creditCost]) ?? 0, Number(error.creditCost) || 0);
  const judged = {
    charged: 0 as const,
    discrepancy: statedCost > 0 ? `the service states a cost of ${statedCost} for a failure (${status})` : null,
    requestId: error.requestId,
    rate: readRate(headers, now),
  };
  const isPage = /^\s*</.test(body.subarray(0, 100).toString());
  const refused = (kind: Refused['kind'], message: string): Refused => ({ kind, status, message, isPage, ...judged });
  if (status < 300) {
    const message = `The service answered with status ${status} instead of 200`;
    const cost = costOf(headers[HEADERS.creditCost], error.creditCost, CREDITS[call.kind]);
    return {
      ...judged,
      kind: 'malformed',
      charged: chargeOf(cost),
      reason: 'shape',
      message,
      discrepancy: cost.note,
    };
  }
  if (status < 400) return refused('redirected', redirectMessage(status, headers.location));
  if (status >= 500) return refused('upstream', `The service failed (${status})${said}`);
  switch (status) {
    case 401:
      return refused('unauthenticated', `The service refused the key (401)${said}`);
    case 403:
      return refused('forbidden', `The key lacks the scope for this call (403)${said}`);
    case 408:
      return {
        ...judged,
        kind: 'transport',
        code: 'REQUEST_TIMEOUT',
        message: `The request came too slowly (408)${said}`,
      };
    case 429:
      return isQuota(error.code, body)
        ? refused('quota', `The quota of this period is used up (429)${said}`)
        : refused('rate', `The service asks to slow down (429)${said}`);
    default:
      return {
        ...judged,
        kind: 'rejected',
        status,
        code: isNameOf(status, error.code) ? null : error.code,
        message: `The service rejected the request (${status})${said}`,
      };
  }
}

/** These two say of the request itself that it cannot be, whoever says it. */
const OF_THE_REQUEST = [400, 422];

/** `{"error": "Not Found"}` is what frameworks and gateways say of a status: its name again, and no code of a service's, which
 * would be written as one: `NOT_FOUND`. */
function isNameOf(status: number, code: string | null): boolean {
  return !OF_THE_REQUEST.includes(status) && code?.toLowerCase() === STATUS_CODES[status]?.toLowerCase();
}

function isQuota(code: string | null, body: Buffer): boolean {
  return code?.toUpperCase() === QUOTA_CODE || body.toString().toUpperCase().includes(QUOTA_CODE);
}

function redirectMessage(status: number, target: string | undefined): string {
  const start = `The service's address answers with a redirect (${status})`;
  if (target === undefined) return `${start}; check the address in the job file`;
  // Only the origin and the path: a query may hold anything.
  const [address = ''] = target.split(/[?#]/);
  return `${start} to ${cleanText(address, MAX_ADDRESS)}; it was not followed: put the right address into the job file`;
}
