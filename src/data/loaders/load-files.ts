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

/** What a load did. */
export interface LoadResult extends LoadReport {
  readonly dataset: DatasetName;
  readonly level: Level;
  readonly vintage: string;
  /** The states that it is of; left out for the whole US, and of boundaries. */
  readonly states?: readonly string[];
  /** How many records the data set has now; a row of a file may give several, and several rows one. */
  readonly records: number;
}

/**
 * Loads agency files: all of them together replace the data set that the loader is for, or with `states` its rows of these
 * states. Loading them again gives the same database; when nothing can be used, the data set stays as it was.
 *
 * @param onProgress told the number of records so far, now and then
 * @throws PerilbookError SERVICE_DATA when a file is not what the loader is for, no row of it can be used, or
 *   rows would be lost that nobody gave up (`replace`)
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

/**
 * As `loadFiles`, at one go; shapefiles must be awaited and cannot be loaded so.
 */
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

  function* atHand(records: Iterable<unknown>): Generator<unknown> {
    for (const record of records) if (isTaken(record)) yield record;
    refuseEmpty();
    yield* coverage.kept();
  }
  async function* overTime(records: AsyncIterable<unknown>): AsyncGenerator<unknown> {
    for await (const record of records) if (isTaken(record)) yield record;
    refuseEmpty();
    yield* coverage.kept();
  }
  function isTaken(record: unknown): boolean {
    const isOwn = coverage.take(record);
    if (isOwn) taken += 1;
    return isOwn;
  }
  function refuseEmpty(): void {
    if (report.pagesBeforeOthers() >= files.length && options.force !== true) throw onePage(files);
    if (taken > 0) return;
    const [first] = report.read().rejected;
    const why =
      coverage.outside() > 0 ? ' (it lies outside of --states)' : first ? ` (${first.reason}: ${first.count})` : '';
    throw new PerilbookError(
      'SERVICE_DATA',
      `Cannot load ${files.join(', ')}: no row of it can be used${why}`,
      'Check that this is the file that the loader is for; the data that was there is unchanged.',
    );
  }
  const records = delivery.records as Iterable<unknown> | AsyncIterable<unknown>;
  // What is said of the data set is known when all records have been read.
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
      records: Symbol.iterator in records ? atHand(records) : overTime(records),
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

/** An ArcGIS service gives some thousand features at a time, and says on all pages but the last that there are more. */
function onePage(files: readonly string[]): PerilbookError {
  return new PerilbookError(
    'SERVICE_DATA',
    `Cannot load ${files.join(', ')}: the service that wrote it says that there are more features (exceededTransferLimit)`,
    'Get the other pages (resultOffset) and load all of them together; --force loads it as it is.',
  );
}

function checkStates(states: LoaderOptions['states']): void {
  if (states === undefined || states === 'US') return;
  const unknown = states.length === 0 ? '' : states.find((state) => !STATES.has(state));
  if (unknown === undefined) return;
  throw new PerilbookError(
    'USAGE',
    `"${unknown}" is not a state by its two letters`,
    'Say, for example: perilbook service load wells FILE --states CA,NV',
  );
}
