import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { byteSize, counted, grouped, timeSpan } from '../../base/format-numbers.ts';
import { NATURAL_SLUGS, TOPIC_SLUGS, type TopicSlug } from '../../contract/topics.ts';
import { type FileEntry, readManifest } from '../../data/download/downloads-folder.ts';
import { sliceOfKey, staleAfterMs } from '../../data/download/source-requests.ts';
import { loadCommandOf, outdatedText } from '../../data/sources/layer-sources.ts';
import type { Source } from '../../data/sources/source.ts';
import { type CountyRatings, countyRatingLines } from '../../data/tables/county-ratings.ts';
import { onDataFile, openDataReadOnly } from '../../data/tables/data-database.ts';
import {
  type DataDescription,
  describeData,
  eventDatasetsOf,
  type LoadedDataset,
  needsOf,
} from '../../data/tables/describe-data.ts';
import { datasetLabel } from '../../data/tables/parts.ts';
import { type CliContext, dataFolder, lineWidth, printResult } from '../frame/context.ts';
import {
  type DataAction,
  openDataSettings,
  readSources,
  refuseMissing,
  type SourceFlags,
} from '../frame/data-settings.ts';
import type { CountyRatingsJson, DataJson, DataSourceJson } from '../json/data-json.ts';
import { fittingTable, listed, table } from '../messages/format.ts';
import { pathGiven, type RunCommand } from '../options/command.ts';
import type { Flags } from '../options/command-table.ts';
import { checkSourcesAction, removeAction } from './data-check.ts';
import { getAction, updateAction } from './data-get.ts';
import { loadAction } from './data-load.ts';

/** A command that opens the data file for writing when it needs it, and closes it. */
function onData<
  Flags extends SourceFlags & {
    readonly db?: string | undefined;
    readonly quiet?: boolean | undefined;
  },
>(act: DataAction<Flags>): RunCommand<Flags> {
  return async (loud, flags, names) => {
    const context = { ...loud, isQuiet: flags.quiet === true };
    using settings = openDataSettings(context, flags, findDataFile(context, flags));
    return await onDataFile(settings.file, () => act(context, settings, names, flags));
  };
}

function findDataFile(context: CliContext, { db }: { readonly db?: string | undefined }): string {
  const named = db === undefined ? `${dataFolder(context)}/data.db` : pathGiven('--db', db);
  return resolve(context.workingFolder, named);
}

/** The commands of `perilbook data`: the agencies' data on this machine. */
export const dataCommands = {
  data: listCommand,
  'data get': onData(getAction),
  'data update': onData(updateAction),
  'data check': onData(checkSourcesAction),
  'data remove': onData(removeAction),
  'data load': onData(loadAction),
};

/** `perilbook data`: lists the loaded data by topic, and what is missing with the command that gets it. */
async function listCommand(context: CliContext, flags: Flags<'data'>): Promise<undefined> {
  const file = findDataFile(context, flags);
  const { sources, downloads } = readSources(context, flags);
  if (flags.db !== undefined) refuseMissing(file, '--db');
  using database = existsSync(file) ? openDataReadOnly(file) : null;
  const here = sources.map((source) => ({ source, downloaded: readDownloaded(source, downloads) }));
  const description = database === null ? NOTHING : describeData(database);
  const { datasets, topics } = description;
  const downloaded = here.filter((entry) => entry.downloaded !== null);
  const lines =
    datasets.length === 0
      ? [
          "No data is here. To get FEMA's ratings for the states of a file: perilbook data get natural --for FILE",
        ]
      : [
          `Loaded into ${file}${existsSync(file) ? ` (${byteSize(statSync(file).size)})` : ''}:`,
          ...datasetTable(datasets, here, context.clock.now(), lineWidth(context.stdout)),
        ];
  const namesWith = (fits: (part: Downloaded['parts'][number]) => boolean) =>
    downloaded
      .flatMap(({ source, downloaded: of }) => (of!.parts.some(fits) ? [source.name] : []))
      .join(', ');
  const unloaded = namesWith(({ refused, loadedAt }) => !refused && loadedAt === undefined);
  const refused = namesWith((part) => part.refused === true);
  if (unloaded !== '')
    lines.push(`Downloaded, not loaded (perilbook data update loads it): ${unloaded}`);
  if (refused !== '') {
    lines.push(
      `Downloaded and refused, in part or whole (perilbook data update downloads it again): ${refused}`,
    );
  }
  for (const topic of description.outdated)
    lines.push(`No answers for ${topic}: ${outdatedText(topic)}.`);
  if (datasets.length > 0) {
    lines.push(
      `${counted(topics.length, 'topic')} can be answered.`,
      ...missingLines(description, sources, lineWidth(context.stdout)),
    );
    if (description.countyRatings !== null)
      lines.push(...countyRatingLines(description.countyRatings));
  }
  if (downloaded.length > 0)
    lines.push(...updateLines(downloaded, context.clock.now(), lineWidth(context.stdout)));
  const others = here.filter((entry) => entry.downloaded === null);
  // The list is long: who has data looks for that first.
  if (others.length > 0 && downloaded.length + datasets.length > 0 && flags.all !== true)
    lines.push(`${counted(others.length, 'other source')} can be downloaded: perilbook data --all`);
  else if (others.length > 0) {
    lines.push(
      'Can be downloaded (perilbook data get NAME; NAME is one of these, a topic, natural or all):',
      ...listed(
        others.map(({ source }) => [
          source.name,
          source.isElsewhere ? source.title : `${source.title}, ${byteSize(source.bytes)}`,
        ]),
      ),
    );
  }
  lines.push(...licenceLines(datasets));
  const value: DataJson = { database: file, ...listJson(description, here, context.clock.now()) };
  printResult(context, flags, value, () => lines);
}

