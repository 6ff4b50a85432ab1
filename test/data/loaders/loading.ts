import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { TestContext } from 'node:test';
import { zipSync } from 'fflate';
import { type LoadResult, loadFiles } from '../../../src/data/loaders/load-files.ts';
import type { LoaderOptions } from '../../../src/data/loaders/loader.ts';
import type { DataDatabase } from '../../../src/data/tables/data-database.ts';
import { openDatabase, releaseLater, StillClock } from '../../service/small-data.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

/** Writes a file that is removed when the test ends. */
export function fileOf(t: TestContext, name: string, content: string | Buffer): string {
  const file = join(
    temporaryFolder({ after: (release: () => void) => releaseLater(t, release) }),
    basename(name),
  );
  writeFileSync(file, content);
  return file;
}

/** A database of its own, and what loads files into it. */
export function loading(t: TestContext) {
  const database = openDatabase(t);
  const clock = new StillClock();
  const load = (loader: string, files: string | readonly string[], options: LoaderOptions = {}) =>
    loadFiles(database, loader, typeof files === 'string' ? [files] : files, options, clock);
  return { database, load };
}

/** The values of all batches. */
export async function all<T>(batches: AsyncIterable<readonly T[]>): Promise<T[]> {
  const values: T[] = [];
  for await (const batch of batches) values.push(...batch);
  return values;
}

/** The reasons of a load's rejects with their counts and first lines. */
export function rejects({
  rejected,
}: LoadResult): [reason: string, count: number, firstLine: number][] {
  return rejected.map(({ reason, count, firstLine }) => [reason, count, firstLine]);
}

/** The reasons alone. */
export const reasons = (result: LoadResult): string[] => rejects(result).map(([reason]) => reason);

/** Features as GeoJSON text. @param more other members of the collection */
export function geojson(features: readonly object[], more: object = {}): string {
  const all = features.map((feature) => ({ type: 'Feature', ...feature }));
  return JSON.stringify({ type: 'FeatureCollection', features: all, ...more });
}

/** A file of cell towers: so many in each state. */
export function towers(t: TestContext, counts: Readonly<Record<string, number>>): string {
  const rows = Object.entries(counts).flatMap(([of, count]) =>
    Array.from({ length: count }, (_, index) => `${of}${index},${of},38,-78.${index}`),
  );
  return fileOf(t, 'towers.csv', `Licensee,LocState,latdec,londec\n${rows.join('\n')}\n`);
}

/** A zip of files. @param level 0 to store them as they are */
export function zipOf(
  t: TestContext,
  files: Readonly<Record<string, Uint8Array>>,
  level: 0 | 6 = 6,
): string {
  return fileOf(t, 'parks.zip', Buffer.from(zipSync(files, { level })));
}

/** The header of EPA's annual AQI by county. */
export const AQI_HEADER =
  'State,County,Year,Days with AQI,Good Days,Moderate Days,Unhealthy for Sensitive Groups Days,Unhealthy Days,' +
  'Very Unhealthy Days,Hazardous Days,Max AQI,90th Percentile AQI,Median AQI';

/** The features of a layer's table, in their order. */
// biome-ignore lint/suspicious/noExplicitAny: features are looked into freely
export function featuresOf(database: DataDatabase, table: string): any[] {
  return database
    .prepare<[], string>(`SELECT feature FROM ${table} ORDER BY id`)
    .pluck()
    .all()
    .map((text) => JSON.parse(text));
}
