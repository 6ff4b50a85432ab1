import {
  type MeasurementSlug,
  type NaturalSlug,
  type ProximitySlug,
  type TopicSlug,
  topicOf,
} from '../../contract/topics.ts';
import type { Location } from '../../geo/coordinates.ts';
import type { Area } from '../tables/area-finder.ts';
import type { DataDatabase } from '../tables/data-database.ts';
import { type DataVersion, oncePerVersion } from '../tables/data-version.ts';
import { needsOf } from '../tables/describe-data.ts';
import { FeatureTiles } from '../tables/feature-tiles.ts';
import { createLayerSearch } from '../tables/layers.ts';
import type { DatasetName, EventKind } from '../tables/records.ts';
import { stateOf } from '../tables/states.ts';
import { createMeasurementAnswers } from './measurement-topics.ts';
import { createNaturalAnswers } from './natural-topics.ts';
import { collectionText, type MissingReason, type ResultText } from './result-text.ts';
import type { Radii } from './search-radii.ts';

/** Whether a topic fails at a location; for testing what a consumer does then. */
export type RehearsedFailures = (topic: TopicSlug, location: Location) => boolean;

/** Each topic's result, or why there is none, in the order of the request. */
export type Answers = ReadonlyMap<TopicSlug, ResultText | MissingReason>;

/** Makes the function that answers topics at a location with a known area. To be called within a transaction, so that
 * all topics of a call come from the same data. */
export function createTopicAnswers(
  database: DataDatabase,
  radii: Radii,
  failures: RehearsedFailures | undefined,
  versionOf: DataVersion,
): (topics: readonly TopicSlug[], location: Location, area: Area, now: number) => Answers {
  const loaded = database.prepare<[], LoadedStates>('SELECT name, states FROM datasets');
  const search = createLayerSearch(database, new FeatureTiles(), versionOf);
  const natural = createNaturalAnswers(database, search, radii, versionOf, hasEvents);
  const measurement = createMeasurementAnswers(database, versionOf);

  // Reading thirty names takes longer than answering a rating.
  const covered = oncePerVersion(versionOf, () => coverageOf(loaded.all()));

  function covers(name: DatasetName, area: Area): boolean {
    const limits = covered().get(name);
    return limits !== undefined && (limits === null || limits.has(stateOf(area.county)));
  }

  /** Not loaded means unknown: an empty list would say that there is nothing. */
  function hasEvents(event: EventKind, area: Area): boolean {
    return covers(`records:${event}`, area);
  }

  function proximity(topic: ProximitySlug, location: Location): ResultText {
    const features = search(`sites:${topic}`, location, radii[topic]);
    return { value: String(features.length), details: collectionText(features, radii[topic]) };
  }

  function answer(topic: TopicSlug, location: Location, area: Area, now: number): ResultText | MissingReason {
    if (failures?.(topic, location)) return 'unavailable';
    if (!needsOf(topic).every((name) => covers(name, area))) return 'unavailable';
    switch (topicOf(topic).category) {
      case 'natural':
        return natural(topic as NaturalSlug, location, area);
      case 'proximity':
        return proximity(topic as ProximitySlug, location);
      case 'measurement':
        return measurement(topic as MeasurementSlug, location, area, now);
    }
  }

  return (topics, location, area, now) => new Map(topics.map((topic) => [topic, answer(topic, location, area, now)]));
}

interface LoadedStates {
  readonly name: DatasetName;
  readonly states: string;
}

/** The loaded datasets, each with its states; null for the whole US. */
type DatasetCoverage = ReadonlyMap<DatasetName, ReadonlySet<string> | null>;

/** Each level of a dataset may have its own states. */
function coverageOf(loaded: readonly LoadedStates[]): DatasetCoverage {
  const statesOf = new Map<DatasetName, string[]>();
  for (const { name, states } of loaded) statesOf.set(name, [...(statesOf.get(name) ?? []), states]);
  return new Map(
    [...statesOf].map(([name, levels]) => [
      name,
      levels.includes('') ? null : new Set(levels.flatMap((states) => states.split(','))),
    ]),
  );
}
