import { PerilbookError } from '../../base/errors.ts';
import { printable } from '../../base/printable.ts';
import { fieldOf, parseMilliseconds, type Value } from '../../formats/typed-value.ts';
import { assertFieldCount, isWritten, type PlaceSink, type TableColumn } from '../port.ts';

/** Fields as columns. Rows of one place are one entry, which takes 8 bytes a number and 4 a text. */
export interface BuiltColumns {
  readonly entryOf: Uint32Array;
  readonly rows: number;
  readonly entries: number;
  readonly columns: readonly StoredColumn[];
}

export type StoredColumn = TextColumn | NumberColumn;

export interface TextColumn {
  readonly kind: 'text';
  /** Whether its texts are bytes, one per character. */
  readonly isPoint: boolean;
  readonly isWritten: boolean;
  readonly name: string;
  /** For each entry the number of its text, counted from 1. */
  readonly ids: Uint32Array | Uint16Array;
  readonly texts: string[];
  readonly idByText: Map<string, number>;
  /** The same by the number that comes with the text. */
  readonly idByNumber: number[];
  present: Uint8Array | null;
  nulls: number;
}

export interface NumberCodes {
  readonly ids: Uint16Array;
  readonly distinct: Float64Array;
}

export interface NumberColumn {
  readonly kind: Exclude<TableColumn['type'], 'text' | 'point'>;
  readonly name: string;
  /** For times and timestamps the milliseconds since the epoch, for dates its days, for booleans 0 or 1. Empty where there are codes. */
  readonly values: Float64Array;
  /** If row groups are made from places: the distinct values, and each entry's index among them; null if they are too many. */
  readonly codes: NumberCodes | null;
  /** For each entry 1 for a value, 0 for a null; made at the first null. */
  present: Uint8Array | null;
  nulls: number;
}

/** Also takes the values of a new file. */
interface ValueSink extends PlaceSink {
  put(value: Value): void;
}

/** Takes the fields of at most `room` entries. Its arrays are allocated once for all row groups, because enlarging them took a third of
 * the time. Unwritten pages take no memory. */
export function columnBuilder(added: readonly TableColumn[], room: number) {
  const columns = orTooLarge(room, () => added.map((column) => newColumn(column, room)));
  let entries = 0;
  let next = 0;
  const sink: ValueSink = {
    put: (value) => putValue(columns[next++]!, entries, value),
    putMillionths(millionths) {
      const column = columns[next++]!;
      if (column.kind === 'number') column.values[entries] = millionths / 1e6;
      else putValue(column, entries, millionths / 1e6);
    },
    putText(text, number) {
      const column = columns[next++]!;
      if (column.kind === 'text')
        column.ids[entries] = column.idByNumber[number] ??= internText(column, text);
      else putValue(column, entries, text);
    },
    endPlace() {
      assertFieldCount({ added }, next);
      next = 0;
      entries++;
    },
  };
  return {
    sink,
    /** Its entries, without rows. Valid until it is cleared. */
    built: (): BuiltColumns => ({ entryOf: new Uint32Array(), rows: 0, entries, columns }),
    clear(): void {
      for (const column of columns) clear(column);
      entries = 0;
    },
  };
}

/** The columns without the data for building. Their values are in shared memory, so a message with them is small. */
export function forThreads(built: BuiltColumns): BuiltColumns {
  const none = { idByText: new Map(), idByNumber: [] };
  const columns = built.columns.map((column) =>
    column.kind === 'text' ? { ...column, ...none } : column,
  );
  return { ...built, entryOf: new Uint32Array(), columns };
}

/** The columns of all places, with small codes for their values, which fit the processor's cache and are not searched for each row group. */
export function codedColumns(
  built: BuiltColumns,
  codesOf: (values: Float64Array) => NumberCodes | null,
): BuiltColumns {
  const columns = built.columns.map((column): StoredColumn => {
    if (column.kind !== 'text') {
      const codes = codesOf(column.values.subarray(0, built.entries));
      return codes === null ? column : { ...column, codes, values: new Float64Array() };
    }
    if (column.texts.length > 0xffff) return column;
    const ids = new Uint16Array(new SharedArrayBuffer(2 * built.entries));
    ids.set(column.ids.subarray(0, built.entries));
    return { ...column, ids };
  });
  return { ...built, columns };
}

/** The columns of a row group whose rows are at some of the entries. */
export function columnsAt(all: BuiltColumns, entries: Int32Array<ArrayBuffer>): BuiltColumns {
  const entryOf = new Uint32Array(entries.buffer, entries.byteOffset, entries.length);
  return { ...all, entryOf, rows: entries.length };
}

function newColumn(added: TableColumn, room: number): StoredColumn {
  const { name, type } = added;
  if (type === 'text' || type === 'point') {
    return {
      kind: 'text',
      isPoint: type === 'point',
      isWritten: isWritten(added),
      name,
      ids: new Uint32Array(new SharedArrayBuffer(4 * room)),
      texts: [],
      idByText: new Map(),
      idByNumber: [],
      present: null,
      nulls: 0,
    };
  }
  const values = new Float64Array(new SharedArrayBuffer(8 * room));
  return { kind: type, name, values, codes: null, present: null, nulls: 0 };
}

function clear(column: StoredColumn): void {
  column.nulls = 0;
  column.present?.fill(1);
  if (column.kind !== 'text') return;
  column.texts.length = 0;
  column.idByText.clear();
  column.idByNumber.length = 0;
}

function putValue(column: StoredColumn, entry: number, given: Value): void {
  if (given === null) {
    column.nulls++;
    const room = column.kind === 'text' ? column.ids.length : column.values.length;
    column.present ??= new Uint8Array(new SharedArrayBuffer(room)).fill(1);
    column.present[entry] = 0;
    return;
  }
  if (column.kind === 'text') {
    column.ids[entry] = internText(column, String(fieldOf(given)));
    return;
  }
  const value = numberOf(column.kind, given);
  if (typeof value !== 'number' || !fits(column.kind, value)) throw misfit(column, fieldOf(given));
  column.values[entry] = value;
}

function internText({ texts, idByText, isWritten }: TextColumn, text: string): number {
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

function misfit({ name, kind }: NumberColumn, field: Value): PerilbookError {
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
