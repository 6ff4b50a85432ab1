import type { Options } from 'yargs';

/** The options of `perilbook data`; each description starts with the actions that use it. */
export const DATA_OPTIONS = {
  states: {
    type: 'string',
    describe:
      'get, remove: of these states, e.g. VA,MD; load: take their rows only and keep those of others; US for all',
    requiresArg: true,
  },
  for: {
    type: 'string',
    describe: 'get: of the states within 100 km of the locations in this file (or in the input of a job file)',
    requiresArg: true,
    conflicts: 'states',
  },
  'dry-run': { type: 'boolean', describe: 'get: show addresses, sizes and licences, and download nothing' },
  yes: { alias: 'y', type: 'boolean', describe: 'get: download without asking' },
  mirror: {
    type: 'string',
    describe:
      'get, update, check: a server to ask in place of all others (URL/host/path), or a copy of a downloads folder',
    requiresArg: true,
  },
  sources: {
    type: 'string',
    describe: 'file with other addresses of sources (sources.yaml in the data folder)',
    requiresArg: true,
  },
  replace: { type: 'boolean', describe: 'get, update, load: replace a dataset even where it loses rows' },
  db: { type: 'string', describe: 'the data file (default: service.db in the data folder)', requiresArg: true },
  lat: { type: 'string', describe: 'load: column of the latitude', requiresArg: true },
  lng: { type: 'string', describe: 'load: column of the longitude', requiresArg: true },
  sites: { type: 'string', describe: "load airnow: file of the monitors' locations", requiresArg: true },
  source: { type: 'string', describe: 'load: where the file is from', requiresArg: true },
  vintage: { type: 'string', describe: 'load: date or period of the file', requiresArg: true },
  licence: { type: 'string', describe: "load: notice that the file's licence requires", requiresArg: true },
  force: { type: 'boolean', describe: "load: load a file that does not look like the loader's" },
} as const satisfies Record<string, Options>;
