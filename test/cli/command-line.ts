import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import type { CliContext } from '../../src/cli/frame/context.ts';
import { program } from '../../src/cli/program.ts';

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export const ROOT = join(import.meta.dirname, '../..');

export interface SetupOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly folder?: string;
  readonly clock?: Clock;
  readonly stdin?: string;
  /** What is typed at each question: standard input is a terminal. */
  readonly typed?: string;
  readonly interrupt?: AbortSignal;
  /** Whether the process that holds a claim may still be at work: true where nothing is said. */
  readonly isAlive?: () => boolean;
  /** Receives what is printed on stderr while the command runs. */
  readonly onStderr?: (text: string) => void;
  /** Standard output and standard error are a terminal so wide. */
  readonly columns?: number;
}

/** Runs a command line as the bin would, in this process: only main.ts is left out. */
export async function perilbook(
  args: readonly string[],
  options: SetupOptions = {},
): Promise<Ended> {
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  const { typed } = options;
  const stdin = Object.assign(
    new PassThrough(),
    typed === undefined ? {} : { isTTY: true, setRawMode: () => {} },
  );
  if (typed === undefined) stdin.end(options.stdin ?? '');
  const collect = (into: Buffer[]) =>
    new PassThrough().on('data', (chunk: Buffer) => into.push(chunk));
  const terminal = options.columns === undefined ? {} : { isTTY: true, columns: options.columns };
  const setup: CliContext = {
    args,
    // Never the store of the user who runs the tests.
    env: { HOME: options.folder ?? ROOT, ...options.env },
    workingFolder: options.folder ?? ROOT,
    stdin,
    stdout: Object.assign(collect(out), terminal),
    stderr: Object.assign(
      collect(err).on('data', (chunk: Buffer) => {
        options.onStderr?.(chunk.toString());
        if (typed !== undefined && chunk.includes('[y/N]')) setImmediate(() => stdin.write(typed));
      }),
      terminal,
    ),
    clock: options.clock ?? systemClock,
    random: Math.random,
    interrupt: options.interrupt ?? new AbortController().signal,
    owner: { name: `test/${process.pid}`, isAlive: options.isAlive ?? (() => true) },
  };
  const code = await program(setup, '0.0.0');
  return { code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() };
}

/** The words of a command line, none of which has a space. */
export const wordsIn = (line: string): string[] => line.split(' ');
