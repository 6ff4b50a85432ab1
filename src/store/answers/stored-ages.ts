import { type TopicSet, topicSet } from '../../contract/topic-set.ts';
import { isTopicSlug, type TopicSlug } from '../../contract/topics.ts';
import type { StoreStats } from '../port.ts';
import { answersIn } from './packed-answers.ts';

/** The parts of a cell that these sums need. Cells come page by page. */
interface CellOfSource {
  readonly source: string;
  readonly answers: Buffer;
}

/** By source, how many cells have which topics answered before a time. */
export type OlderAnswers = Map<string, Map<TopicSet, number>>;

/** Adds cells to the sums. Skips topics that this version does not have. */
export function countOlder(
  sums: OlderAnswers,
  cells: readonly CellOfSource[],
  time: number,
  textOf: (number: number) => string,
): void {
  for (const { source, answers } of cells) {
    const topics: TopicSlug[] = [];
    for (const { slug, asOf } of answersIn(answers)) {
      const topic = textOf(slug);
      if (asOf < time && isTopicSlug(topic)) topics.push(topic);
    }
    if (topics.length === 0) continue;
    const sets = sums.get(source) ?? new Map<TopicSet, number>();
    sums.set(source, sets);
    const set = topicSet(topics);
    sets.set(set, (sets.get(set) ?? 0) + 1);
  }
}

type SourceStats = { -readonly [Key in keyof StoreStats['sources'][number]]: StoreStats['sources'][number][Key] };

/** Adds cells to the number of answers of each source, and the age of the oldest. */
export function addToStats(sums: Map<string, SourceStats>, cells: readonly CellOfSource[]): void {
  for (const { source, answers } of cells) {
    const stats = sums.get(source) ?? { source, cells: 0, answers: 0, oldest: null };
    sums.set(source, stats);
    stats.cells++;
    for (const { asOf } of answersIn(answers)) {
      stats.answers++;
      stats.oldest = Math.min(stats.oldest ?? asOf, asOf);
    }
  }
}
