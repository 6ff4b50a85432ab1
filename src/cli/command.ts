import type { InferredOptionType } from 'yargs';
import { PerilbookError } from '../base/errors.ts';
import type { CliContext } from './context.ts';

/** Runs a command; resolves to the exit code. `words`: what follows its name, options apart. */
export type RunCommand<Flags> = (context: CliContext, flags: Flags, words: readonly string[]) => Promise<number>;

type CommandOptions = Readonly<Record<string, CommandOption>>;

/** The values of options by name, with the types that yargs gives them. */
export type FlagsOf<Options extends CommandOptions> = {
  readonly [Name in keyof Options as Options[Name] extends { demandOption: true } ? Name : never]: InferredOptionType<
    Options[Name]
  >;
} & {
  readonly [Name in keyof Options as Options[Name] extends { demandOption: true } ? never : Name]?:
    | InferredOptionType<Options[Name]>
    | undefined;
};

export interface CommandOption {
  /** One letter. */
  readonly alias?: string;
  readonly type: 'string' | 'number' | 'boolean';
  readonly describe: string;
  /** The heading in help. Default: Options. */
  readonly group?: string;
  /** Only `help --all` shows it. */
  readonly hidden?: boolean;
  /** The only values. */
  readonly choices?: readonly string[];
  /** Of a whole number: the least and the most. */
  readonly range?: readonly [least: number, most: number];
  readonly demandOption?: boolean;
  /** An option that cannot be combined with it. */
  readonly conflicts?: string;
}

/** A command as plain data: what parsing, help and completion need. Its code is loaded when it is run. */
export interface Command {
  /** Its name and its argument: `status [job]`; `[names..]` takes several. */
  readonly usage: string;
  readonly describe: string;
  /** Default: those of the subcommands. */
  readonly examples?: readonly string[];
  /** What the argument of `usage` is. */
  readonly argument?: string;
  readonly options?: CommandOptions;
  readonly subcommands?: readonly Command[];
  /** Absent where a subcommand must be named. */
  readonly load?: () => Promise<RunCommand<never>>;
}

/** A line of the table of commands. Its options give the flags of the code that it loads their types. */
export function command<const Options extends CommandOptions>(
  line: Omit<Command, 'options' | 'load'> & {
    readonly options: Options;
    readonly load: () => Promise<RunCommand<FlagsOf<Options>>>;
  },
): Command {
  return line;
}

/** The words that name a command: `cache stats`. */
export function nameOfCommand({ usage }: Command): string {
  return usage.replace(/ \[.*$/, '');
}

/** The last word of its name. */
export function wordOfCommand(command: Command): string {
  return nameOfCommand(command).split(' ').at(-1)!;
}

/** The command that the first words name, with a subcommand if the next words name one of its own; null where they name none. */
export function commandOf([word, ...more]: readonly string[], commands: readonly Command[]): Command | null {
  const command = commands.find((candidate) => wordOfCommand(candidate) === word);
  return command === undefined ? null : (commandOf(more, command.subcommands ?? []) ?? command);
}

/** The commands that can be run, subcommands among them. */
export function runnableCommands(commands: readonly Command[]): Command[] {
  return commands.flatMap((command) => [
    ...(command.load === undefined ? [] : [command]),
    ...runnableCommands(command.subcommands ?? []),
  ]);
}

/** The names and aliases of options. */
export function optionNames(options: Command['options'] = {}): string[] {
  return Object.entries(options).flatMap(([name, { alias }]) => (alias === undefined ? [name] : [name, alias]));
}

/** An option as it is typed: `--topics`, `-t`. */
export function dashed(name: string): string {
  return name.length === 1 ? `-${name}` : `--${name}`;
}

/** @param name as it was typed: `--budget`, or the name of an environment variable */
export function notANumber(name: string): PerilbookError {
  return new PerilbookError('USAGE', `${name} expects a number`, 'Write it in digits without commas, like 5000.');
}

/* Options that say how a command prints. */

export const json = { json: { type: 'boolean', describe: 'print one JSON value on stdout' } } as const;

export const log = {
  log: {
    type: 'string',
    choices: ['text', 'json'],
    describe: 'json: messages and progress as JSON lines on stderr (default text)',
  },
} as const;

/** 0: any free port. */
export const port = { type: 'number', range: [0, 65_535] } as const;

export const quiet = { quiet: { alias: 'q', type: 'boolean', describe: 'print errors only' } } as const;
