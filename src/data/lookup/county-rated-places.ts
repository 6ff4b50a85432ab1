import { type Box, boxOfLocation, widenedBox } from '../../geo/bounding-boxes.ts';
import type { Location } from '../../geo/coordinates.ts';
import { createBoxSearch } from '../../geo/outline-index.ts';
import { type Area, COAST_METERS } from '../tables/area-finder.ts';
import { type CountyRated, countyRatedAreas } from '../tables/county-ratings.ts';
import type { DataDatabase } from '../tables/data-database.ts';

/** Makes the function that finds the hazards for which a location gets the rating of its county. It searches areas only near
 * county-rated ones; elsewhere the answer takes a microsecond. Call it within a transaction. */
export function createCountyRatedCheck(
  database: DataDatabase,
  areaAt: (location: Location) => Area | null,
): (location: Location) => CountyRated {
  const areas = countyRatedAreas(database);
  const near = createBoxSearch(boxesOfAreas(database).map((box) => widenedBox(box, COAST_METERS)));
  return (location) => {
    if (near(boxOfLocation(location)).length === 0) return '';
    const area = areaAt(location);
    return (area !== null && areas.get(area.geoid)) || '';
  };
}

function boxesOfAreas(database: DataDatabase): Box[] {
  const boxesOf = (level: 'tract' | 'county') =>
    database
      .prepare<[], Box>(
        `SELECT min_lng AS minLng, max_lng AS maxLng, min_lat AS minLat, max_lat AS maxLat
         FROM county_rated_areas JOIN areas_${level} AS area USING (geoid) JOIN area_boxes_${level} AS box ON box.id = area.id`,
      )
      .all();
  return [...boxesOf('tract'), ...boxesOf('county')];
}
