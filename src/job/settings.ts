import { devNull } from 'node:os';
import { join, parse, resolve } from 'node:path';
import { PerilbookError } from '../base/errors.ts';
import { NO_FOLDER, noDataFolder } from '../base/platform-folders.ts';
import { type AreaLevel, TIME_TO_LIVE, TOPICS, type TopicSlug } from '../contract/topics.ts';
import type { PlaceOrder } from '../geo/place-order.ts';
import type { OpenOptions } from '../rows/port.ts';
import { encodingNamed } from '../rows/text-encoding.ts';
import { completeAddress, isPostgresAddress } from '../sql/postgres-address.ts';
import {
  type JobAccount,
  makeAccount,
  parseService,
  type ServiceSettings,
} from './account-settings.ts';
import { nameOfInput, type PartSettings, resolveInput } from './input-setting.ts';
import type { JobFile } from './job-file.ts';
import {
  commandIn,
  definedOnly,
  mergeJobFiles,
  relativeTo,
  withHomePaths,
} from './merge-settings.ts';
import { DEFAULTS, SETTING_LIST, type SettingName } from './setting-table.ts';
import { durationMs } from './setting-texts.ts';
import { divideTopics, parseTopics, topicsInGroups } from './topic-choice.ts';

/** The output of a job that only buys: a run writes its rows to the null device. */
export const NO_OUTPUT = devNull;

/** Settings that `makeJob` resolves. */
type ResolvedSetting =
  | (
      | 'input'
      | 'output'
      | 'name'
      | 'delimiter'
      | 'header'
      | 'header_line'
      | 'sheet'
      | 'encoding'
      | 'location'
    )
  | ('topics' | 'order_by' | 'areas' | 'service' | 'store' | 'on_finish' | 'time_to_live')
  | ('account' | 'subscription' | 'anniversary_day' | 'overages' | 'reserve');

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** All other settings, under their names in camel case; null where a setting has neither value nor default. */
type PlainSettings = {
  readonly [K in Exclude<SettingName, ResolvedSetting> as CamelCase<K>]:
    | NonNullable<JobFile[K]>
    | (K extends keyof typeof DEFAULTS ? never : null);
};

/** A job with all settings resolved. `setting-table.ts` describes the plain ones. */
export interface Job extends PlainSettings {
  readonly name: string;
  /** The file with its settings; null where there is none. */
  readonly jobFile: string | null;
  /** A file, `-` for standard input, or a folder or a pattern for several files. */
  readonly input: string;
  /** The file to write, or the folder of the written parts. */
  readonly output: string;
  /** Null where the input is one file. */
  readonly parts: PartSettings | null;
  /** In contract order. */
  readonly topics: readonly TopicSlug[];
  readonly location: {
    readonly lat?: string;
    readonly lng?: string;
    readonly column?: string;
    readonly order?: PlaceOrder;
  };
  /** The settings that override the detection of the input's format. */
  readonly reading: OpenOptions;
  readonly service: ServiceSettings;
  /** The file of the agencies' data on this machine; it may not exist. */
  readonly dataFile: string;
  readonly orderBy: OrderBy;
  /** Buy one answer per area of this level, found by the boundaries on this machine; null: one per cell. */
  readonly areas: AreaLevel | null;
  /** Whether the output has the columns that count records. They differ from place to place, so a job with areas leaves them out. */
  readonly counts: boolean;
  /** How long an answer is fresh, in milliseconds; null: forever. */
  readonly timeToLive: (topic: TopicSlug) => number | null;
  /** Look up the first located rows only, for a trial; null: all. It is an option of commands alone. */
  readonly limit: number | null;
  readonly store: string;
  /** The program that is started after a run, and its arguments; null: none. */
  readonly onFinish: readonly string[] | null;
  /** The settings that were given, without defaults and with absolute paths: `makeJob` makes the same job of them anywhere. */
  readonly given: JobFile;
  /** The topics come from the default; of subscription and anniversary day the account says it. */
  readonly isTopicsAssumed: boolean;
  /** The account whose credits the keys spend. */
  readonly account: JobAccount;
}

/** `file`: in the order of the rows. Else by the value of a cell: the sum over its rows of OED's TIV columns, or of one column; `recognized`:
 * of the value columns that are recognised by their names, and in the order of the rows where there are none. */
export type OrderBy =
  | { readonly kind: 'file' | 'recognized' | 'tiv' }
  | { readonly kind: 'column'; readonly column: string; readonly direction: 'asc' | 'desc' };

/** Folders that defaults and relative paths depend on, and the job file. */
export interface JobFolders {
  /** The folder in which Perilbook keeps its data (`$XDG_DATA_HOME/perilbook`), or `NO_FOLDER`. */
  readonly dataFolder: string;
  readonly workingFolder: string;
  /** For paths that begin with `~/`; null or left out: there is none. */
  readonly homeFolder?: string | null;
  /** Holds PGSSLMODE, PGHOST and the like, for the address of a PostgreSQL store. Default: none. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The file with the settings. */
  readonly jobFile?: string | undefined;
}

