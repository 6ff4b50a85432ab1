import type { Field } from '../../contract/answer.ts';
import { topicOf } from '../../contract/topics.ts';
import {
  leadingWidth,
  type OutputPlaces,
  placeUnpacker,
} from '../../formats/packed/output-places.ts';
import { TAGS } from '../../formats/packed/packed-fields.ts';
import type { PlaceFields } from '../plan/place-fields.ts';
import { type SourceFields, SUMS_A_TOPIC } from '../plan/source-fields.ts';
import type { Scan } from '../scan/scan-input.ts';

const HIGHEST_RATINGS = ['Very High', 'Relatively High'] as const;

/** The value is in units (`CellTable`). */
interface RatedRows {
  rows: number;
  value: number;
}

/** The rows of a natural topic, and the rows with its highest ratings. */
export interface TopicRatings {
  readonly title: string;
  /** Rows whose topic was answered. */
  readonly answered: RatedRows;
  /** Very High, then Relatively High. */
  readonly highest: readonly [RatedRows, RatedRows];
}

/** Counts the rows of all places by their ratings: those of complete places were counted as they were read. */
export function countRatings(
  { cells }: Pick<Scan, 'cells'>,
  { parts }: PlaceFields,
  places: OutputPlaces,
): TopicRatings[] {
  let from = leadingWidth(places);
  return parts.flatMap((fields) => {
    const counts = countRatingsOf(cells, fields, places, from);
    from += fields.width;
    return counts;
  });
}

/** @param from where the fields of the source begin */
function countRatingsOf(
  cells: Scan['cells'],
  fields: SourceFields,
  places: OutputPlaces,
  from: number,
): TopicRatings[] {
  const { wanted, rated, ratings, uncounted } = fields;
  const none = () => ({ rows: 0, value: 0 });
  const counts = rated.map((index): TopicRatings => {
    const { title } = topicOf(wanted[index]!.topic);
    return { title, answered: none(), highest: [none(), none()] };
  });
  const add = (topic: number, rating: Field, rows: number, value: number) => {
    if (rating === null || rows === 0) return;
    const { answered, highest } = counts[topic]!;
    const rank = (HIGHEST_RATINGS as readonly Field[]).indexOf(rating);
    for (const sum of rank < 0 ? [answered] : [answered, highest[rank]!]) {
      sum.rows += rows;
      sum.value += value;
    }
  };
  for (const topic of counts.keys()) {
    for (let tag: number = TAGS.firstText; tag < SUMS_A_TOPIC / 2; tag++) {
      const at = topic * SUMS_A_TOPIC + 2 * tag;
      add(topic, places.texts[tag - TAGS.firstText] ?? '', ratings[at]!, ratings[at + 1]!);
    }
  }
  const unpack = placeUnpacker(places);
  const firstAt = rated.map((index) =>
    wanted.slice(0, index).reduce((sum, answer) => sum + answer.fields, from),
  );
  if (rated.length === 0) return counts;
  for (let at = 0; at < uncounted.length; at += 2) {
    const [cell, topic] = [uncounted[at]!, uncounted[at + 1]!];
    add(topic, unpack(cell)[firstAt[topic]!]!, cells.rows(cell), cells.value(cell));
  }
  for (let cell = 0; cell < cells.size; cell++) {
    if (fields.isComplete(cell)) continue;
    const own = unpack(cell);
    for (const topic of counts.keys())
      add(topic, own[firstAt[topic]!]!, cells.rows(cell), cells.value(cell));
  }
  return counts;
}
