import { DIALECT_NAMES } from '../warehouse/sql-dialects.ts';
import type { Command } from './command.ts';
import { DATA_OPTIONS } from './data-options.ts';
import { ACCOUNT_FLAGS, LATER_INPUT_FLAGS, yargsJobOptions } from './job-options.ts';
import { SERVICE_OPTIONS } from './service-options.ts';

const job = { job: { type: 'string', describe: 'job file (.yaml) or input file; - for stdin' } } as const;

const inputs = {
  job: { type: 'string', describe: 'job file (.yaml), or input: a file, - for stdin, a folder or several part files' },
} as const;

const csv = { csv: { type: 'boolean', describe: 'print the rows as CSV on stdout', conflicts: 'json' } } as const;

const json = { json: { type: 'boolean', describe: 'print one JSON value on stdout' } } as const;

const log = {
  log: { type: 'string', describe: 'json: messages and progress as JSON lines on stderr (default text)' },
} as const;

const quiet = { quiet: { alias: 'q', type: 'boolean', describe: 'print errors only' } } as const;

const force = {
  force: { type: 'boolean', describe: 'replace an existing file that Perilbook did not write' },
} as const;

const RUN_OPTIONS = {
  ...yargsJobOptions(),
  ...json,
  plan: { type: 'string', describe: 'spend only what this approved plan allows (see plan --out)' },
  yes: { alias: 'y', type: 'boolean', describe: 'spend what the plan costs without asking' },
  ...quiet,
  report: { type: 'string', describe: 'also write the HTML report to this file' },
  ...force,
  ...log,
  debug: { type: 'boolean', describe: 'log each request and its outcome on stderr, without keys' },
} as const;

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
    positionals: inputs,
    options: {
      ...yargsJobOptions(),
      ...json,
      out: { type: 'string', describe: 'write the plan to this file, for approval' },
      ...force,
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
    positionals: inputs,
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
    positionals: inputs,
    options: {
      ...yargsJobOptions(),
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
    positionals: {
      job: { type: 'string', describe: 'job file (.yaml) with the service and the account, or a file to open' },
    },
    options: {
      ...yargsJobOptions(LATER_INPUT_FLAGS),
      port: { type: 'number', describe: 'port to listen on (default: any free port)' },
      'max-upload': { type: 'number', describe: 'largest upload in MB (default 2000)' },
    },
    load: async () => (await import('./commands/ui.ts')).uiCommand,
  },
  {
    usage: 'status [job]',
    describe: 'list runs: their state, what they spent, when to resume',
    examples: ['status', 'status nightly.yaml --json'],
    positionals: job,
    options: { ...yargsJobOptions(['store', 'name']), ...json, ...csv },
    load: async () => (await import('./commands/status.ts')).statusCommand,
  },
  {
    usage: 'quota [set] [job]',
    describe: 'show the billing period: allowance, spent, left, reset date; set corrects it',
    examples: ['quota nightly.yaml', 'quota nightly.yaml --by day', 'quota set nightly.yaml --left 4200'],
    // The first word is `set` or the job.
    positionals: {
      set: { type: 'string', describe: "set: record the provider's own figure for this period" },
      ...job,
    },
    options: {
      ...yargsJobOptions(ACCOUNT_FLAGS),
      by: { type: 'string', describe: 'add a statement by run, job, key or day' },
      left: { type: 'number', describe: "set: credits left on the provider's page" },
      spent: { type: 'number', describe: "set: credits spent on the provider's page, by everyone" },
      ...json,
      ...csv,
    },
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
    usage: 'job <action> [file]',
    describe: 'check FILE: list all errors of a job file; schema: print its JSON Schema',
    examples: ['job check nightly.yaml', 'job check nightly.yaml --json', 'job schema > job.schema.json'],
    positionals: {
      action: { describe: 'check or schema', choices: ['check', 'schema'] },
      file: { type: 'string', describe: 'check: the job file (.yaml)' },
    },
    options: json,
    load: async () => (await import('./commands/job.ts')).jobCommand,
  },
  {
    usage: 'cache <action> [path]',
    describe: 'stats, prune, export or import the answers in the store',
    examples: [
      'cache stats',
      'cache prune --older-than 400d',
      'cache prune --rejected',
      'cache export > answers.ndjson            (a line an answer)',
      'cache export --format parquet -o answers (a row a place, in a folder)',
      'cache import answers                     (of cache export, or another store)',
    ],
    positionals: {
      action: { describe: 'stats, prune, export or import', choices: ['stats', 'prune', 'export', 'import'] },
      path: { type: 'string', describe: 'import: file or folder of cache export, or the file of another store' },
    },
    options: {
      store: { type: 'string', describe: 'file with answers, ledger and runs' },
      'older-than': { type: 'string', describe: 'prune: delete answers older than this, e.g. 365d' },
      rejected: { type: 'boolean', describe: 'prune: delete rejections, so that the locations are asked again (free)' },
      yes: { alias: 'y', type: 'boolean', describe: 'prune: delete paid answers without asking' },
      format: {
        type: 'string',
        describe: 'export: a row a place as parquet, csv or ndjson (default: by the name of -o)',
      },
      output: { alias: 'o', type: 'string', describe: 'export: file, or folder for Parquet' },
      topics: { alias: 't', type: 'string', describe: 'export: topics of the table (default: all with an answer)' },
      force: { type: 'boolean', describe: 'export: replace an existing file that is no export of Perilbook' },
      details: { type: 'boolean', describe: 'export: print the details (of run --details keep), not the fields' },
      ...json,
    },
    load: async () => (await import('./commands/cache.ts')).cacheCommand,
  },
  {
    usage: 'places [job]',
    describe: 'buy a table of distinct places (of perilbook sql); an output is optional',
    examples: ['places places.parquet --topics natural --budget 5000', 'places places.csv -o answers.parquet --yes'],
    positionals: { job: { type: 'string', describe: 'file with lat, lng and perhaps weight, or a job file (.yaml)' } },
    options: RUN_OPTIONS,
    load: async () => (await import('./commands/buy-places.ts')).placesCommand,
  },
  {
    usage: 'sql',
    describe: 'print SQL for a warehouse: its distinct places, and the join with the answers',
    examples: [
      'sql --dialect duckdb --table portfolio',
      'sql --dialect bigquery --table acme.book --lat latitude --lng longitude --only places',
    ],
    options: {
      dialect: { type: 'string', describe: `dialect: ${DIALECT_NAMES.join(', ')}` },
      table: { type: 'string', describe: 'table of the rows, written into the SQL as it is (default portfolio)' },
      answers: { type: 'string', describe: 'table of the answers, written as it is (default answers)' },
      weight: { type: 'string', describe: 'numeric column to sum for each place (default: count its rows)' },
      numeric: {
        type: 'boolean',
        describe: 'latitude and longitude are numeric columns: leave out the checks of texts',
      },
      only: { type: 'string', describe: 'print one statement without a semicolon: places or join' },
      lat: {
        type: 'string',
        describe: 'latitude column; the table is not read, so it is not looked for (default lat)',
      },
      lng: { type: 'string', describe: 'longitude column (default lng)' },
      ...yargsJobOptions(['precision', 'topics', 'prefix', 'no-counts']),
    },
    load: async () => (await import('./commands/sql.ts')).sqlCommand,
  },
  {
    usage: 'data [action] [names..]',
    describe: "download and load the agencies' public data, without an account; without an action, list it",
    examples: [
      'data get natural --for portfolio.csv      (the states of its locations)',
      'data get all --states VA,MD --dry-run     (addresses, sizes and licences)',
      'data update                               (downloads only what changed)',
      'data load sample                          (made-up data for all topics)',
    ],
    positionals: {
      action: {
        describe: 'get, update, check, remove or load',
        choices: ['get', 'update', 'check', 'remove', 'load'],
      },
      names: { type: 'string', array: true, describe: 'topics, sources, natural or all; load: a loader and its files' },
    },
    options: { ...DATA_OPTIONS, ...quiet, ...log, ...json },
    load: async () => (await import('./commands/data.ts')).dataCommand,
  },
  {
    usage: 'service <action> [what]',
    describe: 'run your own service: start, check, account, key',
    examples: [
      'service account create --account acme --subscription professional',
      'service key create --account acme --scopes all',
      'service start --port 8737',
    ],
    positionals: {
      action: {
        describe: 'start, check, account or key',
        choices: ['start', 'check', 'account', 'key'],
      },
      what: {
        type: 'string',
        describe: 'account: create, change, list, statement; key: create, list, rotate, revoke',
      },
    },
    options: { ...SERVICE_OPTIONS, ...log, ...json },
    load: async () => (await import('./commands/service.ts')).serviceCommand,
  },
];
