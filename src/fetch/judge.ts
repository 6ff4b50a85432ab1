import { type Call, CREDITS } from '../contract/credits.ts';
import { HEADERS } from '../contract/headers.ts';
import type { TopicResult } from '../contract/topic-values.ts';
import type { Location } from '../geo/coordinates.ts';
import { type EnvelopeReading, readEnvelope } from './envelope.ts';
import { readErrorBody } from './error-body.ts';
import type { Exchange, HeaderMap, Received, TransportFailure } from './exchange.ts';
import { count, type Rate, readRate } from './rate-headers.ts';
import { cleanText, redactorOf } from './redact.ts';
import { DENIALS, QUOTA_CODE, statusKind } from './status-kind.ts';
import type { Refused, Transport, Verdict } from './verdict.ts';

const NO_RATE: Rate = { limit: null, remaining: null, resetMs: null, retryAfterMs: null };
const MAX_ADDRESS = 100;

/** Says what an exchange means and what it cost. `location` is what was asked; `now` is when the answer came. `keys` must not
 * show in what it says. */
export function judge(
  exchange: Exchange,
  call: Call,
  location: Location,
  now: number,
  keys: readonly string[] = [],
): Verdict<TopicResult> {
  const answer = hasAnswer(exchange) ? readEnvelope(call, location, exchange.body, redactorOf(keys)) : null;
  return judgeRead(exchange, call, answer, now);
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
  reading: EnvelopeReading<Result> | null,
  now: number,
): Verdict<Result> {
  if (exchange.kind === 'failure') return judgeFailure(exchange);
  return reading === null ? judgeStatus(exchange, call, now) : judgeAnswer(exchange, call, reading, now);
}

function judgeFailure({ reached, code, message }: TransportFailure): Transport {
  const charged = reached === 'never' ? 0 : 'unknown';
  return { kind: 'transport', charged, code, message, discrepancy: null, requestId: null, rate: NO_RATE };
}

function judgeAnswer<Result>(
  { headers }: Received,
  call: Call,
  reading: EnvelopeReading<Result>,
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
  const { results, unknownTopics, timestamp, resolved, fingerprint } = reading;
  // What was answered was charged (docs/service-api.md, 1.4): a service that states less is not believed, or a budget would
  // have no end.
  const charged = Math.max(cost.stated ?? 0, CREDITS[call.kind]);
  const sample = reading.sample || saysSample(headers);
  const read = { results, unknownTopics, timestamp, resolved, fingerprint, sample };
  return { kind: 'answered', charged, message: 'Answered', ...read, ...judged };
}

/** What an answer of no use cost. A 200 is charged (docs/service-api.md, 1.4): one that states less than the contract's
 * price, or nothing, may have cost the price all the same, and only the provider's bill can tell. */
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
  const common = { requestId: error.requestId, rate: readRate(headers, now) };
  const kind = statusKind(status, status === 429 && saysQuota(body) ? QUOTA_CODE : error.code);
  if (kind === 'malformed') {
    const cost = costOf(headers[HEADERS.creditCost], error.creditCost, CREDITS[call.kind]);
    const message = `The service answered with status ${status} instead of 200`;
    return { ...common, kind, charged: chargeOf(cost), reason: 'shape', message, discrepancy: cost.note };
  }
  const statedCost = Math.max(count(headers[HEADERS.creditCost]) ?? 0, Number(error.creditCost) || 0);
  const judged = {
    ...common,
    charged: 0 as const,
    discrepancy: statedCost > 0 ? `the service states a cost of ${statedCost} for a failure (${status})` : null,
  };
  // `Not Found` is no code but a sentence, which stands behind the parentheses.
  const code = error.code !== null && /^[\w.-]+$/.test(error.code) ? error.code : null;
  // More words may follow in the same sentence, or a full stop.
  const message = error.message === code ? null : (error.message?.replace(/\.$/, '') ?? null);
  const said = `(${status}${code === null ? '' : ` ${code}`})${message === null ? '' : `: ${message}`}`;
  switch (kind) {
    case 'rejected':
      return { ...judged, kind, status, message: `The service rejects this location ${said}` };
    case 'no_data': {
      const none = `The service has no data on this location ${said}`;
      return { ...judged, kind, status, message: none, sample: saysSample(headers) };
    }
    case 'timeout':
      return { ...judged, kind: 'transport', code: 'REQUEST_TIMEOUT', message: `The request came too slowly ${said}` };
    case 'redirected':
      return { ...judged, kind, status, isPage: isPage(body), message: redirectMessage(status, headers.location) };
    default:
      return { ...judged, kind, status, isPage: isPage(body), message: `${happened(kind, status)} ${said}` };
  }
}

/** What happened, of refusals that end with their status and what the service says. */
function happened(kind: Exclude<Refused['kind'], 'redirected'>, status: number): string {
  switch (kind) {
    case 'unauthenticated':
      return 'The service refused the key';
    case 'forbidden':
      return 'The key lacks the scope for this call';
    case 'denied':
      return DENIALS[status]!.happened;
    case 'quota':
      return 'The quota of this period is used up';
    case 'rate':
      return 'The service asks to slow down';
    case 'unexplained':
      return 'The service refused the request';
    case 'upstream':
      return status < 500 ? 'The service cannot answer the request now' : 'The service failed';
  }
}

function isPage(body: Buffer): boolean {
  return /^\s*</.test(body.subarray(0, 100).toString());
}

function saysQuota(body: Buffer): boolean {
  return body.toString().toUpperCase().includes(QUOTA_CODE);
}

function redirectMessage(status: number, target: string | undefined): string {
  const start = `The service's address answers with a redirect (${status})`;
  if (target === undefined) return `${start}; check the address in the job file`;
  // Only the origin and the path: a query may hold anything.
  const [address = ''] = target.split(/[?#]/);
  return `${start} to ${cleanText(address, MAX_ADDRESS)}; it was not followed: put the right address into the job file`;
}

function saysSample(headers: HeaderMap): boolean {
  return headers[HEADERS.sampleData] === 'true';
}
