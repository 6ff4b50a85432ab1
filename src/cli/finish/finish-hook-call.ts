import { createHash } from 'node:crypto';
import { PerilbookError } from '../../errors.ts';
import { redactorOf } from '../../fetch/redact.ts';
import { readKeys } from '../../run/plan/api-keys.ts';
import type { FinishHook } from '../../run/settings/finish-hook.ts';
import { shownKeySource } from '../../run/settings/key-shapes.ts';
import type { Job } from '../../run/settings/settings.ts';
import { type CliContext, say } from '../context.ts';
import type { FinishedRun } from './finished-run.ts';
import { runProgram } from './run-program.ts';
import { postWebhook } from './webhook.ts';

/** Calls the hook of a job with the result of its run. */
export type ReportFinish = (finished: FinishedRun) => Promise<void>;

/**
 * The hook of a job, ready to be called; null where the job has none. A hook's failure is reported, and does not change the exit
 * code: the rows are written, and a repeated run would not help.
 *
 * @throws KEY_MISSING before the run, if the secret is missing
 */
export async function openFinishHook(context: CliContext, job: Job): Promise<ReportFinish | null> {
  const hook = job.onFinish;
  if (hook === null) return null;
  const secret = hook.kind === 'webhook' ? await secretOf(hook.secret, context) : null;
  const { secrets, names } = await secretsOf(job, context);
  const redactor = redactorOf(secret === null ? secrets : [...secrets, secret]);
  return async (finished) => {
    // No key is in a summary; should one get there, it stays on this machine.
    const body = JSON.stringify(redactor.json(JSON.parse(JSON.stringify(finished))));
    const problem =
      hook.kind === 'webhook'
        ? await postWebhook(
            { id: messageId(context, finished), url: hook.url, body, secret, userAgent: 'perilbook' },
            context.clock,
          )
        : await runProgram(
            {
              command: hook.command,
              folder: context.workingFolder,
              env: Object.fromEntries(
                Object.entries(context.env).filter(([name]) => !names.has(name) && !SECRET_NAME.test(name)),
              ),
              onOutput: (output) => say(context, output.trimEnd()),
            },
            body,
            context.clock,
          );
    if (problem === null) return;
    say(context, `perilbook: on_finish failed: ${whereOf(hook)}${problem}. The run itself is not affected.`, 'warning');
  };
}

/** The path of a webhook is often its secret. */
function whereOf(hook: FinishHook): string {
  return hook.kind === 'webhook' ? `${new URL(hook.url).host}: ` : '';
}

async function secretOf(
  source: Extract<FinishHook, { kind: 'webhook' }>['secret'],
  { env, interrupt }: CliContext,
): Promise<string | null> {
  if (source === null) return null;
  try {
    const named = source.env === undefined ? { file: source.file! } : { env: source.env };
    return (await readKeys([{ ...named, scopes: null }], env, interrupt))[0]!.secret;
  } catch (error) {
    if (!(error instanceof PerilbookError)) throw error;
    const secretSource = shownKeySource(source.env === undefined ? { file: source.file! } : { env: source.env });
    throw new PerilbookError(
      'KEY_MISSING',
      `The secret of on_finish is not there: ${secretSource ?? 'its name looks like a secret itself, and is not shown'}`,
      'Set the variable, or put the secret on the first line of the file.',
    );
  }
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

/** The same for each attempt, another for each run. */
function messageId({ owner }: CliContext, { run, ended_at }: FinishedRun): string {
  return `msg_${createHash('sha256').update(`${owner.name} ${run} ${ended_at}`).digest('hex').slice(0, 24)}`;
}
