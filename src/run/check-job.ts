import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { PerilbookError } from '../base/errors.ts';
import { shownKeySource } from '../job/key-shapes.ts';
import { relativeTo } from '../job/merge-settings.ts';
import { checkJobText, type JobProblem } from '../job/read-job-file.ts';
import { type Job, type JobFolders, makeJob } from '../job/settings.ts';
import { checkFormat } from '../rows/file-formats.ts';
import { checkOutput } from '../rows/files/output-file.ts';
import type { Streams } from '../rows/open-row-file.ts';
import { isPartFiles } from '../rows/parts/part-files.ts';
import { openJobInput } from './parts/job-input.ts';
import { checkPartFolder } from './parts/part-outputs.ts';
import { filesOfJob, metricsOutput, type Output, refuseReplacement, rowsOutput } from './protected-files.ts';
import type { Effects } from './run-context.ts';
import { layoutOf } from './scan/layout.ts';

export interface CheckedJob {
  /** Errors: the job cannot run. */
  readonly problems: readonly JobProblem[];
  /** Missing things that may exist when the job runs. */
  readonly warnings: readonly JobProblem[];
}

/** The other inputs of the check. */
export interface CheckPorts extends JobFolders {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly streams: Streams;
  /** Opens the boundaries of a job with `areas`. @throws SERVICE_DATA when they are not here */
  readonly openAreas: NonNullable<Effects['openAreas']>;
}

/**
 * Finds all errors of a job file, without opening a store or spending anything.
 *
 * @param file its path, to which the paths in it are relative
 */
export async function checkJob(text: string, file: string, outside: CheckPorts): Promise<CheckedJob> {
  const { content, problems, problemAt } = checkJobText(text);
  if (problems.length > 0) return { problems, warnings: [] };
  if (Object.keys(content).length === 0) {
    return {
      problems: [problemAt([], 'the file is empty; it needs at least an input (input: portfolio.csv)')],
      warnings: [],
    };
  }
  const at = ({ message, hint }: PerilbookError, ...path: PropertyKey[]): JobProblem => {
    const text = `${message}${message.endsWith('?') ? '' : '.'} ${hint}`;
    return problemAt(path.length > 0 ? path : (settingOf(message) ?? []), text);
  };
  let job: Job;
  try {
    // The command line may name the input.
    job = makeJob([relativeTo(dirname(file), { input: '-', ...content })], { ...outside, jobFile: file });
  } catch (error) {
    if (!(error instanceof PerilbookError)) throw error;
    return { problems: [at(error)], warnings: [] };
  }
  const issues = missingKeys(job, outside.env).map(({ index, message, isWrong }) => ({
    problem: problemAt(content.service === undefined ? [] : ['service', 'api_keys', index], message),
    isWrong,
  }));
  if (content.input === undefined) {
    const message = 'no input: plan and run need one (ui, status and quota do not)';
    issues.push({ problem: problemAt([], message), isWrong: false });
  } else if (job.input !== '-') {
    try {
      const rowFile = await openJobInput(job, outside.streams);
      layoutOf(rowFile, job);
      if (!isPartFiles(rowFile)) checkFormat(job.output, rowFile.format);
    } catch (error) {
      if (!(error instanceof PerilbookError)) throw error;
      // The input may be created later. If it exists and does not fit, that is an error.
      issues.push({ problem: at(error, ...pathOfColumn(job, error)), isWrong: existsSync(job.input) });
    }
  }
  // Local answers cost nothing: areas have no effect on them.
  if (job.areas !== null && job.service.kind !== 'local') {
    try {
      outside.openAreas(job)[Symbol.dispose]();
    } catch (error) {
      if (!(error instanceof PerilbookError)) throw error;
      issues.push({ problem: at(error, 'areas'), isWrong: false });
    }
  }
  try {
    // The store creates its own folder.
    const folder = dirname(job.output);
    const isMade = existsSync(folder) || folder !== dirname(job.store);
    if (job.parts !== null) await checkPartFolder(job.output, job.parts);
    else if (isMade) await checkOutput(job.output, job.input);
    await refuseReplacement(outputsOf(job), await filesOfJob(job), false);
  } catch (error) {
    if (!(error instanceof PerilbookError)) throw error;
    const setting = error.context.file === job.metrics ? 'metrics' : content.output === undefined ? 'input' : 'output';
    // The run may have --force, which replaces the file.
    issues.push({ problem: at(error, setting), isWrong: error.code !== 'OUTPUT_EXISTS' });
  }
  const problemsOf = (wrong: boolean) =>
    issues.filter(({ isWrong }) => isWrong === wrong).map(({ problem }) => problem);
  return { problems: problemsOf(true), warnings: problemsOf(false) };
}

/** The single files that a run of the job writes. If a file has no column names, only the store knows whether a run wrote it. */
function outputsOf(job: Job): Output[] {
  const { output, metrics, parts, reading } = job;
  const rows = rowsOutput(output, job, async () => new Set());
  const isBare = reading.header === false;
  return [
    ...(parts === null ? [isBare ? { ...rows, isOwn: () => true } : rows] : []),
    ...(metrics === null ? [] : [metricsOutput(metrics)]),
  ];
}

/** Some messages begin with the name of the setting. */
function settingOf(message: string): PropertyKey[] | null {
  const name = /^([a-z_]+)(?: \w+)?: /.exec(message)?.[1];
  return name === undefined ? null : [name];
}

/** The setting that names a missing column. */
function pathOfColumn({ location }: Job, { context, code, message }: PerilbookError): PropertyKey[] {
  const { column } = context;
  if (code === 'OUTPUT_UNWRITABLE') return ['output'];
  if (code !== 'INPUT_COLUMNS') return ['input'];
  if (column === undefined) return settingOf(message) ?? ['input'];
  if (column === location.lat) return ['location', 'lat'];
  if (column === location.lng) return ['location', 'lng'];
  if (column === location.column) return ['location', 'column'];
  return settingOf(message) ?? ['input'];
}

function missingKeys({ service }: Job, env: CheckPorts['env']): { index: number; message: string; isWrong: boolean }[] {
  if (service.kind !== 'remote') return [];
  return service.keys.flatMap(({ env: variable, file }, index): ReturnType<typeof missingKeys> => {
    const isVariable = variable !== undefined;
    if (isVariable ? env[variable] : existsSync(file!)) return [];
    const keySource = shownKeySource(isVariable ? { env: variable } : { file: file! });
    const name = keySource ?? '(its name looks like a key itself, and is not shown)';
    const message = isVariable ? `environment variable ${name} is not set` : `key file ${name} does not exist`;
    return [{ index, message, isWrong: !isVariable }];
  });
}
