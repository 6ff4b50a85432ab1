import type { Answer } from '../contract/answer.ts';
import { type TopicSlug, topicOf } from '../contract/topics.ts';
import type { AreaLevel } from '../geo/area-codes.ts';
import { columnsOf } from './topic-columns.ts';

/** Of which area a topic's value is the same everywhere: natural ratings are scored by tract; air quality and radon are
 * given by county (docs/developer/service-api.md, 4.1, 4.6 and 4.8). Null: every place has its own. */
export function areaLevelOf(slug: TopicSlug): AreaLevel | null {
  if (topicOf(slug).category === 'natural') return 'tract';
  return slug === 'airQuality' || slug === 'radon' ? 'county' : null;
}

/** The part of an answer that holds for its whole area: all but the counts of `details`, which are of the place. */
export function areaAnswer(answer: Answer): Answer {
  const shared = columnsOf(answer.topic).length - topicOf(answer.topic).countColumns.length;
  return { ...answer, fields: answer.fields.slice(0, shared) };
}

/** Whether an area's answer gives all that is wanted of a topic. */
export function areaSuffices(slug: TopicSlug, counts: boolean): boolean {
  return areaLevelOf(slug) !== null && (!counts || topicOf(slug).countColumns.length === 0);
}
