import type { Location } from '../../geo/coordinates.ts';
import { type Area, type AreaLevel, createAreaLevel } from './area-level.ts';
import { metersToOutline, outlineHolds } from './area-outlines.ts';
import { boxesAround } from './bounding-boxes.ts';
import { createDataVersion, type DataVersion } from './data-version.ts';
import type { ServiceDatabase } from './database.ts';

export type { Area } from './area-level.ts';

/** Simplified coastlines cut piers, beaches and small islands off: a location this near to an area still belongs to it. */
export const COAST_METERS = 5_000;

/**
 * Makes the function that finds a location's area: the tract that holds it; where the tracts' outlines leave a gap, the
 * nearest tract of its county within 5 km; else the county that holds it; else, off the coast, the nearest tract or
 * county within 5 km. Null is outside coverage. Boxes and outlines are kept in memory, so that a lookup asks the database
 * only whether areas were replaced.
 */
export function createAreaFinder(
  database: ServiceDatabase,
  versionOf: DataVersion = createDataVersion(database),
): (location: Location) => Area | null {
  const tracts = createAreaLevel(database, 'tract');
  const counties = createAreaLevel(database, 'county');
  let version = -1;

  return (location) => {
    const current = versionOf();
    if (current !== version) {
      tracts.refresh();
      counties.refresh();
      version = current;
    }
    const tract = holding(tracts, location);
    if (tract !== null) return tract;
    const county = holding(counties, location);
    const ofCounty = ({ geoid }: Area) => county === null || geoid.startsWith(county.geoid);
    return nearest(tracts, location, ofCounty) ?? county ?? nearest(counties, location, () => true);
  };
}

function holding(level: AreaLevel, location: Location): Area | null {
  const { lat, lng } = location;
  for (const place of level.touching({ minLng: lng, maxLng: lng, minLat: lat, maxLat: lat })) {
    if (outlineHolds(level.outline(place), location)) return level.area(place);
  }
  return null;
}

/** The nearest of the areas that may be it, within 5 km; of those that are as near, the one with the smallest geoid. */
function nearest(level: AreaLevel, location: Location, mayBe: (area: Area) => boolean): Area | null {
  const places = boxesAround(location, COAST_METERS).flatMap(level.touching);
  let best: Area | null = null;
  let least = COAST_METERS;
  for (const place of places.sort((a, b) => a - b)) {
    if (!mayBe(level.area(place))) continue;
    const meters = metersToOutline(level.outline(place), location);
    if (meters > COAST_METERS || (best !== null && meters >= least)) continue;
    best = level.area(place);
    least = meters;
  }
  return best;
}
