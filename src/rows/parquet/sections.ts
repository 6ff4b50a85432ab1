import type { OutputPlaces } from '../../formats/packed/output-places.ts';

/** Consecutive row groups whose places are read together, each once, in memory that threads share. */
export interface RowSection {
  /** The places of its rows by number, in ascending order. */
  readonly places: Uint32Array<SharedArrayBuffer>;
  /** For each row of each row group the index of its place. */
  readonly rows: readonly Uint32Array<SharedArrayBuffer>[];
}

/** Some consecutive row groups, without `to`. */
interface GroupRange {
  readonly from: number;
  readonly to: number;
}

const MOST_ROWS = 2 ** 20;

/** Divides the row groups of a file into sections.
 * @param rows of each row group */
export function* sectionsOf(
  rows: readonly number[],
  { tables, kindOf }: OutputPlaces,
): Generator<GroupRange> {
  // Where a section has few of the places of a file, reading them several times costs more than reading more places once.
  const isSparse = tables.some(({ table }) => table.file !== null) && kindOf.length > 2 * MOST_ROWS;
  const most = isSparse ? 0 : MOST_ROWS;
  let [from, sum] = [0, 0];
  for (const [group, count] of rows.entries()) {
    if (group > from && sum + count > most) {
      yield { from, to: group };
      [from, sum] = [group, 0];
    }
    sum += count;
  }
  if (from < rows.length) yield { from, to: rows.length };
}

/** Makes what finds the places of a section.
 * @param count how many places the output has */
export function sectionMaker(count: number): (groups: readonly Int32Array[]) => RowSection {
  /** By place: 1 if it has rows in the section, later its index plus one; 0 between calls. */
  const marks = new Uint32Array(count);
  return (groups) => {
    let found = 0;
    for (const numbers of groups) {
      for (let row = 0; row < numbers.length; row++) {
        const place = numbers[row]!;
        found += 1 - marks[place]!;
        marks[place] = 1;
      }
    }
    const places = sharedIntegers(found);
    let index = 0;
    for (let place = 0; index < found; place++) {
      if (marks[place] === 0) continue;
      places[index++] = place;
      marks[place] = index;
    }
    const rows = groups.map((numbers) => {
      const indexes = sharedIntegers(numbers.length);
      for (let row = 0; row < numbers.length; row++) indexes[row] = marks[numbers[row]!]! - 1;
      return indexes;
    });
    for (let at = 0; at < found; at++) marks[places[at]!] = 0;
    return { places, rows };
  };
}

/** Unwritten pages take no memory. */
const sharedIntegers = (length: number) => new Uint32Array(new SharedArrayBuffer(4 * length));
