import Flatbush from 'flatbush';
import { type Outline, unpackOutline } from './area-outlines.ts';
import type { Box } from './bounding-boxes.ts';
import type { ServiceDatabase } from './data-database.ts';

/** The area whose answers a location gets. */
export interface Area {
  readonly geoid: string;
  /** The first five digits of the geoid. */
  readonly county: string;
}

/** The areas of a level in memory, as last loaded. Each is named by its index in the order of geoids. */
export interface AreaIndex {
  /** Reads the areas again when they were replaced. */
  refresh(): void;
  /** The indexes of areas whose boxes touch a box, smallest geoid first: where outlines overlap, the same area wins
   * every time. */
  touching(box: Box): number[];
  area(index: number): Area;
  outline(index: number): Outline;
}

/** The most coordinates of unpacked outlines in memory, per level. All tracts of the states have about 10 million; 16
 * million take about 90 MB. */
const MAX_COORDINATES = 16_000_000;

/** The share left after eviction; evicting one by one would need an ordered list at every lookup. */
const SHARE_AFTER_EVICTION = 0.75;

/** The boxes and names of 85,000 tracts take about 20 MB. */
interface LoadedAreas {
  readonly ids: readonly number[];
  readonly areas: readonly Area[];
  readonly touching: (box: Box) => number[];
  /** The highest id. Ids are never reused, so every load has its own. */
  readonly highest: number | null;
  /** The unpacked outlines, and the number of the lookup that used each last. */
  readonly outlines: (Outline | undefined)[];
  readonly usedAt: Float64Array;
}

/** Makes the index of a level; empty until the first `refresh`. */
export function createAreaLevel(
  database: ServiceDatabase,
  level: 'tract' | 'county',
  limit: number = MAX_COORDINATES,
): AreaIndex {
  const highestId = database.prepare<[], number | null>(`SELECT max(id) FROM areas_${level}`).pluck();
  const select = database.prepare<[], Box & { readonly id: number; readonly geoid: string }>(
    `SELECT id, geoid, min_lng AS minLng, max_lng AS maxLng, min_lat AS minLat, max_lat AS maxLat
     FROM area_boxes_${level} ORDER BY geoid`,
  );
  const selectOutline = database.prepare<[number], Buffer>(`SELECT outline FROM areas_${level} WHERE id = ?`).pluck();
  let loaded = loadedOf([], null);
  let unpacked = 0;
  let lookups = 0;

  function evict({ outlines, usedAt }: LoadedAreas): void {
    const oldestFirst = [...outlines.keys()].filter((index) => outlines[index] !== undefined);
    oldestFirst.sort((a, b) => usedAt[a]! - usedAt[b]!);
    for (const index of oldestFirst) {
      if (unpacked <= limit * SHARE_AFTER_EVICTION) return;
      unpacked -= sizeOf(outlines[index]!);
      outlines[index] = undefined;
    }
  }

  return {
    refresh() {
      const highest = highestId.get()!;
      if (highest === loaded.highest) return;
      loaded = loadedOf(select.all(), highest);
      unpacked = 0;
    },
    touching: (box) => loaded.touching(box),
    area: (index) => loaded.areas[index]!,
    outline(index) {
      lookups += 1;
      loaded.usedAt[index] = lookups;
      const cached = loaded.outlines[index];
      if (cached !== undefined) return cached;
      const outline = unpackOutline(selectOutline.get(loaded.ids[index]!)!);
      unpacked += sizeOf(outline);
      if (unpacked > limit) evict(loaded);
      loaded.outlines[index] = outline;
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
