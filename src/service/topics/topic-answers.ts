import {
  type MeasurementSlug,
  type NaturalSlug,
  type ProximitySlug,
  TOPIC_SLUGS,
  type TopicSlug,
  topicOf,
} from '../../contract/topics.ts';
import type { Location } from '../../geo/coordinates.ts';
import type { Area } from '../data/area-finder.ts';
import type { DataVersion } from '../data/data-version.ts';
import type { ServiceDatabase } from '../data/database.ts';
import { createFeatureTiles } from '../data/feature-tiles.ts';
import { createLayerSearch } from '../data/layers.ts';
import type { DatasetName } from '../data/records.ts';
import { stateOf } from '../data/states.ts';
import { needsOf } from '../data/topic-needs.ts';
import { createMeasurementAnswers } from './measurement-topics.ts';
import { createNaturalAnswers } from './natural-topics.ts';
import { collectionText, type ResultText } from './result-text.ts';
import type { Radii } from './search-radii.ts';

/** Whether a topic is to fail at a location; for rehearsing what a consumer does then. */
export type Failures = (topic: TopicSlug, location: Location) => boolean;

/** Each topic's result, or null when it is unavailable, in the order asked. */
export type Answers = ReadonlyMap<TopicSlug, ResultText | null>;

/**
 * Makes the function that answers topics at a location whose area is known; to be called within a transaction, so that
 * all topics of a call are of the same data.
 */
export function createTopicAnswers(
  database: ServiceDatabase,
  radii: Radii,
  failures: Failures | undefined,
  versionOf: DataVersion,
): (topics: readonly TopicSlug[], location: Location, area: Area) => Answers {
  const loaded = database.prepare<[], Loaded>('SELECT name, states FROM datasets');
  const search = createLayerSearch(database, createFeatureTiles(), versionOf);
  const natural = createNaturalAnswers(database, search, radii, versionOf);
  const measurement = createMeasurementAnswers(database);

  let answerable: Answerable = new Map();
  let version = -1;

  function proximity(topic: ProximitySlug, location: Location): ResultText {
    const features = search(`sites:${topic}`, location, radii[topic]);
    return { value: String(features.length), details: collectionText(features, radii[topic]) };
  }

  function answer(topic: TopicSlug, location: Location, area: Area): ResultText | null {
    if (failures?.(topic, location)) return null;
    const limits = answerable.get(topic);
    if (limits === undefined || limits.some((states) => !states.has(stateOf(area.county)))) return null;
    switch (topicOf(topic).category) {
      case 'natural':
        return natural(topic as NaturalSlug, location, area);
      case 'proximity':
        return proximity(topic as ProximitySlug, location);
      case 'measurement':
        return measurement(topic as MeasurementSlug, location, area);
    }
  }

  return (topics, location, area) => {
    // To read thirty names takes longer than to answer a rating.
    const current = versionOf();
    if (current !== version) answerable = answerableWith(loaded.all());
    version = current;
    return new Map(topics.map((topic) => [topic, answer(topic, location, area)]));
  };
}

interface Loaded {
  readonly name: DatasetName;
  readonly states: string;
}

/** The topics that can be answered, each with the sets of states that it is limited to; none where it is not. */
type Answerable = ReadonlyMap<TopicSlug, readonly ReadonlySet<string>[]>;

/** The topics whose data sets are all loaded. Of a data set with levels each may be of states of its own. */
function answerableWith(loaded: readonly Loaded[]): Answerable {
  const statesOf = new Map<DatasetName, string[]>();
  for (const { name, states } of loaded) statesOf.set(name, [...(statesOf.get(name) ?? []), states]);
  const limitsOf = (name: DatasetName) => {
    const levels = statesOf.get(name)!;
    return levels.includes('') ? [] : [new Set(levels.flatMap((states) => states.split(',')))];
  };
  return new Map(
    TOPIC_SLUGS.filter((topic) => needsOf(topic).every((name) => statesOf.has(name))).map((topic) => [
      topic,
      needsOf(topic).flatMap(limitsOf),
    ]),
  );
}
