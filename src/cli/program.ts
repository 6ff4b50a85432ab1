import { PerilbookError } from '../base/errors.ts';
import { nameOfCommand } from './command.ts';
import { COMMANDS } from './command-table.ts';
import { type CliContext, print, say, sayJson } from './context.ts';
import { EXIT, errorReport, exitCodeOfError } from './exit-codes.ts';
import { logLine, wantsJsonLog } from './log-lines.ts';

/** Runs one command line; resolves to the exit code, never rejects. */
export async function program(host: CliContext, version: string): Promise<number> {
  const context = withLog({ ...host, version });
  const { args } = context;
  try {
    if (args.length === 0) return await (await import('./commands/overview.ts')).overviewCommand(context);
    const { parseCommandLine } = await import('./parser.ts');
    const line = await parseCommandLine(args, COMMANDS, version, context.stderr.columns);
    if (line.kind === 'command') {
      const { command, flags, words } = line;
      const run = await command.load!();
      // The flags are those of the command's own options, by which its code is typed.
      return await run({ ...context, command: nameOfCommand(command) }, flags as never, words);
    }
    print(context, line.text);
    return EXIT.complete;
  } catch (error) {
    if (context.log === undefined) sayError(context, error);
    else context.log('error', 'error', { ...errorReport(error), exit_code: exitCodeOfError(error) });
    if (args.some((arg) => /^--json(?:=true)?$/.test(arg))) sayJson(context, { error: errorReport(error) });
    return exitCodeOfError(error);
  }
}

/** With `--log json` every message is a line of JSON for a scheduler, so the program asks no questions. */
function withLog(context: CliContext): CliContext {
  if (!wantsJsonLog(context.args)) return context;
  const { stderr, clock } = context;
  return { ...context, log: (...event) => stderr.write(logLine(clock.now(), ...event)) };
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
