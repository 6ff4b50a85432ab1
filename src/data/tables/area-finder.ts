import type { Location } from '../../geo/coordinates.ts';
import { isForeign, isOffshore } from '../../geo/us-coverage.ts';
import { type BoundaryCheck, createBoundaryCheck } from './boundary-check.ts';
import type { DataDatabase } from './data-database.ts';
import { createDataVersion, type DataVersion, oncePerVersion } from './data-version.ts';
import { type Area, LoadedAreas } from './loaded-areas.ts';

export type { Area } from './loaded-areas.ts';

/** Simplified coastlines cut off piers, beaches and small islands: a location this near to an area still belongs to it. */
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
 * A nearest area is a guess, which is not made where the right outline may be missing: if a rated tract has no outline, locations without a
 * tract get the county, and a location in a state without boundaries has no area.
 */
export function createAreaFinder(
  database: DataDatabase,
  versionOf: DataVersion = createDataVersion(database),
  boundaries: BoundaryCheck = createBoundaryCheck(database, versionOf),
): (location: Location) => Area | null {
  const tracts = new LoadedAreas(database, 'tract');
  const counties = new LoadedAreas(database, 'county');
  const refresh = oncePerVersion(versionOf, () => {
    tracts.refresh();
    counties.refresh();
  });

  return (location) => {
    refresh();
    const tract = tracts.areaOrNull(tracts.outlines.holding(location));
    if (tract !== null) return tract;
    const county = counties.areaOrNull(counties.outlines.holding(location));
    if (county !== null && boundaries.lacksTract(county.geoid)) return county;
    if (county === null && !boundaries.hasState(location)) return null;
    const ofCounty = (index: number) => county === null || tracts.area(index).county === county.geoid;
    const within = county === null && isForeign(location) ? BORDER_METERS : COAST_METERS;
    const near =
      tracts.areaOrNull(tracts.outlines.nearest(location, within, ofCounty)) ??
      county ??
      counties.areaOrNull(counties.outlines.nearest(location, within));
    if (near !== null || !isOffshore(location)) return near;
    // Counties only: within 60 km of a city there are thousands of tracts.
    return counties.areaOrNull(counties.outlines.nearest(location, ISLAND_METERS));
  };
}
