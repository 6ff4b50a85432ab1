import type { Statement } from 'better-sqlite3';
import type { Box } from '../../geo/bounding-boxes.ts';
import type { Location } from '../../geo/coordinates.ts';
import { ringsOfBytes } from '../../geo/outline.ts';
import { OutlineIndex } from '../../geo/outline-index.ts';
import { isForeign, isOffshore } from '../../geo/us-coverage.ts';
import { type BoundaryCheck, createBoundaryCheck } from './boundary-check.ts';
import {
  createDataVersion,
  type DataDatabase,
  type DataVersion,
  oncePerVersion,
} from './data-database.ts';

/** Simplified coastlines cut off piers, beaches and small islands: a location this near to an area still belongs to it. */
export const COAST_METERS = 5_000;
/** Islands without an outline belong to the nearest county: the Farallon Islands are 32 km from it, Little Diomede 38, King Island 57. */
const ISLAND_METERS = 60_000;

/** Makes the function that finds a location's area, the first of these: the tract that holds it; in a gap between tracts, the nearest tract
 * of its county within 5 km; the county that holds it; off the coast, the nearest tract or county within 5 km; for an island farther out,
 * the nearest county. Null is outside coverage. Boxes and outlines are in memory: a lookup only asks whether areas were replaced.
 *
 * A nearest area is a guess, which is not made where the right outline may be missing: if a rated tract has no outline, locations without a
 * tract get the county, and a location outside all outlines that may be in a county without boundaries has no area. */
export function createAreaFinder(
  database: DataDatabase,
  versionOf: DataVersion = createDataVersion(database),
  boundaries: BoundaryCheck = createBoundaryCheck(database, versionOf),
  mostValues: number = MOST_VALUES,
): (location: Location) => Area | null {
  const tracts = new LoadedAreas(database, 'tract', mostValues);
  const counties = new LoadedAreas(database, 'county', mostValues);
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
    if (county === null && boundaries.missingCounty(location) !== null) return null;
    const ofCounty = (index: number) =>
      county === null || tracts.area(index).county === county.geoid;
    // At a land border 5 km would include Ciudad Juárez, Tijuana and Windsor.
    if (county === null && isForeign(location)) return null;
    const nearest = tracts.areaOrNull(tracts.outlines.nearest(location, COAST_METERS, ofCounty));
    const tractNearby = nearest !== null && boundaries.lacksTract(nearest.county) ? null : nearest;
    if (county !== null) return tractNearby ?? county;
    const near =
      tractNearby ?? counties.areaOrNull(counties.outlines.nearest(location, COAST_METERS));
    if (near !== null || !isOffshore(location)) return outside(near);
    // Counties only: within 60 km of a city there are thousands of tracts.
    return outside(counties.areaOrNull(counties.outlines.nearest(location, ISLAND_METERS)));
  };
}

const outside = (nearest: Area | null): Area | null =>
  nearest === null ? null : { ...nearest, isOutside: true };

/** The area whose answers a location gets. */
export interface Area {
  readonly geoid: string;
  /** The first five digits of the geoid. */
  readonly county: string;
  /** No outline holds the location: this is the nearest area. */
  readonly isOutside?: true;
}

/** The most values of outlines in memory, per level: 128 MB. The Census Bureau's cartographic outlines of all tracts take about 80. */
const MOST_VALUES = 32_000_000;

type BoundaryRow = Box & { readonly id: number; readonly geoid: string };

/** The areas of a level in the order of geoids, empty until the first `refresh`. */
export class LoadedAreas {
  readonly #mostValues: number;
  readonly #highestId: Statement<[], number | null>;
  readonly #rows: Statement<[], BoundaryRow>;
  readonly #ringsOf: Statement<[number], Buffer>;
  /** Ids are never reused, so every load has its own highest one. */
  #highest: number | null = null;
  #areas: readonly Area[] = [];
  outlines = new OutlineIndex([], () => new Int32Array());

  constructor(database: DataDatabase, level: 'tract' | 'county', mostValues: number = MOST_VALUES) {
    this.#mostValues = mostValues;
    this.#highestId = database
      .prepare<[], number | null>(`SELECT max(id) FROM areas_${level}`)
      .pluck();
    this.#rows = database.prepare<[], BoundaryRow>(
      `SELECT id, geoid, min_lng AS minLng, max_lng AS maxLng, min_lat AS minLat, max_lat AS maxLat
       FROM area_boxes_${level} ORDER BY geoid`,
    );
    this.#ringsOf = database
      .prepare<[number], Buffer>(`SELECT outline FROM areas_${level} WHERE id = ?`)
      .pluck();
  }

  refresh(): void {
    const highest = this.#highestId.get()!;
    if (highest === this.#highest) return;
    const rows = this.#rows.all();
    this.#highest = highest;
    this.#areas = rows.map(({ geoid }) => ({ geoid, county: geoid.slice(0, 5) }));
    const ids = rows.map(({ id }) => id);
    const ringsOf = (index: number) => ringsOfBytes(this.#ringsOf.get(ids[index]!)!);
    this.outlines = new OutlineIndex(rows, ringsOf, this.#mostValues);
  }

  area(index: number): Area {
    return this.#areas[index]!;
  }

  areaOrNull(index: number | null): Area | null {
    return index === null ? null : this.area(index);
  }
}
