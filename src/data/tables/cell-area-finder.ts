import { type Cell, locationOf, MAX_PRECISION, UNITS_PER_DEGREE } from '../../geo/coordinates.ts';
import { relationToBox } from '../../geo/outline.ts';
import { countyAt } from '../../geo/us-counties.ts';
import { LoadedAreas } from './area-finder.ts';
import type { DataDatabase } from './data-database.ts';

export interface CellAreas {
  readonly tract: string | null;
  readonly county: string | null;
  /** Why the cell has no area of the requested level: a boundary crosses it, it is outside all outlines (off the coast), or its state
   * has no outlines. Null if it has one. */
  readonly lacks: 'near_border' | 'in_no_area' | 'no_boundaries' | null;
}

export type CellAreaFinder = (cell: Cell) => CellAreas;

/** Makes the function that finds the area in which a whole cell lies: every location that rounds to the cell, not only its centre. The
 * caller keeps a read transaction open, because outlines are read when first needed.
 * @param level `tract` also finds the county: if the cell has no tract, by the loaded outlines of counties */
export function createCellAreaFinder(
  database: DataDatabase,
  level: 'tract' | 'county',
  precision: number,
): CellAreaFinder {
  const half = 10 ** (MAX_PRECISION - precision) / 2;
  const areas = new LoadedAreas(database, level);
  const counties = level === 'county' ? areas : new LoadedAreas(database, 'county');
  areas.refresh();
  if (counties !== areas) counties.refresh();
  const states = new Set(
    database
      .prepare<[], string>(`SELECT DISTINCT substr(geoid, 1, 2) FROM area_boxes_${level}`)
      .pluck()
      .all(),
  );

  return (cell) => {
    const area = holding(areas, cell, half);
    if (level === 'county') {
      return {
        tract: null,
        county: typeof area === 'object' ? area.geoid : null,
        lacks: lackOf(area, cell),
      };
    }
    if (typeof area === 'object') return { tract: area.geoid, county: area.county, lacks: null };
    const inCounty = holding(counties, cell, half);
    return {
      tract: null,
      county: typeof inCounty === 'object' ? inCounty.county : null,
      lacks: lackOf(area, cell),
    };
  };

  function lackOf(area: ReturnType<typeof holding>, cell: Cell): CellAreas['lacks'] {
    if (typeof area === 'object') return null;
    if (area === 'near_border') return area;
    const state = countyAt(locationOf(cell))?.state.code;
    return state === undefined || states.has(state) ? 'in_no_area' : 'no_boundaries';
  }
}

/** The area that holds the whole box of a cell; of several that overlap, the one with the smallest geoid. */
function holding(level: LoadedAreas, { lat7, lng7 }: Cell, half: number) {
  // The boxes of the areas are rounded outwards by SQLite's R*Tree.
  const candidates = level.outlines.touching({
    minLng: (lng7 - half) / UNITS_PER_DEGREE,
    maxLng: (lng7 + half) / UNITS_PER_DEGREE,
    minLat: (lat7 - half) / UNITS_PER_DEGREE,
    maxLat: (lat7 + half) / UNITS_PER_DEGREE,
  });
  let holder: number | null = null;
  for (const index of candidates) {
    const relation = relationToBox(level.outlines.outline(index), lng7, lat7, half);
    if (relation === 'crosses') return 'near_border';
    if (relation === 'holds') holder ??= index;
  }
  return holder === null ? 'in_no_area' : level.area(holder);
}
