import yargs, { type Argv, type Options } from 'yargs';
import { PerilbookError } from '../errors.ts';
import { checkArguments, parseError, unknownCommand } from './check-arguments.ts';
import { type Command, commandOf, examplesOf, type Flags, nameOfCommand } from './command.ts';
import { COMMANDS } from './command-table.ts';
import { type CliContext, print, say, sayJson } from './context.ts';
import { errorReport } from './error-report.ts';
import { EXIT, EXIT_MEANINGS, exitCodeOfError } from './exit-codes.ts';
import { logLine, wantsJsonLog } from './log-lines.ts';

/** Runs one command line; resolves to the exit code, never rejects. */
export async function program(host: CliContext, version: string): Promise<number> {
  const context = withLog(host);
  const [first, ...others] = context.args;
  if (first === COMPLETIONS) return await printCompletions(context, others.slice(1));
  // `help run` is short for `run --help`.
  const args = withoutDashes(first === 'help' ? [...others, '--help'] : context.args);
  const names = [...COMMANDS.map(nameOfCommand), 'completion'];
  const named = commandOf(args, COMMANDS);
  const parser = parserOf(args, (command, flags) => {
    const [first] = nameOfCommand(command).split(' ');
    checkArguments(
      command,
      args,
      flags,
      COMMANDS.filter((other) => nameOfCommand(other) === first),
    );
    refuseUnknownLog(flags.log);
    // Thrown, because yargs formats the command's help behind each handler that returns: 25 ms.
    throw new ChosenCommand(command, flags);
  })
    .usage(`perilbook COMMAND\n\n${ABOUT}`)
    .version(version)
    .completion('completion', 'print a completion script for the shell: bash, zsh or fish')
    .wrap(Math.min(HELP_WIDTH, context.stderr.columns || HELP_WIDTH))
    .epilogue(`Exit codes: ${EXIT_MEANINGS.map(([code, meaning]) => `${code} ${meaning}`).join(' · ')}`)
    .demandCommand(1)
    .fail((message, error) => {
      // yargs throws its own errors under this name; all others come from a command.
      if (error && error.name !== 'YError') throw error;
      throw parseError(named, args, message ?? error.message);
    });
  try {
    if (context.args.length === 0) return await (await import('./commands/overview.ts')).overviewCommand(context);
    const parsed = await parse(parser, args);
    if (parsed instanceof ChosenCommand) {
      const run = await parsed.command.load!();
      return await run({ ...context, version }, parsed.flags);
    }
    if (parsed.output === '') throw unknownCommand(parsed.firstWord, names);
    print(context, `${isHelp(args) ? exampleLines(args) : ''}${parsed.output}`);
    return EXIT.complete;
  } catch (error) {
    if (context.log === undefined) sayError(context, error);
    else context.log('error', 'error', { ...errorReport(error), exit_code: exitCodeOfError(error) });
    if (args.some((arg) => /^--json(?:=true)?$/.test(arg))) sayJson(context, { error: errorReport(error) });
    return exitCodeOfError(error);
  }
}

/** The width of help, where the terminal has room for it. */
const HELP_WIDTH = 100;

function parserOf(args: readonly string[], onCommand: (command: Command, flags: Flags) => void): Argv {
  const parser: Argv = yargs(args)
    .scriptName('perilbook')
    // The texts of all commands are English.
    .locale('en')
    .parserConfiguration({
      ...{ 'boolean-negation': false, 'camel-case-expansion': false, 'dot-notation': false },
      // A file may be called 007.
      'parse-positional-numbers': false,
    })
    .help()
    .alias('h', 'help')
    .exitProcess(false);
  for (const command of COMMANDS) addCommand(parser, command, isHelp(args), onCommand);
  return parser;
}

/** @param isShown help is asked for: it hides the options that few people need */
function addCommand(
  parser: Argv,
  command: Command,
  isShown: boolean,
  onCommand: (command: Command, flags: Flags) => void,
): void {
  const [, ...words] = nameOfCommand(command).split(' ');
  const usage = command.usage.split(' ').slice(words.length).join(' ');
  parser.command(
    usage,
    command.describe,
    (y: Argv) => {
      addArguments(y, command, isShown);
      for (const subcommand of command.subcommands ?? []) addCommand(y, subcommand, isShown, onCommand);
      return y;
    },
    (flags: Flags) => onCommand(command, flags),
  );
}

/** The script of yargs asks with it for the completions of a command line. */
const COMPLETIONS = '--get-yargs-completions';

/**
 * Prints the completions of a command line, one a line; none where the shell should offer files. No command is run, and nothing is
 * said of what is wrong in an unfinished line.
 *
 * @param words without the program's name; the last one is under the cursor
 */
