import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../clock.ts';
import { type LoadResult, loadFiles } from '../loaders/load-files.ts';
import type { LoaderOptions } from '../loaders/loader.ts';
import type { Source } from '../sources/source.ts';
import type { DataDatabase } from '../tables/data-database.ts';
import { describeData } from '../tables/describe-data.ts';
import { type FileEntry, type Manifest, readManifest, writeManifest } from './manifest.ts';
import { type Slice, sliceOfKey } from './source-requests.ts';

/** The downloaded slices of a source that the database does not hold in this version. */
export function unloadedSlices(database: DataDatabase, manifest: Manifest): Slice[] {
  const slices = new Set([...manifest.keys()].map(sliceOfKey));
  const { datasets } = describeData(database);
  const isLoaded = ({ fetchedAt, loadedAt, dataset, level, count }: FileEntry, slice: Slice): boolean => {
    if (loadedAt === undefined) return false;
    // A state without rows has nothing to load.
    if (count === 0) return true;
    const loaded = datasets.find(({ name, level: at }) => name === dataset && at === level);
    if (loaded === undefined || loaded.sample || loaded.rows === 0) return false;
    // Another data file may hold the previous version.
    return loaded.loadedAt >= fetchedAt && (loaded.states?.includes(slice) ?? true);
  };
  return [...slices].filter((slice) =>
    [...manifest].some(([key, entry]) => sliceOfKey(key) === slice && !isLoaded(entry, slice)),
  );
}

/**
 * Loads downloaded slices of a source and records it in the manifest. Rows of other states stay.
 *
 * @returns null when no file has a row
 * @throws PerilbookError SERVICE_DATA when the files are not what the loader expects; the data that was there stays
 */
export async function loadDownloads(
  database: DataDatabase,
  source: Source,
  slices: readonly Slice[],
  folders: { readonly downloads: string; readonly rivals: readonly Source[] },
  options: { readonly replace?: boolean; readonly onRecords?: (records: number) => void },
  clock: Clock,
): Promise<LoadResult | null> {
  const folder = join(folders.downloads, source.name);
  const manifest = readManifest(folder);
  const entries = [...manifest].filter(([key]) => slices.includes(sliceOfKey(key)));
  const besides = besidesOf(source);
  const rivals = folders.rivals.filter(({ name }) => readManifest(join(folders.downloads, name)).size > 0);
  const pathOf = ([, { file }]: (typeof entries)[number]) => join(folder, file);
  const sites = entries.find(([key]) => besides.has(key));
  const loaderOptions: LoaderOptions = {
    states: slices.includes('US') ? 'US' : slices,
    ...(sites === undefined ? {} : { sites: pathOf(sites) }),
    ...wordsOf(
      source,
      entries.map(([, entry]) => entry),
    ),
    // The replaced source may have had more rows.
    ...(options.replace === true || rivals.length > 0 ? { replace: true } : {}),
  };
  const files = entries.filter(([key, { count }]) => !besides.has(key) && count !== 0).map(pathOf);
  const result =
    files.length === 0
      ? null
      : await loadFiles(database, source.loader, files, loaderOptions, clock, options.onRecords);
  const loaded = { loadedAt: clock.now(), ...(result && { dataset: result.dataset, level: result.level }) };
  writeManifest(
    folder,
    new Map(
      [...manifest].map(([key, entry]) => [key, slices.includes(sliceOfKey(key)) ? { ...entry, ...loaded } : entry]),
    ),
  );
  for (const { name } of rivals) rmSync(join(folders.downloads, name), { recursive: true, force: true });
  return result;
}

/** The keys of files that are passed as `sites`. */
function besidesOf({ download }: Source): ReadonlySet<string> {
  if (download.kind !== 'file') return new Set();
  return new Set(download.files.flatMap(({ as }, index) => (as === 'sites' ? [`US/${index + 1}`] : [])));
}

/** Vintage and licence that replace those of the loader. */
function wordsOf({ licence, saysAccess, vintage }: Source, entries: readonly FileEntry[]): LoaderOptions {
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const edited = Math.max(0, ...entries.map((entry) => entry.edited ?? 0));
  const time = vintage === 'edited' ? (edited === 0 ? undefined : `edited ${day(edited)}`) : vintage;
  const fetched = Math.max(...entries.map(({ fetchedAt }) => fetchedAt));
  const sentence = licence !== undefined && saysAccess ? `${licence} Accessed ${day(fetched)}.` : licence;
  return {
    ...(time === undefined ? {} : { vintage: time }),
    ...(sentence === undefined ? {} : { licence: sentence }),
  };
}
