import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { PerilbookError } from '../../base/errors.ts';
import { isoDay } from '../../base/format-numbers.ts';
import { type FilesOfPart, type LoadResult, loadParts } from '../loaders/load-files.ts';
import type { Source } from '../sources/source.ts';
import type { DataDatabase } from '../tables/data-database.ts';
import { outdatedDatasets } from '../tables/layer-descriptions.ts';
import { readPartsOfSource, storedParts, WHOLE_US } from '../tables/parts.ts';
import type { DatasetName, Level } from '../tables/records.ts';
import { type FileEntry, type Manifest, readManifest, writeManifest } from './downloads-folder.ts';
import { boxOfBounds } from './place-tiles.ts';
import { findReach, type Slice, sliceOfKey } from './source-requests.ts';

/** The downloaded slices of a source that are not in the database in this version. */
export function unloadedSlices(
  database: DataDatabase,
  source: string,
  manifest: Manifest,
): Slice[] {
  const slices = new Set([...manifest.keys()].map(sliceOfKey));
  const outdated = outdatedDatasets(database);
  const isLoaded = (
    { fetchedAt, loadedAt, dataset, level = '', refused }: FileEntry,
    slice: Slice,
  ): boolean => {
    // It is downloaded again first.
    if (refused) return true;
    if (loadedAt === undefined) return false;
    // The publisher has no record of it, and none is loaded.
    if (dataset === undefined) return true;
    if (outdated.has(dataset as DatasetName)) return false;
    const { parts } = storedParts(database, dataset as DatasetName, level as Level);
    const part =
      parts.find(({ state }) => state === slice) ??
      parts.find(({ state }) => state === WHOLE_US) ??
      // The file does not cover the whole US, by its records or sources.yaml.
      parts.find(({ askedOf }) => slice === WHOLE_US && askedOf === source);
    // Another data file may hold the previous version.
    return part !== undefined && part.loadedAt >= fetchedAt;
  };
  return [...slices].filter((slice) =>
    [...manifest].some(([key, entry]) => sliceOfKey(key) === slice && !isLoaded(entry, slice)),
  );
}

export interface LoadedDownloads {
  readonly loaded: LoadResult | null;
  /** The states without a record at the publisher. */
  readonly without: readonly string[];
  /** Why some states were refused; the others were loaded. */
  readonly error?: PerilbookError;
}

/** Loads downloaded slices of a source and records it in the manifest. Parts of other states stay. A refused slice keeps its
 * stored records, and its file is downloaded again next time, even if the server reports no change.
 * @param folders.rivals sources of the same dataset that this one replaces
 * @throws PerilbookError SERVICE_DATA when nothing is what the loader expects; the stored data is unchanged */
export async function loadDownloads(
  database: DataDatabase,
  source: Source,
  slices: readonly Slice[],
  folders: { readonly downloads: string; readonly rivals: readonly Source[] },
  options: { readonly replace?: boolean; readonly onRecords?: (records: number) => void },
  clock: Clock,
): Promise<LoadedDownloads> {
  const folder = join(folders.downloads, source.name);
  const manifest = readManifest(folder);
  const parts = slices.map((slice) => makePart(source, slice, folder, manifest));
  // Where no tile has a record, nothing was studied there: that is an answer.
  const without = parts
    .filter(({ files, options }) => files.length === 0 && options.tiles === undefined)
    .map(({ slice }) => slice);
  const [stored] = readPartsOfSource(database, source.name);
  const mark = (of: readonly Slice[], changes: Partial<FileEntry>) => {
    const marked = [...readManifest(folder)].map(([key, entry]) => {
      if (!of.includes(sliceOfKey(key))) return [key, entry] as const;
      const { refused: _, ...unmarked } = entry;
      return [key, { ...unmarked, ...changes }] as const;
    });
    writeManifest(folder, new Map(marked));
  };
  // The layer may spell the states in another way, so missing states stay unknown.
  if (without.length === slices.length && stored === undefined) {
    mark(slices, { loadedAt: clock.now() });
    return { loaded: null, without };
  }
  const { replace = false, onRecords = () => {} } = options;
  const rivals = folders.rivals.map(({ name }) => name);
  try {
    // A file at an own address may be a part of what is published.
    const isOwn = [...manifest.values()].some(({ covers }) => covers !== undefined);
    const least = isOwn ? 0 : source.least;
    const { territories } = source;
    const own = { replace, askedOf: source.name, reach: findReach(source) };
    const terms = { ...own, rivals, least, territories };
    const loaded = await loadParts(
      database,
      source.loader,
      parts,
      terms,
      { clock, onRecords },
      stored?.level,
    );
    mark(slices, { loadedAt: clock.now(), dataset: loaded.dataset, level: loaded.level });
    for (const name of rivals)
      rmSync(join(folders.downloads, name), { recursive: true, force: true });
    return { loaded, without };
  } catch (error) {
    if (!(error instanceof PerilbookError)) throw error;
    const { covered } = error.context;
    if (covered !== undefined) {
      const own = { ...source, covers: covered as readonly string[] };
      const rest = await loadDownloads(database, own, slices, folders, options, clock);
      mark(slices, { refused: true });
      return { ...rest, error };
    }
    const lost = slices.filter((slice) =>
      (error.context.states as readonly string[] | undefined)?.includes(slice),
    );
    const others = slices.filter((slice) => !lost.includes(slice));
    mark(lost.length === 0 ? slices : lost, { refused: true });
    if (lost.length === 0 || others.length === 0) throw error;
    return { ...(await loadDownloads(database, source, others, folders, options, clock)), error };
  }
}

/** The files of a slice, with the source's vintage and licence in place of the loader's. */
function makePart(
  source: Source,
  slice: Slice,
  folder: string,
  manifest: Manifest,
): FilesOfPart & { readonly slice: Slice } {
  const entries = [...manifest].filter(([key]) => sliceOfKey(key) === slice);
  const besides = besidesOf(source);
  const pathOf = ([, { file }]: (typeof entries)[number]) => join(folder, file);
  const sites = entries.find(([key]) => besides.has(key));
  const from = entries.find(([, entry]) => entry.from !== undefined)?.[1].from;
  const { licence, saysAccess, vintage } = {
    ...source,
    ...source.else?.find((other) => other.from === from),
  };
  const edited = Math.max(0, ...entries.map(([, entry]) => entry.edited ?? 0));
  const time =
    vintage === 'edited' ? (edited === 0 ? undefined : `edited ${isoDay(edited)}`) : vintage;
  const fetched = Math.max(...entries.map(([, { fetchedAt }]) => fetchedAt));
  const sentence =
    licence !== undefined && saysAccess ? `${licence} Accessed ${isoDay(fetched)}.` : licence;
  const tiles = entries[0]?.[1].tiles;
  const covers =
    source.covers ?? entries.find(([, entry]) => entry.covers !== undefined)?.[1].covers;
  return {
    slice,
    of: slice === WHOLE_US && covers !== undefined && !covers?.includes(WHOLE_US) ? covers : slice,
    files: entries.filter(([key, { count }]) => !besides.has(key) && count !== 0).map(pathOf),
    options: {
      sites: sites && pathOf(sites),
      vintage: time,
      licence: sentence,
      from,
      ...(tiles && { tiles: { state: slice, boxes: tiles.map(boxOfBounds) } }),
    },
  };
}

/** The keys of files that are passed as `sites`. */
function besidesOf({ download }: Source): ReadonlySet<string> {
  if (download.kind !== 'file') return new Set();
  return new Set(
    download.files.flatMap(({ as }, index) => (as === 'sites' ? [`US/${index + 1}`] : [])),
  );
}
