/** The contract's header names, in the lower case that both sides' HTTP libraries use. */
export const HEADERS = {
  key: 'x-api-key',
  creditCost: 'x-credit-cost',
  rateLimit: 'x-ratelimit-limit',
  rateRemaining: 'x-ratelimit-remaining',
  rateReset: 'x-ratelimit-reset',
  retryAfter: 'retry-after',
  /** Our extension: `true` when our own service answers from made-up data. */
  sampleData: 'x-sample-data',
} as const;
