import type { Location } from '../../geo/coordinates.ts';
import { isForeign, isOffshore } from '../../geo/us-coverage.ts';
import { type Area, AreaIndex, UNPACKED } from './area-level.ts';
import { metersToOutline, type Outline, outlineHolds } from './area-outlines.ts';
import { type BoundaryCheck, createBoundaryCheck } from './boundary-check.ts';
import { boxesAround } from './bounding-boxes.ts';
import type { DataDatabase } from './data-database.ts';
import { createDataVersion, type DataVersion, oncePerVersion } from './data-version.ts';

export type { Area } from './area-level.ts';

/**
 * Simplified coastlines cut off piers, beaches and small islands: a location this near to an area still belongs to it.
 */
export const COAST_METERS = 5_000;
/** At a land border 5 km would include Ciudad Juárez, Tijuana and Windsor; the same margin as geo/us-coverage.ts. */
const BORDER_METERS = 500;
/** Islands that the outlines leave out belong to the nearest county: the Farallon Islands are 32 km from it, Little
 * Diomede 38, King Island 57. */
const ISLAND_METERS = 60_000;

/**
 * Makes the function that finds a location's area, the first of these: the tract that holds it; in a gap between
 * tracts, the nearest tract of its county within 5 km; the county that holds it; off the coast, the nearest tract or
 * county within 5 km; for an island farther out, the nearest county. Null is outside coverage. Boxes and outlines are
 * in memory, so a lookup only asks the database whether areas were replaced.
 *
 * A nearest area is a guess, and none is made where the right outline may be missing: the county stands for its tracts where some
 * rated tract has no outline, and a location in a state without boundaries has no area.
 */
export function createAreaFinder(
  database: DataDatabase,
  versionOf: DataVersion = createDataVersion(database),
  boundaries: BoundaryCheck = createBoundaryCheck(database, versionOf),
): (location: Location) => Area | null {
  const tracts = new AreaIndex(database, 'tract', UNPACKED);
  const counties = new AreaIndex(database, 'county', UNPACKED);
  const refresh = oncePerVersion(versionOf, () => {
    tracts.refresh();
    counties.refresh();
  });

  return (location) => {
    refresh();
    const tract = areaHolding(tracts, location);
    if (tract !== null) return tract;
    const county = areaHolding(counties, location);
    if (county !== null && boundaries.lacksTract(county.geoid)) return county;
    if (county === null && !boundaries.hasState(location)) return null;
    const ofCounty = ({ geoid }: Area) => county === null || geoid.startsWith(county.geoid);
    const within = county === null && isForeign(location) ? BORDER_METERS : COAST_METERS;
    const near =
      nearest(tracts, location, within, ofCounty) ?? county ?? nearest(counties, location, within, () => true);
    if (near !== null || !isOffshore(location)) return near;
    // Counties only: within 60 km of a city there are thousands of tracts.
    return nearest(counties, location, ISLAND_METERS, () => true);
  };
}

function areaHolding(level: AreaIndex<Outline>, location: Location): Area | null {
  const { lat, lng } = location;
  for (const place of level.touching({ minLng: lng, maxLng: lng, minLat: lat, maxLat: lat })) {
    if (outlineHolds(level.outline(place), location)) return level.area(place);
  }
  return null;
}

/** The nearest of the eligible areas within a distance; of equally near ones, the one with the smallest geoid. */
function nearest(
  level: AreaIndex<Outline>,
  location: Location,
  within: number,
  isEligible: (area: Area) => boolean,
): Area | null {
  const places = boxesAround(location, within).flatMap((box) => level.touching(box));
  let best: Area | null = null;
  let least = within;
  for (const place of places.sort((a, b) => a - b)) {
    if (!isEligible(level.area(place))) continue;
    const meters = metersToOutline(level.outline(place), location);
    if (meters > within || (best !== null && meters >= least)) continue;
    best = level.area(place);
    least = meters;
  }
  return best;
}
