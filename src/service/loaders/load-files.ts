import type { Clock } from '../../clock.ts';
import { PerilbookError } from '../../errors.ts';
import type { ServiceDatabase } from '../data/database.ts';
import { datasetOf, deliver, deliverStream } from '../data/deliver.ts';
import type { DatasetName, Delivery, Level, StreamedDelivery } from '../data/records.ts';
import { STATES } from '../data/states.ts';
import { createReport, type LoadReport } from './load-report.ts';
import type { LoaderOptions } from './loader.ts';
import { loaderNamed } from './loader-table.ts';

/** What a load did. */
export interface LoadResult extends LoadReport {
  readonly dataset: DatasetName;
  readonly level: Level;
  readonly vintage: string;
  /** How many records the data set has now; a row of a file may give several, and several rows one. */
  readonly records: number;
}

/**
 * Loads agency files: all of them together replace the data set that the loader is for. Loading them again gives the same
 * database; when nothing can be used, the data set stays as it was.
 *
 * @param onProgress told the number of records so far, now and then
 * @throws PerilbookError SERVICE_DATA when a file is not what the loader is for, or no row of it can be used
 */
export async function loadFiles(
  database: ServiceDatabase,
  name: string,
  files: readonly string[],
  options: LoaderOptions,
  clock: Clock,
  onProgress: (records: number) => void = () => {},
): Promise<LoadResult> {
  const { delivery, finish } = startLoad(name, files, options);
  return finish(await deliverStream(database, delivery, clock, onProgress));
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
  const { delivery, finish } = startLoad(name, files, options);
  return finish(deliver(database, delivery as Delivery, clock));
}

function startLoad(name: string, files: readonly string[], options: LoaderOptions) {
  const report = createReport();
  if (options.states !== undefined) {
    checkStates(name, options.states);
    report.note(`Outside of ${options.states.join(', ')} it is taken for not loaded.`);
  } else if (name === 'wells') {
    report.note('It counts as of the whole US. Where the file is of some states only, say so: --states CA,NV.');
  }
  const delivery = loaderNamed(name).start(files, options, report);
  function* orRefuse<T>(records: Iterable<T>): Generator<T> {
    let delivered = 0;
    for (const record of records) {
      delivered += 1;
      yield record;
    }
    refuseEmpty(delivered);
  }
  async function* orRefuseLater<T>(records: AsyncIterable<T>): AsyncGenerator<T> {
    let delivered = 0;
    for await (const record of records) {
      delivered += 1;
      yield record;
    }
    refuseEmpty(delivered);
  }
  function refuseEmpty(delivered: number): void {
    const { rejected } = report.read();
    if (delivered > 0) return;
    const [first] = rejected;
    throw new PerilbookError(
      'SERVICE_DATA',
      `Cannot load ${files.join(', ')}: no row of it can be used${first ? ` (${first.reason}: ${first.count})` : ''}`,
      'Check that this is the file that the loader is for; the data that was there is unchanged.',
    );
  }
  const records = delivery.records as Iterable<unknown> | AsyncIterable<unknown>;
  const checked = Symbol.iterator in records ? orRefuse(records) : orRefuseLater(records);
  return {
    delivery: { ...delivery, info: delivery.info, records: checked } as unknown as StreamedDelivery,
    finish: (count: number): LoadResult => ({
      dataset: datasetOf(delivery),
      level: ('level' in delivery && delivery.level) || '',
      vintage: delivery.info.vintage,
      records: count,
      ...report.read(),
    }),
  };
}

/** Areas tell what lies in the US: they are of all that they hold. */
function checkStates(name: string, states: readonly string[]): void {
  const unknown = states.find((state) => !STATES.has(state));
  if (unknown === undefined && states.length > 0 && !['areas', 'counties'].includes(name)) return;
  const problem =
    unknown === undefined ? `The loader ${name} takes no --states` : `"${unknown}" is not a state by its two letters`;
  throw new PerilbookError('USAGE', problem, 'Say, for example: perilbook service load wells FILE --states CA,NV');
}
