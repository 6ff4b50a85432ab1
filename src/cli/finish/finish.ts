import { PerilbookError } from '../../base/errors.ts';
import { makeRedactor } from '../../client/redact.ts';
import type { Job } from '../../job/settings.ts';
import { readKeys } from '../../run/plan/api-keys.ts';
import type { RunResult } from '../../run/run-job.ts';
import { isoTime } from '../../run/summary.ts';
import { type CliContext, say } from '../context.ts';
import { errorReport } from '../exit-codes.ts';
import { runProgram } from './run-program.ts';

/** What ended: a run, or an error before or in it. */
export type RunOutcome =
  | { readonly kind: 'ended'; readonly result: RunResult; readonly exitCode: number }
  | { readonly kind: 'error'; readonly error: unknown; readonly exitCode: number };

/** Called once, when a run has ended or an error has ended it. Never rejects. */
export type Finish = (outcome: RunOutcome) => Promise<void>;

/** The program of `on_finish`, ready to be started; does nothing where the job has none. Its failure is reported, and does not change the
 * exit code: the rows are written, and a repeated run would not help. */
export async function openFinish(context: CliContext, job: Job): Promise<Finish> {
  const { clock, version = '', workingFolder: folder } = context;
  const command = job.onFinish;
  if (command === null) return async () => {};
  const startedAt = clock.now();
  const redactor = makeRedactor(await findSecrets(job, context));
  const env = withoutSecrets(context.env, job);
  return async (outcome) => {
    const finished = finishedRun(outcome, { version, job: job.name, startedAt, endedAt: clock.now() });
    // No key is in a summary; should one get there, it stays on this machine.
    const body = JSON.stringify(redactor.json(JSON.parse(JSON.stringify(finished))));
    const onOutput = (output: string) => say(context, output.trimEnd());
    const problem = await runProgram({ command, folder, env, onOutput }, body, clock);
    if (problem === null) return;
    say(context, `perilbook: on_finish failed: ${problem}. The run itself is not affected.`, 'warning');
  };
}

/** Variables whose values are secrets: the password of PostgreSQL, and every key for a service or an agency. */
const SECRET_NAME = /^PGPASSWORD$|^PERILBOOK_.*(?:KEY|SECRET|TOKEN|PASSWORD)/i;

/** The environment for a program that a command starts: without the keys of the job, and other secrets. */
export function withoutSecrets(env: CliContext['env'], job: Job): CliContext['env'] {
  const names = new Set(keysOf(job).map((key) => key.env));
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.has(name) && !SECRET_NAME.test(name)));
}

const keysOf = ({ service }: Job) => (service.kind === 'remote' ? service.keys : []);

/** The keys of a job. */
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

interface RunFrame {
  readonly version: string;
  readonly job: string;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** How a run ended, as `on_finish` gets it: stable names, snake case. */
function finishedRun(outcome: RunOutcome, { version, job, startedAt, endedAt }: RunFrame) {
  const result = outcome.kind === 'ended' ? outcome.result : null;
  return {
    event: 'run.finished',
    version,
    job,
    /** The number of the run in its store; null where it ended before it got one. */
    run: result?.summary.run ?? null,
    exit_code: outcome.exitCode,
    /** `complete`, `incomplete`, `paused`, `stopped`, `interrupted`; `failed` where an error ended it. */
    state: result?.state ?? 'failed',
    started_at: isoTime(startedAt),
    ended_at: isoTime(endedAt),
    error: outcome.kind === 'error' ? errorReport(outcome.error) : null,
    /** What `--json` prints; null where an error ended the run. */
    summary: result?.summary ?? null,
  };
}
