import { memo } from '../../base/memo.ts';
import { PRESENT_HOLDS_MS } from '../../contract/answer.ts';
import {
  type LayerSlug,
  type MeasurementSlug,
  type NaturalSlug,
  radiusOfLayer,
  TOPIC_SLUGS,
  type TopicSlug,
  topicOf,
} from '../../contract/topics.ts';
import type { Location } from '../../geo/coordinates.ts';
import type { Area } from '../tables/area-finder.ts';
import type { BoundaryCheck, WithoutArea } from '../tables/boundary-check.ts';
import { type DataDatabase, type DataVersion, oncePerVersion } from '../tables/data-database.ts';
import { eventDatasetsOf, layersOf, needsOf } from '../tables/describe-data.ts';
import { outdatedDatasets } from '../tables/layer-descriptions.ts';
import type { Layer } from '../tables/layers.ts';
import { allParts, DAY_IN_VINTAGE } from '../tables/parts.ts';
import type { DatasetName } from '../tables/records.ts';
import { stateOf } from '../tables/states.ts';
import { statesWithin } from '../tables/states-near.ts';
import {
  neededSearches,
  OUTLINE_METERS,
  PartCoverage,
  type Search,
  type Searched,
  searchMeters,
} from './coverage.ts';
import { createMeasurementRule } from './measurement-topics.ts';
import { createNaturalRule } from './natural-topics.ts';
import type { TopicValue } from './result-text.ts';

export interface TopicFinding {
  /** Null for a proximity topic: its value is the number of its features. */
  readonly value: TopicValue | null;
  /** The layers whose features around the location belong to it; null for one that is not loaded for the whole search. */
  readonly layers: readonly ({ readonly layer: Layer; readonly meters: number } | null)[];
}

export type MissingResult =
  /** The data is loaded, and the publisher has nothing on this place. */
  { readonly reason: 'no_data' } | UnavailableTopic;

/** Something that the operator can fix: datasets are not loaded, or not for all states that the search reaches (`not_loaded`); they lack the county
 * (`incomplete`); the boundaries lack the location's tract (`no_tracts`); their readings are too old (`too_old`); the layer was loaded by another description (`outdated`); the
 * boundaries lack the state, or this part of it (`WithoutArea`). */
interface UnavailableTopic {
  readonly reason: 'unavailable';
  readonly cause:
    | ('not_loaded' | 'outdated' | 'incomplete' | 'no_tracts' | 'too_old')
    | Exclude<WithoutArea['kind'], 'outside_coverage'>;
  readonly datasets: readonly DatasetName[];
  /** The states without data, as two letters: the location's, or others that the search reaches. */
  readonly states: readonly string[];
}

/** Of places in any order: about 30 MB of ratings. */
const CACHED_AREAS = 10_000;

/** What decides on a topic's result. */
interface TopicRules {
  readonly decide: (
    topic: TopicSlug,
    location: Location,
    area: Area,
    now: number,
  ) => TopicFinding | MissingResult;
  readonly isOfArea: (topic: TopicSlug, area: Area) => boolean;
}

/** Makes the rules that decide what a topic's result consists of at a location with a known area, or why there is none. The service and a
 * local look-up only present the results differently. Call them within a transaction: all topics of a location come from the same data. */
export function createTopicRules(
  database: DataDatabase,
  versionOf: DataVersion,
  boundaries: BoundaryCheck,
  cachedAreas: number = CACHED_AREAS,
): TopicRules {
  const natural = createNaturalRule(database, versionOf, boundaries, cachedAreas);
  const measurement = createMeasurementRule(database, versionOf);

  const outdatedOf = oncePerVersion(versionOf, () => outdatedDatasets(database));
  const partsOf = oncePerVersion(versionOf, () =>
    [...allParts(database).values()].flat().filter(({ dataset }) => !outdatedOf().has(dataset)),
  );
  const coverageOf = oncePerVersion(versionOf, () => new PartCoverage(partsOf()));
  const endOf = oncePerVersion(versionOf, () => endOfPresent(partsOf()));
  // Reading thirty names takes longer than answering a rating.
  const dataByState = oncePerVersion(versionOf, () =>
    memo(
      (state: string) =>
        new Map(TOPIC_SLUGS.map((topic) => [topic, topicData(coverageOf(), topic, state)])),
    ),
  );

  /** The layers, without those for which the search reaches states that are not loaded. */
  function wholeLayers(
    { layers, atBorders }: TopicData,
    location: Location,
  ): TopicFinding['layers'] {
    const isPart = ({ name, meters }: Search) =>
      coverageOf().lacking(name, location, meters).length > 0;
    const parts = new Set(atBorders.filter(isPart).map(({ name }) => name));
    return parts.size === 0
      ? layers
      : layers.map((search) => (search !== null && parts.has(search.layer) ? null : search));
  }

  function lacking(datasets: readonly DatasetName[], states: readonly string[]): MissingResult {
    const cause = datasets.some((name) => outdatedOf().has(name)) ? 'outdated' : 'not_loaded';
    return { reason: 'unavailable', cause, datasets, states };
  }

  function decide(
    topic: TopicSlug,
    location: Location,
    area: Area,
    now: number,
  ): TopicFinding | MissingResult {
    const state = stateOf(area.county);
    const data = dataByState()(state).get(topic)!;
    const { missing, atBorders, layers } = data;
    if (missing.length > 0) return lacking(missing, [state]);
    const { category } = topicOf(topic);
    if (category === 'natural') {
      const value = natural.rate(topic as NaturalSlug, area, location);
      const whole = atBorders.length === 0 ? layers : wholeLayers(data, location);
      return ended(topic, state, value, now <= endOf() ? whole : withoutPresent(whole));
    }
    for (const { name, meters } of atBorders) {
      const states = coverageOf().lacking(name, location, meters);
      if (states.length > 0) return lacking([name], states);
    }
    if (category === 'proximity')
      return reachesBeyond(topic, location) ? { reason: 'no_data' } : { value: null, layers };
    return ended(
      topic,
      state,
      measurement(topic as MeasurementSlug | LayerSlug, location, area, now),
      layers,
    );
  }

  /** Whether what is decided of a topic is the same at all places and times in an area, but for the layers. */
  function isOfArea(topic: TopicSlug, { county }: Area): boolean {
    const { missing, atBorders } = dataByState()(stateOf(county)).get(topic)!;
    const { category, area } = topicOf(topic);
    if (missing.length > 0) return true;
    if (category === 'natural') return !natural.variesWithin();
    return area !== null && atBorders.length === 0;
  }

  return { decide, isOfArea };
}

