import { type MeasurementSlug, type NaturalSlug, TOPIC_SLUGS, type TopicSlug, topicOf } from '../../contract/topics.ts';
import type { Location } from '../../geo/coordinates.ts';
import type { Area } from '../tables/area-finder.ts';
import type { BoundaryCheck } from '../tables/boundary-check.ts';
import type { DataDatabase } from '../tables/data-database.ts';
import { type DataVersion, oncePerVersion } from '../tables/data-version.ts';
import { layersOf, needsOf } from '../tables/describe-data.ts';
import type { Layer } from '../tables/layers.ts';
import { WHOLE_US } from '../tables/parts.ts';
import type { DatasetName } from '../tables/records.ts';
import { stateOf } from '../tables/states.ts';
import { createMeasurementRule } from './measurement-topics.ts';
import { createNaturalRule } from './natural-topics.ts';
import type { Radii, Searched } from './search-radii.ts';
import type { TopicValue } from './topic-value.ts';

/** What a topic's result consists of. */
export interface TopicFinding {
  /** Null for a proximity topic: its value is the number of its features. */
  readonly value: TopicValue | null;
  /** The layers whose features around the location belong to it; null for one that is not loaded for the state. */
  readonly layers: readonly (SearchedLayer | null)[];
}

interface SearchedLayer {
  readonly layer: Layer;
  /** The radius of the search. */
  readonly meters: number;
}

/** Why a topic has no result. */
export type MissingResult =
  /** The data is there, and the publisher has nothing on this place. */
  { readonly reason: 'no_data' } | UnavailableTopic;

/** Something that the operator can fix: datasets are not loaded, or not for this state (`not_loaded`); they lack the county
 * (`incomplete`); the boundaries lack the location's tract (`no_tracts`); their readings are too old (`too_old`). */
interface UnavailableTopic {
  readonly reason: 'unavailable';
  readonly cause: 'not_loaded' | 'incomplete' | 'no_tracts' | 'too_old';
  readonly datasets: readonly DatasetName[];
  /** The state of the location, as two letters. */
  readonly state: string;
}

/** What a topic's result consists of at a location with a known area, or why there is none. To be called within a transaction,
 * so that all topics of a location come from the same data. */
export type TopicRules = (
  topic: TopicSlug,
  location: Location,
  area: Area,
  now: number,
) => TopicFinding | MissingResult;

/** Makes the rules that decide on each topic. The service and a look-up on this machine differ only in how they
 * present what is found. */
export function createTopicRules(
  database: DataDatabase,
  radii: Radii,
  versionOf: DataVersion,
  boundaries: BoundaryCheck,
): TopicRules {
  const loaded = database.prepare<[], CoveredPart>('SELECT dataset, state FROM parts');
  const natural = createNaturalRule(database, versionOf, boundaries);
  const measurement = createMeasurementRule(database, versionOf);

  // Reading thirty names takes longer than answering a rating.
  const statesOf = oncePerVersion(versionOf, () => coverageOf(loaded.all()));
  const byState = oncePerVersion(versionOf, () => new Map<string, StateData>());

  function dataOf(state: string): StateData {
    const known = byState();
    let data = known.get(state);
    if (data === undefined) {
      data = stateData(statesOf(), radii, state);
      known.set(state, data);
    }
    return data;
  }

  return (topic, location, area, now) => {
    const state = stateOf(area.county);
    const { missing, layers } = dataOf(state).get(topic)!;
    if (missing.length > 0) return { reason: 'unavailable', cause: 'not_loaded', datasets: missing, state };
    const { category } = topicOf(topic);
    if (category === 'proximity') return { value: null, layers };
    const value =
      category === 'natural'
        ? natural(topic as NaturalSlug, area)
        : measurement(topic as MeasurementSlug, location, area, now);
    if (value === 'no_data') return { reason: value };
    if (typeof value !== 'string') return { value, layers };
    // But for the tracts, the areas are here: the location has one.
    const datasets = needsOf(topic).filter((name) => (name === 'areas') === (value === 'no_tracts'));
    return { reason: 'unavailable', cause: value, datasets, state };
  };
}

interface CoveredPart {
  readonly dataset: DatasetName;
  readonly state: string;
}

/** The loaded datasets, each with its states; null for the whole US. */
type DatasetCoverage = ReadonlyMap<DatasetName, ReadonlySet<string> | null>;

/** Each level of a dataset may have its own parts. */
function coverageOf(loaded: readonly CoveredPart[]): DatasetCoverage {
  const byDataset = Map.groupBy(loaded, ({ dataset }) => dataset);
  return new Map(
    [...byDataset].map(([name, parts]) => {
      const states = new Set(parts.map(({ state }) => state));
      return [name, states.has(WHOLE_US) ? null : states];
    }),
  );
}

/** What the loaded data has for each topic in a state. */
type StateData = ReadonlyMap<TopicSlug, { readonly missing: readonly DatasetName[] } & Pick<TopicFinding, 'layers'>>;

function stateData(coverage: DatasetCoverage, radii: Radii, state: string): StateData {
  const covers = (name: DatasetName) => {
    const states = coverage.get(name);
    return states !== undefined && (states === null || states.has(state));
  };
  // Events that are not loaded are unknown: an empty list would say that there is nothing.
  const searched = (layer: Layer) =>
    covers(layer) ? { layer, meters: radii[layer.slice(layer.indexOf(':') + 1) as Searched] } : null;
  return new Map(
    TOPIC_SLUGS.map((topic) => [
      topic,
      { missing: needsOf(topic).filter((name) => !covers(name)), layers: layersOf(topic).map(searched) },
    ]),
  );
}
