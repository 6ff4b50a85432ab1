import type { Statement } from 'better-sqlite3';
import Flatbush from 'flatbush';
import { type Outline, unpackOutline } from './area-outlines.ts';
import type { Box } from './bounding-boxes.ts';
import type { DataDatabase } from './data-database.ts';

/** The area whose answers a location gets. */
export interface Area {
  readonly geoid: string;
  /** The first five digits of the geoid. */
  readonly county: string;
}

/** How a level keeps an outline in memory. */
export interface OutlineForm<Form> {
  readonly of: (outline: Outline) => Form;
  /** The number of values, of 4 bytes each. */
  readonly sizeOf: (form: Form) => number;
}

/** Outlines as they are unpacked. */
export const UNPACKED: OutlineForm<Outline> = {
  of: (outline) => outline,
  sizeOf: (outline) => outline.reduce((sum, ring) => sum + ring.length, 0),
};

/** The most values of outlines in memory, per level. All tracts of the states have about 10 million coordinates; 16
 * million take about 90 MB. */
const MAX_VALUES = 16_000_000;

/** The share left after eviction; evicting one by one would need an ordered list at every lookup. */
const SHARE_AFTER_EVICTION = 0.75;

type BoundaryRow = Box & { readonly id: number; readonly geoid: string };

/**
 * The areas of a level in memory, empty until the first `refresh`. Each is named by its index in the order of geoids. The boxes
 * and names of 85,000 tracts take about 20 MB.
 */
export class AreaIndex<Form> {
  readonly #limit: number;
  readonly #form: OutlineForm<Form>;
  readonly #highestId: Statement<[], number | null>;
  readonly #rows: Statement<[], BoundaryRow>;
  readonly #outlineOf: Statement<[number], Buffer>;
  /** Ids are never reused, so every load has its own highest one. */
  #highest: number | null = null;
  #ids: readonly number[] = [];
  #areas: readonly Area[] = [];
  #outlines: (Form | undefined)[] = [];
  /** The number of the lookup that used each outline last. */
  #usedAt = new Float64Array(0);
  #values = 0;
  #lookups = 0;
  /** The indexes of areas whose boxes touch a box, in order: where outlines overlap, the same area wins every time. */
  touching: (box: Box) => number[] = () => [];

  /** @param limit the most values of outlines in memory */
  constructor(database: DataDatabase, level: 'tract' | 'county', form: OutlineForm<Form>, limit: number = MAX_VALUES) {
    this.#limit = limit;
    this.#form = form;
    this.#highestId = database.prepare<[], number | null>(`SELECT max(id) FROM areas_${level}`).pluck();
    this.#rows = database.prepare<[], BoundaryRow>(
      `SELECT id, geoid, min_lng AS minLng, max_lng AS maxLng, min_lat AS minLat, max_lat AS maxLat
       FROM area_boxes_${level} ORDER BY geoid`,
    );
    this.#outlineOf = database.prepare<[number], Buffer>(`SELECT outline FROM areas_${level} WHERE id = ?`).pluck();
  }

  /** Reads the areas again when they were replaced. */
  refresh(): void {
    const highest = this.#highestId.get()!;
    if (highest === this.#highest) return;
    const rows = this.#rows.all();
    this.#highest = highest;
    this.#ids = rows.map(({ id }) => id);
    this.#areas = rows.map(({ geoid }) => ({ geoid, county: geoid.slice(0, 5) }));
    this.#outlines = rows.map(() => undefined);
    this.#usedAt = new Float64Array(rows.length);
    this.#values = 0;
    this.touching = createBoxSearch(rows);
  }

  area(index: number): Area {
    return this.#areas[index]!;
  }

  outline(index: number): Form {
    this.#lookups += 1;
    this.#usedAt[index] = this.#lookups;
    const cached = this.#outlines[index];
    if (cached !== undefined) return cached;
    const outline = this.#form.of(unpackOutline(this.#outlineOf.get(this.#ids[index]!)!));
    this.#values += this.#form.sizeOf(outline);
    if (this.#values > this.#limit) this.#evict();
    this.#outlines[index] = outline;
    return outline;
  }

  #evict(): void {
    const oldestFirst = [...this.#outlines.keys()].filter((index) => this.#outlines[index] !== undefined);
    oldestFirst.sort((a, b) => this.#usedAt[a]! - this.#usedAt[b]!);
    for (const index of oldestFirst) {
      if (this.#values <= this.#limit * SHARE_AFTER_EVICTION) return;
      this.#values -= this.#form.sizeOf(this.#outlines[index]!);
      this.#outlines[index] = undefined;
    }
  }
}

/**
 * Makes the function that finds which boxes touch a box, in the order of the list. With nodes of 8 boxes a lookup among 85,000
 * tracts takes 0.9 µs and the index 34 ms (nodes of 16: 0.9 µs, 39 ms); SQLite's R*Tree takes about 10 µs a lookup.
 */
export function createBoxSearch(boxes: readonly Box[]): (box: Box) => number[] {
  // Flatbush refuses an empty index.
  if (boxes.length === 0) return () => [];
  const index = new Flatbush(boxes.length, 8);
  for (const { minLng, minLat, maxLng, maxLat } of boxes) index.add(minLng, minLat, maxLng, maxLat);
  index.finish();
  return ({ minLng, minLat, maxLng, maxLat }) => index.search(minLng, minLat, maxLng, maxLat).sort((a, b) => a - b);
}
