import { type TopicSet, topicSet } from '../contract/topic-set.ts';
import { isTopicSlug, type TopicSlug } from '../contract/topics.ts';
import { newAnswerSpan, nextAnswer } from './packed-answers.ts';

/** The answers of a cell since `time`, and the number of older ones. */
export function answersSince(answers: Buffer, time: number): { kept: Buffer; dropped: number } {
  const span = newAnswerSpan();
  const kept: Buffer[] = [];
  let dropped = 0;
  while (nextAnswer(answers, span)) {
    if (span.asOf < time) dropped++;
    else kept.push(answers.subarray(span.start, span.to));
  }
  return { kept: Buffer.concat(kept), dropped };
}

/** By source, how many cells have which topics answered before `time`. Topics that this version does not know are left out. */
export function countOlder(
  cells: Iterable<{ readonly source: string; readonly answers: Buffer }>,
  time: number,
  textOf: (number: number) => string,
): Map<string, Map<TopicSet, number>> {
  const sources = new Map<string, Map<TopicSet, number>>();
  const span = newAnswerSpan();
  for (const { source, answers } of cells) {
    const topics: TopicSlug[] = [];
    span.to = 0;
    while (nextAnswer(answers, span)) {
      const topic = textOf(span.slug);
      if (span.asOf < time && isTopicSlug(topic)) topics.push(topic);
    }
    if (topics.length === 0) continue;
    const sets = sources.get(source) ?? new Map<TopicSet, number>();
    sources.set(source, sets);
    const set = topicSet(topics);
    sets.set(set, (sets.get(set) ?? 0) + 1);
  }
  return sources;
}
