import { type FlagsOf, json, log, quiet } from './command.ts';

/* The options of `perilbook data` and its subcommands, and the types of their values. */

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
    describe: 'a server to ask in place of all others (URL/host/path), or a copy of a downloads folder',
  },
} as const;

const replace = {
  replace: { type: 'boolean', describe: 'replace a dataset even where it loses rows' },
} as const;

const messages = { ...quiet, ...log, ...json } as const;

export const LIST_OPTIONS = { ...db, ...sources, ...log, ...json } as const;

export const GET_OPTIONS = {
  states: { type: 'string', describe: 'of these states, e.g. VA,MD' },
  for: {
    type: 'string',
    describe: 'of the states within 100 km of the locations in this file (or in the input of a job file)',
    conflicts: 'states',
  },
  'dry-run': { type: 'boolean', describe: 'show addresses, sizes and licences, and download nothing' },
  yes: { alias: 'y', type: 'boolean', describe: 'download without asking' },
  ...mirror,
  ...sources,
  ...replace,
  ...db,
  ...messages,
} as const;

export const UPDATE_OPTIONS = { ...mirror, ...sources, ...replace, ...db, ...messages } as const;

export const CHECK_OPTIONS = { ...mirror, ...sources, ...messages } as const;

export const LOAD_OPTIONS = {
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
} as const;

export const REMOVE_OPTIONS = {
  states: { type: 'string', describe: 'of these states only, e.g. VA,MD' },
  ...sources,
  ...db,
  ...messages,
} as const;

export type DataListFlags = FlagsOf<typeof LIST_OPTIONS>;
export type DataGetFlags = FlagsOf<typeof GET_OPTIONS>;
export type DataUpdateFlags = FlagsOf<typeof UPDATE_OPTIONS>;
export type DataCheckFlags = FlagsOf<typeof CHECK_OPTIONS>;
export type DataLoadFlags = FlagsOf<typeof LOAD_OPTIONS>;
export type DataRemoveFlags = FlagsOf<typeof REMOVE_OPTIONS>;
