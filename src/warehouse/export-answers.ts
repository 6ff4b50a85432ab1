import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import { enrichedFields } from '../columns/row.ts';
import { cellStatus } from '../columns/row-status.ts';
import type { CellRecord, Field, SampleMark } from '../contract/answer.ts';
import { topicsIn } from '../contract/topic-set.ts';
import { TOPIC_SLUGS, type TopicSlug } from '../contract/topics.ts';
import { hasSystemCode, PerilbookError } from '../errors.ts';
import { type Cell, locationOf } from '../geo/coordinates.ts';
import { endTemporary, removeAbandoned, temporaryName } from '../rows/files/temporary-files.ts';
import { writeTable } from '../rows/new-table.ts';
import type { Freshness } from '../run/plan/freshness.ts';
import type { Store } from '../store/port.ts';
import { exportColumns } from './answer-columns.ts';

/** Some 300 MB with 18 topics (measured: 59 MB for 200,000 places with random scores). Engines read several files at once. */
const PLACES_A_FILE = 1_000_000;
const ROWS_A_BATCH = 4_096;

export type TableFormat = 'csv' | 'ndjson' | 'parquet';

export interface ExportRequest {
  readonly store: Store;
  /** A path, or `-`. A Parquet output without the extension .parquet is a folder. */
  readonly output: string;
  readonly stdout: Writable;
  readonly format: TableFormat;
  /** Null: every topic with an answer in the store. */
  readonly topics: readonly TopicSlug[] | null;
  readonly freshness: Freshness;
  /** Whether all answers of a source are sample data, by its name. */
  readonly isSampleSource: (source: string) => boolean;
  readonly placesAFile?: number;
}

export interface Exported {
  readonly places: number;
  readonly files: number;
  readonly bytes: number;
}

type ExportedRow = readonly Field[];
type Batches = AsyncGenerator<readonly ExportedRow[]>;

/** Writes the answers of the store, a row a place. Memory is bounded by one row group. @throws OUTPUT_UNWRITABLE */
export async function exportAnswers(request: ExportRequest): Promise<Exported> {
  const { store, format, output, stdout } = request;
  const topics = request.topics ?? (await topicsOfStore(store));
  const columns = exportColumns(topics);
  const { sources } = await store.stats();
  const marks = new Map<string, SampleMark | null>();
  for (const { source } of sources) marks.set(source, await store.sampleMark(await store.source(source)));
  const rowsOf = (source: string | null) => exportedRows(request, topics, marks, source);
  if (format !== 'parquet' || output.toLowerCase().endsWith('.parquet')) {
    const { rows, bytes } = await writeTable({ columns, batches: () => rowsOf(null) }, format, { output, stdout });
    return { places: rows, files: 1, bytes };
  }
  return await writeFolder(output, async (folder) => {
    const sums = { places: 0, files: 0, bytes: 0 };
    for (const [index, { source }] of sources.entries()) {
      const batches = rowsOf(source);
      for (let part = 1, next = await batches.next(); !next.done; part++) {
        const file = join(folder, `source-${index + 1}`, `part-${String(part).padStart(5, '0')}.parquet`);
        mkdirSync(dirname(file), { recursive: true });
        const take = async function* (): Batches {
          for (let rows = 0; !next.done && rows < (request.placesAFile ?? PLACES_A_FILE); next = await batches.next()) {
            rows += next.value.length;
            yield next.value;
          }
        };
        const { rows, bytes } = await writeTable({ columns, batches: take }, format, { output: file });
        sums.places += rows;
        sums.bytes += bytes;
        sums.files++;
      }
    }
    return sums;
  });
}

/**
 * Fills a folder that is empty or not there yet: what `write` has written appears in it when it is done. The temporary folder lies in
 * it, because the folder itself may be a link or a mounted disk, which cannot be renamed. @throws OUTPUT_UNWRITABLE
 */
async function writeFolder<Result>(output: string, write: (folder: string) => Promise<Result>): Promise<Result> {
  await removeAbandoned(join(output, 'export'));
  makeEmptyFolder(output);
  const temporary = temporaryName(join(output, 'export'));
  try {
    mkdirSync(temporary);
    const result = await write(temporary);
    for (const name of readdirSync(temporary)) renameSync(join(temporary, name), join(output, name));
    return result;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
    endTemporary(temporary);
  }
}

async function topicsOfStore(store: Store): Promise<TopicSlug[]> {
  const answered = new Set<TopicSlug>();
  for (const sets of (await store.countOlder(Number.MAX_SAFE_INTEGER)).values()) {
    for (const set of sets.keys()) for (const topic of topicsIn(set)) answered.add(topic);
  }
  return TOPIC_SLUGS.filter((topic) => answered.has(topic));
}

async function* exportedRows(
  { store, freshness, isSampleSource }: ExportRequest,
  topics: readonly TopicSlug[],
  marks: ReadonlyMap<string, SampleMark | null>,
  wanted: string | null,
): Batches {
  let batch: ExportedRow[] = [];
  for await (const { source, cell, record } of store.cells()) {
    if (wanted !== null && source !== wanted) continue;
    const mark = marks.get(source);
    const isSample = (oldest: number) => isSampleSource(source) || (mark != null && oldest <= mark.until);
    const row = exportedRow(source, cell, record, topics, freshness, isSample);
    if (row === null) continue;
    batch.push(row);
    if (batch.length < ROWS_A_BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Null for a place without an answer to any of the topics, unless the service rejected it. */
function exportedRow(
  source: string,
  cell: Cell,
  record: CellRecord,
  topics: readonly TopicSlug[],
  { freshSince, startedAt }: Freshness,
  isSample: (oldest: number) => boolean,
): ExportedRow | null {
  const status = cellStatus(record, topics, freshSince, startedAt);
  const times = topics.map((topic) => record.answers.get(topic)?.asOf);
  if (status.status !== 'rejected' && times.every((time) => time === undefined)) return null;
  const { lat, lng } = locationOf(cell);
  return [
    ...[source, lat, lng, cell.lat7, cell.lng7],
    ...enrichedFields(record, topics, status, isSample),
    ...times.map((time) => (time === undefined ? null : new Date(time).toISOString())),
  ];
}

/** Files of an earlier export would be read with the new ones. @throws OUTPUT_UNWRITABLE */
function makeEmptyFolder(folder: string): void {
  const refused = (what: string, hint: string, cause?: unknown) =>
    new PerilbookError('OUTPUT_UNWRITABLE', `${folder} ${what}`, hint, { file: folder }, cause);
  let entries: string[];
  try {
    mkdirSync(folder, { recursive: true });
    entries = readdirSync(folder);
  } catch (error) {
    if (hasSystemCode(error, 'EEXIST') || hasSystemCode(error, 'ENOTDIR')) {
      throw refused('is a file', 'Name a folder for the export, or a file that ends in .parquet.', error);
    }
    throw refused('cannot be made', 'Check the path and its permissions.', error);
  }
  if (entries.length > 0) throw refused('is not empty', 'Name a new folder for the export, or empty this one.');
}
