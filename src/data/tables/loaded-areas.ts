import type { Statement } from 'better-sqlite3';
import type { Box } from '../../geo/bounding-boxes.ts';
import { OutlineIndex } from '../../geo/outline-index.ts';
import type { DataDatabase } from './data-database.ts';

/** The area whose answers a location gets. */
export interface Area {
  readonly geoid: string;
  /** The first five digits of the geoid. */
  readonly county: string;
}

/** The most values of outlines in memory, per level: 128 MB. The Census Bureau's cartographic outlines of all tracts take about 80. */
const MOST_VALUES = 32_000_000;

type BoundaryRow = Box & { readonly id: number; readonly geoid: string };

/** The areas of a level in the order of geoids, empty until the first `refresh`. */
export class LoadedAreas {
  readonly #mostValues: number;
  readonly #highestId: Statement<[], number | null>;
  readonly #rows: Statement<[], BoundaryRow>;
  readonly #ringsOf: Statement<[number], Buffer>;
  /** Ids are never reused, so every load has its own highest one. */
  #highest: number | null = null;
  #areas: readonly Area[] = [];
  outlines = new OutlineIndex([], () => new Int32Array());

  /** @param mostValues the most values of outlines in memory */
  constructor(database: DataDatabase, level: 'tract' | 'county', mostValues: number = MOST_VALUES) {
    this.#mostValues = mostValues;
    this.#highestId = database.prepare<[], number | null>(`SELECT max(id) FROM areas_${level}`).pluck();
    this.#rows = database.prepare<[], BoundaryRow>(
      `SELECT id, geoid, min_lng AS minLng, max_lng AS maxLng, min_lat AS minLat, max_lat AS maxLat
       FROM area_boxes_${level} ORDER BY geoid`,
    );
    this.#ringsOf = database.prepare<[number], Buffer>(`SELECT outline FROM areas_${level} WHERE id = ?`).pluck();
  }

  /** Reads the areas again if they were replaced. */
  refresh(): void {
    const highest = this.#highestId.get()!;
    if (highest === this.#highest) return;
    const rows = this.#rows.all();
    this.#highest = highest;
    this.#areas = rows.map(({ geoid }) => ({ geoid, county: geoid.slice(0, 5) }));
    const ids = rows.map(({ id }) => id);
    // Copied, because the bytes of a row may start at any address.
    const ringsOf = (index: number) => new Int32Array(new Uint8Array(this.#ringsOf.get(ids[index]!)!).buffer);
    this.outlines = new OutlineIndex(rows, ringsOf, this.#mostValues);
  }

  /** The area with a number in the index. */
  area(index: number): Area {
    return this.#areas[index]!;
  }

  /** The area of an outline that was found. */
  areaOrNull(index: number | null): Area | null {
    return index === null ? null : this.area(index);
  }
}
