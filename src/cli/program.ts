import { PerilbookError } from '../base/errors.ts';
import type { RunCommand } from './command.ts';
import { COMMANDS, type CommandName, type Flags } from './command-table.ts';
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
      const run = await CODE[command.name as CommandName]();
      // The flags are those of the command's own options, by which its code is typed.
      return await run({ ...context, command: command.name }, flags as never, words);
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

/** The code of each command, imported when it runs: `topics` must not wait for the web framework. */
const CODE: { readonly [Name in CommandName]: () => Promise<RunCommand<Flags<Name>>> } = {
  lookup: async () => (await import('./commands/lookup.ts')).lookupCommand,
  plan: async () => (await import('./commands/plan.ts')).planCommand,
  run: async () => (await import('./commands/run.ts')).runCommand,
  report: async () => (await import('./commands/report.ts')).reportCommand,
  ui: async () => (await import('./commands/ui.ts')).uiCommand,
  status: async () => (await import('./commands/status.ts')).statusCommand,
  quota: async () => (await import('./commands/quota.ts')).quotaCommand,
  'quota set': async () => (await import('./commands/quota.ts')).quotaSetCommand,
  topics: async () => (await import('./commands/topics.ts')).topicsCommand,
  'job check': async () => (await import('./commands/job.ts')).jobCheckCommand,
  'job schema': async () => (await import('./commands/job.ts')).jobSchemaCommand,
  'cache stats': async () => (await import('./commands/cache.ts')).cacheCommands.stats,
  'cache prune': async () => (await import('./commands/cache.ts')).cacheCommands.prune,
  data: async () => (await import('./commands/data.ts')).dataCommands.list,
  'data get': async () => (await import('./commands/data.ts')).dataCommands.get,
  'data update': async () => (await import('./commands/data.ts')).dataCommands.update,
  'data check': async () => (await import('./commands/data.ts')).dataCommands.check,
  'data load': async () => (await import('./commands/data.ts')).dataCommands.load,
  'data remove': async () => (await import('./commands/data.ts')).dataCommands.remove,
  'service start': async () => (await import('./commands/service.ts')).serviceCommands.start,
  'service check': async () => (await import('./commands/service.ts')).serviceCommands.check,
  'service account create': async () => (await import('./commands/service.ts')).serviceCommands.createAccount,
  'service account change': async () => (await import('./commands/service.ts')).serviceCommands.changeAccount,
  'service account list': async () => (await import('./commands/service.ts')).serviceCommands.listAccounts,
  'service account statement': async () => (await import('./commands/service.ts')).serviceCommands.accountStatement,
  'service key create': async () => (await import('./commands/service.ts')).serviceCommands.createKey,
  'service key list': async () => (await import('./commands/service.ts')).serviceCommands.listKeys,
  'service key rotate': async () => (await import('./commands/service.ts')).serviceCommands.rotateKey,
  'service key revoke': async () => (await import('./commands/service.ts')).serviceCommands.revokeKey,
};

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
