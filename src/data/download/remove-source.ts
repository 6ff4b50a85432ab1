import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../clock.ts';
import type { Source } from '../sources/source.ts';
import type { DataDatabase } from '../tables/data-database.ts';
import { describeData, type LoadedDataset } from '../tables/describe-data.ts';
import { importDataset } from '../tables/import-dataset.ts';
import type { Dataset } from '../tables/records.ts';
import { readManifest } from './manifest.ts';

/**
 * Removes the downloads of a source and the datasets loaded from them. A dataset that was loaded again since then stays.
 *
 * @returns the datasets that were removed; null when nothing of the source was here
 */
export function removeSource(
  database: DataDatabase,
  { name }: Source,
  downloads: string,
  clock: Clock,
): string[] | null {
  const folder = join(downloads, name);
  const entries = [...readManifest(folder).values()];
  if (entries.length === 0) return null;
  const own = describeData(database).datasets.filter((dataset) =>
    entries.some(
      ({ dataset: of, level, loadedAt = 0 }) =>
        dataset.name === of && dataset.level === level && dataset.loadedAt <= loadedAt,
    ),
  );
  for (const dataset of own) removeDataset(database, dataset, clock);
  rmSync(folder, { recursive: true, force: true });
  return own.map(({ name: removed, level }) => (level === '' ? removed : `${removed} (${level})`));
}

/** Removes the description too: an empty dataset would mean that there are no sites anywhere. */
function removeDataset(database: DataDatabase, dataset: LoadedDataset, clock: Clock): void {
  const { name, level } = dataset;
  const [kind, of] = name.split(':');
  const target = { kind, ...(level === '' ? {} : { level }), topic: of, event: of };
  const info = { name, source: 'removed', vintage: 'removed', licence: '', sample: false };
  database
    .transaction(() => {
      importDataset(database, { ...target, info, records: [] } as unknown as Dataset, clock);
      database.prepare('DELETE FROM datasets WHERE name = ? AND level = ?').run(name, level);
    })
    .immediate();
}
