/** The contract's header names, in lower case as both sides' HTTP libraries give them. */
export const HEADERS = {
  key: 'x-api-key',
  creditCost: 'x-credit-cost',
  rateLimit: 'x-ratelimit-limit',
  rateRemaining: 'x-ratelimit-remaining',
  rateReset: 'x-ratelimit-reset',
  retryAfter: 'retry-after',
} as const;
