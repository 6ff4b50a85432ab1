import { existsSync } from 'node:fs';
import { PerilbookError } from '../../base/errors.ts';
import { memo } from '../../base/memo.ts';
import { allLayers, rowCodesOf, type TopicSlug, topicOf } from '../../contract/topics.ts';
import {
  boundaryCounties,
  countiesWithoutRatings,
  createLeftOutCheck,
} from '../../data/tables/boundary-check.ts';
import type { CountyRatings } from '../../data/tables/county-ratings.ts';
import {
  createDataVersion,
  type DataDatabase,
  openDataDatabase,
  openDataReadOnly,
  readingData,
} from '../../data/tables/data-database.ts';
import { describeData, type LoadedDataset, needsOf } from '../../data/tables/describe-data.ts';
import { describedSince, noteDescriptions } from '../../data/tables/layer-descriptions.ts';
import { stateOf } from '../../data/tables/states.ts';
import { neededSearches, PartCoverage } from '../../data/topics/coverage.ts';
import { hasLossRates } from '../../data/topics/loss-rates.ts';
import { hasAirQualityYears } from '../../data/topics/measurement-topics.ts';
import { datasetsOf } from '../../data/topics/origin-notes.ts';
import { datasetOfLayer } from '../../data/zones/zone-layers.ts';
import { locationOf } from '../../geo/coordinates.ts';
import { allCounties, countyAt } from '../../geo/us-counties.ts';
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
  /** Since when layers are answered as their descriptions say now. */
  readonly describedSince: ReadonlyMap<string, number>;
  /** The layers that must be loaded again, because their descriptions have changed. */
  readonly outdated: ReadonlySet<TopicSlug>;
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
  /** Whether the index has loss rates. */
  readonly hasLossRates: boolean;
  /** Whether some dataset is made up: then no answer counts as real. */
  readonly sample: boolean;
}

/** Describes the data file; null if there is none. */
export function readLocalData(file: string, now: number): LocalData | null {
  if (!existsSync(file)) return null;
  return readingData(file, () => {
    keepDescriptions(file, now);
    using database = openDataReadOnly(file);
    return database.transaction(() => localDataIn(database, file, now))();
  });
}

/** Whether a layer answers codes of rows: its records are here, and were loaded by its description. It needs no boundaries for them. */
export function answersCodes({ datasets, outdated }: LocalData, topic: TopicSlug): boolean {
  if (rowCodesOf(topic) === null || outdated.has(topic)) return false;
  const dataset = datasetOfLayer(topicOf(topic).layer!);
  return datasets.some(({ name }) => name === dataset);
}

/** Keeps that descriptions of layers have changed. Where the file cannot be written, they count as new in each run. */
function keepDescriptions(file: string, now: number): void {
  if (allLayers().length === 0) return;
  {
    using database = openDataReadOnly(file);
    if (!noteDescriptions(database, now)) return;
  }
  try {
    using database = openDataDatabase(file);
    database.transaction(() => noteDescriptions(database, now)).immediate();
  } catch (error) {
    if (!(error instanceof PerilbookError) && !isReadOnly(error)) throw error;
  }
}

const isReadOnly = (error: unknown): boolean =>
  String((error as { code?: unknown }).code).startsWith('SQLITE_READONLY');

/** Describes an open data file. Call it within a transaction. */
export function localDataIn(database: DataDatabase, file: string, now: number): LocalData {
  const { datasets, topics, outdated, removals, withoutRecords, countyRatings, sample } =
    describeData(database);
  // If the clock was set back after a load or a removal, the present time is before that of the data, and answers would never be fresh.
  const asOf = Math.max(now, ...datasets.map(({ loadedAt }) => loadedAt), ...removals.values());
  return {
    file,
    version: createDataVersion(database)(),
    asOf,
    datasets,
    removals,
    describedSince: describedSince(database, asOf),
    outdated: new Set(outdated),
    topics: new Set(topics),
    countyRatings,
    sample,
    topicsWithoutRecords: new Set(withoutRecords.map(({ topic }) => topic)),
    boundaryCounties: boundaryCounties(database),
    countiesWithoutRatings: countiesWithoutRatings(database),
    hasAirQualityYears: hasAirQualityYears(database),
    hasLossRates: hasLossRates(database),
  };
}

/** When a topic's data, with its records of events, last changed until a time: by a load or a removal; 0 if never. If a needed dataset is
 * missing, it is a later time, because no answer counts then. */
