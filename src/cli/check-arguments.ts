import { PerilbookError } from '../errors.ts';
import { didYouMean, nearestName } from '../nearest-name.ts';
import {
  type Command,
  dashed,
  type Flags,
  nameOfCommand,
  optionNames,
  runnableCommands,
  wordOfCommand,
} from './command.ts';
import { notANumber } from './option-values.ts';

/** Names that yargs itself puts among the flags. */
const OF_YARGS = ['_', '$0', '', 'help', 'h', 'version'];

/**
 * Refuses what yargs lets through. Its own strict mode would refuse unknown options too, but says so only in a sentence of
 * English: no error code, and no name to suggest the nearest option from.
 *
 * @throws USAGE
 */
export function checkArguments(
  command: Command,
  args: readonly string[],
  flags: Flags,
  family: readonly Command[],
): void {
  const name = nameOfCommand(command);
  const extra = (flags._ as readonly (string | number)[]).slice(name.split(' ').length).map(String);
  if (command.subcommands !== undefined && command.positionals === undefined) {
    refuseUnknownSubcommand(command, command.subcommands.map(wordOfCommand), extra[0]);
  }
  refuseUnknownOptions(command, flags, family);
  if (extra.length > 0 && !command.takesFiles) throw usage(`Unexpected argument: ${extra.join(', ')}`, command);
  for (const [name, { type, alias = [] }] of Object.entries(command.options ?? {})) {
    const value = flags[name];
    if (Array.isArray(value)) {
      const times = value.length === 2 ? 'twice' : `${value.length} times`;
      throw new PerilbookError('USAGE', `${dashed(name)} is given ${times}`, 'Give it once.');
    }
    if (type !== 'number') continue;
    // Number('') is 0, and a reserve of 0 is no reserve.
    if (valuesOf(args, [name, ...[alias].flat()]).some((text) => text?.trim() === '')) {
      const hint = 'Give a number or leave the option out. Is a shell variable empty?';
      throw new PerilbookError('USAGE', `${dashed(name)} is empty`, hint);
    }
    if (Number.isNaN(value)) throw notANumber(dashed(name));
  }
}

/** @throws USAGE for a word that is no subcommand, and where one must be named */
function refuseUnknownSubcommand(command: Command, words: readonly string[], word: string | undefined): void {
  const name = nameOfCommand(command);
  if (word !== undefined) {
    const message = `Unknown ${name} action ${JSON.stringify(word)}${didYouMean(word, words)}`;
    throw new PerilbookError('USAGE', message, `Use one of: ${words.join(', ')}.`);
  }
  if (command.load === undefined) throw usage(`Missing argument for \`perilbook ${name}\``, command);
}

/** Why yargs cannot parse a command line. `command` is null where none is named. `message`: yargs' own words. */
export function parseError(command: Command | null, args: readonly string[], message: string): PerilbookError {
  if (command === null) return new PerilbookError('USAGE', 'Missing command', LIST_COMMANDS);
  const bare = Object.entries(command.options ?? {}).find(
    ([name, { type, alias = [] }]) =>
      type !== 'boolean' &&
      valuesOf(args, [name, ...[alias].flat()]).some((value) => value === undefined || /^-[^0-9]/.test(value)),
  );
  if (bare !== undefined) return usage(`${dashed(bare[0])} needs a value`, command);
  return usage(message, command);
}

const LIST_COMMANDS = 'perilbook --help lists the commands.';

export function unknownCommand(name: string, known: readonly string[]): PerilbookError {
  return new PerilbookError('USAGE', `Unknown command: ${name}${didYouMean(name, known)}`, LIST_COMMANDS);
}

function usage(message: string, command: Command): PerilbookError {
  return new PerilbookError('USAGE', message, `See perilbook ${nameOfCommand(command)} --help.`);
}

/** @param family the commands of the same first word, which may have an option that this one lacks */
function refuseUnknownOptions(command: Command, flags: Flags, family: readonly Command[]): void {
  const options = optionNames(command.options);
  const known = new Set([...OF_YARGS, ...options, ...Object.keys(command.positionals ?? {})]);
  const all = Object.keys(flags).filter((name) => !known.has(name));
  // yargs adds the alias of an option of a subcommand: --yes is -y too.
  const unknown = all.some((name) => name.length > 1) ? all.filter((name) => name.length > 1) : all;
  if (unknown.length === 0) return;
  const long = options.filter((name) => name.length > 1);
  const near = unknown
    .map((name) => nearestName(name, long))
    .filter((name) => name !== null && known.has(name))
    .map((name) => dashed(name!));
  const meant = near.length === 0 ? '' : `; did you mean ${near.join(' and ')}?`;
  const owners = runnableCommands(family).filter(({ options: own }) =>
    unknown.some((name) => optionNames(own).includes(name)),
  );
  const theirs = owners.length === 0 ? '' : `; it is an option of ${owners.map(nameOfCommand).join(', ')}`;
  throw usage(
    `Unknown option${unknown.length > 1 ? 's' : ''}: ${unknown.map(dashed).join(', ')}${theirs || meant}`,
    command,
  );
}

/** The texts that a command line gives to an option; undefined where it is the last word. */
function valuesOf(args: readonly string[], names: readonly string[]): (string | undefined)[] {
  const written = names.map(dashed);
  return args.flatMap((arg, index) => {
    const [name, ...rest] = arg.split('=');
    if (!written.includes(name!)) return [];
    return [rest.length === 0 ? args[index + 1] : rest.join('=')];
  });
}
