import type { StatementBy } from '../../store/ledger/port.ts';
import {
  type CommandTable,
  commandTree,
  type FlagsOf,
  jobOptions,
  json,
  log,
  port,
  quiet,
  yes,
} from './command.ts';
import { SERVICE_COMMANDS } from './service-commands.ts';

const JOB = ['[job]', 'job file (.yaml) or input file; - for stdin'] as const;

const INPUTS = [
  '[job..]',
  'job file (.yaml), or input: a file, - for stdin, a folder or several part files',
] as const;

const CREDITS = [0, Number.MAX_SAFE_INTEGER] as const;

/** The report belongs to the outputs in help. */
const OUTPUT = 'Output';

const hidden = { hidden: true } as const;

const csv = {
  csv: { type: 'boolean', describe: 'print the rows as CSV on stdout', conflicts: 'json' },
} as const;

const force = {
  type: 'boolean',
  describe: 'replace an existing file that Perilbook did not write',
} as const;

const limit = {
  type: 'number',
  range: [1, Number.MAX_SAFE_INTEGER],
  describe: 'look up the first N located rows only, for a trial; the others stay without answers',
} as const;

/** Options for the billing period of an account. */
const ACCOUNT = [
  ...([
    'service',
    'base-url',
    'api-key-file',
    'account',
    'subscription',
    'anniversary-day',
  ] as const),
  ...(['reserve', 'overage-ceiling', 'store'] as const),
] as const;

const quota = {
  ...jobOptions(ACCOUNT),
  by: {
    type: 'string',
    choices: ['run', 'job', 'key', 'day'] satisfies StatementBy[],
    describe: 'add a statement by run, job, key or day',
  },
  ...json,
  ...csv,
} as const;

const store = { ...jobOptions(['store']), ...json } as const;

const db = {
  db: { type: 'string', describe: 'the data file (default: data.db in the data folder)' },
} as const;

const sources = {
  sources: {
    type: 'string',
    describe: 'file with other addresses of sources (default: sources.yaml in the data folder)',
  },
} as const;

const mirror = {
  mirror: {
    type: 'string',
    describe:
      'a server to ask in place of all others (URL/host/path), or a copy of a downloads folder',
  },
} as const;

const replace = {
  replace: { type: 'boolean', describe: 'replace a dataset even where it loses rows' },
} as const;

const acceptPrice = {
  'accept-price': {
    type: 'number',
    range: CREDITS,
    describe: 'accept a plan up to so many credits although the service refused a cheaper way',
    ...hidden,
  },
} as const;

const messages = { ...quiet, ...log, ...json } as const;

