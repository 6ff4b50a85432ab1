import type { Answer } from '../contract/answer.ts';
import { type TopicSlug, topicOf } from '../contract/topics.ts';
import { columnsOf } from './topic-columns.ts';

/** The part of an answer that holds for its whole area: all but the counts of `details`, which are of the place. */
export function areaAnswer(answer: Answer): Answer {
  const shared = columnsOf(answer.topic).length - topicOf(answer.topic).countColumns.length;
  return { ...answer, fields: answer.fields.slice(0, shared) };
}

/** Whether an area's answer gives all that is wanted of a topic. */
export function areaSuffices(slug: TopicSlug, counts: boolean): boolean {
  return topicOf(slug).area !== null && (!counts || topicOf(slug).countColumns.length === 0);
}
