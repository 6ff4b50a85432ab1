import { join } from 'node:path';
import { readManifest } from '../../data/download/manifest.ts';
import { sliceOfKey } from '../../data/download/source-requests.ts';
import type { Source } from '../../data/sources/source.ts';
import type { DataDatabase } from '../../data/tables/data-database.ts';
import { describeData } from '../../data/tables/describe-data.ts';
import { counted, grouped } from '../../format-numbers.ts';
import type { Flags } from '../command.ts';
import { type CliContext, sayJson } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { byteSize, listed, table } from '../messages/format.ts';
import type { DataSurroundings } from './data.ts';

/** `perilbook data`: lists loaded datasets, downloads, and sources that can be downloaded. */
export function listAction(
  context: CliContext,
  { sources, downloads, file }: DataSurroundings,
  database: DataDatabase | null,
  flags: Flags,
): number {
  const description = database === null ? null : describeData(database);
  const datasets = description?.datasets ?? [];
  const topics = new Set<string>(description?.topics ?? []);
  const all = sources.map((source) => ({ source, here: downloadedOf(source, downloads) }));
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  if (flags.json) {
    sayJson(context, {
      database: file,
      datasets,
      topics: [...topics],
      sources: all.map(({ source: { name, title, topics: of, bytes, cadence, note }, here }) => ({
        ...{ source: name, title, topics: of, bytes, cadence, note, downloaded: here },
      })),
    });
    return EXIT.complete;
  }
  const rows = all.flatMap(({ source, here }) =>
    here === null
      ? []
      : [[source.name, here.states.join(','), byteSize(here.bytes), day(here.fetchedAt), source.title]],
  );
  const missing = all.filter(({ here }) => here === null);
  const loaded = datasets.map(({ name, level, rows: count, vintage, loadedAt, source, sample, states }) => [
    level === '' ? name : `${name} (${level})`,
    grouped(count),
    vintage,
    day(loadedAt),
    `${source}${states === undefined ? '' : `, of ${states.join(', ')}`}${sample ? ' (sample data)' : ''}`,
  ]);
  const licences = [...new Set(datasets.map(({ licence }) => licence).filter(Boolean))];
  const lines = [
    ...(loaded.length === 0
      ? ['No data is here.']
      : [`Loaded into ${file}:`, ...table(['dataset', 'rows', 'vintage', 'loaded', 'source'], loaded)]),
    ...(rows.length === 0
      ? []
      : [`Downloaded to ${downloads}:`, ...table(['source', 'of', 'size', 'asked', 'what'], rows)]),
    `${counted(topics.size, 'topic')} can be answered.`,
    ...(missing.length === 0
      ? []
      : [
          'Can be downloaded (perilbook data get NAME):',
          ...listed(missing.map(({ source: { name, title, bytes } }) => [name, `${title}, ${byteSize(bytes)}`])),
        ]),
    ...licences,
  ];
  context.stdout.write(`${lines.join('\n')}\n`);
  return EXIT.complete;
}

/** The downloads of a source, or null. */
function downloadedOf({ name }: Source, downloads: string) {
  const manifest = readManifest(join(downloads, name));
  if (manifest.size === 0) return null;
  const entries = [...manifest.values()];
  return {
    states: [...new Set([...manifest.keys()].map(sliceOfKey))],
    bytes: entries.reduce((sum, { bytes }) => sum + bytes, 0),
    fetchedAt: Math.max(...entries.map(({ fetchedAt }) => fetchedAt)),
    checkedAt: Math.max(...entries.map(({ checkedAt }) => checkedAt)),
  };
}
