import { existsSync } from 'node:fs';
import { memo } from '../../base/memo.ts';
import { type TopicSlug, topicOf } from '../../contract/topics.ts';
import { boundaryCounties, countiesWithoutRatings, createLeftOutCheck } from '../../data/tables/boundary-check.ts';
import type { CountyRatings } from '../../data/tables/county-ratings.ts';
import { createDataVersion, type DataDatabase, openDataReadOnly } from '../../data/tables/data-database.ts';
import { describeData, type LoadedDataset, needsOf } from '../../data/tables/describe-data.ts';
import { stateOf } from '../../data/tables/states.ts';
import { neededSearches, PartCoverage } from '../../data/topics/coverage.ts';
import { hasAirQualityYears } from '../../data/topics/measurement-topics.ts';
import { datasetsOf } from '../../data/topics/origin-notes.ts';
import { locationOf } from '../../geo/coordinates.ts';
import { countyAt } from '../../geo/us-counties.ts';
import type { CellNumbers } from '../plan/reach.ts';
import type { CellTable } from '../scan/cell-table.ts';

/** A description of the agencies' data on this machine at one moment. */
export interface LocalData {
  readonly file: string;
  /** Changes with each load and removal of a dataset. */
  readonly version: number;
  /** The time of all answers from this version: the time of reading, or of the latest load if that is later. */
  readonly asOf: number;
  /** In the order of `perilbook data`. */
  readonly datasets: readonly LoadedDataset[];
  readonly removals: ReadonlyMap<string, number>;
  /** The topics that can be answered, perhaps for some states only. */
  readonly topics: ReadonlySet<TopicSlug>;
  /** The topics among these that are answered without the records of some events. */
  readonly topicsWithoutRecords: ReadonlySet<TopicSlug>;
  readonly boundaryCounties: ReadonlySet<string>;
  /** The counties in which some or all places get no natural topic, though their state has data. */
  readonly countiesWithoutRatings: ReadonlySet<string>;
  /** Where places get the rating of their county; null if none does. */
  readonly countyRatings: CountyRatings | null;
  /** Whether counties have air quality of different years. */
  readonly hasAirQualityYears: boolean;
  /** Whether some dataset is made up: then no answer counts as real. */
  readonly sample: boolean;
}

/** Describes the data file; null if there is none. */
export function readLocalData(file: string, now: number): LocalData | null {
  if (!existsSync(file)) return null;
  using database = openDataReadOnly(file);
  return database.transaction(() => localDataIn(database, file, now))();
}

/** Describes an open data file. Call it within a transaction. */
export function localDataIn(database: DataDatabase, file: string, now: number): LocalData {
  const { datasets, topics, removals, withoutRecords, countyRatings, sample } = describeData(database);
  // If the clock was set back after a load or a removal, the present time is before that of the data, and answers would never be fresh.
  const asOf = Math.max(now, ...datasets.map(({ loadedAt }) => loadedAt), ...removals.values());
  return {
    file,
    version: createDataVersion(database)(),
    asOf,
    datasets,
    removals,
    topics: new Set(topics),
    countyRatings,
    sample,
    topicsWithoutRecords: new Set(withoutRecords.map(({ topic }) => topic)),
    boundaryCounties: boundaryCounties(database),
    countiesWithoutRatings: countiesWithoutRatings(database),
    hasAirQualityYears: hasAirQualityYears(database),
  };
}

/** When a topic's data, with its records of events, last changed until a time: by a load or a removal; 0 if never. If a needed dataset is
 * missing, it is a later time, because no answer counts then. */
export function changedSince({ datasets, removals, topics }: LocalData, topic: TopicSlug, until: number): number {
  if (!topics.has(topic)) return until + 1;
  const names = datasetsOf([topic], true);
  const loads = datasets.map(({ name, loadedAt }) => [name, loadedAt] as const);
  const changes = [...loads, ...removals].filter(([name, at]) => names.has(name) && at <= until);
  return Math.max(0, ...changes.map(([, at]) => at));
}

