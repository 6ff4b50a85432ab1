import { isDecimalNumber } from '../base/decimal-number.ts';
import { type Call, CREDITS, scopeOf } from '../contract/credits.ts';
import { HEADERS } from '../contract/headers.ts';
import { topicOf } from '../contract/topics.ts';
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
import { bodyWords, namesScope, refusalSubject } from './refusal-words.ts';
import { DENIALS, plainCode, SCOPE_CODE, type StatusKind, statusKind } from './status-kind.ts';

interface VerdictBase {
  /** Credits that this exchange cost; `unknown` where only the provider's bill can tell. */
  readonly charged: number | 'unknown';
  /** The highest cost that the service states; 0 for none. */
  readonly stated: number;
  /** How the stated cost or `meta` departs from the contract. */
  readonly discrepancy: string | null;
  /** The stated and the expected cost, where no call costs what is stated: the run stops. Null for a cost that is believed. */
  readonly unbelievable: string | null;
  /** One line for the user. */
  readonly message: string;
  readonly requestId: string | null;
  readonly rate: Rate;
}

/** The call was answered; each topic may still have failed on its own. */
interface Answered
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
  readonly kind: Exclude<StatusKind, 'malformed' | 'rejected' | 'no_data'>;
  readonly status: number;
  /** The status, the code and the service's own words. */
  readonly reason: string;
  /** It says that the key lacks this scope: by the code for it, or in words that name the scope or the topic. A page of a firewall does not,
   * nor does a rate in words of another language. */
  readonly isScopeNamed: boolean;
  /** Its body is JSON, as the errors of services are: not a page of another server. */
  readonly isOfService: boolean;
}

