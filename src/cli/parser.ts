import yargs, { type Argv } from 'yargs';
import { PerilbookError } from '../base/errors.ts';
import { didYouMean, nearestName } from '../base/nearest-name.ts';
import { commandLine } from '../base/shell-words.ts';
import {
  type Command,
  type CommandOption,
  formatOption,
  notANumber,
  optionNames,
  runnableCommands,
  usageError,
  usageOf,
  wordOfCommand,
} from './options/command.ts';
import { EXIT_MEANINGS } from './options/exit-codes.ts';

/** What a command line asks for: a text that yargs prints (help, version, completions), or a command. */
export type CommandLine = { readonly kind: 'text'; readonly text: string } | ParsedCommand;

/** A command with the values of its options by name, and the words that follow its name. */
export interface ParsedCommand {
  readonly kind: 'command';
  readonly command: Command;
  readonly flags: Readonly<Record<string, unknown>>;
  readonly words: readonly string[];
}

type Arguments = Readonly<Record<string, unknown>>;

/** The width of help, where the terminal has room for it. */
const HELP_WIDTH = 100;

const ABOUT =
  'Adds hazard ratings to a file of US locations: prices the answers, buys them once, and never spends beyond the plan.';

const EXAMPLES: [string, string][] = [
  ['$0 plan portfolio.csv --topics natural', 'show the cost'],
  ['$0 run portfolio.csv -o out.csv --topics wildfire,riverineFlood', 'buy and write'],
  ['$0 run jobs/nightly.yaml', 'run a job file; run it again to resume'],
  ['$0 status', 'list runs and when to resume'],
];

/** The words of yargs for what is wrong, in ours: what happened. What to do is added where they are thrown. */
const STRINGS = {
  'Not enough arguments following: %s': '--%s needs a value',
  'Missing required argument: %s': { one: '--%s is missing', other: '--%s are missing' },
  'Arguments %s and %s are mutually exclusive': '--%s cannot be combined with --%s',
};

/** Parses a command line by yargs. Only the options of its own command are built: all take 20 ms.
 * @param columns the width of the terminal; 0 and undefined where it is unknown
 * @throws USAGE */
export async function parseCommandLine(
  args: readonly string[],
  commands: readonly Command[],
  version: string,
  columns?: number,
): Promise<CommandLine> {
  // `help run` is short for `run --help`.
  const typed = args[0] === 'help' ? [...args.slice(1), '--help'] : args;
  const words = separateArgs(typed, commands);
  const isHelp = words.some((word) => /^(--help|-[a-z]*h)(=|$)/.test(word));
  let asked: CommandLine | undefined;
  let text = '';
  const asksCompletions = words.includes(COMPLETIONS);
  /** yargs formats the help of each command that it parses, asked or not: without descriptions in half the time. */
  const isDescribed = isHelp || asksCompletions;
  let named: Command | null = null;
  const parser = newParser(version, columns)
    .fail((message, error) => {
      // yargs reports its own errors, such as a missing value, as a message, an error or both.
      if (error instanceof PerilbookError) throw error;
      throw error && error.name !== 'YError'
        ? error
        : usage(
            (message ?? error.message)
              .replace(/^--(\w) /, '-$1 ')
              .replace(/, (?=.* are missing$)/g, ' and --'),
            named,
          );
    })
    .completion(COMPLETION, commands.find(({ name }) => name === COMPLETION)!.describe);
  if (isDescribed) describeProgram(parser);
  addSwitches(parser, commands);
  for (const command of commands) if (command.name !== COMPLETION) add(parser, command);
  await parser.parseAsync([...words], {}, (_error, argv, output) => {
    text = output;
    const [first] = argv._.map(String);
    const isKnown = commands.some((command) => wordOfCommand(command) === first);
    if (!isKnown && !asksCompletions && (output === '' || first !== undefined))
      throw unknownCommand(first, commands);
  });
  return asked ?? { kind: 'text', text };

  function add(above: Argv, command: Command): void {
    above.command(
      wordOfCommand(command),
      command.describe,
      (own) => {
        named = command;
        if (isDescribed) describe(own, command);
        addOptions(own, command, asksCompletions ? 'all' : isHelp ? 'frequent' : 'none');
        for (const subcommand of command.subcommands) add(own, subcommand);
        own.check((argv) => {
          const words = parseWords(argv, command);
          checkSubcommand(command, words[0]);
          refuseUnknownOptions(argv, command, commands);
          checkWords(words, command);
          for (const [name, option] of Object.entries(command.options ?? {}))
            checkValue(argv[name], name, option);
          return true;
        }, false);
        return own;
      },
      (argv) => {
        const flags = parseFlags(argv, command);
        asked = { kind: 'command', command, flags, words: parseWords(argv, command) };
      },
    );
  }
}