/** The names of the topics' datasets; without `counts`, not those of event records. */
export function datasetsOf(topics: readonly TopicSlug[], counts: boolean): ReadonlySet<string> {
  return new Set(topics.flatMap((topic) => [...needsOf(topic), ...(counts ? eventDatasetsOf(topic) : [])]));
}

/** Most datasets that a row's note names, and most vintages of one. */
const MOST_DATASETS = 3;
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

export type NearestLevel = '' | 'tract' | 'county';

/** The level of the nearest area of a place that is in none. */
export function nearestLevel(area: Area | null): NearestLevel {
  if (!area?.isOutside) return '';
  return area.geoid === area.county ? 'county' : 'tract';
}

export interface OriginNotes {
  /** The note of a row with answers to some topics. */
  readonly noteOf: (topics: readonly TopicSlug[], origin: PlaceOrigin) => string;
  /** The origin of a place, by its number. Equal origins are one object. */
  readonly originOf: (cell: number) => PlaceOrigin;
}

const PLAIN: PlaceOrigin = { ofCounty: '', airQualityYear: null, state: '', nearest: '' };

/** Makes the notes on answers from local data: `local data: areas 2025, nri December 2025`. They name only the datasets of the topics, the
 * oldest first: what a note leaves out is newer. */
export function localNotes({ datasets }: LocalData, counts: boolean, originOf: OriginNotes['originOf'] = () => PLAIN) {
  // A million rows have few sets of answered topics.
  const notes = new Map<string, string>();
  const byName = Map.groupBy(datasets, ({ name }) => name);
  const noteOf: OriginNotes['noteOf'] = (topics, { ofCounty, airQualityYear, state, nearest }) => {
    const key = `${topics.join(' ')}|${ofCounty}|${airQualityYear}|${state}|${nearest}`;
    let note = notes.get(key);
    if (note === undefined) {
      const used = datasetsOf(topics, counts);
      const named = [...byName]
        .filter(([name]) => used.has(name))
        .map(([name, levels]) => {
          const isOfYear = name === TOPIC_OF_YEARS && airQualityYear !== null;
          const vintages = isOfYear ? [String(airQualityYear)] : vintagesOf(levels, state);
          return { name, vintage: vintageText(vintages), time: timeIn(vintages.join(' ')) };
        })
        .sort((a, b) => a.time - b.time);
      const shown = named.slice(0, MOST_DATASETS).map(({ name, vintage }) => [name, vintage].filter(Boolean).join(' '));
      const rest = named.length - shown.length;
      const more = rest > 0 ? ` and ${counted(rest, 'more dataset')}` : '';
      const outside = nearest === '' || !topics.some(isOfArea) ? '' : `; in no outline: data of the nearest ${nearest}`;
      note = `local data: ${shown.join(', ')}${more}${countyNote(topics, ofCounty)}${outside}`;
      notes.set(key, note);
    }
    return note;
  };
  return { noteOf, originOf };
}

/** The oldest date in some vintages, of years the last one (1950-2025): what is not shown is newer. Vintages without a date come last. */
function timeIn(vintages: string): number {
  const dates = vintages.replace(/\b\d{4}-(?=\d{4}\b)/g, '').match(/\b(?:19|20)\d\d(?:-\d\d(?:-\d\d)?)?\b/g) ?? [];
  return dates.length === 0 ? Number.MAX_VALUE : Math.min(...dates.map((date) => Date.parse(date)));
}

/** Names the hazards, unless each of the ratings is the county's. */
function countyNote(topics: readonly TopicSlug[], ofCounty: CountyRated): string {
  const ratings = topics.filter((topic) => topicOf(topic).category === 'natural');
  const some = ratings.filter((topic) => isCountyRated(topic, ofCounty));
  if (some.length === 0) return '';
  return `; rating of the county, not of the tract${some.length < ratings.length ? `: ${some.join(' ')}` : ''}`;
}

/** Whether some dataset of the topics has different vintages by state. */
export function hasVintagesByState({ datasets }: Pick<LocalData, 'datasets'>, topics: readonly TopicSlug[]): boolean {
  const names = datasetsOf(topics, true);
  return datasets.some(({ name, parts }) => names.has(name) && new Set(parts.map(({ vintage }) => vintage)).size > 1);
}