/** No answer arrived. */
export interface Transport extends VerdictBase {
  readonly kind: 'transport';
  readonly code: FailureCode;
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
    const { reached, code, message, headers } = exchange;
    const { stated, note, unbelievable } = readCost(headers[HEADERS.creditCost], undefined, sent);
    return {
      kind: 'transport',
      // A service may take a charge back when its answer did not arrive, so a stated cost is not certain.
      charged: reached === 'never' ? 0 : 'unknown',
      stated,
      code,
      message,
      discrepancy: stated > 0 ? note : null,
      unbelievable,
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
    stated: cost.stated,
    unbelievable: cost.unbelievable,
    requestId: reading.requestId,
    rate: readRate(headers, now),
  };
  if (!reading.ok) {
    const { reason, message } = reading;
    const unusable = { ...base, charged: chargeOf(cost), message };
    if (reading.isLimit)
      return {
        ...unusable,
        kind: 'limit',
        status: 200,
        reason: message,
        isScopeNamed: false,
        isOfService: true,
      };
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

/** What is stated and believed of a call's cost. */
interface Cost {
  /** What an answer counts with: the highest of all stated figures and the expected price; less than that price only where the header and
   * `meta` state the same, as the contract has it, and never less than 1, because a budget would never end. */
  readonly charged: number;
  /** The highest stated figure; 0 where none is stated. */
  readonly stated: number;
  /** The expected price. */
  readonly price: number;
  /** How the stated cost departs from the expected one. */
  readonly note: string | null;
  /** The figures that no call costs; null for a cost that is believed. */
  readonly unbelievable: string | null;
}

/** A higher number is not believed: the most expensive call costs 35. The run stops at it. */
const MOST_CREDIBLE_COST = 1_000;

/** The most that the ledger counts for one call: a garbled header of 15 digits is no number of credits. */
export const MOST_COUNTED = 1_000_000;

function readCost(header: string | undefined, meta: unknown, { call, price }: PricedCall): Cost {
  const inHeader = statedFigures(header);
  const inMeta = statedFigures(meta);
  const all = [...inHeader, ...inMeta];
  if (all.length === 0) {
    const note = 'the service did not state the cost';
    return { charged: price, stated: 0, price, note, unbelievable: null };
  }
  const [stated, least] = [Math.max(...all), Math.min(...all)];
  const isAgreed = inHeader.length > 0 && inMeta.length > 0 && stated === least;
  const expected =
    price === CREDITS[call.kind]
      ? `the contract's price is ${price}`
      : `the last charge was ${price}`;
  const isExpected = stated === price && least === price;
  const parts = [
    inHeader.length === 0 ? null : `${inHeader.join(', ')} in the header`,
    inMeta.length === 0 ? null : `${inMeta.join(', ')} in meta`,
  ];
  const costs = parts.filter((part) => part !== null).join(' and ');
  const note = isExpected ? null : `the service states a cost of ${costs}; ${expected}`;
  return {
    charged: Math.min(MOST_COUNTED, isAgreed && stated >= 1 ? stated : Math.max(price, stated)),
    stated,
    price,
    note,
    unbelievable: stated > MOST_CREDIBLE_COST ? note : null,
  };
}

/** All figures of a stated cost, rounded up: a header that came twice has two (`5, 5`). However large: what no call costs is no reason to
 * believe that it cost the usual. */
function statedFigures(stated: unknown): number[] {
  const figures =
    typeof stated === 'string'
      ? stated
          .split(',')
          .map((part) => part.trim())
          .filter(isDecimalNumber)
          .map(Number)
      : typeof stated === 'number'
        ? [stated]
        : [];
  return figures.filter((figure) => figure >= 0).map(Math.ceil);
}

function ofStatus(exchange: Received, sent: PricedCall, now: number): Verdict {
  const { status, headers, content } = exchange;
  const error = readErrorBody(content);
  const rate = readRate(headers, now);
  const common = { requestId: error.requestId, rate };
  const words = bodyWords(content);
  const about = refusalSubject(words);
  const asksToWait = rate.retryAfterMs !== null;
  const kind = statusKind({ status, code: error.code, about, asksToWait });
  const cost = readCost(headers[HEADERS.creditCost], error.creditCost, sent);
  // A failure is free. One that states a cost was perhaps charged.
  const isCharged = cost.stated > 0;
  const base = {
    ...common,
    charged: isCharged ? chargeOf(cost) : 0,
    discrepancy: isCharged
      ? `the service states a cost of ${cost.stated} for a failure (${status})`
      : null,
    stated: cost.stated,
    unbelievable: cost.unbelievable,
  };
  const reason = withReason(status, error);
  switch (kind) {
    case 'malformed': {
      const message = `The service answered with status ${status} instead of 200`;
      const charged = chargeOf(cost);
      return { ...base, kind, reason: 'shape', charged, message, discrepancy: cost.note };
    }
    case 'rejected':
      return { ...base, kind, status, message: `The service rejects this location ${reason}` };
    case 'no_data': {
      const none = `The service has no data on this location ${reason}`;
      return { ...base, kind, status, message: none, sample: saysSample(headers) };
    }
    default: {
      const isScopeNamed =
        kind === 'forbidden' &&
        ((error.code !== null && plainCode(error.code) === SCOPE_CODE) ||
          (!isPage(content) && namesScope(words, scopeNames(sent.call))));
      const stated = isCharged ? ` and states a cost of ${cost.stated}` : '';
      const message =
        kind === 'redirected'
          ? redirectMessage(status, headers.location)
          : `${happened(kind, status, isScopeNamed)}${stated} ${reason}`;
      const isOfService = content.kind === 'json';
      return { ...base, kind, status, reason, isScopeNamed, isOfService, message };
    }
  }
}

/** Whether a failure was charged, by what the service states. A call without an answer, which only may have been charged, is none; nor is a
 * fact about a place, which is not asked for again. */
export function isPaidFailure(verdict: Verdict): boolean {
  switch (verdict.kind) {
    case 'answered':
    case 'no_data':
    case 'rejected':
    case 'transport':
      return false;
    case 'malformed':
      return verdict.reason === 'error';
    default:
      return verdict.charged !== 0;
  }
}

/** A page for a browser: probably from a firewall or a proxy, not from the service. */
function isPage(content: Content): boolean {
  return content.kind === 'text' && /^\s*</.test(content.text);
}

/** The names that a refusal may give what a call needs. */
function scopeNames(call: Call): readonly string[] {
  return call.kind === 'single'
    ? [call.topic, topicOf(call.topic).title]
    : [scopeOf(call), call.kind];
}

/** The first words of a refusal's message; its status and the service's own words follow. */
function happened(
  kind: Exclude<Refused['kind'], 'redirected'>,
  status: number,
  isScopeNamed: boolean,
): string {
  if (kind === 'denied') return DENIALS[status]!.happened;
  if (kind === 'forbidden' && !isScopeNamed) return 'The service refused the call';
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
