import { resolve } from 'node:path';
import type { Options } from 'yargs';
import { PerilbookError } from '../errors.ts';
import { type JobFile, jobFileSchema } from '../job/settings/job-file.ts';
import { readJobFile } from '../job/settings/read-job-file.ts';
import { issuesOf } from '../job/settings/setting-issues.ts';
import { type Job, makeJob, mergeJobFiles, relativeToFile, type Surroundings } from '../job/settings/settings.ts';
import { type CliContext, dataFolder } from './context.ts';
import { notANumber } from './option-values.ts';

/** A setting that can be given as a flag or in the environment, and where it stands in the job file. */
interface JobOption {
  readonly flag: string;
  readonly alias?: string;
  readonly env?: string;
  /** A `boolean` is a word without a value: it is said or not. */
  readonly type: 'string' | 'number' | 'boolean';
  readonly describe: string;
  /** Puts the value into the shape of the job file. */
  readonly place: (value: Said) => JobFile;
}

type Said = string | number | boolean;

const list = (value: Said): string[] =>
  String(value)
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);

/** `5 %` or 0.05; what is neither is left as it is, for the check to refuse. */
function shareOf(value: Said): number {
  const [, percent] = /^\s*(\d+(?:\.\d+)?)\s*%\s*$/.exec(String(value)) ?? [];
  if (percent !== undefined) return Number(percent) / 100;
  return String(value).trim() === '' || Number.isNaN(Number(value)) ? (value as number) : Number(value);
}

