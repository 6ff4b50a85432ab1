import type { Location } from '../geo/coordinates.ts';
import type { RowsAndValue } from './figures.ts';

/** The places of a file by their numbers from 0, as the table of cells has them. */
export interface WeightedPlaces {
  readonly size: number;
  readonly location: (place: number) => Location;
  readonly rows: (place: number) => number;
  readonly value: (place: number) => number;
}

/** All that lies within the radius of one place. */
export interface Circle extends RowsAndValue {
  /** The place in the middle. */
  readonly cell: number;
  readonly places: number;
}

const METERS_PER_DEGREE = 111_195;

/** A block compares at most this many pairs of places: in a denser one only its heaviest places are tried as the middle. */
const MOST_PAIRS = 4_000_000;

/** Column numbers of a row of blocks stay below this. */
const COLUMNS = 2 ** 20;

/**
 * The circles with the most weight, none of which shares a place with another: the heaviest circle around any place, then the
 * heaviest of what is left, and so on. Places are sorted into blocks as wide as the radius; the 3 by 3 blocks around a place
 * hold its circle, so their sum is a bound, and only blocks whose bound is above the best circle are searched. Memory: 8 bytes
 * a place and some 200 a block.
 */
export function heaviestCircles(
  places: WeightedPlaces,
  weightOf: (place: number) => number,
  radius: number,
  most: number,
): Circle[] {
  const blocks = new Blocks(places, weightOf, radius);
  const circles: Circle[] = [];
  const order = blocks.byBound();
  while (circles.length < most) {
    let best: Found | null = null;
    for (const block of order) {
      if (best !== null && block.bound <= best.weight) break;
      block.best ??= blocks.search(block);
      if (block.best.weight > (best?.weight ?? 0)) best = block.best;
    }
    if (best === null) break;
    circles.push(blocks.take(best.place));
  }
  return circles;
}

interface Found {
  readonly place: number;
  readonly weight: number;
}

interface Block {
  readonly row: number;
  readonly column: number;
  readonly places: number[];
  sum: number;
  bound: number;
  /** The heaviest circle around one of its places; null until it is searched. */
  best: Found | null;
}

class Blocks {
  readonly #places: WeightedPlaces;
  readonly #weightOf: (place: number) => number;
  readonly #height: number;
  readonly #blocks = new Map<number, Block>();
  readonly #taken: Uint8Array;

  constructor(places: WeightedPlaces, weightOf: (place: number) => number, radius: number) {
    this.#places = places;
    this.#weightOf = weightOf;
    this.#height = radius / METERS_PER_DEGREE;
    this.#taken = new Uint8Array(places.size);
    for (let place = 0; place < places.size; place++) {
      const { lat, lng } = places.location(place);
      const row = this.#rowOf(lat);
      const column = this.#columnOf(row, lng);
      const key = row * COLUMNS + column;
      let block = this.#blocks.get(key);
      if (!block) {
        block = { row, column, places: [], sum: 0, bound: 0, best: null };
        this.#blocks.set(key, block);
      }
      block.places.push(place);
      block.sum += Math.max(0, weightOf(place));
    }
  }

  byBound(): Block[] {
    for (const block of this.#blocks.values()) {
      block.bound = 0;
      for (const near of this.#around(block)) block.bound += near.sum;
    }
    return [...this.#blocks.values()].sort((a, b) => b.bound - a.bound);
  }

  /** The heaviest circle around a place of the block. */
  search(block: Block): Found {
    const near = this.#around(block).flatMap(({ places }) => places.filter((place) => this.#taken[place] === 0));
    const own = block.places.filter((place) => this.#taken[place] === 0);
    const tried = Math.max(1, Math.floor(MOST_PAIRS / Math.max(1, near.length)));
    const middles =
      own.length <= tried ? own : own.sort((a, b) => this.#weightOf(b) - this.#weightOf(a)).slice(0, tried);
    let best: Found = { place: -1, weight: 0 };
    for (const place of middles) {
      const isWithin = this.#within(place);
      let weight = 0;
      for (const other of near) if (isWithin(other)) weight += this.#weightOf(other);
      if (weight > best.weight) best = { place, weight };
    }
    return best;
  }

  /** Takes the places of a circle out, and forgets what was found in the blocks that it may have changed. */
  take(middle: number): Circle {
    const { lat, lng } = this.#places.location(middle);
    const row = this.#rowOf(lat);
    const home = this.#blocks.get(row * COLUMNS + this.#columnOf(row, lng))!;
    const isWithin = this.#within(middle);
    const circle = { cell: middle, places: 0, rows: 0, value: 0 };
    for (const block of this.#around(home)) {
      for (const place of block.places) {
        if (this.#taken[place] !== 0 || !isWithin(place)) continue;
        this.#taken[place] = 1;
        circle.places++;
        circle.rows += this.#places.rows(place);
        circle.value += this.#places.value(place);
      }
      for (const changed of this.#around(block)) changed.best = null;
    }
    return circle;
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
  #around({ row, column }: Block): Block[] {
    const width = this.#width(row);
    const [west, east] = [(column - 1) * width - 180, (column + 2) * width - 180];
    const found: Block[] = [];
    for (let near = row - 1; near <= row + 1; near++) {
      const last = this.#columnOf(near, east);
      for (let at = this.#columnOf(near, west); at <= last; at++) {
        const block = this.#blocks.get(near * COLUMNS + at);
        if (block) found.push(block);
      }
    }
    return found;
  }

  #rowOf(lat: number): number {
    return Math.floor((lat + 90) / this.#height);
  }

  #columnOf(row: number, lng: number): number {
    return Math.floor((lng + 180) / this.#width(row));
  }

  /** Of a block, in degrees: the radius where the row and its neighbors are farthest from the equator. */
  #width(row: number): number {
    const farthest = Math.min(89, Math.abs((row + 0.5) * this.#height - 90) + 1.5 * this.#height);
    return this.#height / Math.cos((farthest * Math.PI) / 180);
  }
}
