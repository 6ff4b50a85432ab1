import type { z } from 'zod';
import { MAX_PRECISION } from '../geo/coordinates.ts';
import type { SCHEMAS } from './setting-schemas.ts';
import { listOf } from './setting-texts.ts';

/** The value of an option or an environment variable. */
export type Given = string | number | boolean;

/** An option of the command line that gives a setting or a part of it. */
export interface SettingFlag {
  /** Default: text. A share is `5 %` or 0.05, a list has commas. */
  readonly type?: 'number' | 'switch' | 'share' | 'list';
  readonly alias?: string;
  /** The environment variable with the same meaning. */
  readonly env?: string;
  /** Help text, if it differs from the setting's. */
  readonly help?: string;
  /** One of the ten most used options; help shows the others with `--all`. */
  readonly isFrequent?: true;
  /** The value may be a secret, so messages do not repeat it. */
  readonly isHidden?: true;
  /** The setting's value; default: the value of the option. Undefined: it sets nothing. */
  readonly value?: (given: Given) => unknown;
}

interface Setting {
  /** For `--help`, the reference and editors. Its default is added where it is a word or a number. */
  readonly help: string;
  /** Called when a job is read, so that help and completion need not load zod. */
  readonly schema: (schemas: typeof SCHEMAS) => z.ZodType;
  /** Applied last, after flags, environment and job file. */
  readonly default?: Given;
  /** By the names of the options. No option has a default: it would override the job file. */
  readonly flags?: Readonly<Record<string, SettingFlag>>;
}

/** All settings of a job. The job file's schema, the command's options and their help, `jobs/job.schema.json`, the reference pages and
 * the completion are made from this table. A job has each setting under its name in camel case (`Job`), except for those that
 * `makeJob` resolves. */
