import { memo } from '../../base/memo.ts';
import type { Location } from '../../geo/coordinates.ts';
import {
  allCounties,
  countyCount,
  countyHolding,
  possibleCounties,
} from '../../geo/us-counties.ts';
import { isForeign } from '../../geo/us-coverage.ts';
import { type DataDatabase, type DataVersion, oncePerVersion } from './data-database.ts';
import { stateOf } from './states.ts';

/** Which boundaries are missing, and why a location has no area. */
export interface BoundaryCheck {
  /** A county that may hold a location outside all loaded areas, which may be nearer to another county's; null if none lacks boundaries. */
  missingCounty(location: Location): string | null;
  withoutArea(location: Location): WithoutArea;
  /** Whether a tract of a county has ratings but no outline: a location outside all outlines may be in it. */
  lacksTract(county: string): boolean;
}

/** Why a location has no area: it is outside the US (`outside_coverage`), its state has no boundaries (`no_areas`), or the boundaries lack
 * a part of the state (`incomplete_areas`). The state has two letters; '' if it is unknown. */
export type WithoutArea =
  | { readonly kind: 'outside_coverage' }
  | { readonly kind: 'no_areas' | 'incomplete_areas'; readonly state: string };

/** Makes the functions that say why a location has no area, and which county or tract lacks its boundaries. */
export function createBoundaryCheck(database: DataDatabase, versionOf: DataVersion): BoundaryCheck {
  const outlined = oncePerVersion(versionOf, () => countiesIn(database, 'areas_county'));
  const loaded = oncePerVersion(versionOf, () => boundaryCounties(database));
  const states = oncePerVersion(versionOf, () => new Set([...loaded()].map(stateOf)));
  const isLeftOut = oncePerVersion(versionOf, () => createLeftOutCheck(loaded()));
  const lacking = database.prepare<[string, string], number>(
    `SELECT 1 FROM ratings_tract AS rated WHERE rated.geoid BETWEEN ? AND ? || '999999'
     AND NOT EXISTS (SELECT 1 FROM areas_tract AS area WHERE area.geoid = rated.geoid) LIMIT 1`,
  );
  // In a county without gaps the search reads all ratings: 45,000 rows in Los Angeles.
  const lacksTracts = oncePerVersion(versionOf, () =>
    memo((county: string) => lacking.get(county, county) !== undefined),
  );
  const lacksTract = (county: string) => lacksTracts()(county);
  // The outline of a county is all of it; outlines of tracts alone may leave out some.
  const hasTractsAlone = (county: string) => loaded().has(county) && !outlined().has(county);
  const isMissing = (county: string) =>
    isLeftOut()(county) || (hasTractsAlone(county) && lacksTract(county));
  // Then no county is searched for: off the coast that took most of the time of a place.
  const isWhole = oncePerVersion(
    versionOf,
    () => !allCounties().some(({ code }) => isLeftOut()(code) || hasTractsAlone(code)),
  );
  const missingCounty = (location: Location) =>
    isWhole()
      ? null
      : (possibleCounties(location).find(({ code }) => isMissing(code))?.code ?? null);

  return {
    missingCounty,
    withoutArea(location: Location): WithoutArea {
      // Simplified outlines of counties cross the border: Windsor, Ontario is inside that of Detroit's county.
      const isNear = !isForeign(location);
      const county = isNear ? missingCounty(location) : null;
      const state = stateOf(county ?? '');
      if (state === '' ? states().size === 0 : !states().has(state))
        return { kind: 'no_areas', state };
      if (county !== null) return { kind: 'incomplete_areas', state };
      // An area within 5 km would have been taken (area-finder.ts), and simplified outlines do not extend so far over water.
      const holder = isNear ? countyHolding(location) : null;
      return holder === null
        ? { kind: 'outside_coverage' }
        : { kind: 'incomplete_areas', state: stateOf(holder.code) };
    },
    lacksTract,
  };
}

/** Makes the function that tells whether the loaded boundaries leave out a county of us-atlas, which has the eight former counties of
 * Connecticut: newer boundaries have nine regions, whose codes begin with 091. */
export function createLeftOutCheck(loaded: ReadonlySet<string>): (county: string) => boolean {
  const isWhole = memo((state: string) => {
    const inState = [...loaded].filter((code) => code.startsWith(state));
    return (
      inState.length >= (inState.some((code) => code.startsWith('091')) ? 9 : countyCount(state))
    );
  });
  return (county) => !loaded.has(county) && !isWhole(county.slice(0, 2));
}

/** The counties with boundaries in which some or all places get no natural topic: counties without ratings, and unrated counties whose
 * rated tracts have no outlines. Empty if no index is loaded. */
export function countiesWithoutRatings(database: DataDatabase): ReadonlySet<string> {
  const [ratedTracts, ratedCounties] = [
    countiesIn(database, 'ratings_tract'),
    countiesIn(database, 'ratings_county'),
  ];
  if (ratedTracts.size + ratedCounties.size === 0) return new Set();
  const tracts = countiesIn(database, 'areas_tract');
  const isAnswered = (county: string) =>
    ratedCounties.has(county) || (ratedTracts.has(county) && tracts.has(county));
  return new Set(
    [...tracts, ...countiesIn(database, 'areas_county')].filter((county) => !isAnswered(county)),
  );
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
