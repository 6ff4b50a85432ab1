/** The error codes of our own service; the contract leaves all but QUOTA_EXCEEDED open (docs/developer/service-api.md, 6.8). */
export const SERVICE_FAILURES = {
  INVALID_PARAMETER: 400,
  UNAUTHENTICATED: 401,
  SCOPE_REQUIRED: 403,
  UNKNOWN_TOPIC: 404,
  NO_DATA: 404,
  METHOD_NOT_ALLOWED: 405,
  OUTSIDE_COVERAGE: 422,
  RATE_LIMITED: 429,
  QUOTA_EXCEEDED: 429,
  INTERNAL: 500,
  UPSTREAM_UNAVAILABLE: 502,
} as const;

export type ServiceFailure = keyof typeof SERVICE_FAILURES;

/** The content of `error` on a bundle's topic that failed (docs/developer/service-api.md, 3.2). */
export const UNAVAILABLE = 'unavailable';

/** The publisher has no data on this place: no monitor within reach, no row for the county. This is lasting; `unavailable` is temporary.
 * The code of a single call, and the `reason` beside `error` on a bundle's topic; both are ours, the contract names neither. */
export const NO_DATA_CODE = 'NO_DATA';
export const NO_DATA_REASON = 'no_data';
