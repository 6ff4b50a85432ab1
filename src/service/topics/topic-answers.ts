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
  const loadedNames = database.prepare<[], DatasetName>('SELECT name FROM datasets').pluck();
  const search = createLayerSearch(database, createFeatureTiles(), versionOf);
  const natural = createNaturalAnswers(database, search, radii, versionOf);
  const measurement = createMeasurementAnswers(database);

  let answerable: ReadonlySet<TopicSlug> = new Set();
  let version = -1;

  function proximity(topic: ProximitySlug, location: Location): ResultText {
    const features = search(`sites:${topic}`, location, radii[topic]);
    return { value: String(features.length), details: collectionText(features) };
  }

  function answer(topic: TopicSlug, location: Location, area: Area): ResultText | null {
    if (failures?.(topic, location)) return null;
    if (!answerable.has(topic)) return null;
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
    if (current !== version) answerable = answerableWith(new Set(loadedNames.all()));
    version = current;
    return new Map(topics.map((topic) => [topic, answer(topic, location, area)]));
  };
}

/** The topics whose data sets are all loaded. */
function answerableWith(loaded: ReadonlySet<DatasetName>): ReadonlySet<TopicSlug> {
  return new Set(TOPIC_SLUGS.filter((topic) => needsOf(topic).every((dataset) => loaded.has(dataset))));
}
