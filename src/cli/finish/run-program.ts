import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Clock, timeLimit } from '../../base/clock.ts';

/** A program that gets the result of a run. */
export interface FinishProgram {
  readonly command: readonly string[];
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Gets what the program prints, up to a bound. */
  readonly onOutput: (text: string) => void;
}

/** A program that hangs must not keep a scheduler's job alive. */
const LONGEST_MS = 60_000;
/** Time between SIGTERM and SIGKILL, so that the program can clean up. */
const GRACE_MS = 5_000;
/** Most characters of its output that are shown: what it prints beyond them belongs in a file of its own. */
const MOST_OUTPUT = 20_000;
/** Time to read the last output after the program has ended: its child processes may keep the pipes open for ever. */
const OUTPUT_MS = 1_000;

/** Starts a program with a text on its standard input. @returns null when it ended with 0, else why not */
export async function runProgram(
  { command: [program = '', ...args], folder, env, onOutput }: FinishProgram,
  input: string,
  clock: Clock,
): Promise<string | null> {
  let child: ChildProcessWithoutNullStreams;
  try {
    child = spawn(program, args, { cwd: folder, env, stdio: ['pipe', 'pipe', 'pipe'] });
  } catch (error) {
    // Some failures are thrown, not sent as an event: ENOTDIR, E2BIG; EINVAL for a batch file.
    const { code } = error as NodeJS.ErrnoException;
    const isBatch = code === 'EINVAL' && /\.(?:cmd|bat)$/i.test(program);
    return `${program} cannot be started (${isBatch ? 'a batch file is started by cmd: [cmd, /c, FILE]' : code})`;
  }
  const ended = new Promise<string | null>((resolve) => {
    child.on('error', (error: NodeJS.ErrnoException) => resolve(`${program} cannot be started (${error.code})`));
    child.on('exit', (code, signal) => {
      if (code === 0) resolve(null);
      else resolve(`${program} ended with ${code === null ? `signal ${signal}` : `exit code ${code}`}`);
    });
  });
  const closed = new Promise<true>((resolve) => child.on('close', () => resolve(true)));
  let room = MOST_OUTPUT;
  const onText = (text: string) => {
    if (room <= 0) return;
    onOutput(text.slice(0, room));
    room -= text.length;
    if (room <= 0) onOutput(`${program} printed more, which is not shown.`);
  };
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', onText);
  // A program may end without reading.
  child.stdin.on('error', () => {});
  child.stdin.end(input);

  let problem = await within(clock, LONGEST_MS, ended);
  if (problem === undefined) {
    problem = `${program} did not end within 60 s`;
    child.kill('SIGTERM');
    if ((await within(clock, GRACE_MS, ended)) === undefined) child.kill('SIGKILL');
  }
  if ((await within(clock, OUTPUT_MS, closed)) === undefined) {
    for (const stream of child.stdio) stream?.destroy();
    child.unref();
  }
  return problem;
}

/** The result of `work`; undefined after the time limit. */
async function within<Result>(clock: Clock, ms: number, work: Promise<Result>): Promise<Result | undefined> {
  using limit = timeLimit(clock, ms);
  const over = once(limit.signal, 'abort').then(() => undefined);
  return await Promise.race([work, over]);
}
