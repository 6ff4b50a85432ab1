import { SAMPLE_NOTE } from '../columns/row.ts';
import { columnsOf } from '../columns/topic-columns.ts';
import type { Answer, Field } from '../contract/answer.ts';
import { sourceName } from '../contract/service-address.ts';
import { isTopicSlug, TOPIC_SLUGS, type TopicSlug } from '../contract/topics.ts';
import { PerilbookError } from '../errors.ts';
import { type Cell, cellOf, MAX_PRECISION } from '../geo/coordinates.ts';
import { withoutApostrophe } from '../rows/csv/format-fields.ts';
import { openRowFile } from '../rows/open-row-file.ts';
import type { AddedColumn } from '../rows/port.ts';
import type { CellAnswers } from '../store/port.ts';
import { asOfColumn, fieldNames } from './answer-columns.ts';

/** What a row of an export says. */
export interface ImportedRow {
  readonly source: string;
  readonly cell: Cell;
  readonly answers: readonly Answer[];
  /** Rejections of the location. Files have none. */
  readonly failures: CellAnswers['failures'];
  /** Its answers are sample data of a service that has other answers too. */
  readonly isSample: boolean;
}

/** Clocks may differ by this. A later answer would never be replaced. */
const MOST_AHEAD_MS = 24 * 3_600_000;

type ReadField = (name: string) => string;

/** A value that cannot be what its column says; the reader adds file and row. */
class MalformedValue extends Error {
  readonly column: string;

  constructor(column: string, message: string) {
    super(message);
    this.column = column;
  }
}

/**
 * Streams the answers of a file that `cache export` wrote: a row a place (CSV, Parquet, NDJSON), or a line an answer (NDJSON).
 * Every value is checked. @throws INPUT_UNREADABLE with row and column, INPUT_COLUMNS
 */
export async function* readAnswers(file: string, now: number): AsyncGenerator<readonly ImportedRow[]> {
  const opened = await openRowFile(file);
  const rowFile = (await opened.entire?.()) ?? opened;
  const columnIndexes = new Map(rowFile.columns.map((name, index) => [name, index]));
  const need = (names: readonly string[]) => {
    const missing = names.filter((name) => !columnIndexes.has(name));
    if (missing.length === 0) return;
    const hint = 'Import files that perilbook cache export has written.';
    const message = `${file} has no column ${missing.join(', ')}`;
    throw new PerilbookError('INPUT_COLUMNS', message, hint, { file, column: missing[0]! });
  };
  const isLong = columnIndexes.has('topic') && columnIndexes.has('as_of');
  const topics = TOPIC_SLUGS.filter((topic) => columnIndexes.has(asOfColumn(topic).name));
  need(['source', 'lat', 'lng', ...(isLong ? [] : ['hazard_note', ...topics.flatMap(fieldNames)])]);
  if (!isLong && topics.length === 0) need([asOfColumn('wildfire').name]);
  const wide = topics.map((topic) => ({ topic, name: asOfColumn(topic).name, columns: columnsOf(topic) }));
  const isCsv = rowFile.format === 'csv';
  const isTyped = rowFile.format === 'parquet';
  const read = [...columnIndexes.values()];
  const positions = new Map([...columnIndexes.keys()].map((name, position) => [name, position]));
  for await (const rows of rowFile.read(read)) {
    yield rows.map((row) => {
      const textOf: ReadField = (name) => {
        const text = row.fields[positions.get(name) ?? -1] ?? '';
        return isCsv ? withoutApostrophe(text) : text;
      };
      try {
        if (row.problem !== undefined) throw new MalformedValue(rowFile.columns[0]!, row.problem);
        return isLong ? longRow(textOf, now) : wideRow(textOf, wide, isTyped, now);
      } catch (error) {
        if (!(error instanceof MalformedValue)) throw error;
        const { column, message } = error;
        const where = `${file}, row ${row.number}, column ${column}`;
        const hint = 'Nothing was imported. Export the answers again, or correct the file.';
        throw new PerilbookError('INPUT_UNREADABLE', `${where}: ${message}`, hint, { file, row: row.number, column });
      }
    });
  }
}

/** A topic with its columns in a row a place. */
interface WideTopic {
  readonly topic: TopicSlug;
  /** The name of the column with the time of the answer. */
  readonly name: string;
  readonly columns: readonly AddedColumn[];
}

