import type { Location } from '../../geo/coordinates.ts';
import { metersToOutline, type Outline, outlineHolds, unpackOutline } from './area-outlines.ts';
import { type Box, boxesAround } from './bounding-boxes.ts';
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
 * county within 5 km. Null is outside coverage.
 */
export function createAreaFinder(database: ServiceDatabase): (location: Location) => Area | null {
  const outlineOf = cachedOutlines(database);
  const touching = { tract: areasTouching(database, 'tract'), county: areasTouching(database, 'county') };
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

function areasTouching(database: ServiceDatabase, level: AreaLevel): (box: Box) => Candidate[] {
  const select = database.prepare<[number, number, number, number], Candidate>(
    `SELECT id, geoid, '${level}' AS level FROM area_boxes_${level}
     WHERE min_lng <= ? AND max_lng >= ? AND min_lat <= ? AND max_lat >= ?`,
  );
  return (box) => select.all(box.maxLng, box.minLng, box.maxLat, box.minLat);
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
