import { type Command, command } from './command.ts';
import {
  CHANGE_ACCOUNT_OPTIONS,
  CHECK_OPTIONS,
  CREATE_ACCOUNT_OPTIONS,
  CREATE_KEY_OPTIONS,
  LIST_ACCOUNTS_OPTIONS,
  LIST_KEYS_OPTIONS,
  REVOKE_KEY_OPTIONS,
  ROTATE_KEY_OPTIONS,
  START_OPTIONS,
  STATEMENT_OPTIONS,
} from './service-options.ts';

const START: Command = command({
  usage: 'service start',
  describe: 'answer requests until it is stopped',
  examples: ['service start --port 8737', 'service start --metrics 127.0.0.1:9464'],
  options: START_OPTIONS,
  load: async () => (await import('./commands/service.ts')).serviceCommands.start,
});

const CHECK: Command = command({
  usage: 'service check [file]',
  describe: 'check that a service keeps the contract; spends credits',
  examples: [
    'service check --base-url http://127.0.0.1:8737 --api-key-file key',
    'service check nightly.yaml --budget 200',
  ],
  argument: 'job file (.yaml) with the service and the account',
  options: CHECK_OPTIONS,
  load: async () => (await import('./commands/service.ts')).serviceCommands.check,
});

const ACCOUNT: Command = {
  usage: 'service account',
  describe: 'make, change or list accounts, and what they owe',
  subcommands: [
    command({
      usage: 'service account create',
      describe: 'make an account',
      examples: ['service account create --account acme --subscription professional'],
      options: CREATE_ACCOUNT_OPTIONS,
      load: async () => (await import('./commands/service.ts')).serviceCommands.createAccount,
    }),
    command({
      usage: 'service account change',
      describe: 'change its subscription, or turn overages on or off',
      examples: ['service account change --account acme --subscription professional --overages'],
      options: CHANGE_ACCOUNT_OPTIONS,
      load: async () => (await import('./commands/service.ts')).serviceCommands.changeAccount,
    }),
    command({
      usage: 'service account list',
      describe: 'list the accounts and what they spent',
      examples: ['service account list'],
      options: LIST_ACCOUNTS_OPTIONS,
      load: async () => (await import('./commands/service.ts')).serviceCommands.listAccounts,
    }),
    command({
      usage: 'service account statement',
      describe: 'show what accounts owe by billing period',
      examples: ['service account statement --account acme --period 2026-03-15'],
      options: STATEMENT_OPTIONS,
      load: async () => (await import('./commands/service.ts')).serviceCommands.accountStatement,
    }),
  ],
};

const KEY: Command = {
  usage: 'service key',
  describe: 'make, list, rotate or revoke keys',
  subcommands: [
    command({
      usage: 'service key create',
      describe: 'make a key and print it, once',
      examples: ['service key create --account acme --scopes all'],
      options: CREATE_KEY_OPTIONS,
      load: async () => (await import('./commands/service.ts')).serviceCommands.createKey,
    }),
    command({
      usage: 'service key list',
      describe: 'list the keys',
      examples: ['service key list --account acme'],
      options: LIST_KEYS_OPTIONS,
      load: async () => (await import('./commands/service.ts')).serviceCommands.listKeys,
    }),
    command({
      usage: 'service key rotate',
      describe: 'replace a key by a new one',
      examples: ['service key rotate --key 3 --grace 3600'],
      options: ROTATE_KEY_OPTIONS,
      load: async () => (await import('./commands/service.ts')).serviceCommands.rotateKey,
    }),
    command({
      usage: 'service key revoke',
      describe: 'end a key',
      examples: ['service key revoke --key 3'],
      options: REVOKE_KEY_OPTIONS,
      load: async () => (await import('./commands/service.ts')).serviceCommands.revokeKey,
    }),
  ],
};

/** `perilbook service`. */
export const SERVICE_COMMAND: Command = {
  usage: 'service',
  describe: 'run your own lookup service: start it, check it, manage accounts and keys',
  examples: [
    'service account create --account acme --subscription professional',
    'service key create --account acme --scopes all',
    'service start --port 8737',
  ],
  subcommands: [START, CHECK, ACCOUNT, KEY],
};
