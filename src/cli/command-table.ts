import type { StatementBy } from '../store/port.ts';
import { DIALECT_NAMES } from '../warehouse/sql-dialects.ts';
import { type Command, json, log, port, quiet } from './command.ts';
import { DATA_COMMAND } from './data-commands.ts';
import { ACCOUNT_FLAGS, jobOptions, LATER_INPUT_FLAGS } from './job-options.ts';
import { SERVICE_COMMAND } from './service-commands.ts';

const JOB = 'job file (.yaml) or input file; - for stdin';

const INPUTS = 'job file (.yaml), or input: a file, - for stdin, a folder or several part files';

const CREDITS = [0, Number.MAX_SAFE_INTEGER] as const;

const csv = { csv: { type: 'boolean', describe: 'print the rows as CSV on stdout', conflicts: 'json' } } as const;

const force = {
  force: { type: 'boolean', describe: 'replace an existing file that Perilbook did not write' },
} as const;

/** The report belongs to the outputs in help. */
const OUTPUT = 'Output';

const hidden = { hidden: true } as const;

const RUN_OPTIONS = {
  ...jobOptions(),
  plan: {
    type: 'string',
    group: 'Money and time',
    describe: 'spend only what this approved plan allows (see plan --out)',
    ...hidden,
  },
  yes: { alias: 'y', type: 'boolean', group: 'Money and time', describe: 'spend what the plan costs without asking' },
  report: { type: 'string', group: OUTPUT, describe: 'also write the HTML report to this file', ...hidden },
  force: { ...force.force, group: OUTPUT, ...hidden },
  json: { ...json.json, ...hidden },
  quiet: { ...quiet.quiet, ...hidden },
  log: { ...log.log, ...hidden },
  debug: { type: 'boolean', describe: 'log each request and its outcome on stderr, without keys', ...hidden },
} as const;

const QUOTA_OPTIONS = {
  ...jobOptions(ACCOUNT_FLAGS),
  by: {
    type: 'string',
    choices: ['run', 'job', 'key', 'day'] satisfies StatementBy[],
    describe: 'add a statement by run, job, key or day',
  },
  ...json,
  ...csv,
} as const;

const STORE_OPTIONS = { ...jobOptions(['store']), ...json } as const;