/** Adds what help prints of a command besides its options. */
function describe(parser: Argv, command: Command): void {
  const [name = '', meaning] = command.argument ?? [];
  const argument = meaning === undefined ? '' : `\n\n${/\w+/.exec(name)![0]}: ${meaning}`;
  parser.usage(`$0 ${usageOf(command)}\n\n${command.describe}${argument}`);
  for (const example of command.examples ?? []) {
    const [line, note = ''] = example.split(/ {2,}/);
    parser.example(`$0 ${line}`, note);
  }
}

/** Adds what help prints of the whole program. */
function describeProgram(parser: Argv): void {
  const codes = EXIT_MEANINGS.map(([code, meaning]) => `${code} ${meaning}`);
  parser
    .usage(`$0 COMMAND\n\n${ABOUT}`)
    .example(EXAMPLES)
    .epilogue(`Exit codes: ${codes.join('; ')}`);
}

function newParser(version: string, columns: number | undefined): Argv {
  return yargs()
    .scriptName('perilbook')
    .locale('en')
    .updateStrings(STRINGS as unknown as Record<string, string>)
    .parserConfiguration({
      // `--no-header` is an option of its own.
      'boolean-negation': false,
      'camel-case-expansion': false,
      'dot-notation': false,
      'parse-positional-numbers': false,
    })
    .wrap(Math.min(HELP_WIDTH, columns || HELP_WIDTH))
    .version('version', 'show the version', version)
    .help('help', 'show help')
    .alias('h', 'help')
    .exitProcess(false);
}

/** Printed by yargs, which also answers the script's questions. */
const COMPLETION = 'completion';

/** The option with which the scripts of yargs ask for completions. */
const COMPLETIONS = '--get-yargs-completions';

/** The options of the commands, each name once: yargs takes some time for each that it gets. */
function allOptions(
  commands: readonly Command[],
): (readonly [name: string, option: CommandOption])[] {
  const all = runnableCommands(commands).flatMap(({ options = {} }) => Object.entries(options));
  return [...new Map(all)];
}

/** Options may come before a command: a switch must not take the command's name for its value. */
function addSwitches(
  parser: Argv,
  commands: readonly Command[],
  own: Command['options'] = {},
): void {
  for (const [name, { type, alias }] of allOptions(commands)) {
    if (type !== 'boolean' || name in own) continue;
    parser.option(name, {
      type,
      hidden: true,
      global: false,
      ...(alias === undefined ? {} : { alias }),
    });
  }
}

/** @param shown the options that help or completion lists. Elsewhere none: yargs formats help for each command, which takes 25 ms */
function addOptions(
  parser: Argv,
  { options = {}, subcommands }: Command,
  shown: 'all' | 'frequent' | 'none',
): void {
  const isShort = shown === 'frequent' && Object.values(options).some(({ hidden }) => hidden);
  for (const [name, { range: _range, choices: _choices, ...option }] of Object.entries(options)) {
    parser.option(name, {
      ...option,
      requiresArg: option.type !== 'boolean',
      hidden: shown === 'none' || (shown === 'frequent' && option.hidden === true),
      ...(option.group === undefined ? {} : { group: `${option.group}:` }),
      global: false,
    });
  }
  if (isShort)
    parser.showHidden('all', `with --help: show all ${Object.keys(options).length} options`);
  addSwitches(parser, subcommands, options);
}

