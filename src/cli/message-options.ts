import type { Options } from 'yargs';

/* Options that say how a command prints. */

export const json = { json: { type: 'boolean', describe: 'print one JSON value on stdout' } } as const satisfies Record<
  string,
  Options
>;

export const log = {
  log: { type: 'string', describe: 'json: messages and progress as JSON lines on stderr (default text)' },
} as const satisfies Record<string, Options>;

export const quiet = {
  quiet: { alias: 'q', type: 'boolean', describe: 'print errors only' },
} as const satisfies Record<string, Options>;
