import { PerilbookError } from '../../base/errors.ts';
import { makeRedactor } from '../../client/redact.ts';
import type { Job } from '../../job/settings.ts';
import { readKeys } from '../../run/plan/api-keys.ts';
import { metricsOutput, type ProtectedFile } from '../../run/protected-files.ts';
import type { Flags } from '../command-table.ts';
import { type CliContext, say } from '../context.ts';
import { checkFiles } from '../output-files.ts';
import { type FinishedRun, finishedRun, type RunOutcome } from './finished-run.ts';
import { runProgram } from './run-program.ts';

/** Called once, when a run has ended or an error has ended it: writes the metrics, then calls the hook. Never rejects. */
export type Finish = (outcome: RunOutcome) => Promise<void>;

/** Prepares what a job does after its run. Reports a missing secret and a file that cannot be written before anything is spent.
 * @param files what else the run reads and writes
 * @throws KEY_MISSING, OUTPUT_UNWRITABLE, OUTPUT_EXISTS */
export async function openFinish(
  context: CliContext,
  flags: Flags<'run'>,
  job: Job,
  files: readonly ProtectedFile[],
): Promise<Finish> {
  const { clock, version = '' } = context;
  const { metrics } = job;
  const startedAt = clock.now();
  const callHook = await openFinishHook(context, job);
  // Checked first, because metrics are written after an error too: they must not replace a file that the run reads or writes.
  if (metrics !== null) await checkFiles(flags, job, [metricsOutput(metrics)], files);
  return async (outcome) => {
    const times = { startedAt, endedAt: clock.now() };
    try {
      if (metrics !== null) {
        const { writeRunMetrics } = await import('./run-metrics.ts');
        await writeRunMetrics(metrics, job.name, outcome, times);
      }
    } catch (error) {
      say(context, `perilbook: The metrics were not written: ${error instanceof Error ? error.message : error}`);
    }
    await callHook?.(finishedRun(outcome, { version, job: job.name, ...times }));
  };
}

/** The program of `on_finish`, ready to be started; null where the job has none. Its failure is reported, and does not change the exit
 * code: the rows are written, and a repeated run would not help. */
async function openFinishHook(
  context: CliContext,
  job: Job,
): Promise<((finished: FinishedRun) => Promise<void>) | null> {
  const command = job.onFinish;
  if (command === null) return null;
  const redactor = makeRedactor(await findSecrets(job, context));
  const env = withoutSecrets(context.env, job);
  return async (finished) => {
    // No key is in a summary; should one get there, it stays on this machine.
    const body = JSON.stringify(redactor.json(JSON.parse(JSON.stringify(finished))));
    const onOutput = (output: string) => say(context, output.trimEnd());
    const problem = await runProgram({ command, folder: context.workingFolder, env, onOutput }, body, context.clock);
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
