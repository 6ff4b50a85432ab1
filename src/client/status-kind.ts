import { NO_DATA_CODE } from '../contract/envelopes.ts';

/** What an answer other than 200 means.
 * - `rejected`: a fact about the location, stored for a year. `no_data`: one about a topic there, stored for its time to live.
 *   `unexplained`: refused for an unknown reason.
 * - `denied`: no request will be answered until somebody acts. `unauthenticated`, `forbidden`: the key is the reason.
 * - `rate`, `quota`: wait. `limit`: the service says in words of its own that a quota is used up, and not until when. `upstream`, `timeout`: retry. `redirected`: wrong address. `malformed`: success without an answer. */
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
  | 'timeout'
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

export const QUOTA_CODE = 'QUOTA_EXCEEDED';

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

interface StatusRule {
  readonly statuses: readonly number[];
  /** The rule holds for these codes only. */
  readonly codes?: readonly string[];
  readonly kind: StatusKind;
}

/** The first rule that matches decides. */
const RULES: readonly StatusRule[] = [
  { statuses: [404], codes: [NO_DATA_CODE], kind: 'no_data' },
  { statuses: [400, 404, 422], codes: PLACE_CODES, kind: 'rejected' },
  { statuses: [400, 404, 422], kind: 'unexplained' },
  { statuses: [401], kind: 'unauthenticated' },
  { statuses: Object.keys(DENIALS).map(Number), kind: 'denied' },
  { statuses: [403], kind: 'forbidden' },
  { statuses: [408], kind: 'timeout' },
  { statuses: [429], codes: [QUOTA_CODE], kind: 'quota' },
  { statuses: [420, 429], kind: 'rate' },
];

/** What services say of a quota that is used up: `OVER_QUERY_LIMIT`, `Quota exceeded for quota metric`, `dailyLimitExceeded`, `You have run out
 * of credits`. Not of a rate, which is over in a minute, and not of a permission ("no quota for this scope" names none that is used up). */
const LIMIT_WORDS =
  /over_(query|daily|usage)_limit|(quota|limit|allowance|credits?)\W{0,3}(\w+\W+){0,4}?(exceeded|exhausted|reached|used\W?up|depleted|spent)|exceeded[\w\s']{0,30}(quota|limit|allowance|credits)|(out of|no more|no|insufficient|not enough)( \w+)? credits/i;
const RATE_WORDS = /rate.?limit|too many requests|per.?(second|minute)/i;

/** Whether a refusal speaks of a quota: then another key, or another way to buy, would meet it too. */
export function saysLimit(words: readonly (string | null)[]): boolean {
  const text = words
    .filter((word) => word !== null)
    .join(' ')
    .replace(/([a-z])([A-Z])/g, '$1 $2');
  return LIMIT_WORDS.test(text) && !RATE_WORDS.test(text);
}

/** Any other 4xx (409, 410, 423, 425, 499, …) is retried like a failure of the service, and ends the run if it persists. */
export function statusKind(status: number, code: string | null): StatusKind {
  if (status < 300) return 'malformed';
  if (status < 400) return 'redirected';
  const plain = code === null ? null : plainCode(code);
  const fits = ({ statuses, codes }: StatusRule) =>
    statuses.includes(status) && (codes === undefined || (plain !== null && codes.includes(plain)));
  return RULES.find(fits)?.kind ?? 'upstream';
}

/** `outside-coverage`, `Outside Coverage` and `OutsideCoverage` are `OUTSIDE_COVERAGE`. */
function plainCode(code: string): string {
  return code
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_');
}