/** Checks the value of an option as yargs gives it: several as a list, NaN for what is no number. @throws USAGE */
function checkValue(value: unknown, name: string, { choices, range }: CommandOption): void {
  if (typeof value === 'boolean' || value === undefined) return;
  if (Array.isArray(value)) {
    const times = value.length === 2 ? 'twice' : `${value.length} times`;
    throw usageError(`${formatOption(name)} is given ${times}`, 'Give it once.');
  }
  if (choices !== undefined && !choices.includes(String(value))) {
    const message = `Unknown value of ${formatOption(name)}: ${JSON.stringify(value)}${didYouMean(String(value), choices)}`;
    throw usageError(message, `Use one of: ${choices.join(', ')}.`);
  }
  if (Number.isNaN(value)) throw notANumber(formatOption(name));
  const [least, most] = range ?? [];
  if (
    least === undefined ||
    (Number.isInteger(value) && Number(value) >= least && Number(value) <= most!)
  )
    return;
  const bounds =
    most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
  throw usageError(
    `${formatOption(name)} ${value} is out of range`,
    `Give a whole number ${bounds}.`,
  );
}

function parseFlags(argv: Arguments, { options = {} }: Command): Arguments {
  const given = Object.keys(options).filter((name) => argv[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, asTyped(argv[name])]));
}

function parseWords({ _: typed }: Arguments, command: Command): string[] {
  return (typed as readonly unknown[])
    .map((word) => String(asTyped(word)))
    .slice(command.name.split(' ').length);
}

/** @throws USAGE for more words than a command takes */
function checkWords(words: readonly string[], command: Command): void {
  const [shown = ''] = command.argument ?? [];
  const most = shown.includes('..') ? Number.POSITIVE_INFINITY : shown === '' ? 0 : 1;
  if (words.length > most)
    throw usage(`Unexpected argument: ${words.slice(most).join(', ')}`, command);
}

/** @throws USAGE for a word that is no subcommand, and where one must be named */
function checkSubcommand(command: Command, word: string | undefined): void {
  const { name, subcommands, argument, options } = command;
  if (subcommands.length === 0 || argument !== undefined) return;
  const words = subcommands.map(wordOfCommand);
  if (word === undefined && options !== undefined) return;
  const message =
    word === undefined
      ? `perilbook ${name} needs an action`
      : `Unknown ${name} action ${JSON.stringify(word)}${didYouMean(word, words)}`;
  const [only] = words;
  const hint =
    words.length === 1 ? `Write: perilbook ${name} ${only}` : `Use one of: ${words.join(', ')}.`;
  throw usageError(message, hint);
}

const LIST_COMMANDS = 'perilbook --help lists the commands.';

function unknownCommand(name: string | undefined, commands: readonly Command[]): PerilbookError {
  if (name === undefined) return usageError('Missing command', LIST_COMMANDS);
  if (/[./\\]/.test(name)) {
    const line = commandLine('plan', [name], {});
    return usageError(
      `"${name}" is not a command, but may be a file`,
      `To see what it would cost: ${line}`,
    );
  }
  const names = commands.map((command) => command.name);
  return usageError(`Unknown command: ${name}${didYouMean(name, names)}`, LIST_COMMANDS);
}

function usage(message: string, command: Command | null): PerilbookError {
  const words = command === null ? '' : ` ${command.name}`;
  return usageError(message, `See perilbook${words} --help.`);
}

