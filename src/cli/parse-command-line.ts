import { parseArgs } from 'node:util';
import { PerilbookError } from '../errors.ts';
import { didYouMean, nearestName } from '../nearest-name.ts';
import {
  type Command,
  type CommandOption,
  commandOf,
  dashed,
  type Flags,
  nameOfCommand,
  optionNames,
  runnableCommands,
  wordOfCommand,
} from './command.ts';

/** What a command line asks for. `isAll`: help shows the options that few people need, too. */
export type CommandLine =
  | { readonly kind: 'version' }
  | { readonly kind: 'help'; readonly command: Command | null; readonly isAll: boolean }
  | { readonly kind: 'command'; readonly command: Command; readonly flags: Flags };

/** Options of every command. */
export const COMMON_OPTIONS = {
  version: { type: 'boolean', describe: 'show the version' },
  help: { alias: 'h', type: 'boolean', describe: 'show help' },
} as const satisfies Command['options'];

/** Node's parser splits the words; this module gives them their meaning and reports the errors. @throws USAGE */
export function parseCommandLine(args: readonly string[], commands: readonly Command[]): CommandLine {
  // `help run` is short for `run --help`.
  if (args[0] === 'help') return parseCommandLine([...args.slice(1), '--help'], commands);
  // Options may stand before the command. To find the command, the parser must know which options take a value.
  const all = Object.assign({}, ...runnableCommands(commands).map(({ options }) => options));
  const { positionals: words } = tokensOf(args, all);
  const command = commandOf(words, commands);
  if (command === null && words.length > 0) throw unknownCommand(words[0]!, commands);
  const { options: given, positionals } = tokensOf(args, { ...all, ...command?.options });
  const has = (name: string) => given.some((token) => token.name === name);
  if (has('version')) return { kind: 'version' };
  if (has('help')) return { kind: 'help', command, isAll: has('all') };
  if (command === null) throw new PerilbookError('USAGE', 'Missing command', LIST_COMMANDS);
  const name = nameOfCommand(command);
  const rest = positionals.slice(name.split(' ').length);
  if (command.subcommands !== undefined && command.argument === undefined) checkSubcommand(command, rest[0]);
  const [family] = name.split(' ');
  refuseUnknownOptions(command, given, commandOf([family!], commands)!);
  const flags = { ...valuesOf(given, command), ...argumentsOf(rest, command) };
  return { kind: 'command', command, flags: { ...flags, command: name } };
}

