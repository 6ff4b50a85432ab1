import type { TopicSlug } from '../../contract/topics.ts';
import type { Location } from '../../geo/coordinates.ts';
import type { Area } from '../tables/area-finder.ts';
import type { DataDatabase } from '../tables/data-database.ts';
import type { DataVersion } from '../tables/data-version.ts';
import { FeatureTiles } from '../tables/feature-tiles.ts';
import { createLayerSearch } from '../tables/layer-search.ts';
import { detailsText } from './details-text.ts';
import { collectionText, type MissingReason, type ResultText } from './result-text.ts';
import type { Radii } from './search-radii.ts';
import { createTopicRules } from './topic-rules.ts';

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
  const search = createLayerSearch(database, new FeatureTiles(), versionOf);
  const decide = createTopicRules(database, radii, versionOf);

  function answer(topic: TopicSlug, location: Location, area: Area, now: number): ResultText | MissingReason {
    if (failures?.(topic, location)) return 'unavailable';
    const finding = decide(topic, location, area, now);
    if ('reason' in finding) return finding.reason;
    const found = finding.layers.map((searched) => {
      if (searched === null) return null;
      return { features: search(searched.layer, location, searched.meters), radius: searched.meters };
    });
    if (finding.value !== null) return { value: finding.value.json, details: detailsText(topic, found) };
    const { features, radius } = found[0]!;
    return { value: String(features.length), details: collectionText(features, radius) };
  }

  return (topics, location, area, now) => new Map(topics.map((topic) => [topic, answer(topic, location, area, now)]));
}
