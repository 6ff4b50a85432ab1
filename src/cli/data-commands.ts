import { type CommandTable, json, log, quiet, yes } from './command.ts';

const db = { db: { type: 'string', describe: 'the data file (default: data.db in the data folder)' } } as const;

const sources = {
  sources: {
    type: 'string',
    describe: 'file with other addresses of sources (default: sources.yaml in the data folder)',
  },
} as const;

const mirror = {
  mirror: {
    type: 'string',
    describe: 'a server to ask in place of all others (URL/host/path), or a copy of a downloads folder',
  },
} as const;

const replace = { replace: { type: 'boolean', describe: 'replace a dataset even where it loses rows' } } as const;

const messages = { ...quiet, ...log, ...json } as const;

/** `perilbook data`: without a subcommand it lists the data. */
export const DATA_COMMANDS = {
  data: {
    describe: "list the agencies' public data on this machine; get, update, check, load or remove it",
    examples: [
      'data get natural --for portfolio.csv      (the states of its locations)',
      'data get all --states VA,MD --dry-run     (addresses, sizes and licences)',
      'data update                               (downloads only what changed)',
      'data load sample                          (made-up data for all topics)',
    ],
    options: { ...db, ...sources, ...log, ...json },
  },
  'data get': {
    argument: ['[names..]', 'topics, sources, natural or all'],
    describe: 'download and load data, without an account',
    examples: ['data get natural --for portfolio.csv', 'data get all --states VA,MD --dry-run'],
    options: {
      states: { type: 'string', describe: 'of these states, e.g. VA,MD' },
      for: {
        type: 'string',
        describe: 'of the states within 100 km of the locations in this file (or in the input of a job file)',
        conflicts: 'states',
      },
      'dry-run': { type: 'boolean', describe: 'show addresses, sizes and licences, and download nothing' },
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
      states: { type: 'string', describe: 'take the rows of these states only and keep those of others; US for all' },
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
} as const satisfies CommandTable;
