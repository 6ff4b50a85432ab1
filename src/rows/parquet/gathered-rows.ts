import {
  leadingWidth,
  type OutputPlaces,
  packedFinder,
  packedWidth,
} from '../../formats/packed/output-places.ts';
import { skipFields, TAGS } from '../../formats/packed/packed-fields.ts';
import { longestPlace } from '../../formats/packed/place-table.ts';
import type { InThread } from '../../threads/thread-messages.ts';

const { firstText: FIRST_TEXT, millionths: MILLIONTHS } = TAGS;

/** Some columns that are encoded together, without `to`. */
export interface ColumnRange {
  readonly from: number;
  readonly to: number;
}

/** The packed fields of some rows, one row after the other, in memory that threads share. They are read from the table of places once:
 * reading them for each range of columns took half the time of a write. */
export interface GatheredRows {
  readonly rows: number;
  readonly bytes: Uint8Array<SharedArrayBuffer>;
  /** Where the fields of each row begin, by range of columns and row. */
  readonly starts: Uint32Array<SharedArrayBuffer>;
}

/** Rows to gather. */
export interface RowsToGather {
  readonly numbers: Int32Array;
  /** Ranges of columns that follow each other. */
  readonly ranges: readonly ColumnRange[];
  /** Rows that are no longer used: their memory is used again. */
  readonly memory: GatheredRows | null;
}

/** A natural topic has three columns. Pieces of an output of so many columns and 120,000 rows take 3 MB at most. */
const COLUMNS_A_RANGE = 6;
/** The packed fields of 120,000 rows of 18 natural topics take 28 MB. */
const MOST_BYTES = 40 * 1024 * 1024;
/** Of a field of a natural topic. */
const USUAL_BYTES = 4;

/** The ranges of columns whose fields are gathered together: all, or fewer where a row group is large. */
export function* rangesToGather(columns: number, rows: number): Generator<readonly ColumnRange[]> {
  const ranges: ColumnRange[] = [];
  for (let from = 0; from < columns; from += COLUMNS_A_RANGE)
    ranges.push({ from, to: Math.min(columns, from + COLUMNS_A_RANGE) });
  const together = Math.max(1, Math.floor(MOST_BYTES / (rows * USUAL_BYTES * COLUMNS_A_RANGE)));
  for (let from = 0; from < ranges.length; from += together)
    yield ranges.slice(from, from + together);
}

/** Makes what gathers the packed fields of rows. */
export function rowGatherer(places: OutputPlaces): (task: RowsToGather) => GatheredRows {
  const width = packedWidth(places);
  const leading = leadingWidth(places);
  const find = packedFinder(places);
  /** How many packed fields come before a column. */
  const fieldsBefore = (column: number) => Math.min(width, Math.max(0, column - leading));
  return ({ numbers, ranges, memory }) => {
    const rows = numbers.length;
    const skipped = fieldsBefore(ranges[0]!.from);
    const widths = ranges.map(({ from, to }) => fieldsBefore(to) - fieldsBefore(from));
    const starts = roomForStarts(memory, rows * ranges.length);
    const longest = places.tables.reduce((sum, { table }) => sum + longestPlace(table), 0);
    let bytes = roomForBytes(memory, rows * Math.min(longest, 2 * USUAL_BYTES * width));
    let used = 0;
    for (let row = 0; row < rows; row++) {
      const { bytes: found, from } = find(numbers[row]!);
      const begin = skipNatural(found, from, skipped);
      let at = begin;
      for (let range = 0; range < widths.length; range++) {
        starts[range * rows + row] = used + (at - begin);
        at = skipNatural(found, at, widths[range]!);
      }
      const size = at - begin;
      if (used + size > bytes.length) {
        const grown = Buffer.from(new SharedArrayBuffer(2 * (used + size)));
        bytes.copy(grown, 0, 0, used);
        bytes = grown;
      }
      found.copy(bytes, used, begin, at);
      used += size;
    }
    return { rows, bytes: new Uint8Array(bytes.buffer as SharedArrayBuffer), starts };
  };
}

function roomForStarts(memory: GatheredRows | null, count: number): Uint32Array<SharedArrayBuffer> {
  const isEnough = memory !== null && memory.starts.length >= count;
  return isEnough ? memory.starts : new Uint32Array(new SharedArrayBuffer(4 * withSpare(count)));
}

function roomForBytes(memory: GatheredRows | null, count: number): Buffer {
  const isEnough = memory !== null && memory.bytes.length >= count;
  return Buffer.from(isEnough ? memory.bytes.buffer : new SharedArrayBuffer(withSpare(count)));
}

/** The next row group may be a little larger. Unwritten pages take no memory. */
const withSpare = (count: number): number => Math.ceil(count * 1.25) + 1;

/** As `skipFields`. A rating and two decimals follow each other: three bytes tell the size of a natural topic. */
function skipNatural(bytes: Buffer, from: number, width: number): number {
  let at = from;
  for (let left = width; left > 0; ) {
    const isNatural =
      left >= 3 &&
      bytes[at]! >= FIRST_TEXT &&
      bytes[at + 1] === MILLIONTHS &&
      bytes[at + 6] === MILLIONTHS;
    if (!isNatural) at = skipFields(bytes, at, 1);
    else at += 11;
    left -= isNatural ? 3 : 1;
  }
  return at;
}

/** @public: threads import it */
export const inThread: InThread<OutputPlaces, RowsToGather, GatheredRows> = (places) => {
  const gather = rowGatherer(places);
  return { run: async (task) => gather(task) };
};