const NOTHING: DataDescription = {
  datasets: [],
  outdated: [],
  topics: [],
  unavailable: TOPIC_SLUGS.map((topic) => ({ topic, missing: needsOf(topic) })),
  withoutRecords: [],
  removals: new Map(),
  countyRatings: null,
  sample: false,
};

interface SourceHere {
  readonly source: Source;
  /** Null where nothing is downloaded. */
  readonly downloaded: SourceDownloads | null;
}

/** The downloaded files of a source, in all. */
interface SourceDownloads {
  readonly states: readonly string[];
  readonly bytes: number;
  readonly fetchedAt: number;
  readonly checkedAt: number;
  readonly parts: readonly FileEntry[];
}

function readDownloaded({ name }: Source, downloads: string): SourceDownloads | null {
  const manifest = readManifest(join(downloads, name));
  if (manifest.size === 0) return null;
  const parts = [...manifest.values()];
  return {
    states: [...new Set([...manifest.keys()].map(sliceOfKey))],
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
    fetchedAt: Math.max(...parts.map(({ fetchedAt }) => fetchedAt)),
    checkedAt: Math.max(...parts.map(({ checkedAt }) => checkedAt)),
    parts,
  };
}

function datasetTable(
  datasets: readonly LoadedDataset[],
  here: readonly SourceHere[],
  now: number,
  width: number,
): string[] {
  const rows = datasets.map(
    ({ name, level, rows: count, vintage, loadedAt, source, sample, states, parts }) => [
      topicsText(
        TOPIC_SLUGS.filter((topic) =>
          [...needsOf(topic), ...eventDatasetsOf(topic)].includes(name),
        ),
      ),
      datasetLabel(name, level),
      grouped(count),
      sizeText(downloadedBytes(name, level, here) + loadedBytes(parts)),
      vintage,
      timeSpan((now - loadedAt) / 60_000),
      states === undefined ? 'US' : namedText(states, STATES_NAMED, ','),
      source + (sample ? ' (sample data)' : ''),
    ],
  );
  // States with some rows. Rows may be missing: a file may hold a few of a state's tracts.
  const head = ['for', 'dataset', 'rows', 'size', 'vintage', 'age', 'states', 'source'];
  return table(head, rows, '  ', width);
}

/** The sources that the next update asks, from the files on this machine; the network is not used. */
function updateLines(downloaded: readonly SourceHere[], now: number, width: number): string[] {
  const rows = downloaded.map(({ source, downloaded: of }) => [
    source.name,
    source.cadence,
    `${timeSpan((now - oldestCheck(of!)) / 60_000)} ago`,
    isDue(source, of!, now) ? 'due' : 'not yet',
    namedText(of!.states, STATES_NAMED, ', '),
  ]);
  const head = ['source', 'published', 'checked', 'newer', 'states'];
  return [
    'The next perilbook data update asks these sources, and downloads what changed:',
    ...fittingTable(head, rows, ['published'], '  ', width),
  ];
}

type Downloaded = NonNullable<SourceHere['downloaded']>;

const oldestCheck = ({ parts }: Downloaded): number =>
  Math.min(...parts.map(({ checkedAt }) => checkedAt));

/** Whether the publisher has probably released newer data. A refused file is always downloaded again. */
function isDue(source: Source, downloaded: Downloaded, now: number): boolean {
  return (
    downloaded.parts.some(({ refused }) => refused) ||
    now - oldestCheck(downloaded) >= staleAfterMs(source)
  );
}

function downloadedBytes(name: string, level: string, here: readonly SourceHere[]): number {
  return here
    .flatMap(({ downloaded }) => downloaded?.parts ?? [])
    .reduce(
      (sum, part) =>
        part.dataset === name && (part.level ?? '') === level ? sum + part.bytes : sum,
      0,
    );
}

/** The size of the files that were loaded by hand. Parts of several states may be of one file. */
function loadedBytes(parts: LoadedDataset['parts']): number {
  const files = new Map(
    parts.flatMap((part) => part.files.map(({ sha256, bytes = 0 }) => [sha256, bytes])),
  );
  return [...files.values()].reduce((sum, bytes) => sum + bytes, 0);
}

