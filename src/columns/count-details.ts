import type { CountedResult } from '../contract/counted-result.ts';
import type { FeatureCollection, TopicResult } from '../contract/topic-values.ts';
import { type Topic, type TopicSlug, topicOf } from '../contract/topics.ts';
import type { Location } from '../geo/coordinates.ts';
import { nearestMeters } from '../geo/nearest.ts';
import { countRecords } from './count-records.ts';

/** Counts and measures the `details` of a result as a service sends it. `location` is the cell's. */
export function countDetails(slug: TopicSlug, { value, details }: TopicResult, location: Location): CountedResult {
  const topic = topicOf(slug);
  const counts = topic.countColumns.map((column) => countRecords(details, memberOf(topic, column)));
  const features =
    topic.category === 'proximity' ? (details as FeatureCollection | null | undefined)?.features : undefined;
  return { value, counts, nearestMeters: features ? nearestMeters(location, features) : null };
}

/** The member of `details` whose records a column counts (`wildfire_current`: `current`); null for all of them. */
function memberOf({ slug, details }: Topic, column: string): string | null {
  return details === 'wildfire' ? column.slice(slug.length + 1) : null;
}
