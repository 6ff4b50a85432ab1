import type { Field } from '../contract/answer.ts';
import { isZoneTopic, type TopicSlug } from '../contract/topics.ts';

/** Nearer to the edge of a zone than this, the note says how near: FEMA draws its lines to some 12 m, and a cell is up to 8 m off its place. */
const NOTED_METERS = 20;

/** The note on a zone topic where the maps have no zone. */
export function unstudiedNote(topic: TopicSlug): string {
  return `${topic}: no study in the data covers this place, so it is unknown, not safe`;
}

/** Whether the note of a row says this. */
export function saysUnstudied(topic: TopicSlug, note: Field | undefined): boolean {
  return isZoneTopic(topic) && typeof note === 'string' && note.includes(unstudiedNote(topic));
}

/** What the note says of the zone that a place got, by the last of its fields, the metres to the nearest other zone; '' for nothing.
 * @param fields the topic's own, in the order of its columns */
export function zoneNote(topic: TopicSlug, fields: readonly Field[]): string {
  const meters = isZoneTopic(topic) ? fields.at(-1) : null;
  if (typeof meters !== 'number' || meters > NOTED_METERS) return '';
  return meters === 0
    ? `${topic}: zones overlap or meet here, the most hazardous is given`
    : `${topic}: another zone is ${meters} m away`;
}
