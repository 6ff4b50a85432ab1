import type { CountedResult } from '../../contract/topic-values.ts';
import { isLayerTopic, type TopicSlug } from '../../contract/topics.ts';
import { type Box, boxOfLocation, widenedBox } from '../../geo/bounding-boxes.ts';
import type { Location } from '../../geo/coordinates.ts';
import { createBoxSearch } from '../../geo/outline-index.ts';
import { countyAt } from '../../geo/us-counties.ts';
import { type Area, COAST_METERS, createAreaFinder } from '../tables/area-finder.ts';
import { createBoundaryCheck, type WithoutArea } from '../tables/boundary-check.ts';
import { type CountyRated, countyRatedAreas } from '../tables/county-ratings.ts';
import {
  createHeldVersion,
  type DataDatabase,
  type DataVersion,
  oncePerVersion,
  openDataReadOnly,
} from '../tables/data-database.ts';
import { layersOf, needsOf } from '../tables/describe-data.ts';
import { FeatureTiles } from '../tables/feature-tiles.ts';
import { createLayerSearch } from '../tables/layer-search.ts';
import { createLossRates, type LossRates } from '../topics/loss-rates.ts';
import { createTopicRules, type MissingResult, type TopicFinding } from '../topics/topic-rules.ts';

export type PlaceResult =
  | {
      readonly kind: 'covered';
      readonly area: Area;
      readonly results: readonly LookupResult[];
      /** Those of these results that hold in the whole area, one object for its places; null for the others. Null: none do. */
      readonly ofArea: AreaResults | null;
    }
  | WithoutArea;

export type LookupResult = CountedResult | MissingResult;

/** In the order of the topics. */
export type AreaResults = readonly (LookupResult | null)[];

/** Looks up topics at a place. `now` decides whether readings are current. */
export type PlaceLookup = (
  topics: readonly TopicSlug[],
  location: Location,
  now: number,
) => PlaceResult;

export interface LookupOptions {
  readonly counts: boolean;
}

/** The most bytes of cached features. Places come in order, so the sites around one or two large cities are enough. */
const MAX_BYTES = 64_000_000;

/** The most areas whose ratings and results are cached, and the most values of outlines of a level, 16 MB: places come in the order of the
 * map, and those of some counties are enough. */
const CACHED_AREAS = 1_000;
const CACHED_VALUES = 4_000_000;

/** Makes the function that looks up topics at a place, in bulk. Its results equal the client's reading of the service's JSON, without the
 * JSON. It is fastest if neighbouring places follow each other, because features are cached by tile. Call it within a transaction, so that
 * all topics come from the same data.
 *
 * It takes at most about 170 MB: features 80, outlines 16 a level and their index 20, ratings of areas 5, SQLite's pages 16.
 * With the sample data, whose areas are counties, a thread's heap ends at 170 MB (`npm run bench -- local`). */