/** A typed option. */
interface TypedOption {
  /** The long name, where the command line has the letter of an option. */
  readonly name: string;
  /** With its dashes, as it was typed. */
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

function tokensOf(args: readonly string[], options: Readonly<Record<string, CommandOption>>) {
  const config = Object.entries({ ...options, ...COMMON_OPTIONS }).map(([name, option]) => {
    const type = option.type === 'boolean' ? ('boolean' as const) : ('string' as const);
    return [name, 'alias' in option && option.alias !== undefined ? { type, short: option.alias } : { type }] as const;
  });
  const { tokens, positionals } = parseArgs({
    args: [...args],
    options: Object.fromEntries(config),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  return { positionals, options: tokens.filter((token) => token.kind === 'option').map(withoutSign) };
}

/** Node's parser takes the sign of `-o=out.csv` for the first letter of the file's name. */
function withoutSign(option: TypedOption): TypedOption {
  const { rawName, value, inlineValue } = option;
  return inlineValue && !rawName.startsWith('--') ? { ...option, value: value?.replace(/^=/, '') } : option;
}

/** The values of options by name. @throws USAGE */
function valuesOf(given: readonly TypedOption[], command: Command): Flags {
  const flags: Record<string, unknown> = {};
  const missing = Object.entries(command.options ?? {}).find(
    ([name, { required }]) => required && !given.some((option) => option.name === name && option.value !== ''),
  );
  if (missing !== undefined) {
    const [name, { choices }] = missing;
    if (choices === undefined) throw usage(`${dashed(name)} is missing`, command);
    throw new PerilbookError('USAGE', `${dashed(name)} is missing`, `Use one of: ${choices.join(', ')}.`);
  }
  for (const [name, tokens] of Map.groupBy(given, (token) => token.name)) {
    const option = command.options![name]!;
    // A switch may be given twice: it has no value that could differ.
    if (tokens.length > 1 && option.type !== 'boolean') {
      const times = tokens.length === 2 ? 'twice' : `${tokens.length} times`;
      throw new PerilbookError('USAGE', `${dashed(name)} is given ${times}`, 'Give it once.');
    }
    if (option.conflicts !== undefined && given.some((other) => other.name === option.conflicts)) {
      throw usage(`${dashed(name)} cannot be combined with ${dashed(option.conflicts)}`, command);
    }
    flags[name] =
      option.type === 'boolean'
        ? tokens.map((token) => isOn(token, command)).at(-1)
        : givenValue(tokens[0]!, option, command);
  }
  return flags;
}

function isOn({ name, value = 'true' }: TypedOption, command: Command): boolean {
  if (value !== 'true' && value !== 'false') throw usage(`${dashed(name)} takes no value`, command);
  return value === 'true';
}

function givenValue(
  { name, value, inlineValue }: TypedOption,
  option: CommandOption,
  command: Command,
): string | number {
  // Numbers may be negative, and - is standard input.
  if (value === undefined || (!inlineValue && /^-[^\d.]/.test(value))) {
    throw usage(`${dashed(name)} needs a value`, command);
  }
  const { choices } = option;
  if (choices !== undefined && !choices.includes(value)) {
    const message = `Unknown value of ${dashed(name)}: ${JSON.stringify(value)}${didYouMean(value, choices)}`;
    throw new PerilbookError('USAGE', message, `Use one of: ${choices.join(', ')}.`);
  }
  if (option.type !== 'number') return value;
  // Number('') is 0, and a reserve of 0 is no reserve.
  if (value.trim() === '') {
    const hint = 'Give a number or leave the option out. Is a shell variable empty?';
    throw new PerilbookError('USAGE', `${dashed(name)} is empty`, hint);
  }
  const number = Number(value);
  if (Number.isNaN(number)) throw notANumber(dashed(name));
  const [least, most] = option.range ?? [];
  if (least === undefined || (Number.isInteger(number) && number >= least && number <= most!)) return number;
  const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
  throw new PerilbookError('USAGE', `${dashed(name)} ${value} is out of range`, `Give a whole number ${range}.`);
}

/** @param name as it was typed: `--budget`, or the name of an environment variable */
export function notANumber(name: string): PerilbookError {
  return new PerilbookError('USAGE', `${name} expects a number`, 'Write it in digits without commas, like 5000.');
}

/** The argument of a command by its name, and the files after it. @throws USAGE */
function argumentsOf(words: readonly string[], { usage: text, takesFiles = false, ...command }: Command): Flags {
  const [, name, several] = /\[(\w+)(\.\.)?\]$/.exec(text) ?? [];
  if (name !== undefined && several !== undefined) return { [name]: words };
  const extra = words.slice(name === undefined ? 0 : 1);
  if (extra.length > 0 && !takesFiles) {
    throw usage(`Unexpected argument: ${extra.join(', ')}`, { usage: text, ...command });
  }
  return name === undefined ? {} : { [name]: extra.length > 0 ? words : words[0] };
}

/** @throws USAGE for a word that is no subcommand, and where one must be named */
function checkSubcommand(command: Command, word: string | undefined): void {
  const name = nameOfCommand(command);
  const words = command.subcommands!.map(wordOfCommand);
  if (word !== undefined) {
    const message = `Unknown ${name} action ${JSON.stringify(word)}${didYouMean(word, words)}`;
    throw new PerilbookError('USAGE', message, `Use one of: ${words.join(', ')}.`);
  }
  if (command.load === undefined) throw usage(`Missing argument for \`perilbook ${name}\``, command);
}

const LIST_COMMANDS = 'perilbook --help lists the commands.';

function unknownCommand(name: string, commands: readonly Command[]): PerilbookError {
  const near = didYouMean(name, commands.map(nameOfCommand));
  return new PerilbookError('USAGE', `Unknown command: ${name}${near}`, LIST_COMMANDS);
}

function usage(message: string, command: Command): PerilbookError {
  return new PerilbookError('USAGE', message, `See perilbook ${nameOfCommand(command)} --help.`);
}

/** @param family the command of the same first word, whose subcommands may have an option that this one lacks */
function refuseUnknownOptions(command: Command, given: readonly TypedOption[], family: Command): void {
  const options = Object.keys(command.options ?? {});
  const unknown = [...new Set(given.map(({ name }) => name))].filter((name) => !options.includes(name));
  if (unknown.length === 0) return;
  const near = unknown.map((name) => nearestName(name, options)).filter((name) => name !== null);
  const meant = near.length === 0 ? '' : `; did you mean ${near.map(dashed).join(' and ')}?`;
  const owners = runnableCommands([family]).filter(({ options: own }) =>
    unknown.some((name) => optionNames(own).includes(name)),
  );
  const theirs = owners.length === 0 ? '' : `; it is an option of ${owners.map(nameOfCommand).join(', ')}`;
  throw usage(
    `Unknown option${unknown.length > 1 ? 's' : ''}: ${unknown.map(dashed).join(', ')}${theirs || meant}`,
    command,
  );
}
