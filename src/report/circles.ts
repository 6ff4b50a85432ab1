import type { Location } from '../geo/coordinates.ts';
import type { CountedSum } from './sums.ts';

/** The places of a file by their numbers from 0, as the table of cells has them. */
export interface WeightedPlaces {
  readonly size: number;
  readonly location: (place: number) => Location;
  readonly rows: (place: number) => number;
  readonly value: (place: number) => number;
}

/** All that lies within the radius of one place. */
export interface Circle extends CountedSum {
  /** The place in the middle. */
  readonly cell: number;
  readonly places: number;
}

const METERS_PER_DEGREE = 111_195;

/** A block compares at most this many pairs of places: in a denser one only its heaviest places are tried as the middle. */
const MOST_PAIRS = 4_000_000;

/** So many blocks or somewhat more are searched before the others are looked at again. */
const SEARCHED_AT_ONCE = 500;

/** Column numbers of a row of blocks stay below this for a radius of a kilometer or more. */
const COLUMNS = 2 ** 16;

/**
 * The circles with the most weight, none of which shares a place with another: the heaviest circle around any place, then the
 * heaviest of what is left, and so on. Places are sorted into blocks as wide as the radius; the 3 by 3 blocks around a place
 * hold its circle, so their sum is a bound, and only blocks whose bound is above the best circle are searched. Memory: some 40
 * bytes a place. Blocks as objects in a Map took ten times as long for a million places, and 200 bytes a block.
 *
 * @param radius in meters, 1,000 or more
 */
export function heaviestCircles(
  places: WeightedPlaces,
  weightOf: (place: number) => number,
  radius: number,
  most: number,
): Circle[] {
  const blocks = new Blocks(places, weightOf, radius);
  const circles: Circle[] = [];
  while (circles.length < most) {
    const middle = blocks.heaviest();
    if (middle === null) break;
    circles.push(blocks.take(middle));
  }
  return circles;
}

/** A circle by its middle. */
interface Found {
  readonly middle: number;
  readonly weight: number;
}

/** Blocks of places by their numbers, in the order of their keys: row by row, from west to east. */
class Blocks {
  readonly #places: WeightedPlaces;
  readonly #weightOf: (place: number) => number;
  /** Of a block, in degrees: the radius. */
  readonly #height: number;
  /** By row: the radius where the row and its neighbors are farthest from the equator. */
  readonly #widths: Float64Array;
  /** The places, those of one block together. */
  readonly #sorted: Uint32Array;
  /** The key of each block, and where its places begin; one more at the end. */
  readonly #keys: Uint32Array;
  readonly #starts: Uint32Array;
  /** The weight in each block, and in it and those around it. */
  readonly #sums: Float64Array;
  readonly #bounds: Float64Array;
  /** By block, where it was searched: the heaviest circle around one of its places. */
  readonly #found = new Map<number, Found>();
  /** The first 16 bits of each bound: larger for larger bounds, and the same for bounds that differ by less than 6 %. */
  readonly #steps: Uint16Array;
  readonly #taken: Uint8Array;

