import { type Call, CREDITS } from '../contract/credits.ts';
import { count, HEADERS } from '../contract/headers.ts';
import type { Location } from '../geo/coordinates.ts';
import type { Content } from './content.ts';
import {
  type Answering,
  type EnvelopeReading,
  type MalformedReason,
  readEnvelope,
  type ToFields,
} from './envelope.ts';
import { readErrorBody, withReason } from './error-body.ts';
import {
  type Exchange,
  type FailureCode,
  type HeaderMap,
  type Rate,
  type Received,
  readRate,
} from './exchange.ts';
import { cleanText } from './redact.ts';
import { DENIALS, QUOTA_CODE, type StatusKind, saysLimit, statusKind } from './status-kind.ts';

interface VerdictBase {
  /** Credits that this exchange cost; `unknown` where only the provider's bill can tell. */
  readonly charged: number | 'unknown';
  /** How the stated cost or `meta` departs from the contract. */
  readonly discrepancy: string | null;
  /** One line for the user. */
  readonly message: string;
  readonly requestId: string | null;
  readonly rate: Rate;
}

/** The call was answered; each topic may still have failed on its own. */
export interface Answered
  extends VerdictBase,
    Pick<Answering, 'timestamp' | 'results' | 'resolved' | 'fingerprint' | 'sample'> {
  readonly kind: 'answered';
  readonly charged: number;
}

/** Status 2xx, probably charged, and unusable. */
export interface Malformed extends VerdictBase {
  readonly kind: 'malformed';
  readonly reason: MalformedReason;
}

/** The service rejects this location, with a code that says so: a fact about the location, and final. */
export interface Rejected extends VerdictBase {
  readonly kind: 'rejected';
  readonly status: number;
}

/** The service has no data on this location, and says that this is permanent: a fact. */
export interface NoData extends VerdictBase {
  readonly kind: 'no_data';
  readonly status: number;
  readonly sample: boolean;
}

/** `unauthenticated`: the key is refused. `forbidden`: it lacks the scope. `denied`: payment, a proxy or a law prevents it.
 * `rate`: too fast. `quota`: nothing is left until the anniversary. `limit`: a quota in the service's own words. `upstream`: the service failed. `redirected`: the job's
 * `base_url` is wrong. `unexplained`: the request was refused for an unknown reason. */
export interface Refused extends VerdictBase {
  readonly kind: Exclude<StatusKind, 'malformed' | 'rejected' | 'no_data' | 'timeout'>;
  readonly status: number;
  /** The status, the code and the service's own words. */
  readonly reason: string;
  /** The body is an HTML page: probably from a firewall or a proxy, not from the service. */
  readonly isPage: boolean;
}

/** No answer arrived. */
export interface Transport extends VerdictBase {
  readonly kind: 'transport';
  readonly code: FailureCode | 'REQUEST_TIMEOUT';
}

/** What one exchange means, and what it cost. */
export type Verdict = Answered | NoData | Malformed | Rejected | Refused | Transport;

const NO_RATE: Rate = { remaining: null, resetMs: null, retryAfterMs: null };
const MAX_ADDRESS = 100;

/** A call, and the credits that it is expected to cost. */
export interface PricedCall {
  readonly call: Call;
  readonly price: number;
}

/** Decides what an exchange means and what it cost, for a location and the time of the answer. */
export function findVerdict(
  exchange: Exchange,
  sent: PricedCall,
  location: Location,
  now: number,
  toFields: ToFields,
): Verdict {
  if (exchange.kind === 'failure') {
    const { reached, code, message } = exchange;
    const charged = reached === 'never' ? 0 : 'unknown';
    return {
      kind: 'transport',
      charged,
      code,
      message,
      discrepancy: null,
      requestId: null,
      rate: NO_RATE,
    };
  }
  if (!hasAnswer(exchange)) return ofStatus(exchange, sent, now);
  return ofAnswer(exchange, sent, readEnvelope(sent.call, location, exchange, toFields), now);
}

/** Only the body of a 200 is an answer. */
export function hasAnswer(exchange: Exchange): exchange is Received {
  return exchange.kind === 'response' && exchange.status === 200;
}

function ofAnswer(
  { headers }: Received,
  sent: PricedCall,
  reading: EnvelopeReading,
  now: number,
): Verdict {
  const cost = readCost(headers[HEADERS.creditCost], reading.creditCost, sent);
  const base = {
    discrepancy: [cost.note, reading.metaNote].filter((note) => note !== null).join('; ') || null,
    requestId: reading.requestId,
    rate: readRate(headers, now),
  };
  if (!reading.ok) {
    const { reason, message } = reading;
    const unusable = { ...base, charged: chargeOf(cost), message };
    if (reading.isLimit)
      return { ...unusable, kind: 'limit', status: 200, reason: message, isPage: false };
    return { ...unusable, kind: 'malformed', reason };
  }
  const { results, timestamp, resolved, fingerprint } = reading;
  // Every answer is charged (docs/developer/service-api.md, 1.4).
  const sample = reading.sample || saysSample(headers);
  const read = { results, timestamp, resolved, fingerprint, sample };
  return { kind: 'answered', charged: cost.charged, message: 'Answered', ...read, ...base };
}

/** What an unusable answer cost. Every 200 is charged (docs/developer/service-api.md, 1.4). If it states less than the price, or
 * nothing, only the provider's bill can tell. */
function chargeOf({ charged, stated, price }: Cost): number | 'unknown' {
  return stated >= price ? charged : 'unknown';
}

interface Cost {
  /** What an answer counts with: what header and `meta` state alike, from 1 on, because a budget would never end if calls cost nothing; else
   * the least that is stated, but not less than the expected price: a proxy may have dropped the header. */
  readonly charged: number;
  /** The larger credible one of the two; 0 where the service states nothing credible. */
  readonly stated: number;
  /** The expected price. */
  readonly price: number;
  readonly note: string | null;
}