export function changedSince(
  { datasets, removals, describedSince, topics }: LocalData,
  topic: TopicSlug,
  until: number,
): number {
  if (!topics.has(topic)) return until + 1;
  const names = datasetsOf([topic], true);
  const loads = datasets.map(({ name, loadedAt }) => [name, loadedAt] as const);
  const changes = [...loads, ...removals, ...describedSince].filter(
    ([name, at]) => names.has(name) && at <= until,
  );
  return Math.max(0, ...changes.map(([, at]) => at));
}

/** The places of a state for which some topics have no data. */
export interface StateWithoutData {
  /** Two letters. */
  readonly state: string;
  /** The number of places. */
  readonly places: number;
  /** The topics without data there. */
  readonly topics: readonly TopicSlug[];
}

/** The places of a state whose county has no boundaries here, though other counties or states have. */
export interface PlacesLeftOut {
  /** Two letters. */
  readonly state: string;
  /** The number of places. */
  readonly places: number;
}

type LocalCoverage = Pick<
  LocalData,
  'datasets' | 'topics' | 'boundaryCounties' | 'countiesWithoutRatings'
>;

/** The places that a look-up cannot answer, because a dataset, or the boundaries, cover only other states or counties, or not all states
 * within the search radius; by the place's state, in alphabetical order. A topic without any data is not counted: the plan lists it apart.
 * The counties come from us-atlas, 1 µs a place; a place within some hundred metres of a border may count for the neighbour. If only some
 * tracts of a county have boundaries, the run reports the places in the other tracts. */
export function placesWithoutData(
  data: LocalCoverage,
  topics: readonly TopicSlug[],
  order: CellNumbers,
  cells: CellTable,
): {
  readonly withoutData: readonly StateWithoutData[];
  readonly leftOut: readonly PlacesLeftOut[];
} {
  const coverage = new PartCoverage(
    data.datasets.flatMap(({ name, parts }) =>
      parts.map(({ state, reach, territories }) => ({ dataset: name, state, reach, territories })),
    ),
  );
  const isOutsideLoaded = createLeftOutCheck(data.boundaryCounties);
  const here = topics.filter((topic) => data.topics.has(topic));
  const needsAreas = topics.some((topic) => needsOf(topic).includes('areas'));
  const ofCounty = memo((code: string) => {
    const state = stateOf(code);
    const isLacking = (topic: TopicSlug) =>
      needsOf(topic).some((name) => name !== 'areas' && !coverage.covers(name, state)) ||
      (topicOf(topic).category === 'natural' && data.countiesWithoutRatings.has(code));
    const searches = here.flatMap((topic) =>
      neededSearches(topic)
        .filter(
          ({ name, meters }) =>
            coverage.covers(name, state) && coverage.hasBorders(name, state, meters),
        )
        .map((search) => ({ ...search, topic })),
    );
    return {
      state,
      isLeftOut: needsAreas && isOutsideLoaded(code),
      lacking: here.filter(isLacking),
      searches,
    };
  });
  const leftOut = new Map<string, number>();
  const states = new Map<string, { places: number; readonly topics: Set<TopicSlug> }>();
  const lacks = ({ isLeftOut, lacking, searches }: ReturnType<typeof ofCounty>) =>
    isLeftOut || lacking.length > 0 || searches.length > 0;
  // Data of the whole country lacks nothing in any county: then no place is searched.
  const counties = allCounties();
  if (order.length > counties.length && !counties.some(({ code }) => lacks(ofCounty(code))))
    return { withoutData: [], leftOut: [] };
  for (const cell of order) {
    const location = locationOf(cells.cell(cell));
    const code = countyAt(location)?.code;
    if (code === undefined) continue;
    const county = ofCounty(code);
    if (county.isLeftOut) leftOut.set(county.state, (leftOut.get(county.state) ?? 0) + 1);
    const atBorder = county.searches.filter(
      ({ name, meters }) => coverage.lacking(name, location, meters).length > 0,
    );
    const lacking = [...county.lacking, ...atBorder.map(({ topic }) => topic)];
    if (lacking.length === 0) continue;
    const inState = states.get(county.state) ?? { places: 0, topics: new Set() };
    inState.places += 1;
    for (const topic of lacking) inState.topics.add(topic);
    states.set(county.state, inState);
  }
  const byState = (a: PlacesLeftOut, b: PlacesLeftOut) => (a.state < b.state ? -1 : 1);
  const withoutData = [...states]
    .map(([state, { places, topics }]) => ({
      state,
      places,
      topics: here.filter((topic) => topics.has(topic)),
    }))
    .sort(byState);
  return {
    withoutData,
    leftOut: [...leftOut].map(([state, places]) => ({ state, places })).sort(byState),
  };
}
