import {
  leadingWidth,
  numberedTexts,
  type OutputPlaces,
  packedWidth,
} from '../../formats/packed/output-places.ts';
import { FieldPacker, skipFields, TAGS } from '../../formats/packed/packed-fields.ts';
import { placeFinder } from '../../formats/packed/place-table.ts';
import type { InThread } from '../../threads/thread-messages.ts';
import type { TableColumn } from '../port.ts';
import { isTextual, type NumberColumn, storedNumber } from './column-builder.ts';

const { firstText: FIRST_TEXT, millionths: MILLIONTHS, small: SMALL, null: NULL } = TAGS;
const { knownText: KNOWN_TEXT, whole: WHOLE } = TAGS;
const MILLION = 1e6;

/** A value of `PlaceValues` for null, and for a number that stands in `wide`. All others are larger. */
export const NULL_VALUE = -(2 ** 31);
export const WIDE_VALUE: number = NULL_VALUE + 1;

/** Some columns that are encoded together, without `to`. */
export interface ColumnRange {
  readonly from: number;
  readonly to: number;
}

/** The values of some places in the packed columns of a range, those of a place side by side: rows of places in any order find them in
 * one line of the processor's cache. */
export interface PlaceValues {
  /** Of decimals the millionths, of texts their number among those of the places, of other numbers themselves. */
  readonly values: Int32Array<SharedArrayBuffer>;
  /** Numbers that are no such values. Unwritten pages take no memory. */
  readonly wide: Float64Array<SharedArrayBuffer>;
}

/** A range of columns, and room for the values of its packed ones. */
export interface RangeToFill extends ColumnRange, PlaceValues {}

/** Texts of a column that have no number of their own: they have those after the texts of the places. */
export interface OwnTexts {
  readonly column: number;
  /** The number of the first one; the others follow. */
  readonly first: number;
  readonly texts: readonly string[];
}

/** Places whose values are to be read: those `from` an index up to `to`. */
export interface PlacesToFill {
  readonly places: Uint32Array<SharedArrayBuffer>;
  readonly from: number;
  readonly to: number;
  /** Ranges of columns that follow each other, and those of earlier tasks for these places. */
  readonly ranges: readonly RangeToFill[];
  /** By table and place: where the next fields begin, after those of earlier tasks. */
  readonly offsets: readonly Uint32Array<SharedArrayBuffer>[];
}

/** What a thread needs to read places. */
export interface PlaceSetup {
  readonly places: OutputPlaces;
  readonly added: readonly TableColumn[];
}

/** A natural topic has three columns. Pieces of an output of so many columns and 120,000 rows take 3 MB at most. */
const COLUMNS_A_RANGE = 6;
/** Those of 122,880 places with 18 natural topics, a usual row group. */
const MOST_BYTES = 26 * 1024 * 1024;

/** The ranges of columns whose values are read together: all, or fewer where there are many places. */
export function* columnSpans(
  columns: number,
  places: OutputPlaces,
  count: number,
): Generator<readonly ColumnRange[]> {
  let span: ColumnRange[] = [];
  let bytes = 0;
  for (let from = 0; from < columns; from += COLUMNS_A_RANGE) {
    const range = { from, to: Math.min(columns, from + COLUMNS_A_RANGE) };
    const own = 4 * count * packedIn(range, places).count;
    if (span.length > 0 && bytes + own > MOST_BYTES) {
      yield span;
      [span, bytes] = [[], 0];
    }
    span.push(range);
    bytes += own;
  }
  if (span.length > 0) yield span;
}

/** The packed columns of a range: the first one, and how many there are. */
export function packedIn(
  { from, to }: ColumnRange,
  places: OutputPlaces,
): { readonly first: number; readonly count: number } {
  const leading = leadingWidth(places);
  const first = Math.max(from, leading);
  return { first, count: Math.max(0, Math.min(to, leading + packedWidth(places)) - first) };
}

/** Room for the values of places in a range of columns. @param memory that is no longer used: it is taken where it is large enough */
export function roomForValues(
  range: ColumnRange,
  places: OutputPlaces,
  count: number,
  memory: PlaceValues | undefined,
): RangeToFill {
  const length = count * packedIn(range, places).count;
  if (memory !== undefined && memory.values.length >= length)
    return { ...range, values: memory.values, wide: memory.wide };
  const values = new Int32Array(new SharedArrayBuffer(4 * length));
  const wide = new Float64Array(new SharedArrayBuffer(8 * length));
  return { ...range, values, wide };
}

/** Where the values of a packed field go. */
interface FieldTarget extends PlaceValues {
  readonly column: number;
  readonly kind: 'text' | NumberColumn['kind'];
  readonly name: string;
  /** The value of place `index` is at `index * width + slot`. */
  readonly width: number;
  readonly slot: number;
}

