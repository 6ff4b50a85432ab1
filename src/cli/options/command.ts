import type { InferredOptionType } from 'yargs';
import { PerilbookError } from '../../base/errors.ts';
import { type NameFault, readPath } from '../../base/path-names.ts';
import {
  formatHelp,
  type Given,
  type JobFlags,
  type JobOptionName,
  SETTING_LIST,
  type SettingFlag,
  type SettingGroup,
  type SettingName,
} from '../../job/setting-table.ts';
import { durationMs, listOf } from '../../job/setting-texts.ts';
import type { CliContext } from '../frame/context.ts';

/** The exit code of a command; undefined: it is complete. */
export type ExitCode = number | undefined;

/** Runs a command. `words`: what follows its name, options apart. */
export type RunCommand<Flags> = (
  context: CliContext,
  flags: Flags,
  words: readonly string[],
) => Promise<ExitCode>;

type CommandOptions = Readonly<Record<string, CommandOption>>;

/** The values of options by name, with the types that yargs gives them. */
export type FlagsOf<Options extends CommandOptions> = {
  readonly [Name in keyof Options as Options[Name] extends { demandOption: true }
    ? Name
    : never]: InferredOptionType<Options[Name]>;
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
  readonly choices?: readonly string[];
  /** Of a whole number: the least and the most. */
  readonly range?: readonly [least: number, most: number];
  readonly demandOption?: boolean;
  readonly conflicts?: string | readonly string[];
}

/** A command as plain data, under its name: what parsing, help and completion need. program.ts loads its code when it runs. */
interface CommandEntry {
  /** Its argument as help shows it, `[job]` or for several `[names..]`, and what it means. */
  readonly argument?: readonly [usage: string, meaning: string];
  readonly describe: string;
  /** Default: those of the subcommands. */
  readonly examples?: readonly string[];
  /** Absent where a subcommand must be named. */
  readonly options?: CommandOptions;
}

/** Commands by name; those of `cache` are `cache stats` and `cache prune`. */
export type CommandTable = Readonly<Record<string, CommandEntry>>;

export interface Command extends CommandEntry {
  readonly name: string;
  readonly subcommands: readonly Command[];
}

/** The commands of a table whose names begin with the words of `above` and have one more. */
export function commandTree(table: CommandTable, above = ''): Command[] {
  return Object.entries(table)
    .filter(([name]) => name.startsWith(above) && !name.slice(above.length).includes(' '))
    .map(([name, entry]) => ({ ...entry, name, subcommands: commandTree(table, `${name} `) }));
}

/** Its name and its argument: `status [job]`. */
export function usageOf({ name, argument }: Command): string {
  return argument === undefined ? name : `${name} ${argument[0]}`;
}

/** The last word of its name. */
export function wordOfCommand({ name }: Command): string {
  return name.split(' ').at(-1)!;
}

/** The commands that can be run, subcommands among them. */
export function runnableCommands(commands: readonly Command[]): Command[] {
  return commands.flatMap((command) => [
    ...(command.options === undefined ? [] : [command]),
    ...runnableCommands(command.subcommands),
  ]);
}

/** The names of options and their short forms. */
export function optionNames(options: CommandOptions = {}): string[] {
  return Object.entries(options).flatMap(([name, { alias }]) =>
    alias === undefined ? [name] : [name, alias],
  );
}

/** An option as it is typed: `--topics`, `-t`. */
export function formatOption(name: string): string {
  return name.length === 1 ? `-${name}` : `--${name}`;
}

/** @param name as it was typed: `--budget`, or the name of an environment variable */
export function notANumber(name: string): PerilbookError {
  return usageError(`${name} expects a number`, 'Write it in digits without commas, like 5000.');
}

