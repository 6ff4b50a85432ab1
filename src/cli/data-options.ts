import type { Options } from 'yargs';
import { SERVICE_OPTIONS } from './service-options.ts';

const { sites, source, vintage, licence, force } = SERVICE_OPTIONS;

/** The options of `perilbook data`; each description starts with the actions that use it. */
export const DATA_OPTIONS = {
  states: {
    type: 'string',
    describe: 'get: of these states, e.g. VA,MD; load: the rows of these states',
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
  lat: { type: 'string', describe: 'load: column of the latitude' },
  lng: { type: 'string', describe: 'load: column of the longitude' },
  ...{ sites, source, vintage, licence, force },
} as const satisfies Record<string, Options>;
