import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Clock, timeLimit } from '../../base/clock.ts';
import { PerilbookError } from '../../base/errors.ts';
import { isoTime } from '../../base/format-numbers.ts';
import { makeRedactor } from '../../client/redact.ts';
import type { Job } from '../../job/settings.ts';
import { readKeys } from '../../run/frame/api-keys.ts';
import type { RunResult } from '../../run/run-job.ts';
import type { RunFinished } from '../json/run-finished.ts';
import { errorReport } from '../options/exit-codes.ts';
import { type CliContext, say } from './context.ts';

/** What ended: a run, or an error before or in it. */
type RunOutcome =
  | { readonly kind: 'ended'; readonly result: RunResult; readonly exitCode: number }
  | { readonly kind: 'error'; readonly error: unknown; readonly exitCode: number };

/** The program of `on_finish`, ready to be started; does nothing where the job has none. Its failure is reported, and does not change the
 * exit code: the rows are written, and a repeated run would not help.
 * @returns to be called once, when a run has ended or an error has ended it; never rejects */
export async function openFinish(
  context: CliContext,
  job: Job,
): Promise<(outcome: RunOutcome) => Promise<void>> {
  const { clock, version = '' } = context;
  const command = job.onFinish;
  if (command === null) return async () => {};
  const startedAt = clock.now();
  const redactor = makeRedactor(await findSecrets(job, context));
  const env = withoutSecrets(context.env, job);
  return async (outcome: RunOutcome) => {
    const result = outcome.kind === 'ended' ? outcome.result : null;
    const finished: RunFinished = {
      event: 'run.finished',
      version,
      job: job.name,
      run: result?.summary.run ?? null,
      exit_code: outcome.exitCode,
      state: result?.state ?? 'failed',
      started_at: isoTime(startedAt)!,
      ended_at: isoTime(clock.now())!,
      error: outcome.kind === 'error' ? errorReport(outcome.error) : null,
      summary: result?.summary ?? null,
    };
    // No key is in a summary; should one get there, it stays on this machine.
    const body = JSON.stringify(redactor.json(JSON.parse(JSON.stringify(finished))));
    const problem = await runProgram({ ...context, env }, command, body);
    if (problem === null) return;
    say(context, `on_finish failed: ${problem}. The run itself is not affected.`, 'warning');
  };
}

/** Variables whose values are secrets: the password of PostgreSQL, and every key for a service or an agency. */
const SECRET_NAME = /^PGPASSWORD$|^PERILBOOK_.*(?:KEY|SECRET|TOKEN|PASSWORD)/i;

/** The environment for a program that a command starts: without the keys of the job, and other secrets. */
export function withoutSecrets(env: CliContext['env'], job: Job): CliContext['env'] {
  const names = new Set(keysOf(job).map((key) => key.env));
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !names.has(name) && !SECRET_NAME.test(name)),
  );
}

const keysOf = ({ service }: Job) => (service.kind === 'remote' ? service.keys : []);

async function findSecrets(job: Job, { env, interrupt }: CliContext): Promise<string[]> {
  const secrets: string[] = [];
  for (const key of keysOf(job)) {
    try {
      for (const { secret } of await readKeys([key], env, interrupt)) secrets.push(secret);
    } catch (error) {
      // The run itself reports a missing key.
      if (!(error instanceof PerilbookError && error.code === 'KEY_MISSING')) throw error;
    }
  }
  return secrets;
}

/** A program that hangs must not keep a scheduler's job alive. */
const LONGEST_MS = 60_000;
/** Time between SIGTERM and SIGKILL, so that the program can clean up. */
const GRACE_MS = 5_000;
/** Most characters of its output that are shown: what it prints beyond them belongs in a file of its own. */
const MOST_OUTPUT = 20_000;
/** Time to read the last output after the program has ended: its child processes may keep the pipes open for ever. */
const OUTPUT_MS = 1_000;

/** Starts a program with a text on its standard input, and prints what it prints. @returns null when it ended with 0, else why not */
async function runProgram(
  context: CliContext,
  [program = '', ...args]: readonly string[],
  input: string,
) {
  const { workingFolder: cwd, env, clock } = context;
  let child: ChildProcessWithoutNullStreams;
  try {
    child = spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
  } catch (error) {
    // Some failures are thrown, not sent as an event: ENOTDIR, E2BIG; EINVAL for a batch file.
    const { code } = error as NodeJS.ErrnoException;
    const isBatch = code === 'EINVAL' && /\.(?:cmd|bat)$/i.test(program);
    return `${program} cannot be started (${isBatch ? 'a batch file is started by cmd: [cmd, /c, FILE]' : code})`;
  }
  const ended = new Promise<string | null>((resolve) => {
    child.on('error', (error: NodeJS.ErrnoException) =>
      resolve(`${program} cannot be started (${error.code})`),
    );
    child.on('exit', (code, signal) => {
      if (code === 0) resolve(null);
      else
        resolve(
          `${program} ended with ${code === null ? `signal ${signal}` : `exit code ${code}`}`,
        );
    });
  });
  const closed = new Promise<true>((resolve) => child.on('close', () => resolve(true)));
  let room = MOST_OUTPUT;
  const onText = (text: string) => {
    if (room <= 0) return;
    say(context, text.slice(0, room).trimEnd());
    room -= text.length;
    if (room <= 0) say(context, `${program} printed more, which is not shown.`);
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

async function within<Result>(
  clock: Clock,
  ms: number,
  work: Promise<Result>,
): Promise<Result | undefined> {
  using limit = timeLimit(clock, ms);
  const over = once(limit.signal, 'abort').then(() => undefined);
  return await Promise.race([work, over]);
}
