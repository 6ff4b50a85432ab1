import type { Clock } from '../../clock.ts';
import type { DataDatabase } from './data-database.ts';
import { recordRows } from './record-rows.ts';
import type { Dataset, DatasetInfo, DatasetName, LoadTarget, StreamedDataset } from './records.ts';
import { StagedLoad } from './staged-load.ts';

/**
 * Replaces a dataset, or the level of it that `dataset` names. A load that fails leaves the stored dataset as it was. Services
 * that run on the file answer from the old data until the end.
 *
 * @returns the number of records
 */
export function importDataset(database: DataDatabase, dataset: Dataset, clock: Clock): number {
  using load = new DatasetLoad(database, dataset);
  for (const record of dataset.records) load.add(record);
  return load.publish(dataset.info, clock.now());
}

/** As `importDataset`, for records that may arrive asynchronously. `onRecord` gets the number of records so far. */
export async function importStream(
  database: DataDatabase,
  dataset: StreamedDataset,
  clock: Clock,
  onRecord: (records: number) => void = () => {},
): Promise<number> {
  using load = new DatasetLoad(database, dataset);
  let records = 0;
  const add = (record: unknown) => {
    load.add(record);
    records += 1;
    if (records % 1_000 === 0) onRecord(records);
  };
  // Awaiting each record of a synchronous source would take longer than loading it.
  if (Symbol.iterator in dataset.records) for (const record of dataset.records) add(record);
  else for await (const record of dataset.records) add(record);
  return load.publish(dataset.info, clock.now());
}

/** One load of a dataset; what was not published when it ends is dropped. */
class DatasetLoad implements Disposable {
  readonly #rows: ReturnType<typeof recordRows>;
  readonly #staged: StagedLoad;

  constructor(database: DataDatabase, target: LoadTarget) {
    this.#rows = recordRows(database, target);
    this.#staged = new StagedLoad(database, datasetOf(target), this.#rows.parts);
  }

  add(record: unknown): void {
    const rows = this.#rows.rowsOf(record);
    if (rows !== null) this.#staged.add(...rows);
  }

  publish(info: DatasetInfo, now: number): number {
    for (const rows of this.#rows.rowsAtEnd?.() ?? []) this.#staged.add(...rows);
    return this.#staged.publish(info, now);
  }

  [Symbol.dispose](): void {
    this.#rows.buffer?.[Symbol.dispose]();
    this.#staged[Symbol.dispose]();
  }
}

/** The dataset that a target belongs to. */
export function datasetOf(target: LoadTarget): DatasetName {
  if (target.kind === 'sites') return `sites:${target.topic}`;
  if (target.kind === 'records') return `records:${target.event}`;
  return target.kind;
}