/** No option has a default here: a default of the command line would overrule the job file. */
export const JOB_OPTIONS: readonly JobOption[] = [
  {
    flag: 'output',
    alias: 'o',
    type: 'string',
    describe: 'file to write; - for stdout',
    place: (v) => ({ output: String(v) }),
  },
  {
    flag: 'topics',
    alias: 't',
    type: 'string',
    describe: 'slugs and groups (all, natural, proximity, measurement), with commas between',
    place: (v) => ({ topics: list(v) }),
  },
  { flag: 'name', type: 'string', describe: 'name of the job in status', place: (v) => ({ name: String(v) }) },
  {
    flag: 'lat',
    type: 'string',
    describe: 'column that holds the latitude',
    place: (v) => ({ location: { lat: String(v) } }),
  },
  {
    flag: 'lng',
    type: 'string',
    describe: 'column that holds the longitude',
    place: (v) => ({ location: { lng: String(v) } }),
  },
  {
    flag: 'location',
    type: 'string',
    describe: 'one column that holds both: (38.5, -97.2) or POINT(-97.2 38.5)',
    place: (v) => ({ location: { column: String(v) } }),
  },
  {
    flag: 'coordinates',
    type: 'string',
    describe: 'strict: decimal degrees only; lenient: also 38°30\'15"N, W 97.2, 38,5',
    place: (v) => ({ coordinates: String(v) as 'strict' }),
  },
  {
    flag: 'sheet',
    type: 'string',
    describe: 'sheet of an Excel workbook, by name or number (the first)',
    place: (v) => ({ sheet: String(v) }),
  },
  {
    flag: 'header-line',
    type: 'number',
    describe: 'line that names the columns, where titles stand above it',
    place: (v) => ({ header_line: Number(v) }),
  },
  {
    flag: 'precision',
    type: 'number',
    describe: 'decimals of a cell (4 is about 11 m)',
    place: (v) => ({ precision: Number(v) }),
  },
  {
    flag: 'coverage',
    type: 'string',
    describe: 'check (US locations alone), or trust: the service says which it covers',
    place: (v) => ({ coverage: String(v) as 'check' }),
  },
  {
    flag: 'prefix',
    type: 'string',
    describe: 'put before the names of the new columns',
    place: (v) => ({ prefix: String(v) }),
  },
  {
    flag: 'no-header',
    type: 'boolean',
    describe: 'the input has no header line; columns are named by number',
    place: (v) => ({ header: v !== true }),
  },
  {
    flag: 'encoding',
    type: 'string',
    describe: 'of the input, where it is not found by itself: utf-8, windows-1252, utf-16le, utf-16be',
    place: (v) => ({ encoding: String(v) }),
  },
  {
    flag: 'delimiter',
    type: 'string',
    describe: 'of the input, where it is not found by itself',
    place: (v) => ({ delimiter: String(v) }),
  },
  {
    flag: 'base-url',
    env: 'PERILBOOK_BASE_URL',
    type: 'string',
    describe: 'address of the service (without: the embedded one, with sample data)',
    place: (v) => ({ service: { base_url: String(v) } }),
  },
  {
    flag: 'api-key-file',
    type: 'string',
    describe: 'file that holds the API key',
    place: (v) => ({ service: { base_url: '', api_keys: [{ file: String(v) }] } }),
  },
  {
    flag: 'account',
    type: 'string',
    describe: 'whose quota is spent, where one service has several',
    place: (v) => ({ account: String(v) }),
  },
  {
    flag: 'subscription',
    type: 'string',
    describe: 'starter or professional; others in the job file',
    place: (v) => ({ subscription: String(v) as 'starter' }),
  },
  {
    flag: 'anniversary-day',
    type: 'number',
    describe: 'day of the month on which the quota resets',
    place: (v) => ({ anniversary_day: Number(v) }),
  },
  {
    flag: 'budget',
    alias: 'b',
    env: 'PERILBOOK_BUDGET',
    type: 'number',
    describe: 'most credits that this run may spend',
    place: (v) => ({ budget: Number(v) }),
  },
  {
    flag: 'tiers',
    type: 'string',
    describe: 'topic sets from richest to leanest, e.g. "all; natural; wildfire,hail"',
    place: (v) => ({ tiers: String(v).split(';').map(list) }),
  },
  {
    flag: 'order-by',
    type: 'string',
    describe: 'what to buy first: file, tiv, or a column (its largest first)',
    place: (v) => ({ order_by: v === 'file' || v === 'tiv' ? v : { column: String(v) } }),
  },
  {
    flag: 'tract',
    type: 'string',
    describe: 'column with census tract codes (or STATE,COUNTY,TRACT): one answer serves a tract',
    place: (v) => ({ areas: { tract: String(v) } }),
  },
  {
    flag: 'county',
    type: 'string',
    describe: 'column with county codes (FIPS): one answer serves a county',
    place: (v) => ({ areas: { county: String(v) } }),
  },
  {
    flag: 'no-counts',
    type: 'boolean',
    describe: 'leave out the columns that count records',
    place: (v) => ({ counts: v !== true }),
  },
  {
    flag: 'details',
    type: 'string',
    describe: 'keep: also keep the details of what is bought (cache export --details)',
    place: (v) => ({ details: String(v) as 'keep' }),
  },
  {
    flag: 'max-invalid',
    type: 'string',
    describe: 'share of rows that may have no usable location, like 5%: beyond it the exit code is 3',
    place: (v) => ({ max_invalid: shareOf(v) }),
  },
  {
    flag: 'max-minutes',
    type: 'number',
    describe: 'stop buying after so many minutes, resumable',
    place: (v) => ({ max_minutes: Number(v) }),
  },
  {
    flag: 'on-quota',
    type: 'string',
    describe: 'stop, or wait for the anniversary',
    place: (v) => ({ on_quota: String(v) as 'stop' }),
  },
  {
    flag: 'overage-ceiling',
    type: 'number',
    describe: 'dollars of overage that may be billed in a period',
    place: (v) => ({ overages: { ceiling: Number(v) } }),
  },
  {
    flag: 'reserve',
    type: 'number',
    describe: 'credits of the period that are not touched',
    place: (v) => ({ reserve: Number(v) }),
  },
  {
    flag: 'spent-elsewhere',
    type: 'number',
    describe: 'credits of each period that other programs spend',
    place: (v) => ({ spent_elsewhere: Number(v) }),
  },
  {
    flag: 'optimize',
    type: 'string',
    describe: 'credits or calls',
    place: (v) => ({ optimize: String(v) as 'credits' }),
  },
  {
    flag: 'time-to-live',
    type: 'string',
    describe: 'how long answers are fresh, e.g. wildfire=30d,radon=never',
    place: (v) => ({
      time_to_live: Object.fromEntries(
        list(v).map((part) => [part.split('=', 1)[0]!, part.slice(part.indexOf('=') + 1 || part.length)]),
      ),
    }),
  },
  {
    flag: 'store',
    env: 'PERILBOOK_STORE',
    type: 'string',
    describe: 'file that keeps answers, ledger and runs',
    place: (v) => ({ store: String(v) }),
  },
  {
    flag: 'concurrency',
    type: 'number',
    describe: 'most calls in flight at once',
    place: (v) => ({ concurrency: Number(v) }),
  },
];

/** Options that had another name before: a command line that still uses it is told the new one. */
export const RENAMED_OPTIONS: Readonly<Record<string, string>> = { sockets: 'concurrency', counts: 'no-counts' };

/** The same options as yargs wants them; all, or those that are named. */
export function yargsJobOptions(flags?: readonly string[]): Record<string, Options> {
  return Object.fromEntries(
    JOB_OPTIONS.filter(({ flag }) => flags === undefined || flags.includes(flag)).map(
      ({ flag, alias, type, describe }) => [
        flag,
        { type, describe, requiresArg: type !== 'boolean', group: 'Job:', ...(alias ? { alias } : {}) },
      ],
    ),
  );
}

