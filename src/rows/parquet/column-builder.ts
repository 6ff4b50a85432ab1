import { PerilbookError } from '../../base/errors.ts';
import { printable } from '../../base/printable.ts';
import { fieldOf, parseMilliseconds, type Value } from '../../formats/typed-value.ts';
import { assertFieldCount, isWritten, type TableColumn } from '../port.ts';

/** Whether the values of a type are stored as texts. */
export function isTextual(type: TableColumn['type']): type is 'text' | 'point' {
  return type === 'text' || type === 'point';
}

/** Fields as columns: 8 bytes a number and 4 a text for each row. */
export interface BuiltColumns {
  readonly rows: number;
  readonly columns: readonly StoredColumn[];
}

export type StoredColumn = TextColumn | NumberColumn;

export interface TextColumn {
  readonly kind: 'text';
  /** Whether its texts are bytes, one per character. */
  readonly isPoint: boolean;
  readonly isWritten: boolean;
  readonly name: string;
  /** For each row the number of its text, counted from 1. */
  readonly ids: Uint32Array;
  readonly texts: string[];
  readonly idByText: Map<string, number>;
  present: Uint8Array | null;
  nulls: number;
}

export interface NumberColumn {
  readonly kind: Exclude<TableColumn['type'], 'text' | 'point'>;
  readonly name: string;
  /** For times and timestamps the milliseconds since the epoch, for dates its days, for booleans 0 or 1. */
  readonly values: Float64Array;
  /** Where rows share their values: these, in place of `values`; null: they do not. */
  shared: SharedNumbers | null;
  /** For each row 1 for a value, 0 for a null; made at the first null. */
  present: Uint8Array | null;
  nulls: number;
}

/** Values that many rows have, as those of a tract, by number: they are compared once for all rows. */
export interface SharedNumbers {
  /** For each row with a value the number of this: another one for another value. */
  readonly ids: Uint32Array;
  /** All numbers are below it. */
  readonly count: number;
  /** Gives the values of some numbers. */
  readonly read: (ids: Uint32Array, into: Float64Array) => void;
}

/** The memory of columns, which those of the next row group use again. It is of one column each, by index; unwritten pages take none. */
export interface ColumnMemory {
  numbers(column: number, rows: number): Float64Array;
  ids(column: number, rows: number): Uint32Array;
}

/** Empty memory, which grows to the longest row group; shared, so that threads fill it. */
export function columnMemory(): ColumnMemory {
  const numbers: Float64Array[] = [];
  const ids: Uint32Array[] = [];
  return {
    numbers(column, rows) {
      if ((numbers[column]?.length ?? -1) < rows)
        numbers[column] = new Float64Array(new SharedArrayBuffer(8 * rows));
      return numbers[column]!.subarray(0, rows);
    },
    ids(column, rows) {
      if ((ids[column]?.length ?? -1) < rows)
        ids[column] = new Uint32Array(new SharedArrayBuffer(4 * rows));
      return ids[column]!.subarray(0, rows);
    },
  };
}

/** Empty columns with room for some rows. @throws INPUT_UNREADABLE where they do not fit into memory */
export function emptyColumns(
  added: readonly TableColumn[],
  room: number,
  memory = columnMemory(),
): StoredColumn[] {
  return orTooLarge(room, () =>
    added.map((column, index): StoredColumn => {
      const { name, type } = column;
      if (!isTextual(type)) {
        const values = memory.numbers(index, room);
        return { kind: type, name, values, shared: null, present: null, nulls: 0 };
      }
      return {
        kind: 'text',
        isPoint: type === 'point',
        isWritten: isWritten(column),
        name,
        ids: memory.ids(index, room),
        texts: [],
        idByText: new Map(),
        present: null,
        nulls: 0,
      };
    }),
  );
}

/** Takes the values of rows, one after the other. */
interface ColumnBuilder {
  put(value: Value): void;
  endRow(): void;
  /** Its rows. Valid until it is cleared. */
  built(): BuiltColumns;
  clear(): void;
}

