import { type TopicSet, topicSet } from '../../contract/topic-set.ts';
import { isTopicSlug, type TopicSlug } from '../../contract/topics.ts';
import type { StoreStats } from '../port.ts';
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

/** The parts of a cell that these sums need. Cells may come page by page. */
interface CellOfSource {
  readonly source: string;
  readonly answers: Buffer;
}

/** By source, how many cells have which topics answered before `time`. Skips topics that this version does not have.
 * @param sources the sums of earlier pages, which are added to */
export function countOlder(
  cells: Iterable<CellOfSource>,
  time: number,
  textOf: (number: number) => string,
  sources = new Map<string, Map<TopicSet, number>>(),
): Map<string, Map<TopicSet, number>> {
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

type SourceSums = { -readonly [Key in keyof StoreStats['sources'][number]]: StoreStats['sources'][number][Key] };

/** How many answers each source has, and how old the oldest is; by name.
 * @param sources the sums of earlier pages, which are added to */
export function sourceStats(cells: Iterable<CellOfSource>, sources = new Map<string, SourceSums>()): SourceSums[] {
  const span = newAnswerSpan();
  for (const { source, answers } of cells) {
    const sums = sources.get(source) ?? { source, cells: 0, answers: 0, oldest: null };
    sources.set(source, sums);
    sums.cells++;
    span.to = 0;
    while (nextAnswer(answers, span)) {
      sums.answers++;
      sums.oldest = Math.min(sums.oldest ?? span.asOf, span.asOf);
    }
  }
  return [...sources.values()].sort((a, b) => (a.source < b.source ? -1 : 1));
}
