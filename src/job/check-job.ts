import { existsSync } from 'node:fs';
import { PerilbookError } from '../errors.ts';
import { openBook, type Streams } from '../rows/open-book.ts';
import { layoutOf } from './scan/layout.ts';
import { checkJobText, type JobProblem } from './settings/read-job-file.ts';
import { type Job, makeJob, relativeToFile, type Surroundings } from './settings/settings.ts';

export interface CheckedJob {
  /** With any of these the job cannot run. */
  readonly problems: readonly JobProblem[];
  /** What is not here now, and may be when the job runs. */
  readonly warnings: readonly JobProblem[];
}

/** What the check uses of the world outside. */
export interface CheckSurroundings extends Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly streams: Streams;
}

/**
 * Says all that is wrong with a job file, without opening a store or spending anything.
 *
 * @param file where the job file is, as its own paths are to be resolved against
 */
export async function checkJob(text: string, file: string, outside: CheckSurroundings): Promise<CheckedJob> {
  const { content, problems, placeOf } = checkJobText(text);
  if (problems.length > 0) return { problems, warnings: [] };
  const at = ({ message, hint }: PerilbookError, ...path: PropertyKey[]): JobProblem => {
    const words = `${message}${message.endsWith('?') ? '' : '.'} ${hint}`;
    return placeOf(path.length > 0 ? path : (settingOf(message) ?? []), words);
  };
  let job: Job;
  try {
    // A job without an input is whole when the command line names one.
    job = makeJob([relativeToFile({ input: '-', ...content }, file)], outside);
  } catch (error) {
    if (!(error instanceof PerilbookError)) throw error;
    return { problems: [at(error)], warnings: [] };
  }
  const warnings = missingKeys(job, outside.env).map(({ index, message }) =>
    placeOf(content.service === undefined ? [] : ['service', 'api_keys', index], message),
  );
  if (content.input !== undefined && job.input !== '-') {
    try {
      layoutOf(await openBook(job.input, job.reading, outside.streams), job);
    } catch (error) {
      if (!(error instanceof PerilbookError)) throw error;
      warnings.push(at(error, ...pathOfColumn(job, error)));
    }
  }
  return { problems: [], warnings };
}

/** Some messages begin with the setting that they are about. */
function settingOf(message: string): PropertyKey[] | null {
  const name = /^([a-z_]+)(?: \w+)?: /.exec(message)?.[1];
  return name === undefined ? null : [name];
}

/** The setting that named a column which is not there. */
function pathOfColumn({ location, areas }: Job, { context, code, message }: PerilbookError): PropertyKey[] {
  const { column } = context;
  if (code !== 'INPUT_COLUMNS') return ['input'];
  if (column === undefined) return settingOf(message) ?? ['input'];
  if (column === location.lat) return ['location', 'lat'];
  if (column === location.lng) return ['location', 'lng'];
  if (column === areas?.tract) return ['areas', 'tract'];
  if (column === areas?.county) return ['areas', 'county'];
  return settingOf(message) ?? ['input'];
}

function missingKeys({ service }: Job, env: CheckSurroundings['env']): { index: number; message: string }[] {
  if (service.kind === 'embedded') return [];
  return service.keys.flatMap(({ env: variable, file }, index) => {
    if (variable !== undefined && !env[variable]) {
      return [{ index, message: `the environment variable ${variable} holds no API key here` }];
    }
    if (file !== undefined && !existsSync(file)) return [{ index, message: `there is no key file ${file} here` }];
    return [];
  });
}
