import { counted } from '../../base/format-numbers.ts';
import { oldestFirst, type StatedData, timeIn } from '../../contract/stated-data.ts';
import { type TopicSlug, topicOf } from '../../contract/topics.ts';
import type { Area } from '../tables/area-finder.ts';
import {
  type CountyRated,
  type CountyRatings,
  countyRatedAreas,
  EVERY_HAZARD,
  isCountyRated,
} from '../tables/county-ratings.ts';
import { type DataDatabase, type DataVersion, oncePerVersion } from '../tables/data-database.ts';
import { eventDatasetsOf, isOfArea, type LoadedDataset, needsOf } from '../tables/describe-data.ts';
import { WHOLE_US } from '../tables/parts.ts';
import { stateOf } from '../tables/states.ts';
import { airQualityYears, hasAirQualityYears, TOPIC_OF_YEARS } from './measurement-topics.ts';

/** The names of the topics' datasets; without `counts`, not those of event records.
 * @param byCode those that are answered by a row's own code, for which no boundaries are needed */
export function datasetsOf(
  topics: readonly TopicSlug[],
  counts: boolean,
  byCode: readonly TopicSlug[] = [],
): ReadonlySet<string> {
  return new Set(
    topics.flatMap((topic) => [
      ...needsOf(topic).filter((name) => name !== 'areas' || !byCode.includes(topic)),
      ...(counts ? eventDatasetsOf(topic) : []),
    ]),
  );
}

/** Most vintages of a dataset that a note names. */
const MOST_VINTAGES = 2;

/** The origin of a place's answers, where it differs between places. */
export interface PlaceOrigin {
  /** The hazards for which it gets the rating of its county, not of its tract. */
  readonly ofCounty: CountyRated;
  /** The year of its county's air quality; null if the dataset has one year, or the county has none. */
  readonly airQualityYear: number | null;
  /** Its state, as two letters; '' if each dataset has one vintage in all states. */
  readonly state: string;
  /** The level of the nearest area, whose answers it gets because no outline holds it; '' for other places. */
  readonly nearest: NearestLevel;
}

type NearestLevel = '' | 'tract' | 'county';

/** The level of the nearest area of a place that is in none. */
export function nearestLevel(area: Area | null): NearestLevel {
  if (!area?.isOutside) return '';
  return area.geoid === area.county ? 'county' : 'tract';
}

/** Makes the function that finds the origin of the answers in an area. Call it within a transaction.
 * @param ratingsOf as the description of the data has them: to read them takes several passes over the areas */
export function createOriginFinder(
  database: DataDatabase,
  versionOf: DataVersion,
  ratingsOf: () => CountyRatings | null,
): (area: Area) => PlaceOrigin {
  const readFacts = oncePerVersion(versionOf, () => {
    const ratings = ratingsOf();
    return {
      everywhere: ratings?.isEverywhere ? EVERY_HAZARD : '',
      countyRated: ratings === null ? null : countyRatedAreas(database),
      years: hasAirQualityYears(database) ? airQualityYears(database) : null,
    };
  });
  return (area) => {
    const { everywhere, countyRated, years } = readFacts();
    return {
      ofCounty: everywhere || (countyRated?.get(area.geoid) ?? ''),
      state: stateOf(area.county),
      airQualityYear: years?.get(area.county) ?? null,
      nearest: nearestLevel(area),
    };
  };
}

export interface OriginNotes {
  /** The note of a row with answers to some topics. @param byCode those of them that are answered by a code of the row */
  readonly noteOf: (
    topics: readonly TopicSlug[],
    origin: PlaceOrigin,
    byCode?: readonly TopicSlug[],
  ) => string;
  /** The origin of a place, by its number. Equal origins are one object. */
  readonly originOf: (cell: number) => PlaceOrigin;
}

const PLAIN: PlaceOrigin = { ofCounty: '', airQualityYear: null, state: '', nearest: '' };