/** The vintages of a dataset's levels, each once: those of a state, or all, which a level that was loaded by state joins by semicolons. */
function vintagesOf(levels: readonly LoadedDataset[], state: string): string[] {
  const own = levels.map(
    ({ vintage, parts }) =>
      (parts.find((part) => part.state === state) ?? parts.find((part) => part.state === WHOLE_US))?.vintage ?? vintage,
  );
  return [
    ...new Set((state === '' ? levels.map(({ vintage }) => vintage) : own).flatMap((text) => text.split('; '))),
  ].filter(Boolean);
}

function vintageText(all: readonly string[]): string {
  const rest = all.length - MOST_VINTAGES;
  return rest > 0 ? `${all[0]} and ${counted(rest + 1, 'other vintage')}` : all.join(' and ');
}

/** The places of a state for which some topics have no data. */
export interface StateWithoutData {
  readonly state: string;
  readonly places: number;
  readonly topics: readonly TopicSlug[];
}

/** The places of a state whose county has no boundaries here, though other counties or states have. */
export interface PlacesLeftOut {
  readonly state: string;
  readonly places: number;
}

type LocalCoverage = Pick<LocalData, 'datasets' | 'topics' | 'boundaryCounties' | 'countiesWithoutRatings'>;

/** The places that a look-up cannot answer, because a dataset, or the boundaries, cover only other states or counties, or not all states
 * within the search radius; by the place's state, in alphabetical order. A topic without any data is not counted: the plan lists it apart.
 * The counties come from us-atlas, 1 µs a place; a place within some hundred metres of a border may count for the neighbour. If only some
 * tracts of a county have boundaries, the run reports the places in the other tracts. */
export function placesWithoutData(
  data: LocalCoverage,
  topics: readonly TopicSlug[],
  order: CellNumbers,
  cells: CellTable,
): { readonly withoutData: readonly StateWithoutData[]; readonly leftOut: readonly PlacesLeftOut[] } {
  const coverage = new PartCoverage(
    data.datasets.flatMap(({ name, parts }) => parts.map(({ state, reach }) => ({ dataset: name, state, reach }))),
  );
  const isLeftOut = createLeftOutCheck(data.boundaryCounties);
  const here = topics.filter((topic) => data.topics.has(topic));
  const ofCounty = memo((code: string) => {
    const state = stateOf(code);
    const isLacking = (topic: TopicSlug) =>
      needsOf(topic).some((name) => name !== 'areas' && !coverage.covers(name, state)) ||
      (topicOf(topic).category === 'natural' && data.countiesWithoutRatings.has(code));
    const searches = here.flatMap((topic) =>
      neededSearches(topic)
        .filter(({ name, meters }) => coverage.covers(name, state) && coverage.hasBorders(name, state, meters))
        .map((search) => ({ ...search, topic })),
    );
    return { state, isLeftOut: isLeftOut(code), lacking: here.filter(isLacking), searches };
  });
  const leftOut = new Map<string, number>();
  const states = new Map<string, { places: number; readonly topics: Set<TopicSlug> }>();
  for (const cell of order) {
    const location = locationOf(cells.cell(cell));
    const code = countyAt(location)?.code;
    if (code === undefined) continue;
    const county = ofCounty(code);
    if (county.isLeftOut) leftOut.set(county.state, (leftOut.get(county.state) ?? 0) + 1);
    const atBorder = county.searches.filter(({ name, meters }) => coverage.lacking(name, location, meters).length > 0);
    const lacking = [...county.lacking, ...atBorder.map(({ topic }) => topic)];
    if (lacking.length === 0) continue;
    const inState = states.get(county.state) ?? { places: 0, topics: new Set() };
    inState.places += 1;
    for (const topic of lacking) inState.topics.add(topic);
    states.set(county.state, inState);
  }
  const byState = (a: PlacesLeftOut, b: PlacesLeftOut) => (a.state < b.state ? -1 : 1);
  const withoutData = [...states]
    .map(([state, { places, topics }]) => ({ state, places, topics: here.filter((topic) => topics.has(topic)) }))
    .sort(byState);
  return { withoutData, leftOut: [...leftOut].map(([state, places]) => ({ state, places })).sort(byState) };
}