/** Takes the values of at most `room` rows, one after the other. Its arrays are allocated once for all row groups, because enlarging them
 * took a third of the time. */
export function columnBuilder(added: readonly TableColumn[], room: number): ColumnBuilder {
  const columns = emptyColumns(added, room);
  let rows = 0;
  let next = 0;
  return {
    put(value: Value): void {
      putValue(columns[next++]!, rows, value);
    },
    endRow(): void {
      assertFieldCount({ added }, next);
      next = 0;
      rows++;
    },
    built: (): BuiltColumns => ({ rows, columns }),
    clear(): void {
      for (const column of columns) clear(column);
      rows = 0;
    },
  };
}

function clear(column: StoredColumn): void {
  column.nulls = 0;
  column.present?.fill(1);
  if (column.kind !== 'text') return;
  column.texts.length = 0;
  column.idByText.clear();
}

/** Leaves a row without a value. */
export function putNull(column: StoredColumn, row: number): void {
  column.nulls++;
  const room = column.kind === 'text' ? column.ids.length : column.values.length;
  column.present ??= new Uint8Array(new SharedArrayBuffer(room)).fill(1);
  column.present[row] = 0;
}

/** Puts the value of a row. @throws SERVICE_DATA for one that does not fit the column */
export function putValue(column: StoredColumn, row: number, given: Value): void {
  if (given === null) {
    putNull(column, row);
    return;
  }
  if (column.kind === 'text') {
    column.ids[row] = internText(column, String(fieldOf(given)));
    return;
  }
  column.values[row] = storedNumber(column, given);
}

/** The number that stands for a value in a column. @throws SERVICE_DATA for one that does not fit the column */
export function storedNumber(
  column: Pick<NumberColumn, 'kind' | 'name'>,
  given: NonNullable<Value>,
): number {
  const value = numberOf(column.kind, given);
  if (typeof value !== 'number' || !fits(column.kind, value)) throw misfit(column, fieldOf(given));
  return value;
}

/** The number of a text of a column. */
export function internText({ texts, idByText, isWritten }: TextColumn, text: string): number {
  let id = idByText.get(text);
  if (id === undefined) {
    id = texts.push(isWritten ? printable(text) : text);
    idByText.set(text, id);
  }
  return id;
}

const DAY_MS = 86_400_000;

/** The stored number of a value; texts stay unchanged. */
function numberOf(kind: NumberColumn['kind'], value: Value): Value {
  if (typeof value === 'boolean') return Number(value);
  const field = fieldOf(value);
  if (typeof field !== 'string') return field;
  if (kind === 'date') return parseMilliseconds(field) / DAY_MS;
  return kind === 'time' || kind === 'timestamp' ? parseMilliseconds(field) : field;
}

function fits(kind: NumberColumn['kind'], value: number): boolean {
  if (kind === 'number') return true;
  return kind === 'count' || kind === 'date' ? (value | 0) === value : Number.isSafeInteger(value);
}

function misfit({ name, kind }: Pick<NumberColumn, 'kind' | 'name'>, field: Value): PerilbookError {
  const names = {
    number: 'number',
    count: 'whole number of 32 bits',
    integer: 'whole number',
  } as const;
  const what = `a ${kind in names ? names[kind as 'count'] : kind}`;
  const message = `An answer has ${JSON.stringify(field)} in ${name}, which is not ${what}`;
  const hint = 'Choose a CSV output, which takes any value, and report this to the provider.';
  return new PerilbookError('SERVICE_DATA', message, hint, { column: name });
}

/** Arrays too large for the memory are caused by the input, not by a bug. */
function orTooLarge<T>(rows: number, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const message = `A row group of ${rows} rows is too large for the memory of this machine`;
    throw new PerilbookError(
      'INPUT_UNREADABLE',
      message,
      'Write the file again with smaller row groups.',
      {},
      error,
    );
  }
}
