import { PerilbookError } from '../base/errors.ts';
import type { Hazards } from '../columns/hazard-columns.ts';
import { addedColumns, LEADING_COLUMNS } from '../columns/row.ts';
import type { RowStatus } from '../columns/row-status.ts';
import type { Field } from '../contract/answer.ts';
import { withNewData } from '../host/connection.ts';
import { libraryHost, makeEffects } from '../host/run-host.ts';
import type { JobFile } from '../job/job-file.ts';
import type { Job } from '../job/settings.ts';
import type { TopicName } from '../job/topic-choice.ts';
import { BatchRun, type Coordinate, codesInMemory } from '../run/batch-run.ts';
import type { Connection } from '../run/frame/connection-kinds.ts';
import { openContext } from '../run/frame/run-context.ts';
import type { RunEvent } from '../run/frame/run-events.ts';
import { type AnswerSource, connectSource, jobOfSource } from './answer-source.ts';
import { type AnswerStore, defaultFolders, storeBehind } from './answer-store.ts';
import {
  checkOptions,
  isObjectOrArray,
  requireType,
  throwIfAborted,
  typeName,
} from './checked-settings.ts';
import { requireApproved } from './required-approval.ts';

/** What is asked of each location. The names are those of the job file's settings. */
export interface AnswerSettings
  extends Pick<JobFile, ('coordinates' | 'precision' | 'optimize' | 'time_to_live') | 'name'> {
  readonly source: AnswerSource;
  /** Most credits that may be spent in all. Needed for a metered service. */
  readonly budget?: number;
  /** Accepts a price of up to so many credits for a batch (of `lookup`: for the location) although the service refused a cheaper way, which
   * the budget alone does not. Since 1.1. */
  readonly acceptPrice?: number;
  /** Stops buying: calls in flight are completed and stored, then the function throws INTERRUPTED, before the next row. */
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: RunEvent) => void;
}

/** Rows without `lat` and `lng` need `locate`. */
export type EnrichOptions<Row> = StreamSettings &
  ([Row] extends [Located] ? Partial<Locate<Row>> : Locate<Row>);

interface Locate<Row> {
  /** Where a row is; default: its `lat` and `lng`. */
  readonly locate: (row: Row) => Located;
}

export interface StreamSettings extends AnswerSettings {
  /** Topics or groups of topics, such as `'natural'` or `['wildfire', 'park']`. */
  readonly topics: TopicName | readonly TopicName[];
  /** Keeps the answers. An answer is not bought again while it is fresh. */
  readonly store: AnswerStore;
  /** Add FEMA's loss rates of the natural topics, such as `hail_loss_rate`, and their sum: from the index on this machine. Default: false. */
  readonly losses?: boolean;
  /** `tract` or `county`: buy one answer for each, by the boundaries on this machine. */
  readonly areas?: 'tract' | 'county';
  /** Rows that are planned and bought together; default: 100, of local data 10,000. A row is returned when its batch is done. */
  readonly batch?: number;
}

/** Something with a location in decimal degrees. */
export interface Located {
  readonly lat: Coordinate;
  readonly lng: Coordinate;
}

/** A row with its answers. */
export interface EnrichedRow<Row> {
  /** The row that was given, the same object. */
  readonly row: Row;
  readonly status: RowStatus;
  /** Why the row is not `ok`, or where the answers come from; null for nothing. */
  readonly note: string | null;
  /** When the oldest of the answers was given, ISO 8601 UTC; null where there is none. */
  readonly asOf: string | null;
  /** The answers by the names of their columns, such as `wildfire_rating`; null where there is none. */
  readonly hazards: Hazards;
}

/** Adds hazard ratings to rows, in their order. The rows are taken in batches: a batch is scanned, priced and bought (or looked up),
 * then its rows are returned. Memory is bounded by the batch, and a consumer that stops early has paid for the batch it was in.
 *
 * If the budget, the quota or the service stops the buying, the other rows are still returned, with the answers in the store. Their
 * status and note say what is missing and why; `onEvent` gets the reason. An error that the user must correct (a refused key, a wrong
 * address, a moved store) is thrown after the rows of its batch. Nothing is paid twice: answers are stored before a row is returned,
 * and a failed call is not tried again in the same enrichment.
 * @throws PerilbookError USAGE and NEEDS_APPROVAL at once; NEEDS_APPROVAL for a batch that a refusal made dearer; KEY_*, SCOPE_MISSING, LOCAL_DATA, STORE_*, INTERRUPTED while rows are read */
