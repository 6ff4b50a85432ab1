import type { Clock } from '../../clock.ts';
import { PerilbookError } from '../../errors.ts';
import type { ServiceDatabase } from '../tables/data-database.ts';
import { datasetOf, importDataset, importStream } from '../tables/import-dataset.ts';
import type { Dataset, DatasetInfo, DatasetName, Level, StreamedDataset } from '../tables/records.ts';
import { STATES } from '../tables/states.ts';
import { inputFiles } from './input-files.ts';
import { loadCoverage } from './load-coverage.ts';
import { createReporter, type LoadReport } from './load-report.ts';
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
  database: ServiceDatabase,
  name: string,
  files: readonly string[],
  options: LoaderOptions,
  clock: Clock,
  onProgress: (records: number) => void = () => {},
): Promise<LoadResult> {
  const { delivery, finish } = startLoad(database, name, files, options);
  return finish(await importStream(database, delivery, clock, onProgress));
}

/** As `loadFiles`, synchronously; shapefiles cannot be loaded so. */
export function loadFilesAtOnce(
  database: ServiceDatabase,
  name: string,
  files: readonly string[],
  options: LoaderOptions,
  clock: Clock,
): LoadResult {
  const { delivery, finish } = startLoad(database, name, files, options);
  return finish(importDataset(database, delivery as Dataset, clock));
}

function startLoad(
  database: ServiceDatabase,
  name: string,
  files: readonly string[],
  options: LoaderOptions,
): { readonly delivery: StreamedDataset; readonly finish: (count: number) => LoadResult } {
  const report = createReporter();
  const loader = loaderNamed(name);
  checkStates(options.states);
  const delivery = loader.start(inputFiles(name, files, options), options, report);
  const coverage = loadCoverage(database, delivery, options, report);
  let taken = 0;

  function* included(records: Iterable<unknown>): Generator<unknown> {
    for (const record of records) if (isIncluded(record)) yield record;
    refuseEmpty();
    yield* coverage.stored();
  }
  async function* includedAsync(records: AsyncIterable<unknown>): AsyncGenerator<unknown> {
    for await (const record of records) if (isIncluded(record)) yield record;
    refuseEmpty();
    yield* coverage.stored();
  }
  function isIncluded(record: unknown): boolean {
    const isOwn = coverage.take(record);
    if (isOwn) taken += 1;
    return isOwn;
  }
  function refuseEmpty(): void {
    if (report.pagesBeforeOthers() >= files.length && options.force !== true) throw onePage(files);
    if (taken > 0) return;
    const [first] = report.read().rejected;
    const why =
      coverage.outside() > 0 ? ' (all are outside of --states)' : first ? ` (${first.reason}: ${first.count})` : '';
    throw new PerilbookError(
      'SERVICE_DATA',
      `Cannot load ${files.join(', ')}: no row is usable${why}`,
      'Check that this is a file for this loader; the stored data is unchanged.',
    );
  }
  const records = delivery.records as Iterable<unknown> | AsyncIterable<unknown>;
  // The description is complete only when all records have been read.
  const described = (): DatasetInfo => coverage.describe(delivery.info);
  const info = {
    name: delivery.info.name,
    get source() {
      return described().source;
    },
    get vintage() {
      return described().vintage;
    },
    get licence() {
      return described().licence;
    },
    sample: delivery.info.sample,
    get states() {
      return described().states;
    },
  };
  return {
    delivery: {
      ...delivery,
      info,
      records: Symbol.iterator in records ? included(records) : includedAsync(records),
    } as unknown as StreamedDataset,
    finish: (count) => ({
      dataset: datasetOf(delivery),
      level: ('level' in delivery && delivery.level) || '',
      vintage: info.vintage,
      ...(info.states === undefined ? {} : { states: info.states }),
      records: count,
      ...report.read(),
    }),
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
    'Example: perilbook service load wells FILE --states CA,NV',
  );
}
