import { existsSync } from 'node:fs';
import { type TopicSlug, topicOf } from '../../contract/topics.ts';
import { boundaryStates, countiesWithoutRatings } from '../../data/tables/boundary-check.ts';
import type { CountyRatings } from '../../data/tables/county-ratings.ts';
import { type DataDatabase, openDataReadOnly } from '../../data/tables/data-database.ts';
import { createDataVersion } from '../../data/tables/data-version.ts';
import { describeData, eventDatasetsOf, type LoadedDataset, needsOf } from '../../data/tables/describe-data.ts';
import { hasAirQualityYears, TOPIC_OF_YEARS } from '../../data/topics/measurement-topics.ts';
import { counted } from '../../format-numbers.ts';

/** The agencies' data on this machine, as it was at one moment. */
export interface LocalData {
  readonly file: string;
  /** Differs after each load and removal of a dataset. */
  readonly version: number;
  /** The time of all answers from this version: when it was read, and not before any dataset was loaded. */
  readonly asOf: number;
  /** In the order of `perilbook data`. */
  readonly datasets: readonly LoadedDataset[];
  /** The topics that can be answered, some of them perhaps for some states only. */
  readonly topics: ReadonlySet<TopicSlug>;
  /** Those of them that are answered without the records of some events. */
  readonly topicsWithoutRecords: ReadonlySet<TopicSlug>;
  /** The states whose boundaries are loaded, territories included. */
  readonly boundaryStates: readonly string[];
  /** The counties in which some or all places get no natural topic, though their state has data. */
  readonly countiesWithoutRatings: ReadonlySet<string>;
  /** Where places get the rating of their county; null where none does. */
  readonly countyRatings: CountyRatings | null;
  /** The air quality of counties is of different years. */
  readonly hasAirQualityYears: boolean;
  /** Some dataset is made up: then no answer may be taken for real. */
  readonly sample: boolean;
}

/** Describes the data file; null where there is none. */
export function readLocalData(file: string, now: number): LocalData | null {
  if (!existsSync(file)) return null;
  using database = openDataReadOnly(file);
  return database.transaction(() => localDataIn(database, file, now))();
}

/** Describes an open data file. To be called within a transaction. */
export function localDataIn(database: DataDatabase, file: string, now: number): LocalData {
  const { datasets, topics, withoutRecords, countyRatings, sample } = describeData(database);
  // Where the clock was set back since a load, answers of now would seem older than the data: never fresh.
  const asOf = Math.max(now, ...datasets.map(({ loadedAt }) => loadedAt));
  return {
    file,
    version: createDataVersion(database)(),
    asOf,
    datasets,
    topics: new Set(topics),
    countyRatings,
    sample,
    topicsWithoutRecords: new Set(withoutRecords.map(({ topic }) => topic)),
    boundaryStates: boundaryStates(database),
    countiesWithoutRatings: countiesWithoutRatings(database),
    hasAirQualityYears: hasAirQualityYears(database),
  };
}

/** When the data of a topic was last loaded before a time, its records of events included; 0 where none was. */
export function loadedSince({ datasets }: LocalData, topic: TopicSlug, before: number): number {
  const names = datasetsOf([topic], true);
  const loads = datasets.filter(({ name, loadedAt }) => names.has(name) && loadedAt <= before);
  return Math.max(0, ...loads.map(({ loadedAt }) => loadedAt));
}

/** The names of the datasets that topics are answered from; without `counts` no records of events are read. */
export function datasetsOf(topics: readonly TopicSlug[], counts: boolean): ReadonlySet<string> {
  return new Set(topics.flatMap((topic) => [...needsOf(topic), ...(counts ? eventDatasetsOf(topic) : [])]));
}

/** Most datasets that a row's note names, and most vintages of one. */
const MOST_DATASETS = 3;
const MOST_VINTAGES = 2;

/** What a place's answers come from, where places differ in it. */
export interface PlaceOrigin {
  /** Whether it gets the rating of its county in place of one of its tract. */
  readonly isOfCounty: boolean;
  /** The year of its county's air quality; null where the dataset's vintage tells it, or the county has none. */
  readonly airQualityYear: number | null;
}

/** What notes say of where the answers come from. */
export interface OriginNotes {
  /** Of a row with answers to some topics. */
  readonly noteOf: (topics: readonly TopicSlug[], origin: PlaceOrigin) => string;
  /** Of a place, by its number. Equal origins are one object. */
  readonly originOf: (cell: number) => PlaceOrigin;
}

const PLAIN: PlaceOrigin = { isOfCounty: false, airQualityYear: null };

/** Makes the notes on answers from local data: `local data: areas 2025, nri December 2025`. They name only what the topics come from. */
export function localNotes(
  { datasets }: LocalData,
  counts: boolean,
  originOf: OriginNotes['originOf'] = () => PLAIN,
): OriginNotes {
  // A million rows have few sets of answered topics.
  const notes = new Map<string, string>();
  const byName = Map.groupBy(datasets, ({ name }) => name);
  const noteOf: OriginNotes['noteOf'] = (topics, { isOfCounty, airQualityYear }) => {
    const key = `${topics.join(' ')} ${isOfCounty} ${airQualityYear}`;
    let note = notes.get(key);
    if (note === undefined) {
      const used = datasetsOf(topics, counts);
      const named = [...byName].filter(([name]) => used.has(name));
      const shown = named.slice(0, MOST_DATASETS).map(([name, levels]) => {
        const vintage = name === TOPIC_OF_YEARS && airQualityYear !== null ? airQualityYear : vintagesOf(levels);
        return [name, vintage].filter(Boolean).join(' ');
      });
      const rest = named.length - shown.length;
      const hasRating = topics.some((topic) => topicOf(topic).category === 'natural');
      const county = isOfCounty && hasRating ? '; rating of the county, not of the tract' : '';
      note = `local data: ${shown.join(', ')}${rest > 0 ? ` and ${counted(rest, 'more dataset')}` : ''}${county}`;
      notes.set(key, note);
    }
    return note;
  };
  return { noteOf, originOf };
}

/** The vintages of a dataset's levels, each once: a level that was loaded by state joins several by semicolons. */
function vintagesOf(levels: readonly LoadedDataset[]): string {
  const all = [...new Set(levels.flatMap(({ vintage }) => vintage.split('; ')))].filter(Boolean);
  const rest = all.length - MOST_VINTAGES;
  return rest > 0 ? `${all[0]} and ${counted(rest + 1, 'other vintage')}` : all.join(' and ');
}