export const COMMAND_TABLE = {
  lookup: {
    argument: [
      '[location..]',
      'latitude and longitude in decimal degrees, as two words or with a comma',
    ],
    describe: 'answer one location: latitude and longitude',
    examples: [
      'lookup 34.0522 -118.2437 --topics wildfire,earthquake',
      'lookup 34.0522,-118.2437 --service sample --json',
    ],
    options: {
      ...jobOptions(['topics', 'precision', 'budget', 'time-to-live', ...ACCOUNT]),
      yes: { ...yes, describe: 'spend what the answers cost without asking' },
      ...acceptPrice,
      ...json,
    },
  },
  plan: {
    argument: INPUTS,
    describe: 'show what a run would cost; spends nothing',
    examples: ['plan portfolio.csv --topics natural', 'plan nightly.yaml --json'],
    options: { ...jobOptions(), limit, ...json },
  },
  run: {
    argument: INPUTS,
    describe: 'buy what is missing and write the output; run it again to resume',
    examples: [
      'run portfolio.csv -o out.csv --topics wildfire,riverineFlood',
      'run portfolio.csv -o out.parquet --topics all --order-by tiv --budget 5000',
      'run portfolio/ -o out/ --budget 5000    (part files: each is written under its name)',
      'run nightly.yaml --yes --quiet       (from cron)',
    ],
    options: {
      ...jobOptions(),
      limit: { ...limit, group: 'Money and time', ...hidden },
      yes: {
        ...yes,
        group: 'Money and time',
        describe: 'spend what the plan costs without asking',
      },
      'accept-price': { ...acceptPrice['accept-price'], group: 'Money and time' },
      report: {
        type: 'string',
        group: OUTPUT,
        describe: 'also write the HTML report to this file',
        ...hidden,
      },
      force: { ...force, group: OUTPUT, ...hidden },
      json: { ...json.json, ...hidden },
      quiet: { ...quiet.quiet, ...hidden },
      log: { ...log.log, ...hidden },
      debug: {
        type: 'boolean',
        describe: 'log each request and its outcome on stderr, without keys',
        ...hidden,
      },
    },
  },
  report: {
    argument: INPUTS,
    describe:
      'write an HTML report: value at risk, map, accumulation, locations, data quality; spends nothing',
    examples: [
      'report nightly.yaml',
      'report portfolio.csv --topics natural --report portfolio.html',
      'report nightly.yaml --compare enriched-2026-11-20.csv',
    ],
    options: {
      ...jobOptions(),
      ...json,
      report: { type: 'string', describe: 'file to write the report to; - for stdout' },
      force,
      compare: {
        type: 'string',
        describe: 'show what changed since an earlier output: a file, or a folder of part files',
      },
    },
  },
  ui: {
    argument: ['[job]', 'job file (.yaml) with the service and the account, or a file to open'],
    describe: 'open a page in the browser, on this machine only: price, buy, watch, download',
    examples: ['ui', 'ui portfolio.csv', 'ui nightly.yaml --budget 5000'],
    options: {
      ...jobOptions([...ACCOUNT, 'budget', 'time-to-live', 'concurrency']),
      port: { ...port, describe: 'port to listen on (default: any free port)' },
    },
  },
  status: {
    argument: JOB,
    describe: 'list runs: their state, what they spent, when to resume',
    examples: ['status', 'status nightly.yaml --json'],
    options: { ...jobOptions(['store', 'name']), ...json, ...csv },
  },
  quota: {
    argument: JOB,
    describe: 'show the billing period: allowance, spent, left, reset date',
    examples: [
      'quota nightly.yaml',
      'quota nightly.yaml --by day',
      'quota set nightly.yaml --left 4200',
    ],
    options: quota,
  },
  'quota set': {
    argument: JOB,
    describe: "correct it by the figure on the provider's page",
    examples: ['quota set nightly.yaml --left 4200', 'quota set --account acme --spent 800'],
    options: {
      left: { type: 'number', range: CREDITS, describe: "credits left on the provider's page" },
      spent: {
        type: 'number',
        range: CREDITS,
        describe: "credits spent on the provider's page, by everyone",
      },
      ...quota,
    },
  },
  topics: {
    describe: 'list the topics: columns, price, how long answers stay fresh',
    examples: ['topics', 'topics --json'],
    options: json,
  },
  job: { describe: 'check a job file, or print its JSON Schema' },
  'job check': {
    argument: ['[file]', 'the job file (.yaml)'],
    describe: 'list all errors of a job file; spends nothing',
    examples: ['job check nightly.yaml', 'job check nightly.yaml --json'],
    options: json,
  },
  'job schema': {
    describe: 'print the JSON Schema of job files, for editors',
    examples: ['job schema > job.schema.json'],
    options: {},
  },
  layer: { describe: 'check the description of a layer of your own, or print its JSON Schema' },
  'layer check': {
    argument: ['[names..]', 'the description (.yaml), and files with its polygons'],
    describe: 'list all errors of a description, and what it would load; stores nothing',
    examples: ['layer check ca_fire_zone.layer.yaml', 'layer check fire.layer.yaml fire.gpkg'],
    options: json,
  },
  'layer schema': {
    describe: 'print the JSON Schema of descriptions, for editors',
    examples: ['layer schema > layer.schema.json'],
    options: {},
  },
  cache: { describe: 'show or prune the answers in the store' },
  'cache stats': {
    describe: 'show how many answers the store has, and its size',
    examples: ['cache stats'],
    options: store,
  },
  'cache prune': {
    describe: 'delete old answers, rejections, learned prices, or damaged answers',
    examples: ['cache prune --older-than 400d', 'cache prune --rejected'],
    options: {
      'older-than': {
        type: 'string',
        describe: 'delete answers, and runs in status, older than this, e.g. 365d',
      },
      rejected: {
        type: 'boolean',
        describe: 'delete rejections, so that the locations are asked again (free)',
      },
      prices: {
        type: 'boolean',
        describe: 'forget what services charged: the prices of the contract are expected again',
      },
      damaged: {
        type: 'boolean',
        describe: 'delete answers that have changed since they were written',
      },
      yes: { ...yes, describe: 'delete paid answers without asking' },
      ...store,
    },
  },
  store: { describe: 'make the store' },
  'store init': {
    describe: 'make the store, or bring it up to the version of this program',
    examples: [
      'store init',
      'store init --store postgres://perilbook_owner@db.example.com/hazards',
    ],
    options: store,
  },
  /** Without a subcommand it lists the data. */
  data: {
    describe:
      "list the agencies' public data on this machine; get, update, check, load or remove it",
    examples: [
      'data get natural --for portfolio.csv      (the states of its locations)',
      'data get all --states VA,MD --dry-run     (addresses, sizes and licences)',
      'data update                               (downloads only what changed)',
      'data load sample                          (made-up data for all topics)',
    ],
    options: {
      all: { type: 'boolean', describe: 'list what could be downloaded, too' },
      ...db,
      ...sources,
      ...log,
      ...json,
    },
  },
  'data get': {
    argument: ['[names..]', 'topics, sources, natural or all'],
    describe: 'download and load data, without an account',
    examples: ['data get natural --for portfolio.csv', 'data get all --states VA,MD --dry-run'],
    options: {
      states: { type: 'string', describe: 'of these states, e.g. VA,MD' },
      for: {
        type: 'string',
        describe:
          'of the states within 100 km of the locations in this file (or in the input of a job file)',
        conflicts: 'states',
      },
      'dry-run': {
        type: 'boolean',
        describe: 'show addresses, sizes and licences, and download nothing',
      },
      yes: { ...yes, describe: 'download without asking' },
      ...mirror,
      ...sources,
      ...replace,
      ...db,
      ...messages,
    },
  },
  'data update': {
    argument: ['[names..]', 'sources (default: all that were downloaded)'],
    describe: 'download and load what changed',
    examples: ['data update', 'data update hurdat2'],
    options: { ...mirror, ...sources, ...replace, ...db, ...messages },
  },
  'data check': {
    argument: ['[names..]', 'sources (default: all)'],
    describe: 'check that the sources are there and have the expected format; downloads nothing',
    examples: ['data check', 'data check hurdat2'],
    options: { ...mirror, ...sources, ...messages },
  },
  'data load': {
    argument: ['[names..]', 'sample, or a loader and its files'],
    describe: "load an agency's file, or sample data; without a name, list the loaders",
    examples: ['data load sample', 'data load hurdat2 hurdat2.txt', 'data load'],
    options: {
      states: {
        type: 'string',
        describe: 'take the rows of these states only and keep those of others; US for all',
      },
      lat: { type: 'string', describe: 'column of the latitude' },
      lng: { type: 'string', describe: 'column of the longitude' },
      sites: { type: 'string', describe: "airnow: file of the monitors' locations" },
      source: { type: 'string', describe: 'where the file is from' },
      vintage: { type: 'string', describe: 'date or period of the file' },
      licence: { type: 'string', describe: "notice that the file's licence requires" },
      force: { type: 'boolean', describe: "load a file that does not look like the loader's" },
      ...replace,
      ...db,
      ...messages,
    },
  },
  'data remove': {
    argument: ['[names..]', 'sources, or datasets as perilbook data lists them'],
    describe: 'remove downloads and what was loaded from them, or a loaded dataset',
    examples: ['data remove hurdat2', 'data remove power-plants --states VA'],
    options: {
      states: { type: 'string', describe: 'of these states only, e.g. VA,MD' },
      yes: { ...yes, describe: 'remove without asking' },
      ...sources,
      ...db,
      ...messages,
    },
  },
  ...SERVICE_COMMANDS,
  /** Printed by yargs, which also answers the script's questions. */
  completion: {
    describe: 'print the script that completes command lines in your shell ($SHELL): bash or zsh',
  },
} as const satisfies CommandTable;

type Table = typeof COMMAND_TABLE;

/** The commands that can be run. */
export type CommandName = {
  [Name in keyof Table]: Table[Name] extends { readonly options: object } ? Name : never;
}[keyof Table];

export type Flags<Name extends CommandName> = FlagsOf<Table[Name]['options']>;

export const COMMANDS = commandTree(COMMAND_TABLE);
