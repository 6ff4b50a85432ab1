import type { Location } from '../../geo/coordinates.ts';
import { metersToOutline, type Outline, outlineHolds, unpackOutline } from './area-outlines.ts';
import { type Box, boxesAround } from './bounding-boxes.ts';
import { type BoxTree, createBoxTree } from './box-tree.ts';
import { createDataVersion, type DataVersion } from './data-version.ts';
import type { ServiceDatabase } from './database.ts';

/** The area that a location's answers are of. */
export interface Area {
  readonly geoid: string;
  /** The first five digits of the geoid. */
  readonly county: string;
}

/** Simplified coastlines cut piers, beaches and small islands off: a location this near to an area still belongs to it. */
export const COAST_METERS = 5_000;

/** Most coordinates that the cache of unpacked outlines holds: 4 million take 32 MB, about 40 000 tracts. */
const CACHED_COORDINATES = 4_000_000;

interface Candidate {
  readonly id: number;
  readonly geoid: string;
  readonly level: AreaLevel;
}

type AreaLevel = 'tract' | 'county';

/**
 * Makes the function that finds a location's area: the tract that holds it; where the tracts' outlines leave a gap, the
 * nearest tract of its county within 5 km; else the county that holds it; else, off the coast, the nearest tract or
 * county within 5 km. Null is outside coverage. Boxes are kept in memory, so that a lookup asks the database only whether
 * areas were replaced.
 */
export function createAreaFinder(
  database: ServiceDatabase,
  versionOf: DataVersion = createDataVersion(database),
): (location: Location) => Area | null {
  const outlineOf = cachedOutlines(database);
  const areas = { tract: areasTouching(database, 'tract'), county: areasTouching(database, 'county') };
  const touching = { tract: areas.tract.touching, county: areas.county.touching };
  let version = -1;
  const around = (level: AreaLevel, location: Location) =>
    boxesAround(location, COAST_METERS).flatMap(touching[level]).sort(smallestFirst);

  function holding(level: AreaLevel, { lat, lng }: Location): Candidate | undefined {
    const here = touching[level]({ minLng: lng, maxLng: lng, minLat: lat, maxLat: lat });
    if (here.length > 1) here.sort(smallestFirst);
    return here.find((candidate) => outlineHolds(outlineOf(candidate), { lat, lng }));
  }

  function nearest(location: Location, candidates: readonly Candidate[]): Candidate | undefined {
    let best: Candidate | undefined;
    let least = COAST_METERS;
    for (const candidate of candidates) {
      const meters = metersToOutline(outlineOf(candidate), location);
      if (meters > COAST_METERS || (best !== undefined && meters >= least)) continue;
      best = candidate;
      least = meters;
    }
    return best;
  }

  return (location) => {
    const current = versionOf();
    if (current !== version) {
      areas.tract.refresh();
      areas.county.refresh();
      version = current;
    }
    const tract = holding('tract', location);
    if (tract !== undefined) return areaOf(tract);
    const county = holding('county', location);
    const tracts = around('tract', location).filter(
      ({ geoid }) => county === undefined || geoid.startsWith(county.geoid),
    );
    const found = nearest(location, tracts) ?? county ?? nearest(location, around('county', location));
    return found === undefined ? null : areaOf(found);
  };
}

/** The areas of a level as they were last loaded, and the tree of their boxes: some 15 MB for 85 000 tracts. */
interface LoadedAreas {
  readonly areas: readonly Candidate[];
  readonly tree: BoxTree;
  /** The highest id. Ids are never used again, so another load has another. */
  readonly highest: number | null;
}

/** The areas of a level whose boxes touch a box, from memory; `refresh` reads them again when they were replaced. */
function areasTouching(
  database: ServiceDatabase,
  level: AreaLevel,
): { readonly refresh: () => void; readonly touching: (box: Box) => Candidate[] } {
  const highestId = database.prepare<[], number | null>(`SELECT max(id) FROM areas_${level}`).pluck();
  const select = database.prepare<[], Candidate & Box>(
    `SELECT id, geoid, '${level}' AS level, min_lng AS minLng, max_lng AS maxLng, min_lat AS minLat, max_lat AS maxLat
     FROM area_boxes_${level}`,
  );
  let loaded: LoadedAreas = { areas: [], tree: createBoxTree([]), highest: null };
  return {
    refresh() {
      const highest = highestId.get()!;
      if (highest === loaded.highest) return;
      const rows = select.all();
      loaded = { areas: rows.map(({ id, geoid }) => ({ id, geoid, level })), tree: createBoxTree(rows), highest };
    },
    touching: (box) => loaded.tree(box).map((place) => loaded.areas[place]!),
  };
}

function areaOf({ geoid }: Candidate): Area {
  return { geoid, county: geoid.slice(0, 5) };
}

/** Smallest geoid first, so that where outlines overlap the same one wins every time. */
function smallestFirst(a: Candidate, b: Candidate): number {
  return a.geoid < b.geoid ? -1 : 1;
}

/** Outlines by area id, the most recently used kept unpacked. */
function cachedOutlines(database: ServiceDatabase): (area: Candidate) => Outline {
  const select = (level: AreaLevel) =>
    database.prepare<[number], Buffer>(`SELECT outline FROM areas_${level} WHERE id = ?`).pluck();
  const outlines = { tract: select('tract'), county: select('county') };
  const cache = new Map<number, Outline>();
  let held = 0;
  return ({ id, level }) => {
    const known = cache.get(id);
    if (known !== undefined) {
      cache.delete(id);
      cache.set(id, known);
      return known;
    }
    const outline = unpackOutline(outlines[level].get(id)!);
    cache.set(id, outline);
    held += sizeOf(outline);
    for (const [oldest, dropped] of cache) {
      if (held <= CACHED_COORDINATES) break;
      cache.delete(oldest);
      held -= sizeOf(dropped);
    }
    return outline;
  };
}

function sizeOf(outline: Outline): number {
  return outline.reduce((sum, ring) => sum + ring.length, 0);
}
