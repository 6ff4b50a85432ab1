import { type FlagsOf, json, log, port } from './command.ts';
import { jobOptions } from './job-options.ts';

/* The options of `perilbook service` and its subcommands, and the types of their values. */

const files = {
  db: { type: 'string', describe: "the service's data file (default: data.db in the data folder)" },
  accounts: {
    type: 'string',
    describe:
      'file of accounts, keys and charges (default: beside the data file, data-accounts.db for data.db), or postgres://role@host/database for instances on several machines',
  },
} as const;

const account = { account: { type: 'string', describe: 'name of the account' } } as const;

const accountNeeded = { account: { ...account.account, demandOption: true } } as const;

const figures = {
  'credits-per-month': { type: 'number', describe: 'of a custom subscription' },
  'credits-per-minute': { type: 'number', describe: 'of a custom subscription' },
} as const;

const terms = {
  subscription: { type: 'string', choices: ['starter', 'professional'], describe: 'starter or professional' },
  ...figures,
  'overage-rate': { type: 'number', describe: 'of a custom subscription: US dollars per credit beyond the quota' },
  overages: {
    type: 'boolean',
    conflicts: 'no-overages',
    describe: 'serve calls beyond the quota, billed per credit',
  },
  'no-overages': { type: 'boolean', describe: 'refuse calls beyond the quota (the default of a new account)' },
} as const;

const key = { key: { type: 'number', demandOption: true, describe: 'number of a key, from key list' } } as const;

export const START_OPTIONS = {
  port: { ...port, describe: 'port to listen on (default 8737)' },
  ...files,
  metrics: {
    type: 'string',
    describe: 'serve OpenMetrics under /metrics at this address of this machine, e.g. 127.0.0.1:9464 (default off)',
  },
  ...log,
} as const;

export const CHECK_OPTIONS = {
  lat: { type: 'string', describe: 'latitude of the place that it asks for' },
  lng: { type: 'string', describe: 'longitude of the place that it asks for' },
  'api-key-file': { type: 'string', describe: 'file that holds a key' },
  'narrow-key-file': { type: 'string', describe: 'a key with the scope of one topic' },
  ...jobOptions([
    ...(['base-url', 'budget', 'account', 'subscription', 'anniversary-day'] as const),
    ...(['reserve', 'store'] as const),
  ]),
  ...figures,
  yes: { alias: 'y', type: 'boolean', describe: 'spend without asking' },
  ...log,
  ...json,
} as const;

export const CREATE_ACCOUNT_OPTIONS = {
  ...accountNeeded,
  ...terms,
  'signed-up': {
    type: 'string',
    describe: 'day of sign-up, e.g. 2026-01-31 (default: today); billing periods begin on it, so it cannot be changed',
  },
  ...files,
  ...log,
} as const;

export const CHANGE_ACCOUNT_OPTIONS = { ...accountNeeded, ...terms, ...files, ...log } as const;

export const LIST_ACCOUNTS_OPTIONS = { ...files, ...log, ...json } as const;

export const STATEMENT_OPTIONS = {
  ...account,
  period: { type: 'string', describe: 'a day of the billing period, e.g. 2026-03-15 (default: all periods)' },
  ...files,
  ...log,
  ...json,
} as const;

export const CREATE_KEY_OPTIONS = {
  ...accountNeeded,
  scopes: {
    type: 'string',
    demandOption: true,
    describe: 'bundle and topics, separated by commas; all for every scope',
  },
  'expires-in': { type: 'string', describe: 'lifetime of the key, e.g. 90d (default: forever)' },
  ...files,
  ...log,
} as const;

export const LIST_KEYS_OPTIONS = { ...account, ...files, ...log, ...json } as const;

export const ROTATE_KEY_OPTIONS = {
  ...key,
  grace: { type: 'number', describe: 'seconds for which the old key still works (default 0)' },
  ...files,
  ...log,
} as const;

export const REVOKE_KEY_OPTIONS = { ...key, ...files, ...log } as const;

export type StartFlags = FlagsOf<typeof START_OPTIONS>;
export type CheckFlags = FlagsOf<typeof CHECK_OPTIONS>;
export type CreateAccountFlags = FlagsOf<typeof CREATE_ACCOUNT_OPTIONS>;
export type ChangeAccountFlags = FlagsOf<typeof CHANGE_ACCOUNT_OPTIONS>;
export type ListAccountsFlags = FlagsOf<typeof LIST_ACCOUNTS_OPTIONS>;
export type StatementFlags = FlagsOf<typeof STATEMENT_OPTIONS>;
export type CreateKeyFlags = FlagsOf<typeof CREATE_KEY_OPTIONS>;
export type ListKeysFlags = FlagsOf<typeof LIST_KEYS_OPTIONS>;
export type RotateKeyFlags = FlagsOf<typeof ROTATE_KEY_OPTIONS>;
export type RevokeKeyFlags = FlagsOf<typeof REVOKE_KEY_OPTIONS>;