const GROUPS = {
  Input: {
    input: {
      help: 'CSV, Excel (.xlsx), Parquet, NDJSON, a JSON array, GeoJSON or TopoJSON, by path relative to this file; for parts a folder, pattern (parts/*.csv) or list',
      schema: ({ inputPaths }) => inputPaths,
    },
    sheet: {
      help: 'sheet of an Excel workbook, by name or number (default: the first)',
      schema: ({ sheet }) => sheet,
      flags: { sheet: {} },
    },
    header_line: {
      help: 'line of a CSV file or a sheet with the column names, if there are titles above it',
      schema: ({ wholeNumber }) => wholeNumber(1),
      flags: { 'header-line': { type: 'number' } },
    },
    header: {
      help: 'false: the input has no header line; columns are numbered from 1',
      schema: ({ flag }) => flag,
      flags: {
        'no-header': {
          type: 'switch',
          help: 'the input has no header line; columns are numbered from 1',
          value: (isOn) => !isOn,
        },
      },
    },
    encoding: {
      help: 'of the input: utf-8, windows-1252, utf-16le, macintosh, shift_jis … (default: detected)',
      schema: ({ encoding }) => encoding,
      flags: { encoding: {} },
    },
    delimiter: {
      help: 'field delimiter of a CSV file (default: detected)',
      schema: ({ character }) => character,
      flags: { delimiter: {} },
    },
  },
  'Columns and locations': {
    location: {
      help: 'location columns; needed only if Perilbook does not recognise their names',
      schema: ({ location }) => location,
      flags: {
        lat: {
          isFrequent: true,
          help: 'latitude column, by name or number',
          value: (lat) => ({ lat }),
        },
        lng: {
          isFrequent: true,
          help: 'longitude column, by name or number',
          value: (lng) => ({ lng }),
        },
        location: {
          help: 'column with both: (38.5, -97.2), WKT, WKB, GeoJSON, [lng, lat]',
          value: (column) => ({ column }),
        },
        'location-order': {
          help: 'which comes first in that column: lat,lng or lng,lat',
          value: (order) => ({ order }),
        },
      },
    },
    coordinates: {
      help: 'strict: decimal degrees only; lenient: also 38°30\'15"N, W 97.2, 38,5',
      schema: ({ oneOf }) => oneOf('strict', 'lenient'),
      default: 'strict',
      flags: { coordinates: {} },
    },
    precision: {
      help: 'decimals to which locations are rounded; 4 is about 11 m',
      schema: ({ wholeNumber }) => wholeNumber(0, MAX_PRECISION),
      default: 4,
      flags: { precision: { type: 'number' } },
    },
    max_invalid: {
      help: 'acceptable share of rows without a usable location; above it a run ends with exit code 3',
      schema: ({ share }) => share,
      default: 0.05,
      flags: { 'max-invalid': { type: 'share' } },
    },
    id: {
      help: 'column that names a location in the report, and by which --compare matches rows (default: found by its name)',
      schema: ({ text }) => text,
      flags: { id: {} },
    },
  },
  'What to ask': {
    topics: {
      help: 'topics or groups: natural, proximity, measurement, all; perilbook topics lists them',
      schema: ({ topics }) => topics,
      default: 'natural',
      flags: {
        topics: {
          type: 'list',
          alias: 't',
          isFrequent: true,
          help: 'topics or groups, with commas: natural, proximity, measurement, all',
        },
      },
    },
    losses: {
      help: "also add the expected annual loss of each natural topic: FEMA's loss rate, and its amount where the input has a value column",
      schema: ({ flag }) => flag,
      default: false,
      flags: {
        losses: { type: 'switch', help: "add FEMA's expected annual losses: rates and amounts" },
      },
    },
    order_by: {
      help: "what to buy first: file, tiv (the sum of OED's TIV columns), or a column, largest first (default: a recognised value column, else file)",
      schema: ({ orderBy }) => orderBy,
      flags: {
        'order-by': {
          value: (order) => (order === 'file' || order === 'tiv' ? order : { column: order }),
        },
      },
    },
    areas: {
      help: 'buy one answer per census tract or county, found by the boundaries on this machine: tract, county',
      schema: ({ areas }) => areas,
      flags: { areas: {} },
    },
  },
  'Where answers come from': {
    service: {
      help: "local (the agencies' data on this machine), sample (made-up data), or the address of a service (default: local)",
      schema: ({ service }) => service,
      flags: {
        service: {
          isFrequent: true,
          help: "local: the agencies' data on this machine; sample: made-up data",
        },
        'base-url': {
          env: 'PERILBOOK_BASE_URL',
          isFrequent: true,
          isHidden: true,
          help: 'address of the service to buy answers from',
          value: (base_url) => ({ base_url }),
        },
        'api-key-file': {
          isFrequent: true,
          help: 'file with the API key',
          value: (file) => ({ base_url: '', api_keys: [{ file }] }),
        },
      },
    },
    concurrency: {
      help: 'most calls in flight at once',
      schema: ({ wholeNumber }) => wholeNumber(1, 64),
      default: 8,
      flags: { concurrency: { type: 'number' } },
    },
  },
  'Money and time': {
    account: {
      help: "name of the account whose quota is spent (default: the service's host)",
      schema: ({ accountName }) => accountName,
      flags: { account: {} },
    },
    subscription: {
      help: 'starter or professional; custom figures in the job file',
      schema: ({ subscription }) => subscription,
      default: 'starter',
      flags: { subscription: { isFrequent: true } },
    },
    anniversary_day: {
      help: 'day of the month on which the quota resets; in a shorter month its last day',
      schema: ({ day }) => day,
      default: 1,
      flags: { 'anniversary-day': { type: 'number' } },
    },
    budget: {
      help: 'most credits that one run may spend; off a terminal it is also the approval',
      schema: ({ credits }) => credits,
      flags: { budget: { type: 'number', alias: 'b', env: 'PERILBOOK_BUDGET', isFrequent: true } },
    },
    max_minutes: {
      help: 'stop buying after this many minutes, resumable',
      schema: ({ positive }) => positive,
      flags: { 'max-minutes': { type: 'number' } },
    },
    overages: {
      help: 'what may be billed beyond the allowance (default: nothing)',
      schema: ({ overages }) => overages,
      flags: {
        'overage-ceiling': {
          type: 'number',
          help: 'most dollars of overage in a billing period (default 0)',
          value: (ceiling) => ({ ceiling }),
        },
      },
    },
    reserve: {
      help: 'credits of a billing period that this job must leave',
      schema: ({ credits }) => credits,
      default: 0,
      flags: { reserve: { type: 'number' } },
    },
    optimize: {
      help: 'buy with the fewest credits or calls',
      schema: ({ oneOf }) => oneOf('credits', 'calls'),
      default: 'credits',
      flags: { optimize: {} },
    },
  },
  Output: {
    output: {
      help: 'file to write, in the format of its extension; for part files a folder; - for stdout (default: beside the input, with .hazards in its name)',
      schema: ({ outputPath }) => outputPath,
      flags: { output: { alias: 'o', isFrequent: true, isHidden: true } },
    },
    prefix: {
      help: 'prefix for the names of the new columns',
      schema: ({ anyText }) => anyText,
      default: '',
      flags: { prefix: {} },
    },
    types: {
      help: 'infer: CSV columns of plain numbers are numeric in formats with types; text: they stay text',
      schema: ({ oneOf }) => oneOf('infer', 'text'),
      default: 'infer',
      flags: { types: {} },
    },
    geoparquet: {
      help: 'write the Parquet output as GeoParquet, with a point for each row (hazard_geometry)',
      schema: ({ flag }) => flag,
      default: false,
      flags: { geoparquet: { type: 'switch' } },
    },
    units: {
      help: 'unit of distances in the report: miles or kilometers, in short mi or km',
      schema: ({ units }) => units,
      default: 'miles',
      flags: { units: {} },
    },
    currency: {
      help: "currency of the values in the report, e.g. USD; of several in a file, the one to break down (default: that of the input's column, or of its amounts)",
      schema: ({ currency }) => currency,
      flags: { currency: { value: (code) => String(code).toUpperCase() } },
    },
    on_finish: {
      help: 'program, and its arguments, that gets the JSON summary when a run has ended, also one that stopped or failed',
      schema: ({ onFinish }) => onFinish,
    },
  },
  Store: {
    store: {
      help: 'file with answers, ledger and runs, or postgres://user@host/database',
      schema: ({ database }) => database,
      flags: { store: { env: 'PERILBOOK_STORE', isHidden: true } },
    },
    name: {
      help: 'name of the job, as status shows it (default: the name of the job file, else of the input)',
      schema: ({ text }) => text,
      flags: { name: {} },
    },
    time_to_live: {
      help: 'how long answers stay fresh, by topic or group',
      schema: ({ timesToLive }) => timesToLive,
      flags: {
        'time-to-live': {
          help: 'how long answers stay fresh, e.g. wildfire=30d,radon=never',
          value: (times) =>
            Object.fromEntries(
              listOf(times).map((part) => [
                part.split('=', 1)[0]!,
                part.slice(part.indexOf('=') + 1 || part.length),
              ]),
            ),
        },
      },
    },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Setting>>>>;

export type SettingGroup = keyof typeof GROUPS;

export type SettingsOf<Group extends SettingGroup> = keyof (typeof GROUPS)[Group];

type Joined<Group> = (Group extends unknown ? (group: Group) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

export type Settings = Joined<(typeof GROUPS)[SettingGroup]>;

export type SettingName = keyof Settings;

/** The lines of the table, without the types of their values. */
export const SETTING_LIST = Object.entries(GROUPS).flatMap(([group, settings]) =>
  Object.entries<Setting>(settings).map(
    ([name, setting]) => [name as SettingName, { ...setting, group }] as const,
  ),
) as readonly (readonly [name: SettingName, setting: Setting & { readonly group: SettingGroup }])[];

/** The options of all settings, a type for each setting. */
type FlagTable = {
  [Name in SettingName]: Settings[Name] extends { readonly flags: infer Flags } ? Flags : never;
}[SettingName];

/** The name of an option that gives a setting. */
export type JobOptionName = FlagTable extends infer Flags
  ? Flags extends unknown
    ? keyof Flags & string
    : never
  : never;

type FlagOf<Name extends JobOptionName> = Extract<FlagTable, Readonly<Record<Name, unknown>>>[Name];

export type JobFlags = {
  readonly [Name in JobOptionName]?:
    | (FlagOf<Name> extends { type: 'number' }
        ? number
        : FlagOf<Name> extends { type: 'switch' }
          ? boolean
          : string)
    | undefined;
};

type Defaults = {
  readonly [K in SettingName as Settings[K] extends { readonly default: Given }
    ? K
    : never]: Extract<Settings[K], { readonly default: Given }>['default'];
};

export const DEFAULTS = Object.fromEntries(
  SETTING_LIST.flatMap(([name, setting]) =>
    setting.default === undefined ? [] : [[name, setting.default]],
  ),
) as Defaults;

/** The help of a setting, with its default where it has one. */
export function formatHelp({ help, default: value, flags = {} }: Setting): string {
  if (typeof value === 'boolean' || value === undefined || value === '') return help;
  const isShare = Object.values(flags).some(({ type }) => type === 'share');
  return `${help} (default ${isShare ? `${100 * Number(value)} %` : value})`;
}