/** @param isTyped times come as numbers, so the text that was exported is not known */
function wideRow(textOf: ReadField, topics: readonly WideTopic[], isTyped: boolean, now: number): ImportedRow {
  const note = textOf('hazard_note');
  const answers = topics.flatMap(({ topic, name, columns }): Answer[] => {
    const texts = columns.map((column) => textOf(column.name));
    if (textOf(name) === '') {
      const stray = texts.findIndex((text) => text !== '');
      if (stray >= 0) throw new MalformedValue(name, `there is no time for the value in ${columns[stray]!.name}`);
      return [];
    }
    const fields = columns.map((column, index) => {
      const field = fieldOf(column, texts[index]!);
      // Services write milliseconds, also where they are 0; the text of a typed time leaves them out then.
      return isTyped && column.type === 'time' && field !== null ? new Date(field).toISOString() : field;
    });
    return [{ topic, asOf: timeOf(name, textOf(name), now), fields }];
  });
  return {
    ...keyOf(textOf),
    answers,
    failures: [],
    isSample: note === SAMPLE_NOTE || note.startsWith(`${SAMPLE_NOTE};`),
  };
}

function longRow(textOf: ReadField, now: number): ImportedRow {
  const topic = textOf('topic');
  if (!isTopicSlug(topic)) throw new MalformedValue('topic', `${JSON.stringify(topic)} is not a topic`);
  const columns = columnsOf(topic);
  const values = textOf('no_data') === 'true' ? columns.map(() => null) : listOf(textOf('fields'));
  if (values.length !== columns.length) {
    throw new MalformedValue('fields', `${values.length} fields where ${topic} has ${columns.length}`);
  }
  const fields = columns.map((column, index) => {
    const value = values[index];
    if (value !== null && typeof value !== 'string' && typeof value !== 'number') {
      throw new MalformedValue('fields', `${JSON.stringify(value)} is not a value of ${column.name}`);
    }
    if (typeof value === 'string' && column.type === 'text') return value;
    return value === null ? null : fieldOf(column, String(value));
  });
  const answers = [{ topic, asOf: timeOf('as_of', textOf('as_of'), now), fields }];
  return { ...keyOf(textOf), answers, failures: [], isSample: textOf('sample') === 'true' };
}

function listOf(text: string): unknown[] {
  try {
    const list: unknown = JSON.parse(text);
    if (Array.isArray(list)) return list;
  } catch {
    // Said below.
  }
  throw new MalformedValue('fields', `${JSON.stringify(text)} is not a list`);
}

function keyOf(textOf: ReadField): { source: string; cell: Cell } {
  const source = textOf('source').trim();
  if (source === '') throw new MalformedValue('source', 'the source is empty');
  const degrees = (name: string, most: number) => {
    const value = numberOf(name, textOf(name));
    if (Math.abs(value) > most) throw new MalformedValue(name, `${value} is beyond ${most} degrees`);
    return value;
  };
  const cell = cellOf({ lat: degrees('lat', 90), lng: degrees('lng', 180) }, MAX_PRECISION);
  for (const name of ['lat7', 'lng7'] as const) {
    const text = textOf(name);
    if (text !== '' && Number(text) !== cell[name]) {
      throw new MalformedValue(name, `${text} is not the key of ${textOf(name.slice(0, 3))}`);
    }
  }
  return { source: sourceName(source), cell };
}

function fieldOf({ name, type }: AddedColumn, text: string): Field {
  if (text === '') return null;
  if (type === 'text') return text;
  if (type === 'time') {
    if (Number.isNaN(Date.parse(text))) throw new MalformedValue(name, `${JSON.stringify(text)} is not a time`);
    return text;
  }
  const value = numberOf(name, text);
  if (type === 'count' && (value | 0) !== value)
    throw new MalformedValue(name, `${text} is not a whole number of 32 bits`);
  return value;
}

function numberOf(name: string, text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (!Number.isFinite(value)) throw new MalformedValue(name, `${JSON.stringify(text)} is not a number`);
  return value;
}

function timeOf(name: string, text: string, now: number): number {
  const time = /^\d{4}-\d\d-\d\d[T ]/.test(text) ? Date.parse(text) : Number.NaN;
  if (!(time >= 0)) throw new MalformedValue(name, `${JSON.stringify(text)} is not a time`);
  if (time > now + MOST_AHEAD_MS) throw new MalformedValue(name, `${text} is in the future`);
  return time;
}
