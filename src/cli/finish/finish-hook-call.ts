import { PerilbookError } from '../../errors.ts';
import { redactorOf } from '../../fetch/redact.ts';
import { readKeys } from '../../run/plan/api-keys.ts';
import type { Job } from '../../run/settings/settings.ts';
import { type CliContext, say } from '../context.ts';
import type { FinishedRun } from './finished-run.ts';
import { runProgram } from './run-program.ts';

/** Starts the program of a job with the result of its run. */
export type ReportFinish = (finished: FinishedRun) => Promise<void>;

/**
 * The program of `on_finish`, ready to be started; null where the job has none. Its failure is reported, and does not change the exit
 * code: the rows are written, and a repeated run would not help.
 */
export async function openFinishHook(context: CliContext, job: Job): Promise<ReportFinish | null> {
  const command = job.onFinish;
  if (command === null) return null;
  const { secrets, names } = await secretsOf(job, context);
  const redactor = redactorOf(secrets);
  return async (finished) => {
    // No key is in a summary; should one get there, it stays on this machine.
    const body = JSON.stringify(redactor.json(JSON.parse(JSON.stringify(finished))));
    const env = Object.fromEntries(
      Object.entries(context.env).filter(([name]) => !names.has(name) && !SECRET_NAME.test(name)),
    );
    const onOutput = (output: string) => say(context, output.trimEnd());
    const problem = await runProgram({ command, folder: context.workingFolder, env, onOutput }, body, context.clock);
    if (problem === null) return;
    say(context, `perilbook: on_finish failed: ${problem}. The run itself is not affected.`, 'warning');
  };
}

/** Variables whose values are secrets: the password of PostgreSQL, and every key for a service or an agency. */
const SECRET_NAME = /^PGPASSWORD$|^PERILBOOK_.*(?:KEY|SECRET|TOKEN|PASSWORD)/i;

/** The keys of a job, and their environment variables: they are not passed to the hook's program. */
async function secretsOf(
  { service }: Job,
  { env, interrupt }: CliContext,
): Promise<{ secrets: string[]; names: Set<string> }> {
  const keys = service.kind === 'remote' ? service.keys : [];
  const names = new Set(keys.flatMap((key) => key.env ?? []));
  const secrets: string[] = [];
  for (const key of keys) {
    try {
      for (const { secret } of await readKeys([key], env, interrupt)) secrets.push(secret);
    } catch (error) {
      // The run itself reports a missing key.
      if (!(error instanceof PerilbookError && error.code === 'KEY_MISSING')) throw error;
    }
  }
  return { secrets, names };
}
