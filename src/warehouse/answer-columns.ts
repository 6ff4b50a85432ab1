import { addedColumns } from '../columns/row.ts';
import { columnStem, columnsOf } from '../columns/topic-columns.ts';
import type { TopicSlug } from '../contract/topics.ts';
import type { AddedColumn } from '../rows/port.ts';

/** What comes before the columns of a run's output: whose answers, and the place as decimals and as the integer key (units of
 * 1e-7 degrees). */
const KEY_COLUMNS: readonly AddedColumn[] = [
  { name: 'source', type: 'text' },
  { name: 'lat', type: 'number' },
  { name: 'lng', type: 'number' },
  { name: 'lat7', type: 'count' },
  { name: 'lng7', type: 'count' },
];

/** When the answer to a topic was given. It also tells "no data here" from "not asked". */
export function asOfColumn(topic: TopicSlug): AddedColumn {
  return { name: `${columnStem(topic)}_as_of`, type: 'time' };
}

/** The columns of an export: a row has all answers of a place. */
export function exportColumns(topics: readonly TopicSlug[]): AddedColumn[] {
  return [...KEY_COLUMNS, ...addedColumns(topics), ...topics.map(asOfColumn)];
}

/** The names of a topic's own columns in an export, in the order of its fields. */
export function fieldNames(topic: TopicSlug): string[] {
  return columnsOf(topic).map(({ name }) => name);
}