/** The milliseconds of an option such as `90d`; undefined where it is not given. @throws USAGE */
export function durationOption(name: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const ms = durationMs(given);
  if (ms !== null) return ms;
  throw durationMs(`${given}d`) === null
    ? usageError(
        `--${name} ${given}: must be a time such as 90s, 30m, 12h or 30d`,
        `For example: --${name} 30d.`,
      )
    : usageError(
        `--${name} ${given} has no unit`,
        `Write ${given}d for days; s, m and h are seconds, minutes and hours.`,
      );
}

/** A name on the command line as one function reads it. @param what `--db`, `the input` @throws USAGE, without the name: it may hold a password */
export function pathGiven(
  what: string,
  text: string,
  read: (text: string) => string | NameFault = readPath,
): string {
  const name = read(text);
  if (typeof name === 'string') return name;
  throw usageError(`${what}: ${name.fault}`, 'Correct the name.');
}

/** The error for a command line that asks for what cannot be done. */
export function usageError(message: string, hint: string): PerilbookError {
  return new PerilbookError('USAGE', message, hint);
}

/* Options of several commands. */

export const json = {
  json: { type: 'boolean', describe: 'print one JSON value on stdout' },
} as const;

export const log = {
  log: {
    type: 'string',
    choices: ['text', 'json'],
    describe: 'json: messages and progress as JSON lines on stderr (default text)',
  },
} as const;

/** 0: any free port. */
export const port = { type: 'number', range: [0, 65_535] } as const;

export const quiet = {
  quiet: { alias: 'q', type: 'boolean', describe: 'print errors only' },
} as const;

/** An approval in advance. */
export const yes = { alias: 'y', type: 'boolean' } as const;

export interface JobOption extends SettingFlag {
  readonly flag: JobOptionName;
  readonly setting: SettingName;
  readonly group: SettingGroup;
  readonly help: string;
}

/** The options as plain data: parsing and help need not load the libraries that check a job (job-of-options.ts). */
export const JOB_OPTIONS: readonly JobOption[] = SETTING_LIST.flatMap(([setting, line]) =>
  Object.entries(line.flags ?? {}).map(([flag, option]) => ({
    ...option,
    flag: flag as JobOptionName,
    setting,
    group: line.group,
    help: formatHelp({ ...line, help: option.help ?? line.help }),
  })),
);

/** The setting that an option gives, in the terms of the job file. */
export function settingOf({ type, value = (given) => given }: JobOption, given: Given): unknown {
  const text = String(given);
  if (type === 'list') return listOf(given);
  if (type === 'number') return value(Number(given));
  if (type === 'switch') return value(given === true);
  if (type === undefined) return value(text);
  // A share is `5 %` or 0.05. Anything else is left for the schema to refuse.
  return value(text.trim() === '' || Number.isNaN(Number(given)) ? text.trim() : Number(given));
}

type JobOptionTable<Name extends JobOptionName> = {
  readonly [N in Name]: CommandOption & {
    readonly type: NonNullable<JobFlags[N]> extends number
      ? 'number'
      : NonNullable<JobFlags[N]> extends boolean
        ? 'boolean'
        : 'string';
  };
};

/** The types of options for yargs. */
const TYPES = { number: 'number', switch: 'boolean', share: 'string', list: 'string' } as const;

/** The options of a command that reads a job: only `flags`, or all. Help hides the rarely used ones. */
export function jobOptions<Name extends JobOptionName = JobOptionName>(
  flags?: readonly Name[],
): JobOptionTable<Name> {
  const names: readonly string[] | undefined = flags;
  const own = JOB_OPTIONS.filter(({ flag }) => names === undefined || names.includes(flag));
  const options = own.map(({ flag, alias, type, help, group, isFrequent }) => {
    const described = { type: TYPES[type ?? 'list'], describe: help, group };
    const isHidden = flags === undefined && !isFrequent;
    return [flag, { ...described, ...(alias && { alias }), ...(isHidden && { hidden: true }) }];
  });
  return Object.fromEntries(options) as JobOptionTable<Name>;
}
