import type { Clock } from '../../clock.ts';
import { PerilbookError } from '../../errors.ts';
import type { DataDatabase } from '../tables/data-database.ts';
import { importStream } from '../tables/import-dataset.ts';
import type { DatasetInfo, DatasetName, Level, StreamedDataset } from '../tables/records.ts';
import { STATES } from '../tables/states.ts';
import { inputFiles } from './input-files.ts';
import { LoadCoverage } from './load-coverage.ts';
import { type LoadReport, LoadReporter } from './load-report.ts';
import type { LoaderOptions } from './loader.ts';
import { loaderNamed } from './loader-table.ts';

/** The result of a load. */
export interface LoadResult extends LoadReport {
  readonly dataset: DatasetName;
  readonly level: Level;
  readonly vintage: string;
  /** Its states; left out for the whole US and for boundaries. */
  readonly states?: readonly string[];
  /** The number of records in the dataset now; one row may give several records, and several rows one. */
  readonly records: number;
}

/**
 * Loads agency files. Together they replace the loader's dataset, or with `states` its rows of these states. Loading
 * them again gives the same database; when no row is usable, the dataset stays as it was.
 *
 * @param onProgress gets the number of records so far
 * @throws PerilbookError SERVICE_DATA for a file of another loader, without usable rows, or whose load would lose rows
 * without permission (`replace`)
 */
export async function loadFiles(
  database: DataDatabase,
  name: string,
  files: readonly string[],
  options: LoaderOptions,
  clock: Clock,
  onProgress: (records: number) => void = () => {},
): Promise<LoadResult> {
  const { dataset, finish } = startLoad(database, name, files, options);
  return finish(await importStream(database, dataset, clock, onProgress));
}

function startLoad(
  database: DataDatabase,
  name: string,
  files: readonly string[],
  options: LoaderOptions,
): { readonly dataset: StreamedDataset; readonly finish: (count: number) => LoadResult } {
  const report = new LoadReporter();
  const loader = loaderNamed(name);
  checkStates(options.states);
  const read = loader.start(inputFiles(name, files, options), options, report);
  const coverage = new LoadCoverage(database, read, options, report);

  function* included(records: Iterable<unknown>): Generator<unknown> {
    for (const record of records) if (coverage.take(record)) yield record;
    refuseEmpty();
    yield* coverage.storedRecords();
  }
  async function* includedAsync(records: AsyncIterable<unknown>): AsyncGenerator<unknown> {
    for await (const record of records) if (coverage.take(record)) yield record;
    refuseEmpty();
    yield* coverage.storedRecords();
  }
  function refuseEmpty(): void {
    if (report.pages >= files.length && options.force !== true) throw onePage(files);
    if (coverage.taken > 0) return;
    const [first] = report.read().rejected;
    const why =
      coverage.outside > 0 ? ' (all are outside of --states)' : first ? ` (${first.reason}: ${first.count})` : '';
    throw new PerilbookError(
      'SERVICE_DATA',
      `Cannot load ${files.join(', ')}: no row is usable${why}`,
      'Check that this is a file for this loader; the stored data is unchanged.',
    );
  }
  const records = read.records as Iterable<unknown> | AsyncIterable<unknown>;
  const dataset = {
    ...read,
    /** Complete only when all records have been read. */
    get info(): DatasetInfo {
      return coverage.describe(read.info);
    },
    records: Symbol.iterator in records ? included(records) : includedAsync(records),
  } as StreamedDataset;
  return {
    dataset,
    finish(count) {
      const { name, vintage, states } = dataset.info;
      const level = ('level' in read && read.level) || '';
      return { dataset: name, level, vintage, ...(states && { states }), records: count, ...report.read() };
    },
  };
}

/** An ArcGIS service returns some thousand features at a time; all pages but the last say that there are more. */
function onePage(files: readonly string[]): PerilbookError {
  return new PerilbookError(
    'SERVICE_DATA',
    `Cannot load ${files.join(', ')}: it is one page of several (exceededTransferLimit)`,
    'Download the other pages (resultOffset) and load them together, or add --force to load this page alone.',
  );
}

function checkStates(states: LoaderOptions['states']): void {
  if (states === undefined || states === 'US') return;
  const unknown = states.length === 0 ? '' : states.find((state) => !STATES.has(state));
  if (unknown === undefined) return;
  throw new PerilbookError(
    'USAGE',
    `"${unknown}" is not the two letters of a state`,
    'Example: perilbook data load wells FILE --states CA,NV',
  );
}