/** A higher number is not a price (the most expensive call costs 35): a garbled header must not use up the quota for a month. */
const MOST_CREDIBLE_COST = 1_000;

/** A lower price than the expected one counts only where the header and `meta` state the same, as the contract has it. */
function readCost(header: string | undefined, meta: unknown, { call, price }: PricedCall): Cost {
  const inMeta = typeof meta === 'number' && Number.isSafeInteger(meta) && meta >= 0 ? meta : null;
  const inHeader = count(header);
  if (inHeader === null && inMeta === null)
    return { charged: price, stated: 0, price, note: 'the service did not state the cost' };
  const credible = [inHeader, inMeta].filter(
    (cost) => cost !== null && cost <= MOST_CREDIBLE_COST,
  ) as number[];
  const isAgreed =
    inHeader !== null && inHeader === inMeta && inHeader >= 1 && inHeader <= MOST_CREDIBLE_COST;
  const expected =
    price === CREDITS[call.kind]
      ? `the contract's price is ${price}`
      : `the last charge was ${price}`;
  const isExpected = (inHeader ?? price) === price && (inMeta ?? price) === price;
  const parts = [
    inHeader === null ? null : `${inHeader} in the header`,
    inMeta === null ? null : `${inMeta} in meta`,
  ];
  const costs = parts.filter((part) => part !== null).join(' and ');
  return {
    charged: isAgreed
      ? inHeader
      : Math.max(price, credible.length === 0 ? 0 : Math.min(...credible)),
    stated: Math.max(0, ...credible),
    price,
    note: isExpected ? null : `the service states a cost of ${costs}; ${expected}`,
  };
}

function ofStatus({ status, headers, content }: Received, sent: PricedCall, now: number): Verdict {
  const error = readErrorBody(content);
  const common = { requestId: error.requestId, rate: readRate(headers, now) };
  const byStatus = statusKind(
    status,
    status === 429 && saysQuota(content) ? QUOTA_CODE : error.code,
  );
  const kind =
    byStatus === 'forbidden' && saysLimit([error.code, error.message]) ? 'limit' : byStatus;
  const cost = readCost(headers[HEADERS.creditCost], error.creditCost, sent);
  const statedCost = Math.max(
    count(headers[HEADERS.creditCost]) ?? 0,
    Number(error.creditCost) || 0,
  );
  // A failure is free, but a service that states its cost has perhaps charged it. A retry would cost as much.
  if (kind === 'malformed' || (kind === 'upstream' && statedCost > 0)) {
    const message =
      kind === 'malformed'
        ? `The service answered with status ${status} instead of 200`
        : `The service failed and states a cost of ${statedCost} ${withReason(status, error)}`;
    return {
      ...common,
      kind: 'malformed',
      charged: chargeOf(cost),
      reason: 'shape',
      message,
      discrepancy: cost.note,
    };
  }
  const base = {
    ...common,
    charged: statedCost > 0 ? chargeOf(cost) : 0,
    discrepancy:
      statedCost > 0
        ? `the service states a cost of ${statedCost} for a failure (${status})`
        : null,
  };
  const reason = withReason(status, error);
  switch (kind) {
    case 'rejected':
      return { ...base, kind, status, message: `The service rejects this location ${reason}` };
    case 'no_data': {
      const none = `The service has no data on this location ${reason}`;
      return { ...base, kind, status, message: none, sample: saysSample(headers) };
    }
    case 'timeout':
      return {
        ...base,
        kind: 'transport',
        code: 'REQUEST_TIMEOUT',
        message: `The request came too slowly ${reason}`,
      };
    default: {
      const isPage = content.kind === 'text' && /^\s*</.test(content.text);
      const message =
        kind === 'redirected'
          ? redirectMessage(status, headers.location)
          : `${happened(kind, status)} ${reason}`;
      return { ...base, kind, status, reason, isPage, message };
    }
  }
}

/** The first words of a refusal's message; its status and the service's own words follow. */
function happened(kind: Exclude<Refused['kind'], 'redirected'>, status: number): string {
  if (kind === 'denied') return DENIALS[status]!.happened;
  if (kind === 'upstream')
    return status < 500 ? 'The service cannot answer the request now' : 'The service failed';
  return REFUSALS[kind];
}

const REFUSALS = {
  unauthenticated: 'The service refused the key',
  forbidden: 'The key lacks the scope for this call',
  quota: 'The quota of this period is used up',
  limit: 'The service says that a quota is used up',
  rate: 'The service asks to slow down',
  unexplained: 'The service refused the request',
};

function saysQuota(content: Content): boolean {
  if (content.kind === 'unread') return false;
  const text = content.kind === 'text' ? content.text : JSON.stringify(content.value);
  return text.toUpperCase().includes(QUOTA_CODE);
}

function redirectMessage(status: number, target: string | undefined): string {
  const start = `The service's address answers with a redirect (${status})`;
  if (target === undefined) return `${start}; check base_url`;
  // Only the origin and the path: a query may hold anything.
  const [address = ''] = target.split(/[?#]/);
  // What is before the path of the call, as `base_url` has it; a sign-in page has none.
  const [, base] = /^(https?:\/\/.+?)\/v1\//.exec(address) ?? [];
  const remedy =
    base === undefined
      ? 'set base_url to the right address'
      : `set base_url to ${cleanText(base, MAX_ADDRESS)}, if that is the service`;
  return `${start} to ${cleanText(address, MAX_ADDRESS)}; it was not followed: ${remedy}`;
}

function saysSample(headers: HeaderMap): boolean {
  return headers[HEADERS.sampleData] === 'true';
}
