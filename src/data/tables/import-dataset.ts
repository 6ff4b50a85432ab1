import type { Clock } from '../../clock.ts';
import { PerilbookError } from '../../errors.ts';
import type { DataDatabase } from './data-database.ts';
import { datasetInfo } from './record-checks.ts';
import { InvalidRecord, recordRows } from './record-rows.ts';
import type { Dataset, DatasetInfo, DatasetName, LoadTarget, StreamedDataset } from './records.ts';
import { RejectedRow, StagedLoad } from './staged-load.ts';

/**
 * Replaces a dataset, or the level of it that `dataset` names. A bad record leaves the stored dataset as it was. Services
 * that run on the file answer from the old data until the end.
 *
 * @returns the number of records
 * @throws PerilbookError SERVICE_DATA that names the record, from 1, and what is wrong with it
 */
export function importDataset(database: DataDatabase, dataset: Dataset, clock: Clock): number {
  using load = new DatasetLoad(database, dataset, dataset.info.name);
  try {
    for (const record of dataset.records) load.add(record);
    return load.publish(dataset.info, clock.now());
  } catch (error) {
    throw load.explain(error);
  }
}

/** As `importDataset`, for records that may arrive asynchronously. `onRecord` gets the number of records so far. */
export async function importStream(
  database: DataDatabase,
  dataset: StreamedDataset,
  clock: Clock,
  onRecord: (records: number) => void = () => {},
): Promise<number> {
  using load = new DatasetLoad(database, dataset, dataset.info.name);
  const add = (record: unknown) => {
    load.add(record);
    if (load.records % 1_000 === 0) onRecord(load.records);
  };
  try {
    // Awaiting each record of a synchronous source would take longer than loading it.
    if (Symbol.iterator in dataset.records) for (const record of dataset.records) add(record);
    else for await (const record of dataset.records) add(record);
    return load.publish(dataset.info, clock.now());
  } catch (error) {
    throw load.explain(error);
  }
}

/** One load of a dataset; what was not published when it ends is dropped. */
class DatasetLoad implements Disposable {
  readonly #dataset: DatasetName;
  readonly #rows: ReturnType<typeof recordRows>;
  readonly #staged: StagedLoad;
  records = 0;

  constructor(database: DataDatabase, target: LoadTarget, name: DatasetName) {
    this.#dataset = datasetOf(target);
    if (name !== this.#dataset) throw badDescription(name, this.#dataset);
    this.#rows = recordRows(database, target);
    this.#staged = new StagedLoad(database, this.#dataset, this.#rows.parts);
  }

  add(record: unknown): void {
    this.records += 1;
    const rows = this.#rows.rowsOf(record);
    if (rows !== null) this.#staged.add(...rows);
  }

  publish(info: DatasetInfo, now: number): number {
    const checked = datasetInfo.safeParse(info);
    if (!checked.success || checked.data.name !== this.#dataset) throw badDescription(info.name, this.#dataset);
    for (const rows of this.#rows.rowsAtEnd?.() ?? []) this.#staged.add(...rows);
    return this.#staged.publish(checked.data, now);
  }

  /** The error with its record, when a record is at fault and not, say, a full disk. */
  explain(error: unknown): unknown {
    const row = error instanceof RejectedRow ? error.record : this.records;
    const reason = reasonOf(error);
    if (reason === null) return error instanceof RejectedRow ? error.cause : error;
    return new PerilbookError(
      'SERVICE_DATA',
      `Cannot load dataset "${this.#dataset}": record ${row}: ${reason}`,
      'Correct or remove this record and load again; the stored data is unchanged.',
      { dataset: this.#dataset, row },
      error,
    );
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

function badDescription(named: string, expected: DatasetName): PerilbookError {
  return new PerilbookError(
    'SERVICE_DATA',
    `Cannot load dataset "${named}": its description must be complete and name "${expected}"`,
    'Correct the description of the dataset.',
    { dataset: expected },
  );
}

function reasonOf(error: unknown): string | null {
  if (error instanceof InvalidRecord) return error.message;
  const code = (error as { cause?: { code?: unknown } }).cause?.code;
  return typeof code === 'string' && code.startsWith('SQLITE_CONSTRAINT') ? (error as Error).message : null;
}
