import type { Location } from '../../geo/coordinates.ts';
import type { CountedSum } from './sums.ts';

/** The places of a file, by their numbers in the table of cells. */
export interface WeightedCells {
  readonly size: number;
  readonly location: (cell: number) => Location;
  readonly rows: (cell: number) => number;
  readonly value: (cell: number) => number;
}

/** The sums within the radius of one place. */
export interface Circle extends CountedSum {
  readonly cell: number;
  readonly places: number;
}

const METERS_PER_DEGREE = 111_195;

/** Columns of the grid: 0.003 degrees each. With the rows of a radius of a kilometer or more, a key has 32 bits. */
const COLUMNS = 2 ** 17;

/** Above this number of compared pairs per circle, only the most promising places are tried as its middle. */
const MOST_PAIRS = 300_000_000;

/** The circles with the most weight, without shared places: the heaviest circle around any place, then the heaviest among the remaining
 * places, and so on. Places are sorted into rows as high as the radius, from west to east. Running sums of three rows give an upper bound
 * for the circle around a place. Places are tried by descending bound, until no bound exceeds the heaviest circle. Some 40 bytes a place.
 * @param radius in meters, 1,000 or more */
export function heaviestCircles(
  cells: WeightedCells,
  weightOf: (cell: number) => number,
  radius: number,
  most: number,
): Circle[] {
  const { size } = cells;
  const height = radius / METERS_PER_DEGREE;
  const rowOf = (lat: number) => Math.floor((lat + 90) / height);
  const columnOf = (lng: number) =>
    Math.max(0, Math.min(COLUMNS - 1, Math.floor(((lng + 180) / 360) * COLUMNS)));
  const { sorted, keys } = sortedBy(size, (cell) => {
    const { lat, lng } = cells.location(cell);
    return rowOf(lat) * COLUMNS + columnOf(lng);
  });
  const [lats, lngs] = [new Float64Array(size), new Float64Array(size)];
  const sums = new Float64Array(size + 1);
  /** The first place of each row; of a row without any, the number of all of them. */
  const starts = new Uint32Array(rowOf(90) + 3).fill(size);
  for (let at = size - 1; at >= 0; at--) {
    const { lat, lng } = cells.location(sorted[at]!);
    lats[at] = lat;
    lngs[at] = lng;
    starts[rowOf(lat)] = at;
  }
  for (let at = 0; at < size; at++) sums[at + 1] = sums[at]! + Math.max(0, weightOf(sorted[at]!));
  const isTaken = new Uint8Array(size);

  /** Calls `visit` with the ranges of sorted places that hold the circle around one of them. */
  const eachRange = (at: number, visit: (from: number, to: number) => void) => {
    const width = height / Math.cos((lats[at]! * Math.PI) / 180);
    const [west, east] = [columnOf(lngs[at]! - width), columnOf(lngs[at]! + width)];
    const row = rowOf(lats[at]!);
    for (let near = Math.max(0, row - 1); near <= row + 1; near++) {
      const [first, last] = [starts[near]!, starts[near + 1]!];
      const from = firstFrom(keys, near * COLUMNS + west, first, last);
      visit(from, firstFrom(keys, near * COLUMNS + east + 1, from, last));
    }
  };
  /** Returns with how many places it has compared the middle. */
  const eachWithin = (middle: number, visit: (at: number) => void) => {
    let compared = 0;
    const [lat, lng] = [lats[middle]!, lngs[middle]!];
    const shrink = Math.cos((lat * Math.PI) / 180);
    eachRange(middle, (from, to) => {
      compared += to - from;
      for (let at = from; at < to; at++) {
        const isNear = (lats[at]! - lat) ** 2 + ((lngs[at]! - lng) * shrink) ** 2 <= height ** 2;
        if (isNear && isTaken[at] === 0) visit(at);
      }
    });
    return compared;
  };

  /** No circle around a place has more weight than its bound; taking places away only lowers the weight. */
  const bounds = new Float64Array(size);
  for (let at = 0; at < size; at++) {
    eachRange(at, (from, to) => {
      bounds[at]! += sums[to]! - sums[from]!;
    });
  }
  const promising = sortedBy(size, (at) => countBits(bounds[at]!));
  const circles: Circle[] = [];
  while (circles.length < most) {
    let [middle, heaviest, pairs] = [-1, 0, 0];
    for (let next = size - 1; next >= 0 && pairs < MOST_PAIRS; next--) {
      if (promising.keys[next]! < countBits(heaviest)) break;
      const at = promising.sorted[next]!;
      if (bounds[at]! <= heaviest || isTaken[at] === 1) continue;
      let weight = 0;
      pairs += eachWithin(at, (near) => {
        weight += weightOf(sorted[near]!);
      });
      bounds[at] = weight;
      if (weight > heaviest) [middle, heaviest] = [at, weight];
    }
    if (middle < 0) break;
    const circle = { cell: sorted[middle]!, places: 0, rows: 0, value: 0 };
    eachWithin(middle, (at) => {
      isTaken[at] = 1;
      circle.places++;
      circle.rows += cells.rows(sorted[at]!);
      circle.value += cells.value(sorted[at]!);
    });
    circles.push(circle);
  }
  return circles;
}

/** The numbers below `size`, sorted by their keys of 32 bits, in 64 bits: a sort with a comparison takes ten times as long. */
export function sortedBy(
  size: number,
  keyOf: (number: number) => number,
): { sorted: Uint32Array; keys: Uint32Array } {
  const halves = new Uint32Array(size * 2);
  for (let number = 0; number < size; number++) {
    halves[number * 2] = number;
    halves[number * 2 + 1] = keyOf(number);
  }
  new BigUint64Array(halves.buffer).sort();
  const half = (from: 0 | 1) => new Uint32Array(size).map((_, at) => halves[at * 2 + from]!);
  return { sorted: half(0), keys: half(1) };
}

const FLOAT = new Float32Array(1);
const BITS = new Uint32Array(FLOAT.buffer);

/** A key that is not smaller for a larger number from 0 up. */
function countBits(number: number): number {
  FLOAT[0] = number;
  return BITS[0]!;
}

/** The first index whose key is not below, among those from `low` to `high`. */
function firstFrom(keys: Uint32Array, key: number, from: number, to: number): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
