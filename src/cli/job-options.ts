/* The options as plain data, for parsing and help: neither waits for the libraries that check a job (job-of-options.ts). */
import type { Options } from 'yargs';
import { DEFAULT_VERIFY, DEFAULTS, UNITS_BY_SYMBOL } from '../job/settings/defaults.ts';
import type { JobFile } from '../job/settings/job-file.ts';

/** A setting that can be given as a flag or in the environment, and its place in the job file. */
export interface JobOption {
  readonly flag: string;
  readonly alias?: string;
  readonly env?: string;
  readonly type: 'string' | 'number' | 'boolean';
  readonly describe: string;
  /** The job file that says the same. */
  readonly place: (value: Said) => JobFile;
}

/** The value of an option. */
export type Said = string | number | boolean;

const list = (value: Said): string[] =>
  String(value)
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);

/** `5 %` or 0.05. Anything else is returned unchanged, for the schema to refuse. */
function shareOf(value: Said): number {
  const [, percent] = /^\s*(\d+(?:\.\d+)?)\s*%\s*$/.exec(String(value)) ?? [];
  if (percent !== undefined) return Number(percent) / 100;
  return String(value).trim() === '' || Number.isNaN(Number(value)) ? (value as number) : Number(value);
}

/** No option has a default: it would override the job file. */
export const JOB_OPTIONS: readonly JobOption[] = [
  {
    flag: 'output',
    alias: 'o',
    type: 'string',
    describe: 'file to write, or folder for part files; - for stdout',
    place: (v) => ({ output: String(v) }),
  },
  {
    flag: 'topics',
    alias: 't',
    type: 'string',
    describe: 'comma-separated topics or groups (all, natural, proximity, measurement)',
    place: (v) => ({ topics: list(v) }),
  },
  {
    flag: 'name',
    type: 'string',
    describe: 'name of the job, as status shows it',
    place: (v) => ({ name: String(v) }),
  },
  {
    flag: 'lat',
    type: 'string',
    describe: 'latitude column',
    place: (v) => ({ location: { lat: String(v) } }),
  },
  {
    flag: 'lng',
    type: 'string',
    describe: 'longitude column',
    place: (v) => ({ location: { lng: String(v) } }),
  },
  {
    flag: 'location',
    type: 'string',
    describe: 'column with both: (38.5, -97.2) or POINT(-97.2 38.5)',
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
    describe: 'sheet of an Excel workbook, by name or number (default: the first)',
    place: (v) => ({ sheet: String(v) }),
  },
  {
    flag: 'header-line',
    type: 'number',
    describe: 'line with the column names, if there are titles above it',
    place: (v) => ({ header_line: Number(v) }),
  },
  {
    flag: 'precision',
    type: 'number',
    describe: `decimals to which locations are rounded; 4 is about 11 m (default ${DEFAULTS.precision})`,
    place: (v) => ({ precision: Number(v) }),
  },
  {
    flag: 'coverage',
    type: 'string',
    describe: 'check: ask for US locations only; trust: ask for all (default check)',
    place: (v) => ({ coverage: String(v) as 'check' }),
  },
  {
    flag: 'prefix',
    type: 'string',
    describe: 'prefix for the names of the new columns',
    place: (v) => ({ prefix: String(v) }),
  },
  {
    flag: 'no-header',
    type: 'boolean',
    describe: 'the input has no header line; columns are numbered from 1',
    place: (v) => ({ header: v !== true }),
  },
  {
    flag: 'encoding',
    type: 'string',
    describe: 'of the input: utf-8, windows-1252, utf-16le, utf-16be (default: detected)',
    place: (v) => ({ encoding: String(v) }),
  },
  {
    flag: 'delimiter',
    type: 'string',
    describe: 'of the input (default: detected)',
    place: (v) => ({ delimiter: String(v) }),
  },
  {
    flag: 'service',
    type: 'string',
    describe: "local: answer from the agencies' data on this machine; sample: from made-up data",
    place: (v) => ({ service: String(v) as 'local' }),
  },
  {
    flag: 'base-url',
    env: 'PERILBOOK_BASE_URL',
    type: 'string',
    describe: 'address of the service to buy answers from',
    place: (v) => ({ service: { base_url: String(v) } }),
  },
  {
    flag: 'api-key-file',
    type: 'string',
    describe: 'file with the API key',
    place: (v) => ({ service: { base_url: '', api_keys: [{ file: String(v) }] } }),
  },
  {
    flag: 'account',
    type: 'string',
    describe: 'name of the account whose quota is spent',
    place: (v) => ({ account: String(v) }),
  },
  {
    flag: 'subscription',
    type: 'string',
    describe: 'starter or professional; custom ones in the job file (default starter)',
    place: (v) => ({ subscription: String(v) as 'starter' }),
  },
  {
    flag: 'anniversary-day',
    type: 'number',
    describe: `day of the month on which the quota resets (default ${DEFAULTS.anniversary_day})`,
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
    describe: 'topic sets, richest first, e.g. "all; natural; wildfire,hail"',
    place: (v) => ({ tiers: String(v).split(';').map(list) }),
  },
  {
    flag: 'order-by',
    type: 'string',
    describe: 'what to buy first: file, tiv, or a column, largest first (default file)',
    place: (v) => ({ order_by: v === 'file' || v === 'tiv' ? v : { column: String(v) } }),
  },
  {
    flag: 'by-tract',
    type: 'boolean',
    describe:
      'buy one answer per census tract; tracts are found by the boundaries here (data get areas), without a column',
    place: (v) => (v === true ? { areas: { find: 'tract' } } : {}),
  },
  {
    flag: 'by-county',
    type: 'boolean',
    describe: 'buy one answer per county; counties are found by the boundaries here (data get counties)',
    place: (v) => (v === true ? { areas: { find: 'county' } } : {}),
  },
  {
    flag: 'tract',
    type: 'string',
    describe: 'census tract column (or STATE,COUNTY,TRACT): buy one answer per tract',
    place: (v) => ({ areas: { tract: String(v) } }),
  },
  {
    flag: 'county',
    type: 'string',
    describe: 'county FIPS column: buy one answer per county',
    place: (v) => ({ areas: { county: String(v) } }),
  },
  {
    flag: 'verify-areas',
    type: 'string',
    describe: `share of the answers spared by tract or county that is bought anyway, to verify (default ${100 * DEFAULT_VERIFY}%)`,
    place: (v) => ({ areas: { verify: shareOf(v) } }),
  },
  {
    flag: 'geoparquet',
    type: 'boolean',
    describe: 'write the Parquet output as GeoParquet, with a point for each row (hazard_geometry)',
    place: (v) => ({ geoparquet: v === true }),
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
    describe: 'keep: also store the details of new answers (cache export --details)',
    place: (v) => ({ details: String(v) as 'keep' }),
  },
  {
    flag: 'max-invalid',
    type: 'string',
    describe: `share of rows without a usable location that is acceptable (default ${100 * DEFAULTS.max_invalid}%)`,
    place: (v) => ({ max_invalid: shareOf(v) }),
  },
  {
    flag: 'max-minutes',
    type: 'number',
    describe: 'stop buying after this many minutes, resumable',
    place: (v) => ({ max_minutes: Number(v) }),
  },
  {
    flag: 'on-quota',
    type: 'string',
    describe: 'when the quota is used up: stop, or wait for the reset (default stop)',
    place: (v) => ({ on_quota: String(v) as 'stop' }),
  },
  {
    flag: 'overage-ceiling',
    type: 'number',
    describe: 'most dollars of overage in a billing period (default 0)',
    place: (v) => ({ overages: { ceiling: Number(v) } }),
  },
  {
    flag: 'reserve',
    type: 'number',
    describe: 'credits of the billing period to keep back (default 0)',
    place: (v) => ({ reserve: Number(v) }),
  },
  {
    flag: 'spent-elsewhere',
    type: 'number',
    describe: 'credits that other programs spend in each billing period (default 0)',
    place: (v) => ({ spent_elsewhere: Number(v) }),
  },
  {
    flag: 'optimize',
    type: 'string',
    describe: 'buy with the fewest credits or calls (default credits)',
    place: (v) => ({ optimize: String(v) as 'credits' }),
  },
  {
    flag: 'time-to-live',
    type: 'string',
    describe: 'how long answers stay fresh, e.g. wildfire=30d,radon=never',
    place: (v) => ({
      time_to_live: Object.fromEntries(
        list(v).map((part) => [part.split('=', 1)[0]!, part.slice(part.indexOf('=') + 1 || part.length)]),
      ),
    }),
  },
  {
    flag: 'units',
    type: 'string',
    describe: 'unit of distances in the report: miles (default) or kilometers, in short mi or km',
    place: (v) => ({ units: (UNITS_BY_SYMBOL[String(v)] ?? String(v)) as 'miles' }),
  },
  {
    flag: 'currency',
    type: 'string',
    describe: 'currency of the values in the report, e.g. USD (default: the currency column of the input)',
    place: (v) => ({ currency: String(v).toUpperCase() }),
  },
  {
    flag: 'id',
    type: 'string',
    describe:
      'column that names a location in the report, and by which --compare matches rows (default: found by its name)',
    place: (v) => ({ id: String(v) }),
  },
  {
    flag: 'store',
    env: 'PERILBOOK_STORE',
    type: 'string',
    describe: 'file with answers, ledger and runs, or postgres://user@host/database',
    place: (v) => ({ store: String(v) }),
  },
  {
    flag: 'on-finish',
    type: 'string',
    describe: 'program or webhook (https://…) that gets the JSON summary when a run has ended',
    place: (v) => ({ on_finish: /^https?:/i.test(String(v)) ? { url: String(v) } : { command: [String(v)] } }),
  },
  {
    flag: 'metrics',
    type: 'string',
    describe: "file for the run's figures as OpenMetrics text",
    place: (v) => ({ metrics: String(v) }),
  },
  {
    flag: 'concurrency',
    type: 'number',
    describe: `most calls in flight at once (default ${DEFAULTS.concurrency})`,
    place: (v) => ({ concurrency: Number(v) }),
  },
];

/** The options for yargs: all, or those in `flags`. */
export function yargsJobOptions(flags?: readonly string[]): Record<string, Options> {
  return Object.fromEntries(
    JOB_OPTIONS.filter(({ flag }) => flags === undefined || flags.includes(flag)).map(
      ({ flag, alias, type, describe }) => [flag, { type, describe, group: 'Job:', ...(alias ? { alias } : {}) }],
    ),
  );
}

/** Options for the billing period of an account. */
export const ACCOUNT_FLAGS: readonly string[] = [
  ...['service', 'base-url', 'api-key-file', 'account', 'subscription', 'anniversary-day'],
  ...['reserve', 'spent-elsewhere', 'overage-ceiling', 'store'],
];

/** Options for a command that gets its inputs later. */
export const LATER_INPUT_FLAGS: readonly string[] = [...ACCOUNT_FLAGS, 'budget', 'time-to-live', 'concurrency'];