/** Makes the notes on answers from local data: `local data: areas 2025, nri December 2025`. They name only the datasets of the topics.
 * @param label what stands before them */
export function localNotes(
  { datasets }: DatasetsHere,
  counts: boolean,
  originOf: OriginNotes['originOf'] = () => PLAIN,
  label = 'local data',
): OriginNotes {
  // A million rows have few sets of answered topics.
  const notes = new Map<string, string>();
  const noteOf: OriginNotes['noteOf'] = (topics, origin, byCode = []) => {
    const key = [topics.join(' '), byCode.join(' '), ...Object.values(origin)].join('|');
    let note = notes.get(key);
    if (note === undefined) {
      const { vintages, remarks } = dataBehind(datasets, topics, counts, origin, byCode);
      note = [`${label}: ${oldestFirst(vintages)}`, ...remarks].join('; ');
      notes.set(key, note);
    }
    return note;
  };
  return { noteOf, originOf };
}

/** The loaded datasets, in the order of `perilbook data`. */
interface DatasetsHere {
  readonly datasets: readonly LoadedDataset[];
}

/** The data behind the answers to some topics at a place. */
export function dataBehind(
  datasets: readonly LoadedDataset[],
  topics: readonly TopicSlug[],
  counts: boolean,
  { ofCounty, airQualityYear, state, nearest }: PlaceOrigin,
  byCode: readonly TopicSlug[] = [],
): StatedData {
  const used = datasetsOf(topics, counts, byCode);
  const byName = Map.groupBy(
    datasets.filter(({ name }) => used.has(name)),
    ({ name }) => name,
  );
  const vintages = [...byName].map(([name, levels]) => {
    const isOfYear = name === TOPIC_OF_YEARS && airQualityYear !== null;
    const own = isOfYear ? [String(airQualityYear)] : vintagesOf(levels, state);
    return [name, vintageText(own)].filter(Boolean).join(' ');
  });
  const outside =
    nearest !== '' && topics.some((topic) => isOfArea(topic) && !byCode.includes(topic))
      ? [`in no outline: data of the nearest ${nearest}`]
      : [];
  return { vintages, remarks: [...countyRemark(topics, ofCounty), ...outside] };
}

/** Names the hazards, unless each of the ratings is the county's. */
function countyRemark(topics: readonly TopicSlug[], ofCounty: CountyRated): string[] {
  const ratings = topics.filter((topic) => topicOf(topic).category === 'natural');
  const some = ratings.filter((topic) => isCountyRated(topic, ofCounty));
  if (some.length === 0) return [];
  return [
    `rating of the county, not of the tract${some.length < ratings.length ? `: ${some.join(' ')}` : ''}`,
  ];
}

/** Whether some dataset of the topics has different vintages by state. */
export function hasVintagesByState(
  { datasets }: DatasetsHere,
  topics: readonly TopicSlug[],
): boolean {
  const names = datasetsOf(topics, true);
  return datasets.some(
    ({ name, parts }) => names.has(name) && new Set(parts.map(({ vintage }) => vintage)).size > 1,
  );
}

/** The vintages of a dataset's levels, each once: those of a state, or all, which a level that was loaded by state joins by semicolons. */
function vintagesOf(levels: readonly LoadedDataset[], state: string): string[] {
  const own = levels.map(
    ({ vintage, parts }) =>
      (parts.find((part) => part.state === state) ?? parts.find((part) => part.state === WHOLE_US))
        ?.vintage ?? vintage,
  );
  return [
    ...new Set(
      (state === '' ? levels.map(({ vintage }) => vintage) : own).flatMap((text) =>
        text.split('; '),
      ),
    ),
  ].filter(Boolean);
}

/** All vintages, or the oldest of many: what is not shown is newer. */
function vintageText(all: readonly string[]): string {
  if (all.length <= MOST_VINTAGES) return all.join(' and ');
  const [oldest] = all.toSorted((a, b) => timeIn(a) - timeIn(b));
  return `${oldest} and ${counted(all.length - 1, 'other vintage')}`;
}
