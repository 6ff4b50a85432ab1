import type { Field } from '../contract/answer.ts';
import { listedPlaces } from '../formats/packed/output-places.ts';
import { rowFields } from './placed-fields.ts';
import type { AddedColumn, PlacedFields, Row, RowFile, WriteRequest } from './port.ts';

/** Runs `write` with the kept columns of an earlier run among the added ones (the file's columns in their old order, then the new ones), and
 * with the fields of its own of each row. A second pass reads these fields while the first one writes: this is rare, and keeps the formats simple. */
export async function withOwnFields<T>(
  rowFile: RowFile,
  request: WriteRequest,
  write: (request: WriteRequest) => Promise<T>,
): Promise<T> {
  const { added, dropFrom, own, decimal } = request;
  const kept = dropFrom === null ? [] : (request.kept ?? []);
  if (kept.length === 0 && own === undefined) return await write(request);
  const names = rowFile.columns;
  const indexOf = ({ name, keeps }: AddedColumn) => {
    const index = keeps ?? (dropFrom === null ? -1 : names.indexOf(name, dropFrom));
    return index < 0 ? names.length : index;
  };
  const sources = [
    ...added.map((column, index) => ({ column, index, isKept: false })),
    ...kept.map((column, index) => ({ column, index, isKept: true })),
  ].sort((a, b) => indexOf(a.column) - indexOf(b.column));
  const ofRow = own?.columns ?? [];
  const placeColumns = ofRow.length;
  const columns = [...ofRow, ...kept.map(({ keeps }) => keeps)];
  const rows = rowFile
    .read(columns, own?.needed ?? (ofRow.length || columns.length))
    [Symbol.asyncIterator]();
  const nextRows = rowsInTurn(rows);
  const { kept: _, own: __, ...rest } = request;
  const nextFields = rowFields(request);
  // These fields differ by row, so each row is a place of its own.
  const listed = listedPlaces(sources.length);
  const placed: PlacedFields = {
    next: async (count) => {
      const fields = await nextFields(count);
      const texts = await nextRows(count);
      const made = fields.map((ofPlace, at) => {
        const row = texts[at];
        const ofRow =
          row && own
            ? own.of({ ...row, fields: row.fields.slice(0, placeColumns) }, ofPlace)
            : ofPlace;
        return sources.map(({ column, index, isKept }) =>
          isKept ? keptField(row, placeColumns + index, column, decimal) : ofRow[index]!,
        );
      });
      listed.fill(made);
      return { numbers: Int32Array.from(made.keys()), places: listed.places };
    },
  };
  try {
    return await write({ ...rest, added: sources.map(({ column }) => column), placed });
  } finally {
    await rows.return?.();
  }
}

/** Takes rows one by one from batches of any size: the next `count` of them, fewer at the end. */
export function rowsInTurn(
  batches: AsyncIterator<readonly Row[]>,
): (count: number) => Promise<Row[]> {
  let batch: readonly Row[] = [];
  let next = 0;
  return async (count) => {
    const rows: Row[] = [];
    while (rows.length < count) {
      if (next === batch.length) {
        const { done, value } = await batches.next();
        if (done) break;
        [batch, next] = [value, 0];
      }
      const taken = batch.slice(next, next + count - rows.length);
      next += taken.length;
      rows.push(...taken);
    }
    return rows;
  };
}

/** In formats with types, numbers become numbers again; other texts stay texts. */
function keptField(
  row: Row | undefined,
  index: number,
  { type }: AddedColumn,
  decimal: WriteRequest['decimal'],
): Field {
  const text = row?.fields[index] ?? '';
  if (text === '') return null;
  if (type !== 'number' && type !== 'count') return text;
  // A number of a format with types has a point, whatever the texts of the file have.
  return keptNumber(text, row?.types === undefined ? decimal : 'point') ?? text;
}

/** A number of 15 digits at most, as it is printed. */
const SHORT_NUMBER = /^(?!-0$)-?(?:0|[1-9]\d{0,8})(?:\.\d{0,5}[1-9])?$/;

/** The number in a column of an earlier run; null where it would be written as another text, so that a text keeps its bytes.
 * @param decimal the decimal separator of the file */
export function keptNumber(text: string, decimal: WriteRequest['decimal']): number | null {
  const plain = decimal !== 'comma' ? text : text.includes('.') ? '' : text.replace(',', '.');
  const number = Number(plain);
  // To print a number takes three times as long as to read it.
  if (SHORT_NUMBER.test(plain)) return number;
  return Number.isFinite(number) && String(number) === plain ? number : null;
}

/** Perilbook's first columns, which are always all present; each may have a prefix. */
const [FIRST_COLUMN, ...NEXT_COLUMNS] = ['hazard_status', 'hazard_note', 'hazard_as_of'] as const;

/** The index from which on all columns were written by Perilbook, or null when there is none. `own` holds every name that Perilbook can
 * write, with the prefix of the job. Null if a foreign column follows `hazard_status`, or if its next columns are missing: dropping
 * columns would then lose a column of the user. */
export function findPerilbookColumns(
  names: readonly string[],
  own: { has(name: string): boolean },
): number | null {
  let from = names.length;
  while (from > 0 && own.has(names[from - 1]!)) from--;
  const first = names.findIndex(
    (name, i) => i >= from && name.endsWith(FIRST_COLUMN) && isOurs(names, i),
  );
  return first < 0 ? null : first;
}

/** Whether a table has the columns that Perilbook adds to each output, with any prefix. */
export function hasPerilbookColumns(names: readonly string[]): boolean {
  return ownWidth(names) < names.length;
}

/** How many columns stand before those of an earlier run, with any prefix: all where there was none. */
export function ownWidth(names: readonly string[]): number {
  const first = names.findIndex(
    (name, index) => name.endsWith(FIRST_COLUMN) && isOurs(names, index),
  );
  return first < 0 ? names.length : first;
}

function isOurs(names: readonly string[], at: number): boolean {
  const prefix = names[at]!.slice(0, -FIRST_COLUMN.length);
  return NEXT_COLUMNS.every((next, i) => names[at + 1 + i] === prefix + next);
}