  constructor(places: WeightedPlaces, weightOf: (place: number) => number, radius: number) {
    this.#places = places;
    this.#weightOf = weightOf;
    this.#height = radius / METERS_PER_DEGREE;
    this.#widths = new Float64Array(Math.floor(180 / this.#height) + 1).map((_, row) => {
      const farthest = Math.min(89, Math.abs((row + 0.5) * this.#height - 90) + 1.5 * this.#height);
      return this.#height / Math.cos((farthest * Math.PI) / 180);
    });
    this.#taken = new Uint8Array(places.size);
    // Key and place as one number each: sorting them takes a tenth of the time of a sort with a comparison.
    const pairs = new BigUint64Array(places.size);
    const halves = new Uint32Array(pairs.buffer);
    for (let place = 0; place < places.size; place++) {
      const { lat, lng } = places.location(place);
      const row = this.#rowOf(lat);
      halves[2 * place + LOW] = place;
      halves[2 * place + HIGH_HALF] = row * COLUMNS + this.#columnOf(row, lng);
    }
    pairs.sort();
    const keyAt = (at: number) => halves[2 * at + HIGH_HALF]!;
    const isFirst = (at: number) => at === 0 || keyAt(at) !== keyAt(at - 1);
    let blocks = 0;
    for (let at = 0; at < places.size; at++) if (isFirst(at)) blocks++;
    this.#sorted = new Uint32Array(places.size);
    this.#keys = new Uint32Array(blocks);
    this.#starts = new Uint32Array(blocks + 1).fill(places.size);
    for (let at = 0, block = 0; at < places.size; at++) {
      this.#sorted[at] = halves[2 * at + LOW]!;
      if (!isFirst(at)) continue;
      this.#keys[block] = keyAt(at);
      this.#starts[block++] = at;
    }
    // In the memory of the pairs, which are not needed any more.
    this.#sums = new Float64Array(pairs.buffer, 0, this.#keys.length);
    this.#bounds = new Float64Array(this.#keys.length);
    this.#steps = new Uint16Array(this.#bounds.buffer);
    for (let block = 0; block < this.#keys.length; block++) this.#sums[block] = this.#sumOf(block);
    for (let block = 0; block < this.#keys.length; block++) this.#bounds[block] = this.#boundOf(block);
  }

  /** The middle of the heaviest circle; null where nothing has weight. */
  heaviest(): number | null {
    let best: Found = { middle: -1, weight: 0 };
    for (const found of this.#found.values()) if (found.weight > best.weight) best = found;
    // Once the blocks of the highest bounds are searched, few of the others have a bound above what was found.
    for (let next = this.#promising(best.weight); next.length > 0; next = this.#promising(best.weight)) {
      for (const block of next) {
        if (this.#bounds[block]! <= best.weight) continue;
        const found = this.#search(block);
        this.#found.set(block, found);
        if (found.weight > best.weight) best = found;
      }
    }
    return best.weight > 0 ? best.middle : null;
  }

  /** The blocks that were not searched and may hold more than some weight: those of the highest bounds. They are counted by the first
   * bits of their bounds, because sorting a million bounds took a third of the time of all circles. */
  #promising(weight: number): number[] {
    const isPromising = (block: number) => this.#bounds[block]! > weight && !this.#found.has(block);
    const stepOf = (block: number) => this.#steps[4 * block + HIGHEST_QUARTER]!;
    const counts = new Uint32Array(2 ** 16);
    for (let block = 0; block < this.#bounds.length; block++) if (isPromising(block)) counts[stepOf(block)]!++;
    let least = counts.length;
    for (let count = 0; least > 0 && count < SEARCHED_AT_ONCE; ) count += counts[--least]!;
    const found: number[] = [];
    for (let block = 0; block < this.#bounds.length; block++) {
      if (stepOf(block) >= least && isPromising(block)) found.push(block);
    }
    return found;
  }

  /** Takes the places of a circle out, and forgets what was found in the blocks that it may have changed. */
  take(middle: number): Circle {
    const { lat, lng } = this.#places.location(middle);
    const row = this.#rowOf(lat);
    const home = this.#from(row * COLUMNS + this.#columnOf(row, lng));
    const isWithin = this.#within(middle);
    const circle = { cell: middle, places: 0, rows: 0, value: 0 };
    const around = this.#around(home);
    for (const block of around) {
      for (const place of this.#left(block)) {
        if (!isWithin(place)) continue;
        this.#taken[place] = 1;
        circle.places++;
        circle.rows += this.#places.rows(place);
        circle.value += this.#places.value(place);
      }
      this.#sums[block] = this.#sumOf(block);
    }
    for (const changed of new Set(around.flatMap((block) => this.#around(block)))) {
      this.#bounds[changed] = this.#boundOf(changed);
      this.#found.delete(changed);
    }
    return circle;
  }

  /** The heaviest circle around a place of the block. */
  #search(block: number): Found {
    const near = this.#around(block).flatMap((other) => this.#left(other));
    const own = this.#left(block);
    const tried = Math.max(1, Math.floor(MOST_PAIRS / Math.max(1, near.length)));
    const middles =
      own.length <= tried ? own : own.sort((a, b) => this.#weightOf(b) - this.#weightOf(a)).slice(0, tried);
    let best: Found = { middle: -1, weight: 0 };
    for (const place of middles) {
      const isWithin = this.#within(place);
      let weight = 0;
      for (const other of near) if (isWithin(other)) weight += this.#weightOf(other);
      if (weight > best.weight) best = { middle: place, weight };
    }
    return best;
  }

  /** The places of a block that no circle has taken. */
  #left(block: number): number[] {
    const left: number[] = [];
    for (let at = this.#starts[block]!; at < this.#starts[block + 1]!; at++) {
      const place = this.#sorted[at]!;
      if (this.#taken[place] === 0) left.push(place);
    }
    return left;
  }

  #sumOf(block: number): number {
    let sum = 0;
    for (let at = this.#starts[block]!; at < this.#starts[block + 1]!; at++) {
      const place = this.#sorted[at]!;
      if (this.#taken[place] === 0) sum += Math.max(0, this.#weightOf(place));
    }
    return sum;
  }

  #boundOf(block: number): number {
    let bound = 0;
    this.#eachAround(block, (near) => {
      bound += this.#sums[near]!;
    });
    return bound;
  }

  #around(block: number): number[] {
    const found: number[] = [];
    this.#eachAround(block, (near) => found.push(near));
    return found;
  }

  #within(middle: number): (place: number) => boolean {
    const { lat, lng } = this.#places.location(middle);
    const shrink = Math.cos((lat * Math.PI) / 180);
    const limit = this.#height ** 2;
    return (place) => {
      const other = this.#places.location(place);
      return (other.lat - lat) ** 2 + ((other.lng - lng) * shrink) ** 2 <= limit;
    };
  }

  /** The block and those around it that hold places. Columns narrow towards the equator, so neighbors are found by longitude. */
  #eachAround(block: number, found: (near: number) => void): void {
    const key = this.#keys[block]!;
    const row = Math.floor(key / COLUMNS);
    const column = key % COLUMNS;
    const width = this.#widths[row]!;
    const [west, east] = [(column - 1) * width - 180, (column + 2) * width - 180];
    for (let near = Math.max(0, row - 1); near <= Math.min(row + 1, this.#widths.length - 1); near++) {
      const last = near * COLUMNS + this.#columnOf(near, east);
      const first = near * COLUMNS + Math.max(0, this.#columnOf(near, west));
      for (let at = this.#from(first); at < this.#keys.length && this.#keys[at]! <= last; at++) found(at);
    }
  }

  /** The first block whose key is not below. */
  #from(key: number): number {
    let [low, high] = [0, this.#keys.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#keys[middle]! < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #rowOf(lat: number): number {
    return Math.floor((lat + 90) / this.#height);
  }

  #columnOf(row: number, lng: number): number {
    return Math.floor((lng + 180) / this.#widths[row]!);
  }
}

/** Where the parts of a 64-bit number are in memory: the processors that Node runs on have the low ones first. */
const [LOW, HIGH_HALF] = [0, 1];
const HIGHEST_QUARTER = 3;
