import { type Command, command } from './command.ts';
import {
  CHECK_OPTIONS,
  GET_OPTIONS,
  LIST_OPTIONS,
  LOAD_OPTIONS,
  REMOVE_OPTIONS,
  UPDATE_OPTIONS,
} from './data-options.ts';

/** `perilbook data`: without a subcommand it lists the data. */
export const DATA_COMMAND: Command = command({
  usage: 'data',
  describe: "list the agencies' public data on this machine; get, update, check, load or remove it",
  examples: [
    'data get natural --for portfolio.csv      (the states of its locations)',
    'data get all --states VA,MD --dry-run     (addresses, sizes and licences)',
    'data update                               (downloads only what changed)',
    'data load sample                          (made-up data for all topics)',
  ],
  options: LIST_OPTIONS,
  subcommands: [
    command({
      usage: 'data get [names..]',
      describe: 'download and load data, without an account',
      examples: ['data get natural --for portfolio.csv', 'data get all --states VA,MD --dry-run'],
      argument: 'topics, sources, natural or all',
      options: GET_OPTIONS,
      load: async () => (await import('./commands/data.ts')).dataCommands.get,
    }),
    command({
      usage: 'data update [names..]',
      describe: 'download and load what changed',
      examples: ['data update', 'data update hurdat2'],
      argument: 'sources (default: all that were downloaded)',
      options: UPDATE_OPTIONS,
      load: async () => (await import('./commands/data.ts')).dataCommands.update,
    }),
    command({
      usage: 'data check [names..]',
      describe: 'check that the sources are there and have the expected format; downloads nothing',
      examples: ['data check', 'data check hurdat2'],
      argument: 'sources (default: all)',
      options: CHECK_OPTIONS,
      load: async () => (await import('./commands/data.ts')).dataCommands.check,
    }),
    command({
      usage: 'data load [names..]',
      describe: "load an agency's file, or sample data; without a name, list the loaders",
      examples: ['data load sample', 'data load hurdat2 hurdat2.txt', 'data load'],
      argument: 'sample, or a loader and its files',
      options: LOAD_OPTIONS,
      load: async () => (await import('./commands/data.ts')).dataCommands.load,
    }),
    command({
      usage: 'data remove [names..]',
      describe: 'remove downloads and what was loaded from them, or a loaded dataset',
      examples: ['data remove hurdat2', 'data remove power-plants --states VA'],
      argument: 'sources, or datasets as perilbook data lists them',
      options: REMOVE_OPTIONS,
      load: async () => (await import('./commands/data.ts')).dataCommands.remove,
    }),
  ],
  load: async () => (await import('./commands/data.ts')).dataCommands.list,
});
