import type { Location } from '../geo/coordinates.ts';
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
  /** The place in the middle. */
  readonly cell: number;
  readonly places: number;
}

const METERS_PER_DEGREE = 111_195;

/** Columns of the grid: 0.003 degrees each. With the rows of a radius of a kilometer or more, a key has 32 bits. */
const COLUMNS = 2 ** 17;

/** Above this number of compared pairs per circle, only the most promising places are tried as its middle. */
const MOST_PAIRS = 300_000_000;

/**
 * The circles with the most weight, without shared places: the heaviest circle around any place, then the heaviest among the
 * remaining places, and so on. Places are sorted into rows as high as the radius, from west to east. Running sums of three rows
 * give an upper bound for the circle around a place. Places are tried by descending bound, until no bound exceeds the heaviest circle.
 * Some 45 bytes a place.
 *
 * @param radius in meters, 1,000 or more
 */
export function heaviestCircles(
  cells: WeightedCells,
  weightOf: (cell: number) => number,
  radius: number,
  most: number,
): Circle[] {
  const { size } = cells;
  const height = radius / METERS_PER_DEGREE;
  const rowOf = (lat: number) => Math.floor((lat + 90) / height);
  const columnOf = (lng: number) => Math.max(0, Math.min(COLUMNS - 1, Math.floor(((lng + 180) / 360) * COLUMNS)));
  const { sorted, keys } = sortedBy(size, (cell) => {
    const { lat, lng } = cells.location(cell);
    return rowOf(lat) * COLUMNS + columnOf(lng);
  });
  const lats = Float64Array.from(sorted, (cell) => cells.location(cell).lat);
  const lngs = Float64Array.from(sorted, (cell) => cells.location(cell).lng);
  const weights = Float64Array.from(sorted, weightOf);
  const sums = new Float64Array(size + 1);
  for (let at = 0; at < size; at++) sums[at + 1] = sums[at]! + Math.max(0, weights[at]!);
  const isTaken = new Uint8Array(size);

  /** Calls `visit` with the ranges of sorted places that hold the circle around one of them. */
  const eachRange = (at: number, visit: (from: number, to: number) => void) => {
    const width = height / Math.cos((lats[at]! * Math.PI) / 180);
    const [west, east] = [columnOf(lngs[at]! - width), columnOf(lngs[at]! + width)];
    const row = rowOf(lats[at]!);
    for (let near = Math.max(0, row - 1); near <= row + 1; near++) {
      visit(firstFrom(keys, near * COLUMNS + west), firstFrom(keys, near * COLUMNS + east + 1));
    }
  };
  const eachWithin = (middle: number, visit: (at: number) => void) => {
    const [lat, lng] = [lats[middle]!, lngs[middle]!];
    const shrink = Math.cos((lat * Math.PI) / 180);
    eachRange(middle, (from, to) => {
      for (let at = from; at < to; at++) {
        const isNear = (lats[at]! - lat) ** 2 + ((lngs[at]! - lng) * shrink) ** 2 <= height ** 2;
        if (isNear && isTaken[at] === 0) visit(at);
      }
    });
  };

  /** No circle around a place has more weight than its bound; taking places away only lowers the weight. */
  const bounds = new Float64Array(size);
  const compared = new Uint32Array(size);
  for (let at = 0; at < size; at++) {
    eachRange(at, (from, to) => {
      bounds[at]! += sums[to]! - sums[from]!;
      compared[at]! += to - from;
    });
  }
  const promising = sortedBy(size, (at) => bitsOf(bounds[at]!));
  const circles: Circle[] = [];
  while (circles.length < most) {
    let [middle, heaviest, pairs] = [-1, 0, 0];
    for (let next = size - 1; next >= 0 && pairs < MOST_PAIRS; next--) {
      if (promising.keys[next]! < bitsOf(heaviest)) break;
      const at = promising.sorted[next]!;
      if (bounds[at]! <= heaviest || isTaken[at] === 1) continue;
      let weight = 0;
      eachWithin(at, (near) => {
        weight += weights[near]!;
      });
      pairs += compared[at]!;
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

/** The numbers below `size`, sorted by their keys of 32 bits, each packed into one number: a sort with a comparison takes ten times as long. */
function sortedBy(size: number, keyOf: (number: number) => number): { sorted: Uint32Array; keys: Uint32Array } {
  const pairs = new BigUint64Array(size);
  // The processors that Node runs on have the low half of a number first.
  const halves = new Uint32Array(pairs.buffer);
  for (let number = 0; number < size; number++) {
    halves[2 * number] = number;
    halves[2 * number + 1] = keyOf(number);
  }
  pairs.sort();
  return {
    sorted: halves.filter((_, at) => at % 2 === 0),
    keys: halves.filter((_, at) => at % 2 === 1),
  };
}

const FLOAT = new Float32Array(1);
const BITS = new Uint32Array(FLOAT.buffer);

/** A key that is not smaller for a larger number from 0 up. */
function bitsOf(number: number): number {
  FLOAT[0] = number;
  return BITS[0]!;
}

/** The first index whose key is not below. */
function firstFrom(keys: Uint32Array, key: number): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
