import type { Options, PositionalOptions } from 'yargs';
import type { CliContext } from './context.ts';

/** The parsed command line: values by the names of options and positional arguments. */
export type Flags = Readonly<Record<string, unknown>>;

/** Runs a command; resolves to the exit code. */
type RunCommand = (context: CliContext, flags: Flags) => Promise<number>;

interface PositionalArgument extends Omit<PositionalOptions, 'choices'> {
  /** The only values that it takes. We check them ourselves: yargs' error cannot suggest the nearest one. */
  readonly choices?: readonly string[];
}

/** A command as plain data: what parsing, help and completion need. Its code is loaded when it is run. */
export interface Command {
  /** In the notation of yargs: `cache <action>`. */
  readonly usage: string;
  /** Further arguments are input files too. Not `[job..]` of yargs: it drops a `-`. */
  readonly takesFiles?: boolean;
  readonly describe: string;
  readonly examples: readonly string[];
  readonly positionals?: Readonly<Record<string, PositionalArgument>>;
  readonly options?: Readonly<Record<string, Options>>;
  readonly load: () => Promise<RunCommand>;
}

export function nameOfCommand({ usage }: Command): string {
  return usage.split(' ')[0]!;
}

/** The names and aliases of options. */
export function optionNames(options: Command['options'] = {}): string[] {
  return Object.entries(options).flatMap(([name, { alias = [] }]) => [name, ...[alias].flat()]);
}

/** An option as it is typed: `--topics`, `-t`. */
export function dashed(name: string): string {
  return name.length === 1 ? `-${name}` : `--${name}`;
}
