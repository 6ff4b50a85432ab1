import type { Options } from 'yargs';

/** The options of `perilbook service`. A description begins with the action that the option belongs to. */
export const SERVICE_OPTIONS = {
  lat: { type: 'string', describe: 'check: latitude', requiresArg: true },
  lng: { type: 'string', describe: 'check: longitude', requiresArg: true },
  'base-url': { type: 'string', describe: 'check: address of the service', requiresArg: true },
  'key-file': { type: 'string', describe: 'check: file that holds a key', requiresArg: true },
  'narrow-key-file': {
    type: 'string',
    describe: 'check: a key with the scope of one topic',
    requiresArg: true,
  },
  budget: { type: 'number', describe: 'check: most credits that it may spend', requiresArg: true },
  'anniversary-day': { type: 'number', describe: 'check: day on which the quota resets', requiresArg: true },
  reserve: { type: 'number', describe: 'check: credits of each period that are kept back', requiresArg: true },
  'spent-elsewhere': {
    type: 'number',
    describe: 'check: credits of each period that other programs spend',
    requiresArg: true,
  },
  store: { type: 'string', describe: 'check: file of the store, whose ledger gets what it spends', requiresArg: true },
  yes: { alias: 'y', type: 'boolean', describe: 'check: spend without asking' },
  db: {
    type: 'string',
    describe: "the service's data file (default: service.db in the data folder)",
    requiresArg: true,
  },
  accounts: {
    type: 'string',
    describe:
      'file of accounts, keys and charges (default: beside the data file, service-accounts.db for service.db), or postgres://role@host/database for instances on several machines',
    requiresArg: true,
  },
  'update-every': {
    type: 'string',
    describe: 'start: update the near real-time sources that are downloaded at this interval, e.g. 1h',
    requiresArg: true,
  },
  mirror: {
    type: 'string',
    describe:
      'start --update-every: a server to ask in place of all others (URL/host/path), or a copy of a downloads folder',
    requiresArg: true,
  },
  sources: {
    type: 'string',
    describe: 'start --update-every: file with other addresses of sources (sources.yaml in the data folder)',
    requiresArg: true,
  },
  metrics: {
    type: 'string',
    describe:
      'start: serve OpenMetrics under /metrics at this address of this machine, e.g. 127.0.0.1:9464 (default off)',
    requiresArg: true,
  },
  port: { type: 'number', describe: 'port to listen on (8737)', requiresArg: true },
  account: { type: 'string', describe: 'name of an account; check: whose credits it spends', requiresArg: true },
  scopes: {
    type: 'string',
    describe: 'bundle and topics, separated by commas; all for every scope',
    requiresArg: true,
  },
  subscription: { type: 'string', describe: 'starter or professional', requiresArg: true },
  'credits-per-month': { type: 'number', describe: 'of a custom subscription', requiresArg: true },
  'credits-per-minute': { type: 'number', describe: 'of a custom subscription', requiresArg: true },
  'overage-rate': {
    type: 'number',
    describe: 'of a custom subscription: US dollars per credit beyond the quota',
    requiresArg: true,
  },
  'signed-up': { type: 'string', describe: 'day of sign-up, e.g. 2026-01-31', requiresArg: true },
  overages: { type: 'boolean', describe: 'serve calls beyond the quota, billed per credit' },
  'no-overages': { type: 'boolean', describe: 'refuse calls beyond the quota (the default of a new account)' },
  period: {
    type: 'string',
    describe: 'account statement: a day of the billing period, e.g. 2026-03-15',
    requiresArg: true,
  },
  key: { type: 'number', describe: 'number of a key, from key list', requiresArg: true },
  grace: { type: 'number', describe: 'rotate: seconds for which the old key goes on working', requiresArg: true },
  'expires-in': { type: 'string', describe: 'lifetime of a new key, e.g. 90d', requiresArg: true },
} as const satisfies Record<string, Options>;
