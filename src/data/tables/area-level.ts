import Flatbush from 'flatbush';
import { type Outline, unpackOutline } from './area-outlines.ts';
import type { Box } from './bounding-boxes.ts';
import type { ServiceDatabase } from './data-database.ts';

/** The area that a location's answers are of. */
export interface Area {
  readonly geoid: string;
  /** The first five digits of the geoid. */
  readonly county: string;
}

/** The areas of a level in memory, as they were last loaded. They are named by their place in the order of their geoids. */
export interface AreaIndex {
  /** Reads them again when they were replaced. */
  refresh(): void;
  /** The places of areas whose boxes touch a box, smallest geoid first, so that where outlines overlap the same one wins
   * every time. */
  touching(box: Box): number[];
  area(place: number): Area;
  outline(place: number): Outline;
}

/** Most coordinates whose outlines are kept unpacked, of a level: all tracts of the states have some 10 million. 16 million
 * take about 90 MB. */
const KEPT_COORDINATES = 16_000_000;

/** What is left when they are too many: to drop outlines one by one would mean to keep them in order at every lookup. */
const LEFT_AFTER_DROPPING = 0.75;

/** The boxes and names of 85 000 tracts take some 20 MB. */
interface LoadedAreas {
  readonly ids: readonly number[];
  readonly areas: readonly Area[];
  readonly touching: (box: Box) => number[];
  /** The highest id. Ids are never used again, so another load has another. */
  readonly highest: number | null;
  /** Those that were asked for, and at which question each was last. */
  readonly outlines: (Outline | undefined)[];
  readonly usedAt: Float64Array;
}

/** Makes the areas of a level; none until the first `refresh`. */
export function createAreaLevel(
  database: ServiceDatabase,
  level: 'tract' | 'county',
  limit: number = KEPT_COORDINATES,
): AreaIndex {
  const highestId = database.prepare<[], number | null>(`SELECT max(id) FROM areas_${level}`).pluck();
  const select = database.prepare<[], Box & { readonly id: number; readonly geoid: string }>(
    `SELECT id, geoid, min_lng AS minLng, max_lng AS maxLng, min_lat AS minLat, max_lat AS maxLat
     FROM area_boxes_${level} ORDER BY geoid`,
  );
  const selectOutline = database.prepare<[number], Buffer>(`SELECT outline FROM areas_${level} WHERE id = ?`).pluck();
  let loaded = loadedOf([], null);
  let kept = 0;
  let questions = 0;

  function shrink({ outlines, usedAt }: LoadedAreas): void {
    const oldestFirst = [...outlines.keys()].filter((place) => outlines[place] !== undefined);
    oldestFirst.sort((a, b) => usedAt[a]! - usedAt[b]!);
    for (const place of oldestFirst) {
      if (kept <= limit * LEFT_AFTER_DROPPING) return;
      kept -= sizeOf(outlines[place]!);
      outlines[place] = undefined;
    }
  }

  return {
    refresh() {
      const highest = highestId.get()!;
      if (highest === loaded.highest) return;
      loaded = loadedOf(select.all(), highest);
      kept = 0;
    },
    touching: (box) => loaded.touching(box),
    area: (place) => loaded.areas[place]!,
    outline(place) {
      questions += 1;
      loaded.usedAt[place] = questions;
      const known = loaded.outlines[place];
      if (known !== undefined) return known;
      const outline = unpackOutline(selectOutline.get(loaded.ids[place]!)!);
      kept += sizeOf(outline);
      if (kept > limit) shrink(loaded);
      loaded.outlines[place] = outline;
      return outline;
    },
  };
}

function loadedOf(
  rows: readonly (Box & { readonly id: number; readonly geoid: string })[],
  highest: number | null,
): LoadedAreas {
  return {
    ids: rows.map(({ id }) => id),
    areas: rows.map(({ geoid }) => ({ geoid, county: geoid.slice(0, 5) })),
    touching: createBoxSearch(rows),
    highest,
    outlines: rows.map(() => undefined),
    usedAt: new Float64Array(rows.length),
  };
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

function sizeOf(outline: Outline): number {
  return outline.reduce((sum, ring) => sum + ring.length, 0);
}
