import type { Argv } from 'yargs';
import type { CliContext } from './context.ts';

/** What was said on the command line, by the names of the options. */
export type Flags = Readonly<Record<string, unknown>>;

/** A command of one file: what yargs must know, and what it does; resolves to the exit code. */
export interface Command {
  readonly command: string;
  readonly describe: string;
  readonly builder?: (yargs: Argv) => Argv;
  readonly run: (context: CliContext, flags: Flags) => Promise<number>;
}
