import { type Command, command, json } from './command.ts';
import {
  LOOKUP_OPTIONS,
  PLAN_OPTIONS,
  PRUNE_OPTIONS,
  QUOTA_OPTIONS,
  QUOTA_SET_OPTIONS,
  REPORT_OPTIONS,
  RUN_OPTIONS,
  STATUS_OPTIONS,
  STORE_OPTIONS,
  UI_OPTIONS,
} from './command-options.ts';
import { DATA_COMMAND } from './data-commands.ts';
import { SERVICE_COMMAND } from './service-commands.ts';

const JOB = 'job file (.yaml) or input file; - for stdin';

const INPUTS = 'job file (.yaml), or input: a file, - for stdin, a folder or several part files';

/** Printed by yargs, which also answers the script's questions. */
export const COMPLETION_COMMAND: Command = {
  usage: 'completion',
  describe: 'print the script that completes command lines in your shell ($SHELL): bash or zsh',
};

/** All commands. `load` imports a command's code when it runs: `topics` must not wait for the web framework. */
export const COMMANDS: readonly Command[] = [
  command({
    usage: 'lookup [location..]',
    describe: 'answer one location: latitude and longitude',
    examples: [
      'lookup 34.0522 -118.2437 --topics wildfire,earthquake',
      'lookup 34.0522,-118.2437 --service sample --json',
    ],
    argument: 'latitude and longitude in decimal degrees, as two words or with a comma',
    options: LOOKUP_OPTIONS,
    load: async () => (await import('./commands/lookup.ts')).lookupCommand,
  }),
  command({
    usage: 'plan [job..]',
    describe: 'show what a run would cost; spends nothing',
    examples: ['plan portfolio.csv --topics natural', 'plan nightly.yaml --json'],
    argument: INPUTS,
    options: PLAN_OPTIONS,
    load: async () => (await import('./commands/plan.ts')).planCommand,
  }),
  command({
    usage: 'run [job..]',
    describe: 'buy what is missing and write the output; run it again to resume',
    examples: [
      'run portfolio.csv -o out.csv --topics wildfire,riverineFlood',
      'run portfolio.csv -o out.parquet --topics all --order-by tiv --budget 5000',
      'run portfolio/ -o enriched/ --budget 5000    (part files: each is written under its name)',
      'run nightly.yaml --yes --quiet       (from cron)',
    ],
    argument: INPUTS,
    options: RUN_OPTIONS,
    load: async () => (await import('./commands/run.ts')).runCommand,
  }),
  command({
    usage: 'report [job..]',
    describe: 'write an HTML report: value at risk, map, accumulation, locations, data quality; spends nothing',
    examples: [
      'report nightly.yaml',
      'report portfolio.csv --topics natural --report portfolio.html',
      'report nightly.yaml --compare enriched-2026-11-20.csv',
    ],
    argument: INPUTS,
    options: REPORT_OPTIONS,
    load: async () => (await import('./commands/report.ts')).reportCommand,
  }),
  command({
    usage: 'ui [job]',
    describe: 'open a page in the browser, on this machine only: price, buy, watch, download',
    examples: ['ui', 'ui portfolio.csv', 'ui nightly.yaml --budget 5000'],
    argument: 'job file (.yaml) with the service and the account, or a file to open',
    options: UI_OPTIONS,
    load: async () => (await import('./commands/ui.ts')).uiCommand,
  }),
  command({
    usage: 'status [job]',
    describe: 'list runs: their state, what they spent, when to resume',
    examples: ['status', 'status nightly.yaml --json'],
    argument: JOB,
    options: STATUS_OPTIONS,
    load: async () => (await import('./commands/status.ts')).statusCommand,
  }),
  command({
    usage: 'quota [job]',
    describe: 'show the billing period: allowance, spent, left, reset date',
    examples: ['quota nightly.yaml', 'quota nightly.yaml --by day', 'quota set nightly.yaml --left 4200'],
    argument: JOB,
    options: QUOTA_OPTIONS,
    subcommands: [
      command({
        usage: 'quota set [job]',
        describe: "correct it by the figure on the provider's page",
        examples: ['quota set nightly.yaml --left 4200', 'quota set --account acme --spent 800'],
        argument: JOB,
        options: QUOTA_SET_OPTIONS,
        load: async () => (await import('./commands/quota.ts')).quotaSetCommand,
      }),
    ],
    load: async () => (await import('./commands/quota.ts')).quotaCommand,
  }),
  command({
    usage: 'topics',
    describe: 'list the 37 topics: columns, price, how long answers stay fresh',
    examples: ['topics', 'topics --json'],
    options: json,
    load: async () => (await import('./commands/topics.ts')).topicsCommand,
  }),
  {
    usage: 'job',
    describe: 'check a job file, or print its JSON Schema',
    subcommands: [
      command({
        usage: 'job check [file]',
        describe: 'list all errors of a job file; spends nothing',
        examples: ['job check nightly.yaml', 'job check nightly.yaml --json'],
        argument: 'the job file (.yaml)',
        options: json,
        load: async () => (await import('./commands/job.ts')).jobCheckCommand,
      }),
      {
        usage: 'job schema',
        describe: 'print the JSON Schema of job files, for editors',
        examples: ['job schema > job.schema.json'],
        load: async () => (await import('./commands/job.ts')).jobSchemaCommand,
      },
    ],
  },
  {
    usage: 'cache',
    describe: 'show or prune the answers in the store',
    subcommands: [
      command({
        usage: 'cache stats',
        describe: 'show how many answers the store has, and its size',
        examples: ['cache stats'],
        options: STORE_OPTIONS,
        load: async () => (await import('./commands/cache.ts')).cacheCommands.stats,
      }),
      command({
        usage: 'cache prune',
        describe: 'delete old answers, or rejections',
        examples: ['cache prune --older-than 400d', 'cache prune --rejected'],
        options: PRUNE_OPTIONS,
        load: async () => (await import('./commands/cache.ts')).cacheCommands.prune,
      }),
    ],
  },
  DATA_COMMAND,
  SERVICE_COMMAND,
  COMPLETION_COMMAND,
];
