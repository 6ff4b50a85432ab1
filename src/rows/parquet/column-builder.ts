import type { Field } from '../../contract/answer.ts';
import { PerilbookError } from '../../errors.ts';
import { fieldsFor } from '../added-fields.ts';
import type { AddedColumn, RowFields } from '../port.ts';

/**
 * The added fields of a row group as columns. Rows that share one function are one entry. The arrays that the function makes are
 * not kept, so that memory is 8 bytes a number and 4 a text for each entry.
 */
export interface BuiltColumns {
  /** The entry of each row. */
  readonly entryOf: Uint32Array;
  readonly rows: number;
  readonly entries: number;
  /** True when each row is an entry of its own, in the same order. */
  readonly isPlain: boolean;
  readonly columns: readonly StoredColumn[];
}

export type StoredColumn = TextColumn | NumberColumn;

export interface TextColumn {
  readonly kind: 'text';
  readonly name: string;
  /** For each entry the number of its text, counted from 1. */
  readonly ids: Uint32Array;
  texts: string[];
  /** The number of each text; null where most texts differ and are no longer looked up. */
  known: Map<string, number> | null;
  present: Uint8Array | null;
  nulls: number;
}

export interface NumberColumn {
  readonly kind: 'number' | 'count' | 'time';
  readonly name: string;
  /** For times the milliseconds since the epoch. */
  readonly values: Float64Array;
  /** For each entry 1 where there is a value, 0 for a null; made when the first null comes. */
  present: Uint8Array | null;
  nulls: number;
}

/** Takes the fields of rows, one row group after the other. */
export interface ColumnBuilder {
  add(make: RowFields): void;
  /** What was gathered since the last time. Valid until the next `add`. */
  take(): BuiltColumns;
}

/** Size of the cache of functions, after which it is decided whether it is worth its time. */
const REMEMBERED = 16_384;

/** Times are those of the service's answers: few, and the same for many rows. */
const TIMES_REMEMBERED = 32_768;

/** Makes a builder for row groups of at most `mostRows` rows. Its arrays are allocated once for all row groups: to enlarge them
 * on the way took a third of all time. Pages of them that are never written take no memory. */
export function columnBuilder(added: readonly AddedColumn[], mostRows: number): ColumnBuilder {
  const columns = orTooLarge(mostRows, () => added.map((column) => newColumn(column, mostRows)));
  const timeOf = rememberingTimes();
  const width = columns.length;
  const entryOf = new Uint32Array(mostRows);
  let known = new Map<RowFields, number>();
  let isRemembering = true;
  let last: RowFields | null = null;
  let hits = 0;
  let rows = 0;
  let entries = 0;
  let isTaken = false;
  // The columns that take any number as it is: most fields are such, and need no more than to be put there.
  const plain = columns.map((column) => (column.kind === 'number' ? column.values : null));

  const addEntry = (make: RowFields): number => {
    const fields = fieldsFor({ added }, make);
    for (let c = 0; c < width; c++) {
      const field = fields[c]!;
      const values = plain[c]!;
      if (values !== null && typeof field === 'number') {
        values[entries] = field;
        continue;
      }
      put(columns[c]!, entries, field, timeOf);
    }
    return entries++;
  };

  const entryFor = (make: RowFields): number => {
    if (make === last) return entries - 1;
    if (!isRemembering) {
      last = make;
      return addEntry(make);
    }
    const found = known.get(make);
    if (found !== undefined) {
      hits++;
      return found;
    }
    if (known.size === REMEMBERED) {
      // Where rows hardly share functions, the cache costs more than it saves: then only neighbours are compared.
      isRemembering = hits * 4 > REMEMBERED;
      hits = 0;
      known = new Map();
    }
    const entry = addEntry(make);
    if (isRemembering) known.set(make, entry);
    return entry;
  };

  const begin = (): void => {
    if (!isTaken) return;
    isTaken = false;
    rows = 0;
    for (const column of columns) clear(column);
    [entries, hits, last, isRemembering] = [0, 0, null, true];
    known = new Map();
  };

  return {
    add(make) {
      begin();
      entryOf[rows++] = entryFor(make);
    },
    take() {
      // The row group has no rows: what is here is of the one before.
      if (isTaken) rows = 0;
      isTaken = true;
      return { entryOf: entryOf.subarray(0, rows), rows, entries, isPlain: entries === rows, columns };
    },
  };
}

function newColumn({ name, type }: AddedColumn, room: number): StoredColumn {
  if (type === 'text') {
    return { kind: 'text', name, ids: new Uint32Array(room), texts: [], known: new Map(), present: null, nulls: 0 };
  }
  return { kind: type, name, values: new Float64Array(room), present: null, nulls: 0 };
}

function clear(column: StoredColumn): void {
  column.nulls = 0;
  column.present?.fill(1);
  if (column.kind !== 'text') return;
  column.texts = [];
  column.known = new Map();
}

function put(column: StoredColumn, entry: number, field: Field, timeOf: (text: string) => number): void {
  if (field === null) {
    column.nulls++;
    column.present ??= new Uint8Array(column.kind === 'text' ? column.ids.length : column.values.length).fill(1);
    column.present[entry] = 0;
    return;
  }
  if (column.kind === 'text') {
    column.ids[entry] = idOf(column, typeof field === 'string' ? field : String(field), entry);
    return;
  }
  const value = column.kind === 'time' && typeof field === 'string' ? timeOf(field) : field;
  if (typeof value !== 'number' || !fits(column.kind, value)) throw misfit(column, field);
  column.values[entry] = value;
}

/** Ratings are few, and mostly the very same strings: to compare them costs less than to look them up. */
const COMPARED = 8;

/** A column with so many texts, more than half of them new, gets no dictionary in the end: names and addresses, say. */
const MANY_TEXTS = 16_384;

function idOf(column: TextColumn, text: string, entry: number): number {
  const { texts, known } = column;
  if (known === null) return texts.push(text);
  const compared = Math.min(texts.length, COMPARED);
  for (let i = 0; i < compared; i++) if (texts[i] === text) return i + 1;
  if (texts.length < COMPARED) return texts.push(text);
  let id = known.get(text);
  if (id === undefined) {
    id = texts.push(text);
    known.set(text, id);
    if (known.size === MANY_TEXTS && known.size * 2 > entry) column.known = null;
  }
  return id;
}

function fits(kind: NumberColumn['kind'], value: number): boolean {
  if (kind === 'number') return true;
  return kind === 'count' ? (value | 0) === value : Number.isSafeInteger(value);
}

function rememberingTimes(): (text: string) => number {
  let known = new Map<string, number>();
  return (text) => {
    let time = known.get(text);
    if (time === undefined) {
      time = Date.parse(text);
      if (known.size >= TIMES_REMEMBERED) known = new Map();
      known.set(text, time);
    }
    return time;
  };
}

function misfit({ name, kind }: NumberColumn, field: Field): PerilbookError {
  const what = { number: 'a number', count: 'a whole number of 32 bits', time: 'a time' }[kind];
  return new PerilbookError(
    'SERVICE_DATA',
    `An answer has ${JSON.stringify(field)} in ${name}, which is not ${what}`,
    'Choose a CSV output, which takes any value, and report this to the provider.',
    { column: name },
  );
}

/** Arrays that are too large for the memory are the input's fault, not a bug. */
function orTooLarge<T>(rows: number, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const message = `A row group of ${rows} rows is too large for the memory of this machine`;
    throw new PerilbookError('INPUT_UNREADABLE', message, 'Write the file again with smaller row groups.', {}, error);
  }
}