export function enrich<Row>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  options: EnrichOptions<Row>,
): AsyncGenerator<EnrichedRow<Row>, void, undefined> {
  checkOptions(options);
  requireType(
    'rows',
    rows,
    isIterable,
    'Pass an array, or another iterable or async iterable of rows.',
  );
  const {
    source,
    store: handle,
    signal = NEVER,
    onEvent = NOTHING,
    locate,
    batch,
    acceptPrice = null,
    ...settings
  } = options;
  const store = storeBehind(handle);
  const job = jobOfSource(source, settings, handle.address);
  const size = batch ?? (source.kind === 'local' ? LOCAL_BATCH : SERVICE_BATCH);
  if (!Number.isInteger(size) || size < 1 || size > MOST_ROWS) {
    const hint = `Give 1 to ${MOST_ROWS}, or leave it out.`;
    throw new PerilbookError('USAGE', `batch: ${size} is not a number of rows`, hint);
  }
  const read = locationReader(locate ?? null);
  return enriched();

  async function* enriched(): AsyncGenerator<EnrichedRow<Row>, void, undefined> {
    const host = libraryHost(defaultFolders(), {}, onEvent);
    await using opened = await connectSource(source, job, host);
    const { connection } = opened;
    const ports = { store, effects: makeEffects(host), interrupt: signal, isContinued: true };
    const contextWith = (given: Connection) => openContext(job, { ...ports, connection: given });
    await using run = new BatchRun(await contextWith(connection), {
      onEvent,
      renew: async () => await contextWith(withNewData(host, job, connection)),
      approve: async (prepared) => requireApproved(prepared, acceptPrice),
    });
    const names = columnNames(job);
    for await (const batch of batchesOf(rows, size)) {
      const codes = codesInMemory(job.topics, (name) =>
        batch.some((row) => codeIn(row, name) !== null),
      );
      const locations = batch.map((row) => {
        const { lat, lng } = read(row);
        return [lat, lng, ...codes.map((of) => codeIn(row, of))] as const;
      });
      throwIfAborted(signal);
      const fields = await run.answer(locations, codes);
      for (const [index, row] of batch.entries()) {
        // Between two rows the program may have aborted. The answers of the batch are in the store.
        throwIfAborted(signal);
        yield enrichedRow(row, names, fields[index]!);
      }
      if (run.refusal !== null) {
        run.end();
        throw run.refusal;
      }
    }
    run.end();
  }
}

function isIterable(rows: unknown): boolean {
  return (
    Object(rows) === rows &&
    (Symbol.iterator in Object(rows) || Symbol.asyncIterator in Object(rows))
  );
}

const NEVER = new AbortController().signal;
const NOTHING = () => {};

/** A paid batch of 100 distinct places takes a minute or more under a starter subscription: in larger ones rows would only wait. */
const SERVICE_BATCH = 100;
/** A look-up starts threads for each batch, some 300 ms. */
const LOCAL_BATCH = 10_000;
const MOST_ROWS = 1_000_000;

/** Reads `lat` and `lng` of each row. Rows of another shape would all be returned as invalid, so the first one is checked. */
function locationReader<Row>(
  locate: ((row: Row) => Located) | null,
): (row: Row) => Partial<Located> {
  let number = 0;
  return (row) => {
    number += 1;
    const location: unknown = locate === null ? row : locate(row);
    const hasDegrees = isObjectOrArray(location) && ('lat' in location || 'lng' in location);
    if (locate === null) {
      if (number > 1 || hasDegrees) return isObjectOrArray(location) ? location : {};
      const hint = 'Pass locate: (row) => ({ lat, lng }).';
      throw new PerilbookError('INPUT_COLUMNS', 'The first row has no lat and no lng', hint);
    }
    if (isObjectOrArray(location) && (number > 1 || hasDegrees)) return location;
    const what = `${typeName(location)}${isObjectOrArray(location) ? ' without lat and lng' : ''}`;
    const hint = 'Return { lat, lng }, with null for both where a row has no location.';
    throw new PerilbookError('USAGE', `locate returned ${what} for row ${number}`, hint, {
      row: number,
    });
  };
}

/** The code that a row has under a name; null for none. */
function codeIn(row: unknown, name: string): Coordinate {
  const code = isObjectOrArray(row) ? (row as Readonly<Record<string, unknown>>)[name] : null;
  return typeof code === 'number' || typeof code === 'string' ? code : null;
}

/** The names of the columns that each row gets, in their order. */
export function columnNames({ topics, counts, losses }: Job): string[] {
  // Rows of a program have no value column, so rates alone.
  return addedColumns(topics, '', counts, losses ? 'rates' : 'none').map(({ name }) => name);
}

/** @param fields in the order of the added columns, of which status, note and time are the first */
export function enrichedRow<Row>(
  row: Row,
  names: readonly string[],
  fields: readonly Field[],
): EnrichedRow<Row> {
  const [status, note, asOf] = fields as [RowStatus, string | null, string | null];
  const hazards: Record<string, Field> = {};
  for (let i = LEADING_COLUMNS.length; i < names.length; i++) hazards[names[i]!] = fields[i]!;
  return { row, status, note, asOf, hazards: hazards as Hazards };
}

async function* batchesOf<Row>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  size: number,
): AsyncGenerator<readonly Row[]> {
  let batch: Row[] = [];
  for await (const row of rows) {
    batch.push(row);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
