import type { Location } from '../../geo/coordinates.ts';
import { countyAt, countyHolding } from '../../geo/us-counties.ts';
import { isForeign } from '../../geo/us-coverage.ts';
import type { DataDatabase } from './data-database.ts';
import { type DataVersion, oncePerVersion } from './data-version.ts';
import { statesOfAreas } from './describe-data.ts';
import { stateOf } from './states.ts';

/** Checks of the boundaries in the data file. */
export interface BoundaryCheck {
  /** Whether boundaries of a location's state are loaded; for a location outside all states, whether any are. Without them it is unknown
   * whether the location is outside the US, and whether the nearest area is its own. */
  hasState(location: Location): boolean;
  /** Why no loaded area contains a location: it is outside the US (`outside_coverage`), its state has no boundaries (`no_areas`), or the
   * boundaries lack a part of the state (`incomplete_areas`). */
  withoutArea(location: Location): 'outside_coverage' | 'no_areas' | 'incomplete_areas';
  /** Whether a tract of a county has ratings but no outline: a location outside all outlines may be in it. */
  lacksTract(county: string): boolean;
}

export function createBoundaryCheck(database: DataDatabase, versionOf: DataVersion): BoundaryCheck {
  const states = oncePerVersion(versionOf, () => new Set(boundaryStates(database)));
  const lacking = database.prepare<[string, string], number>(
    `SELECT 1 FROM ratings_tract AS rated WHERE rated.geoid BETWEEN ? AND ? || '999999'
     AND NOT EXISTS (SELECT 1 FROM areas_tract AS area WHERE area.geoid = rated.geoid) LIMIT 1`,
  );
  // In a county without gaps the search reads all ratings: 45,000 rows in Los Angeles.
  const lacksByCounty = oncePerVersion(versionOf, () => new Map<string, boolean>());
  function hasState(location: Location): boolean {
    // Simplified outlines of counties cross the border: Windsor, Ontario is inside that of Detroit's county.
    const county = isForeign(location) ? null : countyAt(location);
    return county === null ? states().size > 0 : states().has(stateOf(county.code));
  }

  return {
    hasState,
    withoutArea(location) {
      if (!hasState(location)) return 'no_areas';
      // An area within 5 km would have been taken (area-finder.ts), and simplified outlines do not extend so far over water.
      return !isForeign(location) && countyHolding(location) !== null ? 'incomplete_areas' : 'outside_coverage';
    },
    lacksTract(county) {
      let lacks = lacksByCounty().get(county);
      if (lacks === undefined) {
        lacks = lacking.get(county, county) !== undefined;
        lacksByCounty().set(county, lacks);
      }
      return lacks;
    },
  };
}

/** The states with boundaries of either level. */
export function boundaryStates(database: DataDatabase): string[] {
  return [...new Set(['tract', 'county'].flatMap((level) => statesOfAreas(database, level)))].sort();
}

/** The counties with boundaries in which some or all places get no natural topic: counties without ratings, and unrated counties whose
 * rated tracts have no outlines. Empty if no index is loaded. */
export function countiesWithoutRatings(database: DataDatabase): ReadonlySet<string> {
  const [ratedTracts, ratedCounties] = [countiesIn(database, 'ratings_tract'), countiesIn(database, 'ratings_county')];
  if (ratedTracts.size + ratedCounties.size === 0) return new Set();
  const tracts = countiesIn(database, 'areas_tract');
  const isAnswered = (county: string) => ratedCounties.has(county) || (ratedTracts.has(county) && tracts.has(county));
  return new Set([...tracts, ...countiesIn(database, 'areas_county')].filter((county) => !isAnswered(county)));
}

/** The counties of which boundaries of either level are loaded. */
export function boundaryCounties(database: DataDatabase): ReadonlySet<string> {
  return new Set([...countiesIn(database, 'areas_tract'), ...countiesIn(database, 'areas_county')]);
}

function countiesIn(database: DataDatabase, table: string): ReadonlySet<string> {
  // One step of the index for each county: `DISTINCT` would read 1.5 million rows.
  return new Set(
    database
      .prepare<[], string>(
        `WITH RECURSIVE found(code) AS (
           SELECT substr(min(geoid), 1, 5) FROM ${table}
           UNION ALL
           SELECT (SELECT substr(min(geoid), 1, 5) FROM ${table} WHERE geoid > found.code || '999999')
           FROM found WHERE found.code IS NOT NULL
         ) SELECT code FROM found WHERE code IS NOT NULL`,
      )
      .pluck()
      .all(),
  );
}