/** Whether a layer of places says nothing of a part of what is searched around a place: then their number is unknown. */
function reachesBeyond(topic: TopicSlug, location: Location): boolean {
  const states = topicOf(topic).layer?.states;
  const meters = radiusOfLayer(topic);
  if (states === undefined || meters === null) return false;
  return statesWithin(location, meters + OUTLINE_METERS).some((state) => !states.includes(state));
}

/** The records of the moment: fires that burn. */
const PRESENT: DatasetName = 'records:wildfire.current';

const DAY_MS = 86_400_000;

/** Until when the records of the moment tell what is now; always, where their vintage has no day (sample data). */
function endOfPresent(
  parts: readonly { readonly dataset: DatasetName; readonly vintage: string }[],
): number {
  const days = parts
    .filter(({ dataset }) => dataset === PRESENT)
    .map(({ vintage }) => Date.parse(DAY_IN_VINTAGE.exec(vintage)?.[1] ?? ''));
  return days.some(Number.isNaN) || days.length === 0
    ? Number.POSITIVE_INFINITY
    : Math.min(...days) + DAY_MS + PRESENT_HOLDS_MS;
}

const withoutPresent = (layers: TopicFinding['layers']): TopicFinding['layers'] =>
  layers.map((search) => (search?.layer === PRESENT ? null : search));

function ended(
  topic: TopicSlug,
  state: string,
  value: TopicValue | 'no_data' | 'incomplete' | 'no_tracts' | 'too_old' | 'not_loaded',
  layers: TopicFinding['layers'],
): TopicFinding | MissingResult {
  if (value === 'no_data') return { reason: value };
  if (typeof value !== 'string') return { value, layers };
  // The areas are loaded, because the location has one; only tracts may be missing.
  const datasets = needsOf(topic).filter((name) => (name === 'areas') === (value === 'no_tracts'));
  return { reason: 'unavailable', cause: value, datasets, states: [state] };
}

/** What the loaded data has for a topic in a state. */
interface TopicData {
  /** The datasets that are not loaded there. */
  readonly missing: readonly DatasetName[];
  /** The layers that are searched; null for one that is not loaded there. */
  readonly layers: readonly ({ readonly layer: Layer; readonly meters: number } | null)[];
  /** Searches that may reach states that are not loaded. */
  readonly atBorders: readonly Search[];
}

function topicData(coverage: PartCoverage, topic: TopicSlug, state: string): TopicData {
  const layers = layersOf(topic).map((layer) => ({
    layer,
    meters: searchMeters(searchedOf(layer)),
  }));
  const isEvent = (layer: Layer) => eventDatasetsOf(topic).includes(layer);
  const events = layers
    .filter(({ layer }) => isEvent(layer))
    .map(({ layer: name, meters }): Search => ({ name, meters }));
  const searches = [...neededSearches(topic), ...events].filter(({ name }) =>
    coverage.covers(name, state),
  );
  return {
    missing: needsOf(topic).filter((name) => !coverage.covers(name, state)),
    // Events that are not loaded are unknown: an empty list would mean that there are none.
    layers: layers.map((search) => (coverage.covers(search.layer, state) ? search : null)),
    atBorders: searches.filter(({ name, meters }) => coverage.hasBorders(name, state, meters)),
  };
}

const searchedOf = (layer: Layer): Searched => layer.slice(layer.indexOf(':') + 1) as Searched;
