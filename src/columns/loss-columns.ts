import { type NaturalSlug, type TopicSlug, topicOf } from '../contract/topics.ts';
import type { AddedColumn } from '../rows/port.ts';
import { snakeCase } from './topic-columns.ts';

/* A rate is of all buildings of a tract or county, from FEMA's history and models: for comparing books and places. It is no price of a house,
 * knows no deductible, and says nothing of a year worse than the average. */

/** The columns of expected annual losses: rates always; amounts where the rows have values. */
export type LossColumns = 'none' | 'rates' | 'amounts';

/** A column of losses, and its topic; null for those of all topics together. */
export interface LossColumn extends AddedColumn {
  readonly topic: NaturalSlug | null;
}

/** The natural ones of some topics, in their order: only these have loss rates. */
export function lossTopics(topics: readonly TopicSlug[]): NaturalSlug[] {
  return topics.filter((topic) => topicOf(topic).category === 'natural') as NaturalSlug[];
}

/** The columns of losses of some topics, in order. Those of a place come first: its rates, their sum, and how many topics have one. Those of
 * a row, whose value they depend on, follow. */
export function lossColumns(topics: readonly TopicSlug[], columns: LossColumns): LossColumn[] {
  if (columns === 'none') return [];
  const natural = lossTopics(topics);
  const rates: LossColumn[] = [
    ...natural.map((topic) => column(`${snakeCase(topic)}_loss_rate`, topic)),
    column('annual_loss_rate', null),
    { ...column('annual_loss_topics', null), type: 'count' },
  ];
  if (columns === 'rates') return rates;
  return [
    ...rates,
    ...natural.map((topic) => column(`${snakeCase(topic)}_annual_loss`, topic)),
    column('annual_loss', null),
  ];
}

const column = (name: string, topic: NaturalSlug | null): LossColumn => ({
  name,
  type: 'number',
  topic,
});