/** All commands. `load` imports a command's code when it runs: `topics` must not wait for the web framework. */
export const COMMANDS: readonly Command[] = [
  {
    usage: 'plan [job]',
    takesFiles: true,
    describe: 'show what a run would cost; spends nothing',
    examples: [
      'plan portfolio.csv --topics natural',
      'plan nightly.yaml --json',
      'plan nightly.yaml --out plan.json    (for approval; then: run nightly.yaml --plan plan.json)',
    ],
    argument: INPUTS,
    options: {
      ...jobOptions(),
      out: { type: 'string', describe: 'write the plan to this file, for approval' },
      ...force,
      ...json,
    },
    load: async () => (await import('./commands/plan.ts')).planCommand,
  },
  {
    usage: 'run [job]',
    takesFiles: true,
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
  },
  {
    usage: 'report [job]',
    takesFiles: true,
    describe: 'write an HTML report: value at risk, map, accumulation, locations, data quality; spends nothing',
    examples: [
      'report nightly.yaml',
      'report portfolio.csv --topics natural --report portfolio.html',
      'report nightly.yaml --compare enriched-2026-11-20.csv',
    ],
    argument: INPUTS,
    options: {
      ...jobOptions(),
      ...json,
      report: { type: 'string', describe: 'file to write the report to; - for stdout' },
      ...force,
      compare: {
        type: 'string',
        describe:
          'show what changed since an earlier output (a file, or a folder of part files), or since a run by number or name',
      },
    },
    load: async () => (await import('./commands/report.ts')).reportCommand,
  },
  {
    usage: 'ui [job]',
    describe: 'open a page in the browser, on this machine only: price, buy, watch, download',
    examples: ['ui', 'ui portfolio.csv', 'ui nightly.yaml --budget 5000'],
    argument: 'job file (.yaml) with the service and the account, or a file to open',
    options: {
      ...jobOptions(LATER_INPUT_FLAGS),
      port: { ...port, describe: 'port to listen on (default: any free port)' },
      // A petabyte: numbers of bytes far above it are not exact.
      'max-upload': { type: 'number', range: [1, 1_000_000_000], describe: 'largest upload in MB (default 2000)' },
    },
    load: async () => (await import('./commands/ui.ts')).uiCommand,
  },
  {
    usage: 'status [job]',
    describe: 'list runs: their state, what they spent, when to resume',
    examples: ['status', 'status nightly.yaml --json'],
    argument: JOB,
    options: { ...jobOptions(['store', 'name']), ...json, ...csv },
    load: async () => (await import('./commands/status.ts')).statusCommand,
  },
  {
    usage: 'quota [job]',
    describe: 'show the billing period: allowance, spent, left, reset date',
    examples: ['quota nightly.yaml', 'quota nightly.yaml --by day', 'quota set nightly.yaml --left 4200'],
    argument: JOB,
    options: QUOTA_OPTIONS,
    subcommands: [
      {
        usage: 'quota set [job]',
        describe: "correct it by the figure on the provider's page",
        examples: ['quota set nightly.yaml --left 4200', 'quota set --account acme --spent 800'],
        argument: JOB,
        options: {
          left: { type: 'number', range: CREDITS, describe: "credits left on the provider's page" },
          spent: { type: 'number', range: CREDITS, describe: "credits spent on the provider's page, by everyone" },
          ...QUOTA_OPTIONS,
        },
        load: async () => (await import('./commands/quota.ts')).quotaSetCommand,
      },
    ],
    load: async () => (await import('./commands/quota.ts')).quotaCommand,
  },
  {
    usage: 'topics',
    describe: 'list the 37 topics: columns, price, how long answers stay fresh',
    examples: ['topics', 'topics --json'],
    options: json,
    load: async () => (await import('./commands/topics.ts')).topicsCommand,
  },
  {
    usage: 'job',
    describe: 'check a job file, or print its JSON Schema',
    subcommands: [
      {
        usage: 'job check [file]',
        describe: 'list all errors of a job file; spends nothing',
        examples: ['job check nightly.yaml', 'job check nightly.yaml --json'],
        argument: 'the job file (.yaml)',
        options: json,
        load: async () => (await import('./commands/job.ts')).jobCheckCommand,
      },
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
    describe: 'show, prune, export or import the answers in the store',
    subcommands: [
      {
        usage: 'cache stats',
        describe: 'show how many answers the store has, and its size',
        examples: ['cache stats'],
        options: STORE_OPTIONS,
        load: async () => (await import('./commands/cache.ts')).cacheCommands.stats,
      },
      {
        usage: 'cache prune',
        describe: 'delete old answers, or rejections',
        examples: ['cache prune --older-than 400d', 'cache prune --rejected'],
        options: {
          'older-than': { type: 'string', describe: 'delete answers older than this, e.g. 365d' },
          rejected: { type: 'boolean', describe: 'delete rejections, so that the locations are asked again (free)' },
          yes: { alias: 'y', type: 'boolean', describe: 'delete paid answers without asking' },
          ...STORE_OPTIONS,
        },
        load: async () => (await import('./commands/cache.ts')).cacheCommands.prune,
      },
      {
        usage: 'cache export',
        describe: 'print the answers, or write them as a table',
        examples: [
          'cache export > answers.ndjson            (a line an answer)',
          'cache export --format parquet -o answers (a row a place, in a folder)',
        ],
        options: {
          format: {
            type: 'string',
            choices: ['parquet', 'csv', 'ndjson'],
            describe: 'a row a place as parquet, csv or ndjson (default: by the name of -o)',
          },
          output: { alias: 'o', type: 'string', describe: 'file, or folder for Parquet' },
          topics: { alias: 't', type: 'string', describe: 'topics of the table (default: all with an answer)' },
          force: { type: 'boolean', describe: 'replace an existing file that is no export of Perilbook' },
          details: { type: 'boolean', describe: 'print the details (of run --details keep), not the fields' },
          ...STORE_OPTIONS,
        },
        load: async () => (await import('./commands/cache.ts')).cacheCommands.export,
      },
      {
        usage: 'cache import [path]',
        describe: 'bring answers that were bought elsewhere into the store',
        examples: ['cache import answers                     (of cache export, or another store)'],
        argument: 'file or folder of cache export, or the file of another store',
        options: STORE_OPTIONS,
        load: async () => (await import('./commands/cache.ts')).cacheCommands.import,
      },
    ],
  },
  {
    usage: 'places [job]',
    describe: 'buy a table of distinct places (of perilbook sql); an output is optional',
    examples: ['places places.parquet --topics natural --budget 5000', 'places places.csv -o answers.parquet --yes'],
    argument: 'file with lat, lng and perhaps weight, or a job file (.yaml)',
    options: RUN_OPTIONS,
    load: async () => (await import('./commands/run.ts')).placesCommand,
  },
  {
    usage: 'sql',
    describe: 'print SQL for a warehouse: its distinct places, and the join with the answers',
    examples: [
      'sql --dialect duckdb --table portfolio',
      'sql --dialect bigquery --table acme.book --lat latitude --lng longitude --only places',
    ],
    options: {
      dialect: {
        type: 'string',
        required: true,
        choices: DIALECT_NAMES,
        describe: `dialect: ${DIALECT_NAMES.join(', ')}`,
      },
      table: { type: 'string', describe: 'table of the rows, written into the SQL as it is (default portfolio)' },
      answers: { type: 'string', describe: 'table of the answers, written as it is (default answers)' },
      weight: { type: 'string', describe: 'numeric column to sum for each place (default: count its rows)' },
      numeric: {
        type: 'boolean',
        describe: 'latitude and longitude are numeric columns: leave out the checks of texts',
      },
      only: {
        type: 'string',
        choices: ['places', 'join'],
        describe: 'print one statement without a semicolon: places or join',
      },
      lat: {
        type: 'string',
        describe: 'latitude column; the table is not read, so it is not looked for (default lat)',
      },
      lng: { type: 'string', describe: 'longitude column (default lng)' },
      ...jobOptions(['precision', 'topics', 'prefix', 'no-counts']),
    },
    load: async () => (await import('./commands/sql.ts')).sqlCommand,
  },
  DATA_COMMAND,
  SERVICE_COMMAND,
  {
    usage: 'completion [shell..]',
    describe: 'print the script that completes command lines in bash, zsh or fish',
    examples: ['completion bash >> ~/.bashrc', 'completion zsh >> ~/.zshrc'],
    argument: 'bash, zsh or fish (default: by $SHELL); the script asks with a command line in its place',
    load: async () => {
      const { printCompletion } = await import('./completions.ts');
      return (context, flags) => printCompletion(context, flags, COMMANDS);
    },
  },
];
