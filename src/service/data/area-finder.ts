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
  readonly level: 'tract' | 'county';
}

/**
 * Makes the function that finds a location's area: the tract that holds it; where the tracts' outlines leave a gap, the
 * nearest tract of its county within 5 km; else the county that holds it; else, off the coast, the nearest tract or
 * county within 5 km. Null is outside coverage.
 */
export function createAreaFinder(database: ServiceDatabase): (location: Location) => Area | null {
  const outlineOf = cachedOutlines(database);
  const select = database.prepare<[number, number, number, number], Candidate>(
    `SELECT id, geoid, level FROM area_boxes
     WHERE min_lng <= ? AND max_lng >= ? AND min_lat <= ? AND max_lat >= ?`,
  );
  const touching = (box: Box) => select.all(box.maxLng, box.minLng, box.maxLat, box.minLat);

  function holding(location: Location, candidates: readonly Candidate[]): Candidate | undefined {
    return candidates.find((candidate) => outlineHolds(outlineOf(candidate.id), location));
  }

  function nearest(location: Location, candidates: readonly Candidate[]): Candidate | undefined {
    let best: Candidate | undefined;
    let least = COAST_METERS;
    for (const candidate of candidates) {
      const meters = metersToOutline(outlineOf(candidate.id), location);
      if (meters > COAST_METERS || (best !== undefined && meters >= least)) continue;
      best = candidate;
      least = meters;
    }
    return best;
  }

  return (location) => {
    const { lat, lng } = location;
    const here = byGeoid(touching({ minLng: lng, maxLng: lng, minLat: lat, maxLat: lat }));
    const tract = holding(location, here.tracts);
    if (tract !== undefined) return areaOf(tract);
    const county = holding(location, here.counties);
    const around = byGeoid(boxesAround(location, COAST_METERS).flatMap(touching));
    const tracts =
      county === undefined ? around.tracts : around.tracts.filter(({ geoid }) => geoid.startsWith(county.geoid));
    const found = nearest(location, tracts) ?? county ?? nearest(location, around.counties);
    return found === undefined ? null : areaOf(found);
  };
}

function areaOf({ geoid }: Candidate): Area {
  return { geoid, county: geoid.slice(0, 5) };
}

/** Smallest geoid first, so that where outlines overlap the same one wins every time. */
function byGeoid(candidates: Candidate[]): { tracts: Candidate[]; counties: Candidate[] } {
  candidates.sort((a, b) => (a.geoid < b.geoid ? -1 : 1));
  return {
    tracts: candidates.filter(({ level }) => level === 'tract'),
    counties: candidates.filter(({ level }) => level === 'county'),
  };
}

/** Outlines by area id, the most recently used kept unpacked. */
function cachedOutlines(database: ServiceDatabase): (id: number) => Outline {
  const select = database.prepare<[number], Buffer>('SELECT outline FROM areas WHERE id = ?').pluck();
  const cache = new Map<number, Outline>();
  let held = 0;
  return (id) => {
    const known = cache.get(id);
    if (known !== undefined) {
      cache.delete(id);
      cache.set(id, known);
      return known;
    }
    const outline = unpackOutline(select.get(id)!);
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
