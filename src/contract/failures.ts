/** How our own service names its failures; the contract leaves all but QUOTA_EXCEEDED open (DESIGN, decisions). */
export const SERVICE_FAILURES = {
  INVALID_PARAMETER: 400,
  UNAUTHENTICATED: 401,
  SCOPE_REQUIRED: 403,
  UNKNOWN_TOPIC: 404,
  METHOD_NOT_ALLOWED: 405,
  OUTSIDE_COVERAGE: 422,
  RATE_LIMITED: 429,
  QUOTA_EXCEEDED: 429,
  INTERNAL: 500,
  UPSTREAM_UNAVAILABLE: 502,
} as const;

export type ServiceFailure = keyof typeof SERVICE_FAILURES;

/** The content of `error` on a bundle's topic that failed (contract, bundles, rule 1). */
export const UNAVAILABLE = 'unavailable';
