import { dirname, resolve } from 'node:path';
import { PerilbookError } from '../base/errors.ts';
import { formerFolder, homeFolder, withHome } from '../base/platform-folders.ts';
import { type CliContext, print, printJson, say } from './frame/context.ts';
import { logLine, wantsJsonLog } from './frame/log-lines.ts';
import type { PrintedError } from './json/printed-values.ts';
import { colorFor, hintLine, styledHelp } from './messages/format.ts';
import type { ExitCode, RunCommand } from './options/command.ts';
import { COMMANDS, type CommandName, type Flags } from './options/command-table.ts';
import { EXIT, errorReport, exitCodeOfError } from './options/exit-codes.ts';

/** Runs one command line; resolves to the exit code, never rejects. */
export async function program(host: CliContext, version: string): Promise<number> {
  const context = withLog({ ...host, version });
  const { args } = context;
  const former = formerFolder(context.env);
  const move =
    'To have it in the folder of today, move what is there to %LOCALAPPDATA%\\perilbook.';
  if (former !== null) say(context, `The store is in ${former}. ${move}`);
  try {
    return (await runLine(withHomeFolder(context))) ?? EXIT.complete;
  } catch (error) {
    if (context.log === undefined) sayError(context, error);
    else
      context.log('error', 'error', { ...errorReport(error), exit_code: exitCodeOfError(error) });
    if (args.some((arg) => /^--json(?:=true)?$/.test(arg)))
      printJson(context, { error: errorReport(error) } satisfies PrintedError);
    return exitCodeOfError(error);
  }
}

/** The command line and the variables with the home folder in place of a leading `~/`: a shell replaces it at the beginning of a word alone,
 * and a file of variables never. @throws USAGE */
function withHomeFolder(context: CliContext): CliContext {
  const { args, env } = context;
  const home = homeFolder(env);
  const inArgument = (arg: string) =>
    arg.replace(/^(--[\w-]+=)?(.*)$/s, (_, name = '', value) => name + withHome(value, home));
  const own = Object.entries(env).filter(
    ([name]) => name.startsWith('PERILBOOK_') && name !== 'PERILBOOK_API_KEY',
  );
  const replaced = own.map(([name, value = '']) => [name, withHome(value, home)]);
  return {
    ...context,
    args: args.map(inArgument),
    env: { ...env, ...Object.fromEntries(replaced) },
  };
}

async function runLine(context: CliContext): Promise<ExitCode> {
  const { args, version = '' } = context;
  if (args.length === 0)
    return void (await import('./commands/overview.ts')).overviewCommand(context);
  const { parseCommandLine } = await import('./parser.ts');
  await declareLayers(context);
  const { refuseSwallowedWords } = await import('./swallowed-words.ts');
  refuseSwallowedWords(args, context.workingFolder);
  const line = await parseCommandLine(args, COMMANDS, version, context.stderr.columns);
  if (line.kind === 'text')
    return void print(context, styledHelp(line.text, colorFor(context, context.stdout)));
  const { command, flags, words } = line;
  const code: object = await CODE[command.name.split(' ')[0] as keyof typeof CODE]();
  // The flags are those of the command's own options, by which its code is typed.
  const run = (code as Record<string, RunCommand<unknown>>)[command.name]!;
  return await run({ ...context, command: command.name }, flags, words);
}

/** Declares the layers that are described beside a job file, in the working folder and in the folder of data: their names are topics then. */
async function declareLayers(context: CliContext): Promise<void> {
  const { args, workingFolder } = context;
  const { declareLayers: declare, withBrought } = await import('../contract/topics.ts');
  // A service sells the topics of its contract, and the layers that it is told to.
  if (args[0] === 'service') return declare([]);
  const jobs = args
    .filter((arg) => /\.ya?ml$/i.test(arg))
    .map((arg) => resolve(workingFolder, arg));
  const { describedLayerFiles } = await import('./frame/layer-folders.ts');
  const files = describedLayerFiles(context, jobs.map(dirname));
  if (files.length === 0) return declare(withBrought([]));
  const { declareFound, findLayers } = await import('../job/read-layers.ts');
  const { layers, broken } = findLayers(files);
  declareFound([...layers.values()].map(({ layer }) => layer));
  for (const { file, problems } of broken) {
    const { line, column, message } = problems[0]!;
    say(context, `warning: ${file}:${line}:${column}: ${message}; this layer is left out`);
  }
}

/** The commands of a module: one word, or this word and more. */
type CommandsOf<Word extends string> = {
  readonly [Name in CommandName as Name extends Word | `${Word} ${string}`
    ? Name
    : never]: RunCommand<Flags<Name>>;
};

type FirstWord = CommandName extends infer Name
  ? Name extends `${infer Word} ${string}`
    ? Word
    : Name
  : never;

/** The code of the commands by their first word, imported when one runs: `topics` must not wait for the web framework. */
const CODE: { readonly [Word in FirstWord & string]: () => Promise<CommandsOf<Word>> } = {
  lookup: async () => ({ lookup: (await import('./commands/lookup.ts')).lookupCommand }),
  plan: async () => ({ plan: (await import('./commands/plan.ts')).planCommand }),
  run: async () => ({ run: (await import('./commands/run.ts')).runCommand }),
  report: async () => ({ report: (await import('./commands/report.ts')).reportCommand }),
  ui: async () => ({ ui: (await import('./commands/ui.ts')).uiCommand }),
  status: async () => ({ status: (await import('./commands/status.ts')).statusCommand }),
  quota: async () => (await import('./commands/quota.ts')).quotaCommands,
  topics: async () => ({ topics: (await import('./commands/topics.ts')).topicsCommand }),
  job: async () => (await import('./commands/job.ts')).jobCommands,
  layer: async () => (await import('./commands/layer.ts')).layerCommands,
  cache: async () => (await import('./commands/cache.ts')).cacheCommands,
  store: async () => (await import('./commands/store.ts')).storeCommands,
  data: async () => (await import('./commands/data.ts')).dataCommands,
  service: async () => (await import('./commands/service.ts')).serviceCommands,
};

/** With `--log json` every message is a line of JSON for a scheduler, so the program asks no questions. */
function withLog(context: CliContext): CliContext {
  if (!wantsJsonLog(context.args)) return context;
  const { stderr, clock } = context;
  return { ...context, log: (...event) => stderr.write(logLine(clock.now(), ...event)) };
}

/** Prints what happened, then what to do. Only bugs print a stack. */
function sayError(context: CliContext, error: unknown): void {
  const color = colorFor(context, context.stderr);
  if (error instanceof PerilbookError) {
    say(context, `${error.message}\n${hintLine(error, color)}`, 'error');
  } else {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const what = 'this is a bug. Please report it with the lines below. [BUG]';
    say(context, `${what}\n${stack}`, 'error');
  }
}
