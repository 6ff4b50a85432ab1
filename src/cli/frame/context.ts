import type { Readable, Writable } from 'node:stream';
import type { Clock } from '../../base/clock.ts';
import { dataFolderOf, homeFolder, NO_FOLDER, noDataFolder } from '../../base/platform-folders.ts';
import { printable, printableJson } from '../../base/printable.ts';
import type { RunHost } from '../../host/run-host.ts';
import type { Owner } from '../../store/port.ts';
import type { PrintedValues } from '../json/printed-values.ts';
import { type Color, colorFor, fitText, noColor } from '../messages/format.ts';
import type { Log, LogLevel } from './log-lines.ts';

/** The process as the commands see it; only main.ts touches the real one. */
export interface CliContext {
  readonly args: readonly string[];
  /** Of the program; `program` adds it, and the name of the command. */
  readonly version?: string;
  readonly command?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly workingFolder: string;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  /** Aborts on the first Ctrl-C, SIGTERM or SIGHUP. */
  readonly interrupt: AbortSignal;
  readonly owner: Owner;
  /** Events as JSON lines on stderr, in place of text (`--log json`). */
  readonly log?: Log;
  /** Prints warnings and errors only (`--quiet`). */
  readonly isQuiet?: boolean;
}

/** The width of a stream's lines; infinite where it is no terminal. A terminal of unknown width reports 0 columns. */
export function lineWidth(stream: CliContext['stdout']): number {
  return stream.isTTY === true ? stream.columns || 80 : Number.POSITIVE_INFINITY;
}

/** The word before a message, by which a reader tells it from progress. */
function labelOf(level: LogLevel, color: Color): string {
  switch (level) {
    case 'error':
      return `${color(['red', 'bold'], 'error:')} `;
    case 'warning':
      return `${color('yellow', 'warning:')} `;
    case 'info':
      return '';
  }
}

/** Prints a message on stderr; stdout is for data. */
export function say(context: CliContext, text: string, level: LogLevel = 'info'): void {
  if (context.isQuiet && level === 'info') return;
  const { stderr } = context;
  const label = labelOf(level, colorFor(context, stderr));
  if (context.log === undefined)
    stderr.write(`${escapeFor(context, stderr, fitText(label + text, lineWidth(stderr)))}\n`);
  else context.log(level, 'message', { message: text });
}

/** Prints the text that a command was asked for on stdout. */
export function print(context: CliContext, text: string): void {
  printData(context, fitText(text, lineWidth(context.stdout)));
}

/** Prints data on stdout, whose lines stay as they are: CSV, SQL, a key. */
export function printData(context: CliContext, text: string): void {
  context.stdout.write(`${escapeFor(context, context.stdout, text)}\n`);
}

/** Prints the result of a command with `--json`. */
export function sayJson(context: CliContext, value: PrintedValues[keyof PrintedValues]): void {
  printJson(context, value);
}

/** Prints a value that is described elsewhere: a schema, an error, and what has other names in the program. */
export function printJson(context: CliContext, value: unknown): void {
  context.stdout.write(`${printableJson(value, 2)}\n`);
}

/** Prints the result of a command on stdout: with --json as one value, else as lines. */
export function printResult(
  context: CliContext,
  flags: { readonly json?: boolean | undefined },
  value: PrintedValues[keyof PrintedValues],
  lines: () => readonly string[],
): void {
  if (flags.json) sayJson(context, value);
  else print(context, lines().join('\n'));
}

/** Escapes what could control the terminal, except for our own colors. */
export function escapeFor(context: CliContext, stream: CliContext['stdout'], text: string): string {
  return printable(text, colorFor(context, stream) !== noColor);
}

/** The folder in which Perilbook keeps its data. @throws USAGE where the user has no home folder */
export function dataFolder({ env }: CliContext): string {
  const folder = dataFolderOf(env);
  if (folder === null) throw noDataFolder('--db FILE');
  return folder;
}

/** What a run needs of the command's environment. */
export function runHost(
  context: CliContext,
  notice: RunHost['notice'] = (message) => say(context, message),
): RunHost {
  const { env, clock, random, workingFolder, owner, stdin, stdout, interrupt } = context;
  return {
    env,
    clock,
    random,
    workingFolder,
    dataFolder: dataFolderOf(env) ?? NO_FOLDER,
    homeFolder: homeFolder(env),
    owner,
    notice,
    streams: { stdin, stdout, interrupt },
    otherSources: OTHER_SOURCES,
  };
}

const OTHER_SOURCES = ' To buy answers: --base-url ADDRESS. To try made-up ones: --service sample.';