/** Makes a job from layers of settings, the strongest first (flags, environment, job file), and the defaults. Paths of a job file
 * are relative to it, all others to the working folder.
 * @throws JOB_FILE, USAGE when a setting without a default is missing */
export function makeJob(layers: readonly JobFile[], folders: JobFolders): Job {
  const given = withHomePaths(
    [...layers].reverse().reduce(mergeJobFiles, {}),
    folders.homeFolder ?? null,
  );
  const settings = mergeJobFiles(DEFAULTS, given) as JobFile & {
    [K in keyof typeof DEFAULTS]-?: NonNullable<JobFile[K]>;
  };
  if (settings.input === undefined) {
    throw folders.jobFile === undefined
      ? new PerilbookError('USAGE', 'Missing input file', 'Name a job file or an input file.')
      : new PerilbookError(
          'JOB_FILE',
          `${folders.jobFile} names no input`,
          'Add a line: input: portfolio.csv.',
        );
  }
  const files = resolveInput(settings.input, settings.output, folders.workingFolder);
  const { service, topics } = whoAnswers(
    parseService(settings.service, folders.workingFolder),
    settings.topics,
  );
  const isNamed = (name: keyof JobFile) => layers.some((layer) => layer[name] !== undefined);
  const account = makeAccount(settings, service, isNamed);
  return {
    ...plainSettings(settings),
    // Inputs of several jobs may have one name, in different folders.
    name:
      settings.name ??
      (folders.jobFile === undefined ? nameOfInput(files) : parse(folders.jobFile).name),
    jobFile: folders.jobFile === undefined ? null : resolve(folders.workingFolder, folders.jobFile),
    ...files,
    topics,
    orderBy: parseOrderBy(settings.order_by),
    areas: settings.areas ?? null,
    counts: settings.areas === undefined,
    location: definedOnly(settings.location ?? {}),
    reading: definedOnly({
      delimiter: settings.delimiter,
      header: settings.header,
      headerLine: settings.header_line,
      sheet: settings.sheet === undefined ? undefined : String(settings.sheet),
      encoding: settings.encoding === undefined ? undefined : encodingNamed(settings.encoding),
    }),
    service,
    dataFile: join(folders.dataFolder, 'data.db'),
    account,
    timeToLive: parseTimeToLive(settings.time_to_live ?? {}),
    limit: null,
    store: resolveStore(settings.store, folders),
    onFinish: settings.on_finish
      ? commandIn(settings.on_finish, (path) => resolve(folders.workingFolder, path))
      : null,
    given: relativeTo(folders.workingFolder, given),
    isTopicsAssumed: !isNamed('topics'),
  };
}

/** The topics of a job, and the service that it asks: none where all of them are on this machine.
 * @throws USAGE for a layer of one's own beside made-up data */
function whoAnswers(
  service: ServiceSettings,
  names: string | readonly string[],
): Pick<Job, 'service' | 'topics'> {
  const topics = parseTopics(names, topicsInGroups(service.kind));
  const { asked, beside } = divideTopics(service.kind, topics);
  const [own] = beside;
  if (own === undefined) return { service, topics };
  if (service.kind !== 'sample')
    return { service: asked.length === 0 ? { kind: 'local' } : service, topics };
  const message = `${own} is a layer on this machine, and real: this job asks made-up data`;
  const hint = `Look it up by a job of its own: --topics ${own} --service local.`;
  throw new PerilbookError('USAGE', message, hint);
}

function plainSettings(settings: JobFile): PlainSettings {
  const camelCase = (name: string) => name.replace(/_[a-z]/g, (letter) => letter[1]!.toUpperCase());
  const plain = SETTING_LIST.map(([name]) => [camelCase(name), settings[name] ?? null]);
  return Object.fromEntries(plain) as unknown as PlainSettings;
}

/** The store as its schema has read it, by its whole path. */
function resolveStore(
  store: string | undefined,
  { workingFolder, dataFolder, env = {} }: JobFolders,
): string {
  if (store === undefined) {
    if (dataFolder === NO_FOLDER) throw noDataFolder('--store FILE');
    return resolve(workingFolder, join(dataFolder, 'store.db'));
  }
  if (!isPostgresAddress(store)) return resolve(workingFolder, store);
  return completeAddress(store, env);
}

function parseOrderBy(orderBy: JobFile['order_by']): OrderBy {
  if (typeof orderBy !== 'object') return { kind: orderBy ?? 'recognized' };
  return { kind: 'column', column: orderBy.column, direction: orderBy.direction ?? 'desc' };
}

function parseTimeToLive(overrides: Readonly<Record<string, string>>): Job['timeToLive'] {
  const times = new Map<TopicSlug, number | null>();
  for (const { slug, cadence } of TOPICS) {
    const seconds = TIME_TO_LIVE[cadence];
    times.set(slug, seconds === null ? null : seconds * 1_000);
  }
  // Groups first: a topic's own line overrides them.
  const names = Object.keys(overrides).sort(
    (a, b) => parseTopics(b).length - parseTopics(a).length,
  );
  for (const name of names) {
    for (const slug of parseTopics(name)) times.set(slug, durationMs(overrides[name]!));
  }
  return (topic) => times.get(topic) ?? null;
}