/**
 * The job that the words of a command line mean: flags over environment over job file over defaults.
 * @throws USAGE, JOB_FILE
 */
export function jobOf(context: CliContext, said: string | undefined, flags: Readonly<Record<string, unknown>>): Job {
  return makeJob(saidOf(context, said, flags), surroundingsOf(context));
}

/** What the command line and the environment say; null where they name a job file, which says the rest. */
export function saidWithoutJobFile(
  context: CliContext,
  target: string | undefined,
  flags: Readonly<Record<string, unknown>>,
): JobFile | null {
  if (isJobFile(target)) return null;
  const [fromFlags, fromEnv] = saidOf(context, target, flags);
  return mergeJobFiles(fromEnv, fromFlags);
}

/** What the job file leaves open after it: all that is of one input, and what is chosen for it. */
const OF_ONE_INPUT: readonly string[] = [
  ...['name', 'input', 'output', 'delimiter', 'header', 'header_line', 'sheet', 'encoding', 'location', 'coordinates'],
  ...['topics', 'tiers', 'order_by', 'areas', 'optimize'],
];

/** Options of a command that takes its inputs later, from somewhere else than the command line: account, service, store. */
export const ACCOUNT_FLAGS: readonly string[] = [
  ...['base-url', 'api-key-file', 'account', 'subscription', 'anniversary-day', 'reserve', 'spent-elsewhere'],
  ...['overage-ceiling', 'budget', 'time-to-live', 'store', 'concurrency'],
];

/** Makes jobs for inputs that are named later, with the account and the service that this command line means. */
export function jobOfAccount(
  context: CliContext,
  said: string | undefined,
  flags: Readonly<Record<string, unknown>>,
): (later: JobFile) => Job {
  const base = saidOf(context, said, flags).map((part) =>
    Object.fromEntries(Object.entries(part).filter(([name]) => !OF_ONE_INPUT.includes(name))),
  );
  return (later) => makeJob([later, ...base], surroundingsOf(context));
}

function surroundingsOf(context: CliContext): Surroundings {
  return { dataFolder: dataFolder(context), workingFolder: context.workingFolder };
}

function isJobFile(target: string | undefined): target is string {
  return target !== undefined && /\.ya?ml$/i.test(target);
}

function saidOf(
  context: CliContext,
  said: string | undefined,
  flags: Readonly<Record<string, unknown>>,
): [fromFlags: JobFile, fromEnv: JobFile, fromFile: JobFile] {
  // yargs takes a lone - in a place of its own for an option without a name, and hands on an empty text.
  const target = said === '' && context.args.includes('-') ? '-' : said;
  const fromFlags = gather(
    (option) => flags[option.flag] as Said | undefined,
    (option) => `--${option.flag}`,
  );
  const fromEnv = gather(
    (option) => (option.env ? context.env[option.env] || undefined : undefined),
    (option) => option.env!,
  );
  const fromFile = isJobFile(target)
    ? relativeToFile(readJobFile(resolve(context.workingFolder, target), target), target)
    : target === undefined
      ? {}
      : { input: target };
  return [fromFlags, fromEnv, fromFile];
}

/** A job for commands that only need its store and account: no input need be named. */
export function anyJobOf(
  context: CliContext,
  target: string | undefined,
  flags: Readonly<Record<string, unknown>>,
): Job {
  return jobOf(context, target ?? '-', flags);
}

/** Checks each value on its own, so that a message can name the flag that it came from. */
function gather(read: (option: JobOption) => Said | undefined, nameOf: (option: JobOption) => string): JobFile {
  let job: JobFile = {};
  for (const option of JOB_OPTIONS) {
    const value = read(option);
    if (value === undefined) continue;
    const name = nameOf(option);
    if (option.type === 'number' && (Number.isNaN(Number(value)) || String(value).trim() === '')) {
      throw notANumber(name);
    }
    const part = option.place(option.type === 'number' ? Number(value) : value);
    const isWhole = typeof part.service !== 'object' || part.service.base_url !== '';
    const checked = jobFileSchema.safeParse(part);
    if (isWhole && !checked.success) {
      // An address may have been given with a password inside.
      const shown = option.flag === 'base-url' ? name : `${name} ${value}`;
      throw wrongValue(`${shown}: ${issuesOf(checked.error.issues, part)[0]!.message}`);
    }
    if (part.location && job.location && (part.location.column ?? job.location.column) !== undefined) {
      throw wrongValue('--location excludes --lat and --lng', 'Name one column that holds both, or one for each.');
    }
    job = mergeJobFiles(job, part);
  }
  return job;
}

function wrongValue(message: string, hint = 'perilbook run --help lists the options.'): PerilbookError {
  return new PerilbookError('USAGE', message, hint);
}