/** Refuses options that the command does not have; those of the same first word are named, since they may be meant. */
function refuseUnknownOptions(
  argv: Arguments,
  command: Command,
  commands: readonly Command[],
): void {
  const options = [...optionNames(command.options), 'help', 'h', 'version'];
  const letters = new Map(allOptions(commands).map(([name, { alias }]) => [alias, name]));
  const unknown = Object.keys(argv)
    .filter((name) => name !== '_' && name !== '$0' && !options.includes(name))
    // yargs gives an option under its letter, too.
    .filter((name, _, all) => !all.includes(letters.get(name) ?? ''));
  if (unknown.length === 0) return;
  const near = unknown.flatMap((name) =>
    name.length === 1 ? [] : (nearestName(name, options) ?? []),
  );
  const meant = near.length === 0 ? '' : `; did you mean ${near.map(formatOption).join(' and ')}?`;
  const [family] = command.name.split(' ');
  const owners = runnableCommands(commands.filter((other) => other.name === family)).filter(
    (other) => unknown.some((name) => optionNames(other.options).includes(name)),
  );
  const theirs =
    owners.length === 0 ? '' : `; it is an option of ${owners.map(({ name }) => name).join(', ')}`;
  const many = unknown.length > 1 ? 's' : '';
  throw usage(
    `Unknown option${many}: ${unknown.map(formatOption).join(', ')}${theirs || meant}`,
    command,
  );
}

/** Before a value such as `-95.3,29.7`, in which yargs would see the options 9, 5 and so on. No argument can hold this character. */
const VALUE_MARK = '\0';

/** A negative number as yargs knows it: `-95.3e0` is none. */
const PLAIN_NEGATIVE = /^-(?:\d+(?:\.\d+)?|\.\d+)$/;

function asTyped(value: unknown): unknown {
  return typeof value === 'string' && value.startsWith(VALUE_MARK)
    ? value.slice(VALUE_MARK.length)
    : value;
}

/** The command line with what yargs would misread in silence. A minus and a digit begin a value: no option is a digit. `-tnatural` becomes `-t=natural`: yargs takes letters after a short option
 * for options, and `-h` among them for help. Refused are an empty number, which it takes for 0, and `--yes=maybe`, which it takes for
 * false. */
function separateArgs(args: readonly string[], commands: readonly Command[]): string[] {
  const ofType = (types: readonly string[]) =>
    allOptions(commands).filter(([, { type }]) => types.includes(type));
  const lettersOf = (types: readonly string[]) =>
    ofType(types)
      .map(([, { alias = '' }]) => alias)
      .join('');
  const attached = new RegExp(
    `^(-[h${lettersOf(['boolean'])}]*[${lettersOf(['string', 'number'])}])([^=].*)$`,
  );
  const numbers = new Set(
    ofType(['number']).flatMap(([name, { alias = name }]) => [
      formatOption(name),
      formatOption(alias),
    ]),
  );
  const switches = new Set(ofType(['boolean']).map(([name]) => formatOption(name)));
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  return args.map((arg, at) => {
    if (at >= end) return arg;
    if (/^-\.?\d/.test(arg) && !PLAIN_NEGATIVE.test(arg)) return `${VALUE_MARK}${arg}`;
    const [, name, value = args[at + 1]] = /^(--?[^=]+)(?:=(.*))?$/.exec(arg) ?? [];
    // yargs fails on the names of an object's own members.
    if (name !== undefined && name.slice(2) in {}) throw usage(`Unknown option: ${name}`, null);
    if (name !== undefined && numbers.has(name) && value?.trim() === '') {
      const hint = 'Give a number or leave the option out. Is a shell variable empty?';
      throw usageError(`${name} is empty`, hint);
    }
    if (
      name !== undefined &&
      arg.includes('=') &&
      switches.has(name) &&
      !/=(true|false)$/.test(arg)
    ) {
      throw usageError(`${name} takes no value`, `Write ${name}, or leave it out.`);
    }
    return arg.replace(attached, '$1=$2');
  });
}
