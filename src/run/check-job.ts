import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { PerilbookError } from '../base/errors.ts';
import { shownKeySource } from '../job/key-shapes.ts';
import { relativeTo } from '../job/merge-settings.ts';
import { checkJobText, type JobProblem } from '../job/read-job-file.ts';
import { type Job, type JobFolders, makeJob } from '../job/settings.ts';
import { checkOutput } from '../rows/files/output-file.ts';
import { checkFormat } from '../rows/open/file-formats.ts';
import type { Streams } from '../rows/open/open-row-file.ts';
import { isPartFiles } from '../rows/parts/part-files.ts';
import { checkPartFolder, filesOfJob, refuseReplacement, rowsOutput } from './frame/job-outputs.ts';
import type { Effects } from './frame/run-context.ts';
import { findLayout } from './scan/layout.ts';
import { openJobInput } from './scan/scan-input.ts';

export interface CheckedJob {
  /** Errors: the job cannot run. */
  readonly problems: readonly JobProblem[];
  /** Missing things that may exist when the job runs. */
  readonly warnings: readonly JobProblem[];
}

export interface CheckPorts extends JobFolders {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly streams: Streams;
  /** Opens the boundaries of a job with `areas`. @throws SERVICE_DATA when they are not here */
  readonly openAreas: NonNullable<Effects['openAreas']>;
}

/** Finds all errors of a job file, without opening a store or spending anything.
 * @param file its path, to which the paths in it are relative */
export async function checkJob(
  text: string,
  file: string,
  outside: CheckPorts,
): Promise<CheckedJob> {
  const { content, problems, problemAt } = checkJobText(text);
  if (problems.length > 0) return { problems, warnings: [] };
  if (Object.keys(content).length === 0) {
    const message = 'the file is empty; it needs at least an input (input: portfolio.csv)';
    return { problems: [problemAt([], message)], warnings: [] };
  }
  const at = ({ message, hint }: PerilbookError, ...path: PropertyKey[]): JobProblem => {
    const text = `${message}${message.endsWith('?') ? '' : '.'} ${hint}`;
    return problemAt(path.length > 0 ? path : (findSetting(message) ?? []), text);
  };
  // The command line may name the input.
  const settings = relativeTo(dirname(file), { input: '-', ...content });
  const job = await resultOf(() => makeJob([settings], { ...outside, jobFile: file }));
  if (job instanceof PerilbookError) return { problems: [at(job)], warnings: [] };
  const issues = missingKeys(job, outside.env).map(({ index, message, isWrong }) => ({
    problem: problemAt(
      content.service === undefined ? [] : ['service', 'api_keys', index],
      message,
    ),
    isWrong,
  }));
  if (content.input === undefined) {
    const message = 'no input: plan and run need one (ui, status and quota do not)';
    issues.push({ problem: problemAt([], message), isWrong: false });
  }
  const read = job.input === '-' ? null : await resultOf(() => checkInput(job, outside.streams));
  // The input may be created later. If it exists and does not fit, that is an error.
  if (read)
    issues.push({ problem: at(read, ...pathOfColumn(job, read)), isWrong: existsSync(job.input) });
  // Local answers cost nothing: areas have no effect on them.
  const needsAreas = job.areas !== null && job.service.kind !== 'local';
  const opened = needsAreas ? await resultOf(() => outside.openAreas(job)[Symbol.dispose]()) : null;
  if (opened) issues.push({ problem: at(opened, 'areas'), isWrong: false });
  const written = await resultOf(() => checkOutputsOf(job));
  if (written) {
    const setting = content.output === undefined ? 'input' : 'output';
    // The run may have --force, which replaces the file.
    issues.push({ problem: at(written, setting), isWrong: written.code !== 'OUTPUT_EXISTS' });
  }
  const problemsOf = (wrong: boolean) =>
    issues.filter(({ isWrong }) => isWrong === wrong).map(({ problem }) => problem);
  return { problems: problemsOf(true), warnings: problemsOf(false) };
}

async function resultOf<T>(check: () => T | Promise<T>): Promise<T | PerilbookError> {
  try {
    return await check();
  } catch (error) {
    if (error instanceof PerilbookError) return error;
    throw error;
  }
}

/** @throws INPUT_*, OUTPUT_UNWRITABLE */
async function checkInput(job: Job, streams: Streams): Promise<void> {
  const rowFile = await openJobInput(job, streams);
  await findLayout(rowFile, job);
  if (!isPartFiles(rowFile)) checkFormat(job.output, rowFile.format);
}

/** @throws OUTPUT_UNWRITABLE, OUTPUT_EXISTS */
async function checkOutputsOf(job: Job): Promise<void> {
  // The store creates its own folder.
  const folder = dirname(job.output);
  const isMade = existsSync(folder) || folder !== dirname(job.store);
  if (job.parts !== null) await checkPartFolder(job.output, job.parts);
  else if (isMade) await checkOutput(job.output, job.input);
  const rows = rowsOutput(job.output, job, async () => new Set());
  // If a file has no column names, only the store knows whether a run wrote it.
  const output = job.reading.header === false ? { ...rows, isOwn: () => true } : rows;
  await refuseReplacement(job.parts === null ? [output] : [], await filesOfJob(job), false);
}

/** Some messages begin with the name of the setting. */
function findSetting(message: string): PropertyKey[] | null {
  const name = /^([a-z_]+)(?: \w+)?: /.exec(message)?.[1];
  return name === undefined ? null : [name];
}

function pathOfColumn(
  { location }: Job,
  { context, code, message }: PerilbookError,
): PropertyKey[] {
  const { column } = context;
  if (code === 'OUTPUT_UNWRITABLE') return ['output'];
  if (code !== 'INPUT_COLUMNS') return ['input'];
  if (column === undefined) return findSetting(message) ?? ['input'];
  if (column === location.lat) return ['location', 'lat'];
  if (column === location.lng) return ['location', 'lng'];
  if (column === location.column) return ['location', 'column'];
  return findSetting(message) ?? ['input'];
}

/** A key of a job, by its place in the list, that cannot be read here. */
interface KeyProblem {
  readonly index: number;
  readonly message: string;
  /** Its file is named and not there; a variable may be set elsewhere. */
  readonly isWrong: boolean;
}

function missingKeys({ service }: Job, env: CheckPorts['env']): KeyProblem[] {
  if (service.kind !== 'remote') return [];
  return service.keys.flatMap(({ env: variable, file }, index): KeyProblem[] => {
    const isVariable = variable !== undefined;
    if (isVariable ? env[variable] : existsSync(file!)) return [];
    const keySource = shownKeySource(isVariable ? { env: variable } : { file: file! });
    const name = keySource ?? '(its name looks like a key itself, and is not shown)';
    const message = isVariable
      ? `environment variable ${name} is not set`
      : `key file ${name} does not exist`;
    return [{ index, message, isWrong: !isVariable }];
  });
}
