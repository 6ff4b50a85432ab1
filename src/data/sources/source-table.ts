import { PerilbookError } from '../../base/errors.ts';
import { didYouMean } from '../../base/nearest-name.ts';
import { withShownAddresses } from '../../base/shown-address.ts';
import {
  isBuiltIn,
  isTopicSlug,
  NATURAL_SLUGS,
  type TopicSlug,
  topicOf,
} from '../../contract/topics.ts';
import type { LoaderName } from '../loaders/loader-table.ts';
import { needsOf } from '../tables/describe-data.ts';
import { MEASUREMENT_SOURCES } from './measurement-sources.ts';
import { NATURAL_SOURCES } from './natural-sources.ts';
import { SITE_SOURCES } from './site-sources.ts';
import { isPublishedFor, type Source } from './source.ts';

/** All sources; boundaries first, because every topic needs them. */
export const SOURCES: readonly Source[] = [
  ...NATURAL_SOURCES,
  ...MEASUREMENT_SOURCES,
  ...SITE_SOURCES,
].map((row) => ({
  loader: row.name as LoaderName,
  isMeasured: false,
  least: row.isNearRealTime || row.rows === undefined ? 0 : Math.floor(row.rows / 2),
  ...row,
}));

/** The sources of some names. */
interface ChosenSources {
  readonly sources: readonly Source[];
  /** The names of those that nobody named: the topics and ratings that were asked for need them. */
  readonly along: ReadonlySet<string>;
  /** Sources that `all` leaves out, each with the reason. */
  readonly leftOut: readonly { readonly source: Source; readonly reason: string }[];
}

/** The sources for names of sources, loaders or topics, `natural` or `all`. Topics but layers of polygons, and the National Risk Index, include the
 * boundaries.
 * @param hasStates whether states were named: parks and wells need them
 * @throws PerilbookError USAGE when a name is none of these */
export function chooseSources(
  names: readonly string[],
  hasStates: boolean,
  all = SOURCES,
): ChosenSources {
  const chosen = new Set<Source>();
  const along = new Set<Source>();
  const leftOut = new Map<Source, string>();
  for (const name of names) {
    const topics = topicsNamed(name, all);
    if (topics === null) {
      const named = all.filter((source) => isNamed(source, name));
      // A rating belongs to a tract: without boundaries no location gets one.
      const needed = named.some(({ loader }) => loader === 'nri')
        ? all.filter(({ when }) => when === 'base')
        : [];
      for (const source of named) chosen.add(source);
      for (const source of needed) along.add(source);
      continue;
    }
    if ([...topics].some((topic) => needsOf(topic).includes('areas')))
      for (const source of all.filter(({ when }) => when === 'base')) along.add(source);
    for (const source of all.filter((source) => source.topics.some((topic) => topics.has(topic)))) {
      if (source.when === 'states' && !hasStates && name === 'all')
        leftOut.set(source, 'it needs --states or --for');
      else if (source.when !== 'named') chosen.add(source);
    }
  }
  const needy = [...chosen].find(({ when }) => when === 'states');
  if (needy !== undefined && !hasStates) {
    const message = `${needy.name} cannot be downloaded for the whole US: it is too large, or published by state only`;
    const hint = `Name the states (--states VA,MD), or a file with the locations (--for FILE).`;
    throw new PerilbookError('USAGE', message, hint);
  }
  return {
    sources: all.filter((source) => chosen.has(source) || along.has(source)),
    along: new Set([...along].filter((source) => !chosen.has(source)).map(({ name }) => name)),
    leftOut: [...leftOut]
      .filter(([source]) => !chosen.has(source))
      .map(([source, reason]) => ({ source, reason })),
  };
}

/** The loader of a topic that no download has for this state: its files are loaded by hand. Null if a download has the topic. */
export function manualLoader(topic: TopicSlug, state: string, all = SOURCES): string | null {
  const sources = all.filter(({ topics, when }) => topics.includes(topic) && when !== 'named');
  return sources.some(({ download }) => isPublishedFor(download, state))
    ? null
    : (sources[0]?.loader ?? null);
}

/** The territories that a loader's publisher covers, for files that are loaded by hand. */
export function territoriesOf(loader: string, all = SOURCES): readonly string[] {
  return all.find((source) => source.loader === loader)?.territories ?? [];
}

/** The address of the map service with the data of a loader; undefined for none. */
export function addressOf(loader: string, all = SOURCES): string | undefined {
  const download = all.find((source) => source.loader === loader)?.download;
  if (download?.kind !== 'layer') return undefined;
  return typeof download.layer === 'string' ? download.layer : undefined;
}

function isNamed(source: Source, name: string): boolean {
  return source.name === name || (source.loader === name && source.when !== 'named');
}

/** Null for a source or loader. A word that is both a topic and a source (hail) means the topic. */
function topicsNamed(name: string, all: readonly Source[]): ReadonlySet<TopicSlug> | null {
  if (isTopicSlug(name)) {
    if (all.some(({ topics }) => topics.includes(name))) return new Set([name]);
    const message = `The description of ${name} names no address to download from`;
    const hint = `Load its files: perilbook data load ${name} FILE.`;
    throw new PerilbookError('USAGE', message, hint);
  }
  if (all.some((source) => isNamed(source, name))) return null;
  if (name === 'natural') return new Set(NATURAL_SLUGS);
  // Layers of a user's own are asked for by name.
  if (name === 'all')
    return new Set(
      all.flatMap(({ topics }) => topics.filter((topic) => isBuiltIn(topicOf(topic)))),
    );
  const choices = ['natural', 'all', ...all.flatMap((source) => [source.name, ...source.topics])];
  const hint = 'perilbook data lists the sources, perilbook topics the topics.';
  throw new PerilbookError(
    'USAGE',
    `There is no source or topic "${withShownAddresses(name)}"${didYouMean(name, choices)}`,
    hint,
  );
}