export function createPlaceLookup(
  database: DataDatabase,
  { counts }: LookupOptions,
  versionOf: DataVersion,
): PlaceLookup {
  const boundaries = createBoundaryCheck(database, versionOf);
  const areaAt = createAreaFinder(database, versionOf, boundaries, CACHED_VALUES);
  const { decide, isOfArea } = createTopicRules(database, versionOf, boundaries, CACHED_AREAS);
  const { count, measure } = createLayerSearch(
    database,
    'places',
    new FeatureTiles(MAX_BYTES),
    versionOf,
  );

  function counted({ value, layers }: TopicFinding, location: Location): CountedResult {
    if (value === null) {
      const { layer, meters } = layers[0]!;
      const nearest = measure(layer, location, meters);
      return { value: nearest.count, counts: NONE, nearestMeters: nearest.nearestMeters };
    }
    return {
      value: value.value,
      counts: counts ? countsOf(layers, location) : null,
      nearestMeters: null,
    };
  }

  function countsOf(layers: TopicFinding['layers'], location: Location): CountedResult['counts'] {
    if (layers.length === 0) return NONE;
    return layers.map((searched) =>
      searched === null ? null : count(searched.layer, location, searched.meters),
    );
  }

  function resultOf(topic: TopicSlug, location: Location, area: Area, now: number): LookupResult {
    const finding = decide(topic, location, area, now);
    return 'reason' in finding ? finding : counted(finding, location);
  }

  // By topics and area: a run has few lists of topics, and its places are in the order of the map.
  const resultsOfAreas = oncePerVersion(versionOf, () => {
    const byTopics = new WeakMap<readonly TopicSlug[], Map<string, AreaResults>>();
    return (topics: readonly TopicSlug[], area: Area, make: () => AreaResults): AreaResults => {
      const byArea = byTopics.get(topics) ?? new Map<string, AreaResults>();
      byTopics.set(topics, byArea);
      const cached = byArea.get(area.geoid);
      if (cached !== undefined) return cached;
      const results = make();
      if (byArea.size === CACHED_AREAS) byArea.delete(byArea.keys().next().value!);
      byArea.set(area.geoid, results);
      return results;
    };
  });

  return (topics, location, now) => {
    const found = areaAt(location);
    const reason = found === null ? boundaries.withoutArea(location) : null;
    // Outside of boundaries that are here, a place is outside for layers, too.
    if (reason?.kind === 'outside_coverage') return reason;
    const area = found ?? areaOfAtlas(location, topics);
    if (area === null) return reason!;
    if (reason !== null) {
      const results = topics.map((topic) =>
        coversItself(topic) ? resultOf(topic, location, area, now) : withoutBoundaries(reason),
      );
      return { kind: 'covered', area, results, ofArea: null };
    }
    const ofArea = resultsOfAreas()(topics, area, () =>
      topics.map((topic) =>
        isOfArea(topic, area) && (!counts || layersOf(topic).length === 0)
          ? resultOf(topic, location, area, now)
          : null,
      ),
    );
    const results = topics.map(
      (topic, index) => ofArea[index] ?? resultOf(topic, location, area, now),
    );
    return { kind: 'covered', area, results, ofArea };
  };
}

/** Whether a topic needs no boundaries: most layers say themselves what they cover. */
const coversItself = (topic: TopicSlug): boolean =>
  isLayerTopic(topic) && !needsOf(topic).includes('areas');

/** The county of a place of which no boundaries are loaded, where some topics need none. */
function areaOfAtlas(location: Location, topics: readonly TopicSlug[]): Area | null {
  const county = topics.some(coversItself) ? countyAt(location) : null;
  return county === null ? null : { geoid: county.code, county: county.code };
}

function withoutBoundaries({
  kind: cause,
  state,
}: Exclude<WithoutArea, { readonly kind: 'outside_coverage' }>): MissingResult {
  return { reason: 'unavailable', cause, datasets: ['areas'], states: [state] };
}

const NONE: readonly (number | null)[] = [];

/** Makes the function that finds the loss rates of a place: of the area whose ratings it gets. */
function createLossLookup(
  database: DataDatabase,
  versionOf: DataVersion,
): OpenPlaceLookup['lossRates'] {
  const areaAt = createAreaFinder(database, versionOf);
  const ratesOf = createLossRates(database, versionOf);
  return (location) => {
    const area = areaAt(location);
    return area && ratesOf(area);
  };
}

/** Looks up places in one version of the data. */
export interface OpenPlaceLookup extends Disposable {
  readonly lookUp: PlaceLookup;
  /** The loss rates of a place; null where it is in no area. */
  readonly lossRates: (location: Location) => LossRates | null;
  /** Equal for two handles that were opened on the same data. */
  readonly version: number;
}

/** 16 MB of pages, a quarter of the service's, and as fast: each thread has its own, and neighbouring places read the same pages. */
const PAGES = 'cache_size = -16384';

/** Opens the data file for a run: read-only, in one read transaction until it is disposed of, so that all results are of one version even
 * if a dataset is replaced meanwhile (the load's changes wait in the WAL file). Each thread opens its own.
 * @throws PerilbookError SERVICE_DATA when the file cannot be opened, is no database, or was written by a newer version */
export function openPlaceLookup(file: string, options: LookupOptions): OpenPlaceLookup {
  const database = openDataReadOnly(file);
  try {
    database.pragma(PAGES);
    const version = createHeldVersion(database);
    database.exec('BEGIN');
    // The first read begins the transaction.
    version.read();
    return {
      lookUp: createPlaceLookup(database, options, version.held),
      lossRates: createLossLookup(database, version.held),
      version: version.held(),
      [Symbol.dispose]: () => void database.close(),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

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
