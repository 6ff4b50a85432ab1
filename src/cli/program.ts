import { Writable } from 'node:stream';
import yargs, { type Argv, type Options, type PositionalOptions } from 'yargs';
import { PerilbookError } from '../errors.ts';
import { checkArguments, parseError, unknownCommand } from './check-arguments.ts';
import { type Command, type Flags, nameOfCommand } from './command.ts';
import { COMMANDS } from './command-table.ts';
import { type CliContext, print, say, sayJson } from './context.ts';
import { errorReport } from './error-report.ts';
import { EXIT, EXIT_MEANINGS, exitCodeOfError } from './exit-codes.ts';
import { logLine, wantsJsonLog } from './log-lines.ts';
import { HELP_WIDTH } from './prepared-help.ts';

/** Runs one command line; resolves to the exit code, never rejects. */
export async function program(surroundings: CliContext, version: string): Promise<number> {
  const context = withLog(surroundings);
  // `help run` is short for `run --help`. What follows `completion` belongs to another command line.
  const [first, ...others] = context.args;
  const args = withoutDashes(
    first === 'help' ? [...others, '--help'] : first === 'completion' ? [first] : context.args,
  );
  const names = COMMANDS.map(nameOfCommand);
  const named = COMMANDS.find((command) => args.includes(nameOfCommand(command))) ?? null;
  const parser: Argv = yargs(args)
    .scriptName('perilbook')
    // The texts of all commands are English.
    .locale('en')
    .usage(`perilbook COMMAND\n\n${ABOUT}`)
    .parserConfiguration({
      ...{ 'boolean-negation': false, 'camel-case-expansion': false, 'dot-notation': false },
      // A file may be called 007.
      'parse-positional-numbers': false,
    })
    .help()
    .alias('h', 'help')
    .version(version)
    .wrap(Math.min(HELP_WIDTH, context.stderr.columns || HELP_WIDTH))
    .epilogue(`Exit codes: ${EXIT_MEANINGS.map(([code, meaning]) => `${code} ${meaning}`).join(' · ')}`)
    .exitProcess(false)
    .demandCommand(1)
    .fail((message, error) => {
      // yargs throws its own errors under this name; all others come from a command.
      if (error && error.name !== 'YError') throw error;
      throw parseError(named, args, message ?? error.message);
    });
  for (const command of COMMANDS) {
    parser.command(
      command.usage,
      command.describe,
      (y: Argv) => withArguments(y, command),
      (flags) => {
        checkArguments(command, args, flags);
        refuseUnknownLog(flags.log);
        // Thrown, because yargs formats the command's help behind each handler that returns: 25 ms.
        throw new ChosenCommand(command, flags);
      },
    );
  }
  try {
    if (context.args.length === 0) return await (await import('./commands/overview.ts')).overviewCommand(context);
    const parsed = await parse(parser, args);
    if (parsed instanceof ChosenCommand) {
      const run = await parsed.command.load();
      return await run({ ...context, version }, parsed.flags);
    }
    if (parsed.output === '') throw unknownCommand(parsed.firstWord, names);
    print(context, `${isHelp(args) ? exampleLines(args[0]) : ''}${parsed.output}`);
    return EXIT.complete;
  } catch (error) {
    if (context.log === undefined) sayError(context, error);
    else context.log('error', 'error', { ...errorReport(error), exit_code: exitCodeOfError(error) });
    if (args.some((arg) => /^--json(?:=true)?$/.test(arg))) sayJson(context, { error: errorReport(error) });
    return exitCodeOfError(error);
  }
}

/** The help of all commands and of each, as it is where there is room for it. */
export async function helpTexts(context: CliContext, version: string): Promise<Readonly<Record<string, string>>> {
  const texts: Record<string, string> = {};
  for (const name of ['', ...COMMANDS.map(nameOfCommand)]) {
    let text = '';
    const stdout = new Writable({
      write(chunk, _encoding, done) {
        text += String(chunk);
        done();
      },
    });
    await program({ ...context, args: ['help', name].filter(Boolean), stdout }, version);
    texts[name] = text;
  }
  return texts;
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

function withArguments(y: Argv, { positionals = {}, options = {} }: Command): Argv {
  for (const [name, { choices: _, ...settings }] of Object.entries(positionals)) {
    y.positional(name, settings as PositionalOptions);
  }
  for (const [name, option] of Object.entries(options)) {
    y.option(name, { requiresArg: option.type !== 'boolean', ...option } satisfies Options);
  }
  return y;
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
function exampleLines(name: string | undefined): string {
  const examples = COMMANDS.find((command) => nameOfCommand(command) === name)?.examples ?? EXAMPLES;
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
