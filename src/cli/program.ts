import yargs, { type Argv } from 'yargs';
import { PerilbookError } from '../errors.ts';
import { nearestName } from '../nearest-name.ts';
import type { Command } from './command.ts';
import { EXIT, EXIT_MEANINGS, exitCodeOfError } from './exit-codes.ts';
import { ACCOUNT_FLAGS, JOB_OPTIONS, yargsJobOptions } from './job-options.ts';
import { say, type World } from './world.ts';

const jobPosition = { type: 'string', describe: 'a job file (.yaml), or an input file; - for stdin' } as const;

const csv = { csv: { type: 'boolean', describe: 'print the rows as CSV on stdout', conflicts: 'json' } } as const;

const json = { json: { type: 'boolean', describe: 'print one JSON value on stdout' } } as const;

/** The commands' files are loaded when they are called for: `topics` need not wait for the web framework. */
const COMMANDS: readonly (Omit<Command, 'run'> & { readonly load: () => Promise<Command['run']> })[] = [
  {
    command: 'plan [job]',
    describe: 'price it; spends nothing',
    builder: (y) =>
      y.positional('job', jobPosition).options({
        ...yargsJobOptions(),
        ...json,
        out: { type: 'string', describe: 'write the plan to a file, to be approved', requiresArg: true },
      }),
    load: async () => (await import('./plan-command.ts')).planCommand,
  },
  {
    command: 'run [job]',
    describe: 'buy what is missing, write the output; run again to resume',
    builder: (y) =>
      y.positional('job', jobPosition).options({
        ...yargsJobOptions(),
        ...json,
        plan: { type: 'string', describe: 'keep to an approved plan (perilbook plan --out)', requiresArg: true },
        yes: { alias: 'y', type: 'boolean', describe: 'spend what the plan says without asking' },
        quiet: { alias: 'q', type: 'boolean', describe: 'say only what went wrong' },
        report: { type: 'string', describe: 'also write the report, a page of HTML, to this file', requiresArg: true },
      }),
    load: async () => (await import('./run-command.ts')).runCommand,
  },
  {
    command: 'report [job]',
    describe: 'a page to look at: map, ratings, concentration, data quality, money; spends nothing',
    builder: (y) =>
      y.positional('job', jobPosition).options({
        ...yargsJobOptions(),
        report: { type: 'string', describe: 'file to write the page to; - for stdout', requiresArg: true },
      }),
    load: async () => (await import('./report-command.ts')).reportCommand,
  },
  {
    command: 'ui [job]',
    describe: 'a page in the browser, on this machine only: choose a file, see the price, buy, watch, download',
    builder: (y) =>
      y
        .positional('job', {
          type: 'string',
          describe: 'a job file (.yaml) with the service and the account, or a file to show first',
        })
        .options({
          ...yargsJobOptions(ACCOUNT_FLAGS),
          port: { type: 'number', describe: 'port to listen on (a free one)', requiresArg: true },
          'max-upload': { type: 'number', describe: 'largest upload in MB (2000)', requiresArg: true },
        }),
    load: async () => (await import('./ui-command.ts')).uiCommand,
  },
  {
    command: 'status [job]',
    describe: 'runs, what is left, when to resume',
    builder: (y) => y.positional('job', jobPosition).options({ ...yargsJobOptions(), ...json, ...csv }),
    load: async () => (await import('./status-command.ts')).statusCommand,
  },
  {
    command: 'quota [set] [job]',
    describe: 'this period: allowance, spent, reserved, left, resets on; set corrects it',
    builder: (y) =>
      y
        // The first word is `set` or already the job; its name is what the help shows.
        .positional('set', { type: 'string', describe: "set: record what the provider's page says of this period" })
        .positional('job', jobPosition)
        .options({
          ...yargsJobOptions(),
          by: { type: 'string', describe: 'with a statement by run, job, key or day', requiresArg: true },
          left: { type: 'number', describe: 'set: credits that the page says are left', requiresArg: true },
          spent: { type: 'number', describe: 'set: credits that the page says are spent, by all', requiresArg: true },
          ...json,
          ...csv,
        }),
    load: async () => (await import('./quota-command.ts')).quotaCommand,
  },
  {
    command: 'topics',
    describe: 'the 37, their columns, cost, cadence',
    builder: (y) => y.options(json),
    load: async () => (await import('./topics-command.ts')).topicsCommand,
  },
  {
    command: 'cache <action>',
    describe: 'stats | prune | export: what the store keeps',
    builder: (y) =>
      y.positional('action', { choices: ['stats', 'prune', 'export'] as const }).options({
        store: { type: 'string', describe: 'file that keeps answers, ledger and runs', requiresArg: true },
        'older-than': {
          type: 'string',
          describe: 'prune: forget answers older than this, e.g. 365d',
          requiresArg: true,
        },
        details: { type: 'boolean', describe: 'export: the kept details (run --details keep) instead of the fields' },
        ...json,
      }),
    load: async () => (await import('./cache-command.ts')).cacheCommand,
  },
  {
    command: 'service <action> [what] [files..]',
    describe: 'start | load NAME FILE | data | check | account create | key create, list, rotate, revoke',
    builder: (y) =>
      y
        .positional('action', { choices: ['start', 'load', 'data', 'check', 'account', 'key'] as const })
        .positional('what', { type: 'string' })
        .positional('files', { type: 'string', array: true })
        .options({
          lat: { type: 'string', describe: 'load: column of the latitude; check: latitude', requiresArg: true },
          lng: { type: 'string', describe: 'load: column of the longitude; check: longitude', requiresArg: true },
          sites: { type: 'string', describe: "load airnow: file of the monitors' places", requiresArg: true },
          source: { type: 'string', describe: 'load: where the file is from', requiresArg: true },
          vintage: { type: 'string', describe: 'load: what time the file is of', requiresArg: true },
          licence: {
            type: 'string',
            describe: "load: the sentence that the file's licence asks for",
            requiresArg: true,
          },
          'base-url': { type: 'string', describe: 'check: address of the service', requiresArg: true },
          'key-file': { type: 'string', describe: 'check: file that holds a key', requiresArg: true },
          'narrow-key-file': {
            type: 'string',
            describe: 'check: a key with the scope of one topic',
            requiresArg: true,
          },
          yes: { alias: 'y', type: 'boolean', describe: 'check: spend what it says without asking' },
          db: { type: 'string', describe: "the service's database file", requiresArg: true },
          port: { type: 'number', describe: 'port to listen on (8737)', requiresArg: true },
          account: { type: 'string', describe: 'account of a key', requiresArg: true },
          scopes: {
            type: 'string',
            describe: 'bundle and topics, with commas between; all for every scope',
            requiresArg: true,
          },
          subscription: { type: 'string', describe: 'starter or professional', requiresArg: true },
          'credits-per-month': { type: 'number', describe: 'of a custom subscription', requiresArg: true },
          'credits-per-minute': { type: 'number', describe: 'of a custom subscription', requiresArg: true },
          'signed-up': { type: 'string', describe: 'day of sign-up, e.g. 2026-01-31', requiresArg: true },
          overages: { type: 'boolean', describe: 'go on beyond the quota, billed per credit' },
          key: { type: 'number', describe: 'number of a key, from key list', requiresArg: true },
          grace: { type: 'number', describe: 'rotate: seconds for which the old key still works', requiresArg: true },
          'expires-in': { type: 'string', describe: 'life of a new key, e.g. 90d', requiresArg: true },
          ...json,
        }),
    load: async () => (await import('./service-command.ts')).serviceCommand,
  },
];