async function printCompletions(context: CliContext, words: readonly string[]): Promise<number> {
  const { valueCompletions } = await import('./completions.ts');
  const args = [COMPLETIONS, 'perilbook', ...words];
  const parser = parserOf(args, () => {}).fail(() => {});
  const values = valueCompletions(words, COMMANDS);
  type Done = (completions: string[]) => void;
  // By the number of its parameters yargs sees that the function may leave the completion to it.
  parser.completion('completion', '', (_word: string, _flags: unknown, byYargs: () => void, done: Done) => {
    if (values === null) byYargs();
    else done([...new Set(values)]);
  });
  const parsed = await parse(parser, args);
  if (!(parsed instanceof ChosenCommand) && parsed.output !== '') context.stdout.write(`${parsed.output}\n`);
  return EXIT.complete;
}

/** With `--log json` every message is a line of JSON, and nobody is asked: the lines are for a scheduler. */
function withLog(context: CliContext): CliContext {
  if (!wantsJsonLog(context.args)) return context;
  const { stderr, clock } = context;
  return { ...context, log: (...event) => stderr.write(logLine(clock.now(), ...event)) };
}

/** @throws USAGE */
function refuseUnknownLog(said: unknown): void {
  if (said === undefined || said === 'json' || said === 'text') return;
  throw new PerilbookError('USAGE', `Unknown log format ${JSON.stringify(said)}`, 'Use --log json or --log text.');
}

/** What a command line asks for: the handlers of yargs throw it. */
class ChosenCommand {
  readonly command: Command;
  readonly flags: Flags;

  constructor(command: Command, flags: Flags) {
    this.command = command;
    this.flags = flags;
  }
}

/** The command that is to be run, or what yargs prints (help, version) and the first word. */
async function parse(parser: Argv, args: readonly string[]) {
  let output = '';
  try {
    const { _: words } = await parser.parseAsync(args, {}, (_error, _argv, text) => {
      output = text;
    });
    return { output, firstWord: String(words[0]) };
  } catch (error) {
    if (error instanceof ChosenCommand) return error;
    throw error;
  }
}

function addArguments(y: Argv, { positionals = {}, options = {}, subcommands = [] }: Command, isShown: boolean): void {
  for (const [name, settings] of Object.entries(positionals)) y.positional(name, settings);
  // Parsed here too, so that options may stand before the subcommand: a boolean one must not take its name as a value.
  const below = Object.assign({}, ...subcommands.map((subcommand) => subcommand.options));
  for (const [name, option] of Object.entries<Options>({ ...below, ...options })) {
    y.option(name, {
      requiresArg: option.type !== 'boolean',
      ...option,
      global: false,
      hidden: !(name in options) || (isShown && option.hidden === true),
    });
  }
  if (isShown && Object.values(options).some(({ hidden }) => hidden)) {
    y.showHidden('all', `with --help: show all ${Object.keys(options).length} options`);
  }
}

/** yargs drops words behind `--` when it fills positional arguments. They are paths: `./-x.csv` needs no `--`. */
function withoutDashes(args: readonly string[]): string[] {
  const at = args.indexOf('--');
  if (at < 0) return [...args];
  const names = args.slice(at + 1).map((name) => (name.startsWith('-') && name !== '-' ? `./${name}` : name));
  return [...args.slice(0, at), ...names];
}

const ABOUT =
  'Adds hazard ratings to a file of US locations: prices the answers, buys them once, and never spends beyond the plan.';

const EXAMPLES = [
  'plan portfolio.csv --topics natural                            show the cost',
  'run portfolio.csv -o out.csv --topics wildfire,riverineFlood   buy and write',
  'run jobs/nightly.yaml                                          run a job file; run it again to resume',
  'status                                                         list runs and when to resume',
];

const isHelp = (args: readonly string[]) => args.some((arg) => /^(--help|-[a-z]*h|help)$/.test(arg));

/** Help begins with examples: most people look for a line to copy. */
function exampleLines(args: readonly string[]): string {
  const command = commandOf(args, COMMANDS);
  const examples = command === null ? EXAMPLES : examplesOf(command);
  return `Examples:\n${examples.map((example) => `  perilbook ${example}\n`).join('')}\n`;
}

/** Prints what happened, then what to do. Only bugs print a stack. */
function sayError(context: CliContext, error: unknown): void {
  if (error instanceof PerilbookError) {
    say(context, `perilbook: ${error.message}\n  ${error.hint} [${error.code}]`);
  } else {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    say(context, `perilbook: this is a bug. Please report it with the lines below. [BUG]\n${stack}`);
  }
}
