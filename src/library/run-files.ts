import { dirname, resolve } from 'node:path';
import { PerilbookError } from '../base/errors.ts';
import { libraryHost, openRun } from '../host/run-host.ts';
import type { JobSettings } from '../job/job-file.ts';
import { relativeTo } from '../job/merge-settings.ts';
import { readJobFile } from '../job/read-job-file.ts';
import { type Job, makeJob } from '../job/settings.ts';
import { newProgress } from '../run/frame/progress.ts';
import { type RunEvent, reportProgress } from '../run/frame/run-events.ts';
import { NO_FIELDS } from '../run/plan/planning.ts';
import { type Prepared, priceJob } from '../run/prepare.ts';
import { type RunResult, runJob } from '../run/run-job.ts';
import type { PlanSummary } from '../run/summary-shapes.ts';
import { defaultFolders } from './answer-store.ts';
import {
  checkedSettings,
  checkOptions,
  isObjectOrArray,
  isText,
  requireType,
} from './checked-settings.ts';
import { withDescribedLayers } from './described-layers.ts';
import { requireApproved } from './required-approval.ts';

/** What a job needs from the program that runs it. */
export interface JobOptions {
  /** The environment variables with the API keys that the job names; usually `process.env`. Default: none. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The folder for relative paths in settings; paths in a job file are relative to its folder. Default: the working folder. */
  readonly workingFolder?: string;
  /** The folder of store and local data if the job names none. Default: `~/.local/share/perilbook`. */
  readonly dataFolder?: string;
  /** Ends a run: calls in flight are completed, and the output is written with what there is. */
  readonly signal?: AbortSignal;
  /** Replace an existing output that Perilbook did not write. Default: such a file is an error. */
  readonly force?: boolean;
  readonly onEvent?: (event: RunEvent) => void;
  /** Accepts a price of up to so many credits although the service refused a cheaper way, which a budget alone does not. Since 1.1. */
  readonly acceptPrice?: number;
}

/** Prices a job: reads its input and says what a run would buy. Spends nothing, needs no key.
 * @param job the path of a job file, or its settings
 * @throws PerilbookError USAGE, JOB_FILE, INPUT_*, OUTPUT_UNWRITABLE, LOCAL_DATA, STORE_* */
export async function plan(
  job: string | JobSettings,
  options: JobOptions = {},
): Promise<PlanSummary> {
  const { resolved, host, onEvent } = readJobOptions(job, options);
  const progress = newProgress();
  await using opened = await openRun(host, resolved, { isPlan: true, progress });
  using _ = reportProgress(progress, onEvent);
  using prepared = await priceJob(opened.context, opened.renew, { fieldsOf: NO_FIELDS });
  return prepared.summary;
}

/** Runs a job: buys or looks up what its input lacks, and writes the output. Running again resumes. A run that may spend needs a `budget`,
 * and `acceptPrice` where a refusal of the service made it dearer.
 * @param job the path of a job file, or its settings
 * @returns how the run ended, and why if it stopped early: a reached budget or quota is no error
 * @throws PerilbookError as `plan`; NEEDS_APPROVAL, KEY_*, SCOPE_MISSING */
export async function run(job: string | JobSettings, options: JobOptions = {}): Promise<RunResult> {
  const { resolved, host, onEvent } = readJobOptions(job, options);
  const { signal: interrupt = new AbortController().signal, force = false } = options;
  const { acceptPrice = null } = options;
  const approve = (prepared: Prepared) => requireApproved(prepared, acceptPrice);
  const progress = newProgress();
  await using opened = await openRun(host, resolved, { progress, interrupt });
  using _ = reportProgress(progress, onEvent);
  using done = await runJob(opened.context, { approve, force, renew: opened.renew });
  const { stop } = done.result;
  if (stop !== null) onEvent({ type: 'stopped', ...stop });
  return done.result;
}

function readJobOptions(job: string | JobSettings, options: JobOptions) {
  requireType(
    'job',
    job,
    (value) => isText(value) || isObjectOrArray(value),
    'Pass the path of a job file, or its settings.',
  );
  checkOptions(options);
  const { env = {}, onEvent = () => {}, workingFolder = '.', dataFolder } = options;
  const named = dataFolder === undefined ? {} : { dataFolder: resolve(dataFolder) };
  const folders = { ...defaultFolders(), workingFolder: resolve(workingFolder), ...named };
  const host = libraryHost(folders, env, onEvent);
  const jobFile = typeof job === 'string' ? resolve(folders.workingFolder, job) : undefined;
  const settings = () =>
    typeof job === 'string'
      ? relativeTo(
          dirname(resolve(folders.workingFolder, job)),
          readJobFile(resolve(folders.workingFolder, job), job),
        )
      : checkedSettings(job);
  const resolved = withDescribedLayers(folders, jobFile, () =>
    makeJob([settings()], {
      ...folders,
      ...(typeof job === 'string' && { jobFile: job }),
    }),
  );
  refuseStreams(resolved);
  return { resolved, host, onEvent };
}

/** Standard input and output belong to the program. */
function refuseStreams({ input, output }: Job): void {
  if (input !== '-' && output !== '-') return;
  const hint = 'Name files, or use enrich for rows in memory.';
  throw new PerilbookError(
    'USAGE',
    'A program cannot run a job on standard input or output (-)',
    hint,
  );
}
