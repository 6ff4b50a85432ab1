import type { Clock } from '../../clock.ts';
import { PerilbookError } from '../../errors.ts';
import type { ServiceDatabase } from './data-database.ts';
import { datasetInfo } from './record-checks.ts';
import { recordRows, UnfitRecord } from './record-rows.ts';
import type { Dataset, DatasetInfo, DatasetName, LoadTarget, StreamedDelivery } from './records.ts';
import { RefusedRow, stageLoad } from './staged-load.ts';

/**
 * The one way in: replaces a data set by a delivery, or of a delivery with a level that level. A bad record leaves the data
 * set as it was. Services that run on the file answer from the old data until the end.
 *
 * @returns the number of records
 * @throws PerilbookError SERVICE_DATA that names the record, from 1, and what is wrong with it
 */
export function importDataset(database: ServiceDatabase, delivery: Dataset, clock: Clock): number {
  const load = beginLoad(database, delivery, delivery.info.name);
  try {
    for (const record of delivery.records) load.add(record);
    return load.publish(delivery.info, clock.now());
  } catch (error) {
    load.abandon();
    throw load.refusal(error);
  } finally {
    load.close();
  }
}

/** As `importDataset`, for records that come over time; `onRecord` is told the number of records so far, now and then. */
export async function deliverStream(
  database: ServiceDatabase,
  delivery: StreamedDelivery,
  clock: Clock,
  onRecord: (records: number) => void = () => {},
): Promise<number> {
  const load = beginLoad(database, delivery, delivery.info.name);
  let records = 0;
  const add = (record: unknown) => {
    load.add(record);
    records += 1;
    if (records % 1_000 === 0) onRecord(records);
  };
  try {
    // Awaiting each record of what is at hand would take longer than to load it.
    if (Symbol.iterator in delivery.records) for (const record of delivery.records) add(record);
    else for await (const record of delivery.records) add(record);
    return load.publish(delivery.info, clock.now());
  } catch (error) {
    load.abandon();
    throw load.refusal(error);
  } finally {
    load.close();
  }
}

function beginLoad(database: ServiceDatabase, target: LoadTarget, named: DatasetName) {
  const dataset = datasetOf(target);
  if (named !== dataset) throw badDescription(named, dataset);
  const { parts, rowsOf, atEnd = () => [], close = () => {} } = recordRows(database, target);
  const staged = stageLoad(database, dataset, parts);
  let record = 0;
  return {
    add(value: unknown): void {
      record += 1;
      const made = rowsOf(value);
      if (made !== null) staged.add(...made);
    },
    publish(info: DatasetInfo, now: number): number {
      const checked = datasetInfo.safeParse(info);
      if (!checked.success || checked.data.name !== dataset) throw badDescription(info.name, dataset);
      for (const made of atEnd()) staged.add(...made);
      return staged.publish(checked.data, now);
    },
    close,
    abandon: staged.abandon,
    refusal: (error: unknown) => refusal(dataset, record, error),
  };
}

/** The data set that a target belongs to. */
export function datasetOf(target: LoadTarget): DatasetName {
  if (target.kind === 'sites') return `sites:${target.topic}`;
  if (target.kind === 'records') return `records:${target.feed}`;
  return target.kind;
}

function badDescription(named: string, expected: DatasetName): PerilbookError {
  return new PerilbookError(
    'SERVICE_DATA',
    `Cannot load data set "${named}": its description must be complete and name "${expected}"`,
    'Correct the description of the data set.',
    { dataset: expected },
  );
}

function refusal(dataset: DatasetName, current: number, error: unknown): unknown {
  const row = error instanceof RefusedRow ? error.record : current;
  const reason = reasonOf(error);
  if (reason === null) return error instanceof RefusedRow ? error.cause : error;
  return new PerilbookError(
    'SERVICE_DATA',
    `Cannot load data set "${dataset}": record ${row}: ${reason}`,
    'Correct or drop this record and load again; the data that was there is unchanged.',
    { dataset, row },
    error,
  );
}

/** Why a record was refused, or null when the fault lies elsewhere (a full disk, a locked file). */
function reasonOf(error: unknown): string | null {
  if (error instanceof UnfitRecord) return error.message;
  const code = (error as { cause?: { code?: unknown } }).cause?.code;
  return typeof code === 'string' && code.startsWith('SQLITE_CONSTRAINT') ? (error as Error).message : null;
}
