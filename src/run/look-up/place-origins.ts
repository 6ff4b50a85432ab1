import { type TopicSlug, topicOf } from '../../contract/topics.ts';
import { createCountyRatedCheck } from '../../data/lookup/county-rated-places.ts';
import { createAreaFinder } from '../../data/tables/area-finder.ts';
import { openDataReadOnly } from '../../data/tables/data-database.ts';
import { createDataVersion } from '../../data/tables/data-version.ts';
import { airQualityYears, TOPIC_OF_YEARS } from '../../data/topics/measurement-topics.ts';
import { locationOf } from '../../geo/coordinates.ts';
import type { CellTable } from '../scan/cell-table.ts';
import type { LocalData, PlaceOrigin } from './local-data.ts';

/** Finds for each place, by its number, whether its rating is its tract's or county's, and the year of its air quality. Equal origins are
 * one object. */
export function placeOrigins(
  { file, countyRatings, hasAirQualityYears }: Pick<LocalData, 'file' | 'countyRatings' | 'hasAirQualityYears'>,
  topics: readonly TopicSlug[],
  cells: CellTable,
): (cell: number) => PlaceOrigin {
  const ratings = topics.some((topic) => topicOf(topic).category === 'natural') ? countyRatings : null;
  const isEverywhere = ratings?.isEverywhere ?? false;
  const isSearched = ratings !== null && !isEverywhere;
  const hasYears = hasAirQualityYears && topics.includes(TOPIC_OF_YEARS);
  const origins: PlaceOrigin[] = [{ isOfCounty: isEverywhere, airQualityYear: null }];
  if (!isSearched && !hasYears) return () => origins[0]!;
  using database = openDataReadOnly(file);
  const marks = new Uint16Array(cells.size);
  database.transaction(() => {
    const version = createDataVersion(database)();
    const areaAt = createAreaFinder(database, () => version);
    const isOfCounty = isSearched ? createCountyRatedCheck(database, areaAt) : () => isEverywhere;
    const years = hasYears ? airQualityYears(database) : null;
    for (let cell = 0; cell < cells.size; cell++) {
      const location = locationOf(cells.cell(cell));
      const county = years === null ? undefined : areaAt(location)?.county;
      const airQualityYear = (county === undefined ? undefined : years?.get(county)) ?? null;
      marks[cell] = numberOf(origins, { isOfCounty: isOfCounty(location), airQualityYear });
    }
  })();
  return (cell) => origins[marks[cell]!]!;
}

/** The number of an origin in the list; adds a new one. There are two for each year. */
function numberOf(origins: PlaceOrigin[], { isOfCounty, airQualityYear }: PlaceOrigin): number {
  const number = origins.findIndex(
    (origin) => origin.isOfCounty === isOfCounty && origin.airQualityYear === airQualityYear,
  );
  return number >= 0 ? number : origins.push({ isOfCounty, airQualityYear }) - 1;
}
