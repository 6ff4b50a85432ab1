import type { Options, PositionalOptions } from 'yargs';
import type { CliContext } from './context.ts';

/** The parsed command line: values by the names of options and positional arguments. */
export type Flags = Readonly<Record<string, unknown>>;

/** Runs a command; resolves to the exit code. */
export type RunCommand = (context: CliContext, flags: Flags) => Promise<number>;

/** A command as plain data: what parsing, help and completion need. Its code is loaded when it is run. */
export interface Command {
  /** Its name and its positional arguments, in the notation of yargs: `cache import [path]`. */
  readonly usage: string;
  /** Further arguments are input files too. Not `[job..]` of yargs: it drops a `-`. */
  readonly takesFiles?: boolean;
  readonly describe: string;
  /** Default: those of the subcommands. */
  readonly examples?: readonly string[];
  readonly positionals?: Readonly<Record<string, PositionalOptions>>;
  readonly options?: Readonly<Record<string, Options>>;
  readonly subcommands?: readonly Command[];
  /** Absent where a subcommand must be named. */
  readonly load?: () => Promise<RunCommand>;
}

/** The words that name a command: `cache import`. */
export function nameOfCommand({ usage }: Command): string {
  return usage.replace(/ [<[].*$/, '');
}

/** The last word of its name. */
export function wordOfCommand(command: Command): string {
  return nameOfCommand(command).split(' ').at(-1)!;
}

/** The command that the words name, with a subcommand if they name one of its own; null where they name none. */
export function commandOf(words: readonly string[], commands: readonly Command[]): Command | null {
  const command = commands.find((candidate) => words.includes(wordOfCommand(candidate)));
  return command === undefined ? null : (commandOf(words, command.subcommands ?? []) ?? command);
}

/** The commands that can be run, subcommands among them. */
export function runnableCommands(commands: readonly Command[]): Command[] {
  return commands.flatMap((command) => [
    ...(command.load === undefined ? [] : [command]),
    ...runnableCommands(command.subcommands ?? []),
  ]);
}

export function examplesOf({ examples, subcommands = [] }: Command): readonly string[] {
  return examples ?? subcommands.flatMap(examplesOf);
}

/** The names and aliases of options. */
export function optionNames(options: Command['options'] = {}): string[] {
  return Object.entries(options).flatMap(([name, { alias = [] }]) => [name, ...[alias].flat()]);
}

/** An option as it is typed: `--topics`, `-t`. */
export function dashed(name: string): string {
  return name.length === 1 ? `-${name}` : `--${name}`;
}