/** Runs one command line; resolves to the exit code, never rejects. */
export async function program(world: World, version: string): Promise<number> {
  let exitCode: number = EXIT.complete;
  const names = COMMANDS.map(({ command }) => command.split(' ')[0]!);
  const parser = yargs([...world.args])
    .scriptName('perilbook')
    .usage(
      '$0 COMMAND\n\nEnriches a book of US locations with hazard columns, at the lowest price, never paying twice.',
    )
    .example('$0 plan portfolio.csv --topics natural', 'what it would cost')
    .example('$0 run portfolio.csv -o out.csv --topics wildfire,riverineFlood', 'buy and write')
    .example('$0 run jobs/nightly.yaml', 'a job file; run it again to resume')
    .parserConfiguration({ 'boolean-negation': false, 'camel-case-expansion': false })
    .strict()
    .help()
    .alias('h', 'help')
    .version(version)
    .wrap(Math.min(100, world.stderr.columns ?? 100))
    .epilogue(`Exit codes: ${EXIT_MEANINGS.map(([code, meaning]) => `${code} ${meaning}`).join(' · ')}`)
    .exitProcess(false)
    .demandCommand(1, 'Name a command.')
    .fail((message, error) => {
      throw error ?? usageError(message, names, world.args);
    });
  for (const { command, describe, builder, load } of COMMANDS) {
    parser.command(
      command,
      describe,
      (y: Argv) => builder?.(y) ?? y,
      async (flags) => {
        const run = await load();
        exitCode = await run(world, flags);
      },
    );
  }
  try {
    await parser.parseAsync();
    return exitCode;
  } catch (error) {
    sayError(world, error);
    return exitCodeOfError(error);
  }
}

function usageError(message: string, commands: readonly string[], args: readonly string[]): PerilbookError {
  const unknown = /^Unknown (?:command|argument)s?: ([^,]+)/.exec(message)?.[1];
  const isOption = args.some((arg) => arg.replace(/=.*/, '') === `--${unknown}`);
  const flags = JOB_OPTIONS.map(({ flag }) => flag);
  const near = unknown === undefined ? null : nearestName(unknown, isOption ? flags : commands);
  return new PerilbookError(
    'USAGE',
    message + (near === null ? '' : `; did you mean ${isOption ? '--' : ''}${near}?`),
    'perilbook --help shows the commands, perilbook COMMAND --help its options.',
  );
}

/** An error as the user sees it: what happened, then what to do. The stack only for bugs of ours. */
export function sayError(world: World, error: unknown): void {
  if (error instanceof PerilbookError) {
    say(world, `perilbook: ${error.message}\n  ${error.hint} [${error.code}]`);
  } else {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    say(world, `perilbook: this is a bug of ours. Please report it with the lines below. [BUG]\n${stack}`);
  }
}
