import { NO_DATA_CODE, type ServiceFailure } from '../contract/envelopes.ts';
import type { RefusalSubject } from './refusal-words.ts';

/** What an answer other than 200 means.
 * - `rejected`: a fact about the location, stored for a year. `no_data`: one about a topic there, stored for its time to live.
 *   `unexplained`: refused for an unknown reason.
 * - `denied`: no request will be answered until somebody acts. `unauthenticated`, `forbidden`: the key is the reason.
 * - `rate`, `quota`: wait. `limit`: a quota of another time than the billing period is used up, or of an unnamed one.
 * - `upstream`: retry. `redirected`: wrong address. `malformed`: success without an answer. */
export type StatusKind =
  | 'malformed'
  | 'redirected'
  | 'rejected'
  | 'no_data'
  | 'unexplained'
  | 'denied'
  | 'unauthenticated'
  | 'forbidden'
  | 'rate'
  | 'quota'
  | 'limit'
  | 'upstream';

/** Codes that concern the location, as lookup and geocoding services name them. The contract names none, and a code that is not listed
 * may concern anything (payment, a route, a lock, any parameter): to ask again is free, a false fact costs a year of answers. */
export const PLACE_CODES: readonly string[] = [
  'OUTSIDE_COVERAGE',
  'INVALID_COORDINATE',
  'INVALID_COORDINATES',
  'INVALID_LATITUDE',
  'INVALID_LONGITUDE',
  'INVALID_LAT_LNG',
  'INVALID_LOCATION',
  'COORDINATES_OUT_OF_RANGE',
  'OUT_OF_BOUNDS',
  'OUT_OF_COVERAGE',
  'OUTSIDE_COVERAGE_AREA',
  'LOCATION_NOT_COVERED',
  'LOCATION_NOT_SUPPORTED',
  'LOCATION_OUT_OF_BOUNDS',
  'LOCATION_OUTSIDE_US',
  'OUTSIDE_US',
  'NOT_IN_US',
];

/** The code of a key that lacks a scope. The contract names none; it is that of our own service. */
export const SCOPE_CODE: ServiceFailure = 'SCOPE_REQUIRED';

/** Statuses under which no request will be answered until somebody acts: what each means, and what to do. */
export const DENIALS: Readonly<
  Record<number, { readonly happened: string; readonly todo: string }>
> = {
  402: {
    happened: 'The service asks for payment',
    todo: 'Ask the provider what is wrong with the account.',
  },
  407: {
    happened: 'A proxy between this machine and the service asks for a login',
    todo: 'Let this machine reach the service without that proxy.',
  },
  451: {
    happened: 'The service refuses access for legal reasons',
    todo: 'Ask the provider whether this machine may use the service.',
  },
};

/** What a refusal says, as far as its kind depends on it. */
export interface StatedRefusal {
  readonly status: number;
  readonly code: string | null;
  /** What its words are about. */
  readonly about: RefusalSubject | null;
  /** It names a time to wait (`Retry-After`). */
  readonly asksToWait: boolean;
}

interface StatusRule {
  readonly statuses: readonly number[];
  /** The rule holds for these codes only. */
  readonly codes?: readonly string[];
  /** The rule holds for refusals about this only. */
  readonly about?: RefusalSubject;
  readonly kind: StatusKind;
}

/** Statuses under which services speak of rates and quotas: AWS under 400, OpenCage under 402, Google, Azure and Geocodio under 403. */
const OF_LIMITS = [400, 401, 402, 403, 420, 429];

/** The first rule that matches decides. */
const RULES: readonly StatusRule[] = [
  { statuses: [404], codes: [NO_DATA_CODE], kind: 'no_data' },
  { statuses: [400, 404, 422], codes: PLACE_CODES, kind: 'rejected' },
  { statuses: [403], codes: [SCOPE_CODE], kind: 'forbidden' },
  { statuses: [429], about: 'quota', kind: 'quota' },
  { statuses: OF_LIMITS, about: 'quota', kind: 'limit' },
  { statuses: OF_LIMITS, about: 'limit', kind: 'limit' },
  { statuses: OF_LIMITS, about: 'rate', kind: 'rate' },
  { statuses: [400, 404, 422], kind: 'unexplained' },
  { statuses: [401], kind: 'unauthenticated' },
  { statuses: Object.keys(DENIALS).map(Number), kind: 'denied' },
  { statuses: [403], kind: 'forbidden' },
  { statuses: [420, 429], kind: 'rate' },
];

/** What a refusal is that names a time to wait: one that passes, whatever else it says. One that concerns a place alone is asked for again
 * like a failure; one that concerns the account makes all calls wait. */
const PASSING: Readonly<Record<StatusKind, StatusKind>> = {
  rejected: 'upstream',
  no_data: 'upstream',
  unexplained: 'upstream',
  denied: 'rate',
  unauthenticated: 'rate',
  forbidden: 'rate',
  malformed: 'malformed',
  redirected: 'redirected',
  rate: 'rate',
  quota: 'quota',
  limit: 'limit',
  upstream: 'upstream',
};

/** Any other 4xx (408, 409, 410, 423, 425, 499, …) is retried like a failure of the service, and ends the run if it persists. */
export function statusKind({ status, code, about, asksToWait }: StatedRefusal): StatusKind {
  if (status < 300) return 'malformed';
  if (status < 400) return 'redirected';
  const plain = code === null ? null : plainCode(code);
  const fits = (rule: StatusRule) =>
    rule.statuses.includes(status) &&
    (rule.codes === undefined || (plain !== null && rule.codes.includes(plain))) &&
    (rule.about === undefined || rule.about === about);
  const kind = RULES.find(fits)?.kind ?? 'upstream';
  return asksToWait ? PASSING[kind] : kind;
}

/** `outside-coverage`, `Outside Coverage` and `OutsideCoverage` are `OUTSIDE_COVERAGE`. */
export function plainCode(code: string): string {
  return code
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_');
}