/** Makes what reads the values of places. It gives the texts that have no number. */
export function placeFiller({
  places,
  added,
}: PlaceSetup): (task: PlacesToFill) => readonly OwnTexts[] {
  const { tables, texts } = places;
  const finders = tables.map(({ table }) => placeFinder(table));
  const unpacker = new FieldPacker(numberedTexts(places));
  const leading = leadingWidth(places);

  /** The targets of the fields of each table. */
  function targetsOf(ranges: readonly RangeToFill[]): readonly FieldTarget[][] {
    let next = leading;
    return tables.map(({ width: fields }) => {
      const begin = next;
      next += fields;
      return ranges.flatMap((range) => {
        const { first, count: width } = packedIn(range, places);
        const { values, wide } = range;
        const own: FieldTarget[] = [];
        for (let slot = 0; slot < width; slot++) {
          const column = first + slot;
          if (column < begin || column >= next) continue;
          const { name, type } = added[column]!;
          const kind = isTextual(type) ? 'text' : type;
          own.push({ values, wide, column, kind, name, width, slot });
        }
        return own;
      });
    });
  }

  /** Puts a field that is no usual text or decimal. */
  function putOther(target: FieldTarget, index: number, bytes: Buffer, at: number, own: OwnLists) {
    const { kind, values, wide, width, slot } = target;
    const to = index * width + slot;
    const tag = bytes[at]!;
    if (tag === NULL) values[to] = NULL_VALUE;
    else if (kind === 'text') {
      // A damaged number is an error.
      const text = String(unpacker.unpack(bytes, at, 1)[0]);
      values[to] = tag === KNOWN_TEXT ? bytes.readInt32LE(at + 1) : own.add(target.column, text);
    } else {
      const number = storedNumber({ kind, name: target.name }, unpacker.unpack(bytes, at, 1)[0]!);
      const isWhole = tag === SMALL || tag === WHOLE || kind !== 'number';
      const value = kind === 'number' ? number * MILLION : number;
      if (isWhole && (value | 0) === value && value > WIDE_VALUE && !Object.is(value, -0))
        values[to] = value;
      else {
        values[to] = WIDE_VALUE;
        wide[to] = number;
      }
    }
  }

  function fillTable(
    table: number,
    targets: readonly FieldTarget[],
    { places: numbers, from, to, offsets: all }: PlacesToFill,
    own: OwnLists,
  ): void {
    const find = finders[table]!;
    const offsets = all[table]!;
    const { skip = 0 } = tables[table]!;
    const textTags = FIRST_TEXT + texts.length;
    let bytes: Buffer = Buffer.alloc(0);
    let view = new DataView(bytes.buffer);
    for (let index = from; index < to; index++) {
      const found = find(numbers[index]!);
      if (found.bytes !== bytes) {
        bytes = found.bytes;
        view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
      }
      let at = found.from + offsets[index]!;
      if (skip > 0 && offsets[index] === 0) at = skipFields(bytes, at, skip);
      for (let field = 0; field < targets.length; field++) {
        const target = targets[field]!;
        const { kind } = target;
        const tag = bytes[at]!;
        if (kind === 'text' && tag >= FIRST_TEXT && tag < textTags) {
          target.values[index * target.width + target.slot] = tag - FIRST_TEXT;
          at++;
          continue;
        }
        if (tag === MILLIONTHS && kind === 'number') {
          const value = view.getInt32(at + 1, true);
          if (value > WIDE_VALUE) {
            target.values[index * target.width + target.slot] = value;
            at += 5;
            continue;
          }
        }
        putOther(target, index, bytes, at, own);
        at = skipFields(bytes, at, 1);
      }
      offsets[index] = at - found.from;
    }
  }

  return (task) => {
    const own = ownLists(texts.length + task.from);
    for (const [table, targets] of targetsOf(task.ranges).entries())
      if (targets.length > 0) fillTable(table, targets, task, own);
    return own.lists();
  };
}

interface OwnLists {
  /** @returns the number of the text */
  add(column: number, text: string): number;
  lists(): readonly OwnTexts[];
}

/** The texts of each column that have no number. @param first the number of the first one: a place has one at most, so those of other
 * tasks differ */
function ownLists(first: number): OwnLists {
  const byColumn = new Map<number, string[]>();
  return {
    add(column, text) {
      const texts = byColumn.get(column) ?? [];
      byColumn.set(column, texts);
      return first + texts.push(text) - 1;
    },
    lists: () => Array.from(byColumn, ([column, texts]) => ({ column, first, texts })),
  };
}

/** @public: threads import it */
export const inThread: InThread<PlaceSetup, PlacesToFill, readonly OwnTexts[]> = (setup) => {
  const fill = placeFiller(setup);
  return { run: async (task) => fill(task) };
};
