import { type TopicSlug, topicOf } from '../../contract/topics.ts';
import { type Cell, type Location, locationOf } from '../../geo/coordinates.ts';
import { countyAt } from '../../geo/us-counties.ts';
import { isInland } from '../../geo/us-coverage.ts';
import { createAreaFinder } from '../tables/area-finder.ts';
import { type CountyRatings, EVERY_HAZARD } from '../tables/county-ratings.ts';
import {
  createDataVersion,
  openDataReadOnly,
  readingData,
  requireVersion,
} from '../tables/data-database.ts';
import { isOfArea, type LoadedDataset } from '../tables/describe-data.ts';
import { stateOf } from '../tables/states.ts';
import { airQualityYears, TOPIC_OF_YEARS } from '../topics/measurement-topics.ts';
import { hasVintagesByState, nearestLevel, type PlaceOrigin } from '../topics/origin-notes.ts';
import { createCountyRatedCheck } from './place-lookup.ts';

/** What is known of a data file without a look at places. */
interface OriginFacts {
  readonly file: string;
  readonly version: number;
  readonly datasets: readonly LoadedDataset[];
  readonly countyRatings: CountyRatings | null;
  readonly hasAirQualityYears: boolean;
}

/** Finds for each place, by its number, the hazards for which it gets its county's rating, the year of its air quality, and whether it is in
 * no outline. Equal origins are one object. @throws LOCAL_DATA where the data was replaced since it was described */
export function placeOrigins(
  data: OriginFacts,
  topics: readonly TopicSlug[],
  cells: { readonly size: number; cell(number: number): Cell },
): (cell: number) => PlaceOrigin {
  return readingData(data.file, () => findOrigins(data, topics, cells));
}

function findOrigins(
  data: OriginFacts,
  topics: readonly TopicSlug[],
  cells: { readonly size: number; cell(number: number): Cell },
): (cell: number) => PlaceOrigin {
  const { file, countyRatings, hasAirQualityYears } = data;
  const ratings = topics.some((topic) => topicOf(topic).category === 'natural')
    ? countyRatings
    : null;
  const everywhere = ratings?.isEverywhere ? EVERY_HAZARD : '';
  const isSearched = ratings !== null && everywhere === '';
  const hasYears = hasAirQualityYears && topics.includes(TOPIC_OF_YEARS);
  const origins: PlaceOrigin[] = [
    { ofCounty: everywhere, airQualityYear: null, state: '', nearest: '' },
  ];
  const hasVintages = hasVintagesByState(data, topics);
  const hasAreas = topics.some(isOfArea);
  if (!isSearched && !hasYears && !hasVintages && !hasAreas) return () => origins[0]!;
  using database = openDataReadOnly(file);
  const marks = new Uint16Array(cells.size);
  database.transaction(() => {
    const version = createDataVersion(database)();
    // Else a note would name the datasets of one version and the years of another.
    requireVersion(file, version, data.version);
    const areaAt = oncePerLocation(createAreaFinder(database, () => version));
    const ofCounty = isSearched ? createCountyRatedCheck(database, areaAt) : () => everywhere;
    const years = hasYears ? airQualityYears(database) : null;
    for (let cell = 0; cell < cells.size; cell++) {
      const location = locationOf(cells.cell(cell));
      const county = years === null ? undefined : areaAt(location)?.county;
      const airQualityYear = (county === undefined ? undefined : years?.get(county)) ?? null;
      const state = hasVintages ? stateOf(countyAt(location)?.code ?? '') : '';
      // Inland an outline holds each place: most need no search.
      const nearest = hasAreas && !isInland(location) ? nearestLevel(areaAt(location)) : '';
      marks[cell] = assignNumber(origins, {
        ofCounty: ofCounty(location),
        airQualityYear,
        state,
        nearest,
      });
    }
  })();
  return (cell) => origins[marks[cell]!]!;
}

/** Asks once for a location that is asked for several times in a row. */
function oncePerLocation<T>(find: (location: Location) => T): (location: Location) => T {
  let last: { readonly location: Location; readonly found: T } | null = null;
  return (location) => {
    if (last?.location !== location) last = { location, found: find(location) };
    return last.found;
  };
}

/** The number of an origin in the list; adds a new one. There are few. */
function assignNumber(
  origins: PlaceOrigin[],
  { ofCounty, airQualityYear, state, nearest }: PlaceOrigin,
): number {
  const number = origins.findIndex(
    (origin) =>
      origin.ofCounty === ofCounty &&
      origin.airQualityYear === airQualityYear &&
      origin.state === state &&
      origin.nearest === nearest,
  );
  return number >= 0 ? number : origins.push({ ofCounty, airQualityYear, state, nearest }) - 1;
}
