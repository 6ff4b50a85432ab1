/** The contract's header names, in lower case as both sides' HTTP libraries give them. */
export const HEADERS = {
  key: 'x-api-key',
  creditCost: 'x-credit-cost',
  rateLimit: 'x-ratelimit-limit',
  rateRemaining: 'x-ratelimit-remaining',
  rateReset: 'x-ratelimit-reset',
  retryAfter: 'retry-after',
  /** Not the contract's: `true` where our own service answers from made-up data. */
  sampleData: 'x-sample-data',
} as const;