/** '' where it is unknown: of sample data, and of files that an earlier version loaded. */
const sizeText = (bytes: number): string => (bytes === 0 ? '' : byteSize(bytes));

/** More topics than these would make a column wider than a screen. */
const TOPICS_NAMED = 3;
const STATES_NAMED = 6;

function topicsText(topics: readonly TopicSlug[]): string {
  if (topics.length === TOPIC_SLUGS.length) return 'all topics';
  return isNatural(topics) ? 'natural topics' : namedText(topics, TOPICS_NAMED, ', ');
}

/** `a, b and 12 others` */
function namedText(names: readonly string[], most: number, between: string): string {
  if (names.length <= most) return names.join(between);
  const named = most - 1;
  return `${names.slice(0, named).join(between)} and ${names.length - named} others`;
}

const isNatural = (topics: readonly TopicSlug[]) =>
  topics.length === NATURAL_SLUGS.length && NATURAL_SLUGS.every((slug) => topics.includes(slug));

/** One line for each set of missing datasets, with the command that gets it. */
function missingLines(
  { unavailable, withoutRecords, outdated }: DataDescription,
  sources: readonly Source[],
  width: number,
): string[] {
  const linesOf = (heading: string, all: DataDescription['unavailable']): string[] => {
    const lacking = all.filter(({ topic }) => !outdated.includes(topic));
    if (lacking.length === 0) return [];
    const groups = Map.groupBy(lacking, ({ missing }) => missing.join(', '));
    const rows = [...groups].map(([missing, group]): [string, string] => {
      const topics = group.map(({ topic }) => topic);
      return [`${topicsText(topics)}: ${missing}`, getCommand(topics, sources)];
    });
    return [heading, ...listed(rows, '  ', width)];
  };
  return [
    ...linesOf('Unavailable, because a dataset is missing:', unavailable),
    ...linesOf('Answered without records, because a dataset is missing:', withoutRecords),
  ];
}

function getCommand(topics: readonly TopicSlug[], sources: readonly Source[]): string {
  // A layer has a dataset of its own.
  const layer = loadCommandOf(topics[0]!);
  if (layer !== null) return layer;
  const needsStates = sources.some(
    ({ when, topics: of }) => when === 'states' && of.some((topic) => topics.includes(topic)),
  );
  const names = isNatural(topics)
    ? 'natural'
    : topics.length === TOPIC_SLUGS.length
      ? 'all'
      : topics.join(' ');
  return `perilbook data get ${names}${needsStates ? ' --for FILE' : ''}`;
}

function licenceLines(datasets: readonly LoadedDataset[]): string[] {
  const groups = Map.groupBy(datasets, ({ licence }) => licence);
  groups.delete('');
  return [...groups].map(
    ([licence, of]) =>
      `Licence of ${[...new Set(of.map(({ name }) => name))].join(', ')}: ${licence}`,
  );
}

function countyRatingsJson({
  tracts,
  unrated,
  unanswered,
  hazards,
  counties,
}: CountyRatings): CountyRatingsJson {
  return {
    tracts,
    tracts_without_rating: unrated,
    tracts_without_any_rating: unanswered,
    tracts_without_hazard: Object.fromEntries(
      hazards.map(({ topic, tracts: lacking }) => [topic, lacking]),
    ),
    counties_without_all_tracts: counties,
  };
}

function downloadJson({
  states,
  bytes,
  fetchedAt,
  checkedAt,
}: Downloaded): NonNullable<DataSourceJson['downloaded']> {
  return { states, bytes, fetchedAt, checkedAt };
}

function listJson(
  description: DataDescription,
  here: readonly SourceHere[],
  now: number,
): Omit<DataJson, 'database'> {
  const { datasets, unavailable, withoutRecords, sample } = description;
  const missingOf = (topic: TopicSlug) =>
    [...unavailable, ...withoutRecords].find((lacking) => lacking.topic === topic)?.missing ?? [];
  const sources = here.map(({ source }) => source);
  return {
    sample,
    datasets,
    county_ratings:
      description.countyRatings === null ? undefined : countyRatingsJson(description.countyRatings),
    topics: TOPIC_SLUGS.map((topic) => ({
      topic,
      answered: description.topics.includes(topic),
      datasets: [...needsOf(topic), ...eventDatasetsOf(topic)].filter((name) =>
        datasets.some((loaded) => loaded.name === name),
      ),
      missing: missingOf(topic),
      ...(description.outdated.includes(topic) && { outdated: true as const }),
      get: missingOf(topic).length === 0 ? undefined : getCommand([topic], sources),
    })),
    sources: here.map(({ source, downloaded }) => {
      const { name, title, topics, cadence, note } = source;
      const bytes = source.isElsewhere ? null : source.bytes;
      const due = downloaded !== null && isDue(source, downloaded, now);
      return {
        source: name,
        title,
        topics,
        bytes,
        cadence,
        note,
        due,
        downloaded: downloaded && downloadJson(downloaded),
      };
    }),
  };
}
