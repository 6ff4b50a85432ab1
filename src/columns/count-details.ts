import type { CountedResult, FeatureCollection, TopicResult } from '../contract/topic-values.ts';
import { type Topic, type TopicSlug, topicOf } from '../contract/topics.ts';
import type { Location } from '../geo/coordinates.ts';
import { nearestMeters } from '../geo/nearest.ts';

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

/**
 * How many records `details` holds. Its records are opaque (docs/developer/service-api.md, 4.4), so only lengths are read: of an
 * array, of a FeatureCollection's features, of a named member, else of all array members together. An object without
 * any is 0 (the contract's empty wildfire object); null and absent are `null`: nothing was said. So is a member that is
 * absent where others are there.
 *
 * @param member the member to count alone (wildfire's `current`, `historical`, `perimeters`), or null
 */
export function countRecords(details: unknown, member: string | null): number | null {
  if (details === null || details === undefined) return null;
  if (Array.isArray(details)) return details.length;
  if (typeof details !== 'object') return null;
  const object = details as Record<string, unknown>;
  if (member !== null) return Object.keys(object).length === 0 ? 0 : lengthOrNull(object[member]);
  if (Array.isArray(object.features)) return object.features.length;
  return Object.values(object).reduce<number>((sum, value) => sum + lengthOf(value), 0);
}

const lengthOrNull = (value: unknown): number | null => (Array.isArray(value) ? value.length : null);

const lengthOf = (value: unknown): number => (Array.isArray(value) ? value.length : 0);
