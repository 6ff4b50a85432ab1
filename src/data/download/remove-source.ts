import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Source } from '../sources/source.ts';
import type { DataDatabase } from '../tables/data-database.ts';
import { DatasetLoad } from '../tables/import-dataset.ts';
import {
  type AskedPart,
  allParts,
  datasetLabel,
  keyOfParts,
  readPartsOfSource,
  storedParts,
  writeRemoval,
} from '../tables/parts.ts';
import { keptWithout } from '../tables/record-rows.ts';
import type { DatasetName, Level } from '../tables/records.ts';
import { readManifest, writeManifest } from './downloads-folder.ts';
import { sliceOfKey } from './source-requests.ts';

/** Removes the downloads of a source and the parts that were loaded from them, of all states or of some. A part that was loaded by hand
 * since then stays.
 * @returns the datasets that lost parts; null if nothing of the source was stored */
export function removeSource(
  database: DataDatabase,
  { name }: Source,
  downloads: string,
  states: readonly string[] | null,
  clock: Clock,
): string[] | null {
  const folder = join(downloads, name);
  const isNamed = (slice: string) => states === null || states.includes(slice);
  const manifest = readManifest(folder);
  const files = [...manifest].filter(([key]) => isNamed(sliceOfKey(key)));
  const own = readPartsOfSource(database, name).filter(({ state }) => isNamed(state));
  if (files.length === 0 && own.length === 0) return null;
  const groups = Map.groupBy(own, ({ dataset, level }) => `${dataset} ${level}`);
  const removed = [...groups.values()].map((parts) => {
    const [{ dataset, level }] = parts as [AskedPart, ...AskedPart[]];
    removeParts(database, dataset, level, new Set(parts.map(({ state }) => state)), clock);
    return datasetLabel(dataset, level);
  });
  if (files.length === manifest.size) rmSync(folder, { recursive: true, force: true });
  else {
    for (const [key, { file }] of files) {
      manifest.delete(key);
      rmSync(join(folder, file), { force: true });
    }
    writeManifest(folder, manifest);
  }
  return removed;
}

/** Removes the parts of a dataset, of all states or of some, and their downloads, because the next update would load them again.
 * @param isByHand removes only parts that were loaded by hand
 * @returns whether any part was removed */
export function removeDataset(
  database: DataDatabase,
  { name, level }: Pick<AskedPart, 'level'> & { readonly name: DatasetName },
  sources: readonly Source[],
  downloads: string,
  states: readonly string[] | null,
  clock: Clock,
  isByHand = false,
): boolean {
  const parts = (allParts(database).get(keyOfParts(name, level)) ?? []).filter(
    ({ state, askedOf }) =>
      (states === null || states.includes(state)) && !(isByHand && askedOf !== ''),
  );
  if (parts.length === 0) return false;
  const askedOf = new Set(parts.map((part) => part.askedOf));
  for (const source of sources)
    if (askedOf.has(source.name)) removeSource(database, source, downloads, states, clock);
  removeParts(database, name, level, new Set(parts.map(({ state }) => state)), clock);
  return true;
}

/** A dataset without parts is removed: an empty one would mean that there are no sites anywhere. */
function removeParts(
  database: DataDatabase,
  dataset: DatasetName,
  level: Level,
  states: ReadonlySet<string>,
  clock: Clock,
): void {
  const { parts } = storedParts(database, dataset, level);
  const others = parts.filter(({ state }) => !states.has(state));
  using load = new DatasetLoad(database, { name: dataset, level });
  if (others.length > 0) load.keep(keptWithout(states, parts), 1);
  database
    .transaction(() => {
      writeRemoval(database, dataset, clock.now());
      load.publish(others, false, clock.now());
    })
    .immediate();
}
