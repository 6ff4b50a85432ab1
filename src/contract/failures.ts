/** How our own service names its failures; only QUOTA_EXCEEDED is the provider's (docs/service-api.md, 6.3 and 6.8). */
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

/** The content of `error` on a bundle's topic that failed (docs/service-api.md, 3.2). */
export const UNAVAILABLE = 'unavailable';

/** The code of a single call, and beside `error` the `reason` of a bundle's topic, where the publisher has nothing on this
 * place: no monitor within reach, no row for the county. That lasts, where `unavailable` passes. It is ours: the contract
 * names neither. */
export const NO_DATA_CODE = 'NO_DATA';
export const NO_DATA_REASON = 'no_data';
