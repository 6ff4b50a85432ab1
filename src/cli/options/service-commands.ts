import { type CommandTable, jobOptions, json, log, port, yes } from './command.ts';

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
  subscription: {
    type: 'string',
    choices: ['starter', 'professional'],
    conflicts: ['credits-per-month', 'credits-per-minute', 'overage-rate'],
    describe: 'starter or professional',
  },
  ...figures,
  'overage-rate': {
    type: 'number',
    describe: 'of a custom subscription: dollars per credit beyond the quota',
  },
  overages: {
    type: 'boolean',
    conflicts: 'no-overages',
    describe: 'serve calls beyond the quota, billed per credit',
  },
  'no-overages': {
    type: 'boolean',
    describe: 'refuse calls beyond the quota (the default of a new account)',
  },
} as const;

const key = {
  key: { type: 'number', demandOption: true, describe: 'number of a key, from key list' },
} as const;

export const SERVICE_COMMANDS = {
  service: {
    describe: 'run your own lookup service: start it, check it, manage accounts and keys',
    examples: [
      'service account create --account acme --subscription professional',
      'service key create --account acme --scopes all',
      'service start --port 8737',
    ],
  },
  'service start': {
    describe: 'answer requests until it is stopped',
    examples: ['service start --port 8737'],
    options: {
      port: { ...port, describe: 'port to listen on (default 8737)' },
      layers: {
        type: 'string',
        describe: 'layers to sell besides, a credit a call: ca_fire_zone,my_fire (default: none)',
      },
      ...files,
      ...log,
    },
  },
  'service check': {
    argument: ['[file]', 'job file (.yaml) with the service and the account'],
    describe: 'check that a service keeps the contract; spends credits',
    examples: [
      'service check --base-url http://127.0.0.1:8737 --api-key-file key',
      'service check nightly.yaml --budget 200',
    ],
    options: {
      lat: { type: 'string', describe: 'latitude of the place that it asks for' },
      lng: { type: 'string', describe: 'longitude of the place that it asks for' },
      'api-key-file': { type: 'string', describe: 'file that holds a key' },
      'narrow-key-file': { type: 'string', describe: 'a key with the scope of one topic' },
      ...jobOptions([
        ...(['base-url', 'budget', 'account', 'subscription', 'anniversary-day'] as const),
        ...(['reserve', 'store'] as const),
      ]),
      ...figures,
      yes: { ...yes, describe: 'spend without asking' },
      ...log,
      ...json,
    },
  },
  'service account': { describe: 'make, change or list accounts, and what they owe' },
  'service account create': {
    describe: 'make an account',
    examples: ['service account create --account acme --subscription professional'],
    options: {
      ...accountNeeded,
      ...terms,
      'signed-up': {
        type: 'string',
        describe:
          'day of sign-up, e.g. 2026-01-31 (default: today); billing periods begin on it, so it cannot be changed',
      },
      ...files,
      ...log,
    },
  },
  'service account change': {
    describe: 'change its subscription, or turn overages on or off',
    examples: ['service account change --account acme --subscription professional --overages'],
    options: { ...accountNeeded, ...terms, ...files, ...log },
  },
  'service account list': {
    describe: 'list the accounts and what they spent',
    examples: ['service account list'],
    options: { ...files, ...log, ...json },
  },
  'service account statement': {
    describe: 'show what accounts owe by billing period',
    examples: ['service account statement --account acme --period 2026-03-15'],
    options: {
      ...account,
      period: {
        type: 'string',
        describe: 'a day of the billing period, e.g. 2026-03-15 (default: all periods)',
      },
      ...files,
      ...log,
      ...json,
    },
  },
  'service key': { describe: 'make, list, rotate or revoke keys' },
  'service key create': {
    describe: 'make a key and print it, once',
    examples: ['service key create --account acme --scopes all'],
    options: {
      ...accountNeeded,
      scopes: {
        type: 'string',
        demandOption: true,
        describe: 'bundle and topics, separated by commas; all for every scope',
      },
      'expires-in': {
        type: 'string',
        describe: 'lifetime of the key, e.g. 90d (default: forever)',
      },
      ...files,
      ...log,
    },
  },
  'service key list': {
    describe: 'list the keys',
    examples: ['service key list --account acme'],
    options: { ...account, ...files, ...log, ...json },
  },
  'service key rotate': {
    describe: 'replace a key by a new one',
    examples: ['service key rotate --key 3 --grace 3600'],
    options: {
      ...key,
      grace: { type: 'number', describe: 'seconds for which the old key still works (default 0)' },
      ...files,
      ...log,
    },
  },
  'service key revoke': {
    describe: 'end a key',
    examples: ['service key revoke --key 3'],
    options: { ...key, ...files, ...log },
  },
} as const satisfies CommandTable;
