import { grouped } from '../base/format-numbers.ts';
import {
  type CellRecord,
  type Field,
  type FreshTimes,
  isFreshAt,
  isNoData,
  REJECTION_HOLDS_MS,
} from '../contract/answer.ts';
import type { PolygonLayer } from '../contract/layers/layer-description.ts';
import { oldestFirst, readStated } from '../contract/stated-data.ts';
import {
  isLayerTopic,
  isZoneTopic,
  radiusOfLayer,
  rowCodesOf,
  type TopicSlug,
  topicOf,
} from '../contract/topics.ts';

/** What a row's `hazard_status` says, the most complete first. */
export const ROW_STATUSES = [
  'ok',
  'partial',
  'deferred',
  'failed',
  'rejected',
  'outside_us',
  'invalid',
] as const;
export type RowStatus = (typeof ROW_STATUSES)[number];

/** In `hazard_note` of every row with answers from sample data, so that a file that travels is not taken for real. */
export const SAMPLE_NOTE = 'sample data';

export interface CellStatus {
  readonly status: RowStatus;
  readonly note: string;
}

export interface StatusTexts {
  readonly missing: string;
  readonly stale: string;
  /** Most topics that are listed after one reason. */
  readonly mostTopics: number;
}

const BOUGHT: StatusTexts = {
  missing: 'not bought yet',
  stale: 'stale, not bought again yet',
  mostTopics: Number.POSITIVE_INFINITY,
};

/** For answers from local data. */
export const LOOKED_UP: StatusTexts = {
  missing: 'not looked up yet',
  stale: 'stale, not looked up again yet',
  mostTopics: 4,
};

/** For answers of a service and from local data beside it. */
export const OF_BOTH: StatusTexts = {
  ...BOUGHT,
  missing: 'not answered yet',
  stale: 'stale, not answered again yet',
};

function listed(topics: readonly TopicSlug[], most: number): string {
  const rest = topics.length - most;
  return rest > 0 ? `${topics.slice(0, most).join(' ')} and ${rest} more` : topics.join(' ');
}

/** The note on topics for which the service has no data here: their columns are empty, and no answer is missing. */
export function noDataNote(topics: readonly TopicSlug[]): string {
  const others = topics.filter((topic) => !isLayerTopic(topic));
  const ofOthers = others.length === 0 ? [] : [`no data here: ${others.join(' ')}`];
  return [...ofOthers, ...topics.filter(isLayerTopic).map(unstudiedNote)].join('; ');
}

/** The note on what a service says of its data: `service's data: areas 2025, nri December 2025`. A remark names its topics, unless all have
 * it. '' where it says nothing.
 * @param texts what it says of some topics (`statedText`) */
export function statedNote(texts: readonly (readonly [TopicSlug, string])[]): string {
  if (texts.length === 0) return '';
  const stated = texts.map(([topic, text]) => ({ topic, data: readStated(text) }));
  const remarks = stated.flatMap(({ topic, data: [, own] }) =>
    own.map((remark) => ({ topic, remark })),
  );
  const lines = [...Map.groupBy(remarks, ({ remark }) => remark)].map(([remark, some]) => {
    if (some.length === stated.length) return remark;
    const topics = some.map(({ topic }) => topic);
    return `${remark}: ${listed(topics, LOOKED_UP.mostTopics)}`;
  });
  const vintages = new Set(stated.flatMap(({ data: [own] }) => own));
  // Answers from local data have remarks alone: their vintages are told for the whole run.
  const data = vintages.size === 0 ? [] : [`service's data: ${oldestFirst([...vintages])}`];
  return [...data, ...lines].join('; ');
}

/** The status of a cell, from its stored answers and failures.
 *
 * - `rejected`: the service refused this place.
 * - `deferred`: some topic was neither answered nor tried in this run: it is still to be bought, whatever else failed.
 * - `partial`: everything was tried, some topic has no answer. `failed`: none has.
 *
 * A failure counts only if it happened in this run (`triedSince`): a later run tries again, so until then the topic is
 * deferred, not failed. A topic that was set aside counts as tried, with the note that it has there. `timesOf` gives the times at which an answer to a topic counts; another answer
 * is written, and the row says that it is stale. */
export function cellStatus(
  record: CellRecord,
  topics: readonly TopicSlug[],
  timesOf: (topic: TopicSlug) => FreshTimes,
  triedSince: number,
  texts: StatusTexts = BOUGHT,
  setAside: ReadonlyMap<TopicSlug, string> = new Map(),
): CellStatus {
  const missing: TopicSlug[] = [];
  const stale: TopicSlug[] = [];
  const without: TopicSlug[] = [];
  const kept: TopicSlug[] = [];
  const failures = new Map<string, TopicSlug[]>();
  const onZones: string[] = [];
  let answered = 0;
  for (const topic of topics) {
    const answer = record.answers.get(topic);
    const failure = record.failures.get(topic);
    const failed = failure && failure.at >= triedSince ? failure.note : setAside.get(topic);
    if (answer && isFreshAt(answer.asOf, timesOf(topic))) {
      answered++;
      if (isNoData(answer.fields)) without.push(topic);
      else onZones.push(zoneNote(topic, answer.fields));
    } else if (failure?.reason === 'rejected' && failure.at >= triedSince - REJECTION_HOLDS_MS) {
      return { status: 'rejected', note: failure.note };
    } else if (failed !== undefined) {
      if (answer) {
        answered++;
        kept.push(topic);
      }
      failures.set(failed, [...(failures.get(failed) ?? []), topic]);
    } else if (answer) {
      stale.push(topic);
    } else {
      missing.push(topic);
    }
  }
  const notes = [...failures].map(([note, slugs]) => `${note}: ${listed(slugs, texts.mostTopics)}`);
  if (kept.length > 0) notes.push(`stale answer written: ${kept.join(' ')}`);
  if (without.length > 0) notes.push(noDataNote(without));
  notes.push(...onZones.filter(Boolean));
  if (stale.length > 0) notes.push(`${texts.stale}: ${stale.join(' ')}`);
  if (missing.length > 0)
    notes.push(
      missing.length === topics.length ? texts.missing : `${texts.missing}: ${missing.join(' ')}`,
    );
  if (missing.length + stale.length > 0) return { status: 'deferred', note: notes.join('; ') };
  if (failures.size === 0) return { status: 'ok', note: notes.join('; ') };
  return { status: answered > 0 ? 'partial' : 'failed', note: notes.join('; ') };
}

/** The note on a layer where it says nothing. */
function unstudiedNote(topic: TopicSlug): string {
  const radius = radiusOfLayer(topic);
  if (radius !== null)
    return `${topic}: the layer does not cover all within ${grouped(radius)} m of this place, so it is unknown`;
  const isZip = rowCodesOf(topic)?.level === 'zip';
  const nothing = `the ${isZip ? 'table says nothing here' : 'layer says nothing of this place'}, so it is unknown`;
  return `${topic}: ${layerOf(topic).outside_note ?? nothing}`;
}

const layerOf = (topic: TopicSlug): PolygonLayer => topicOf(topic).layer as PolygonLayer;

/** Whether the note of a row says this. */
export function saysUnstudied(topic: TopicSlug, note: Field | undefined): boolean {
  return isLayerTopic(topic) && typeof note === 'string' && note.includes(unstudiedNote(topic));
}

/** Up to how many metres to the next zone the note tells them; null for a topic without such a field. */
export function notedMeters(topic: TopicSlug): number | null {
  if (!isZoneTopic(topic)) return null;
  const { distance_m, noted_m = 0 } = layerOf(topic);
  return distance_m === undefined ? null : noted_m;
}

/** What the note says of the zone that a place got, by the last of its fields, the metres to the nearest other zone; '' for nothing.
 * @param fields the topic's own, in the order of its columns */
export function zoneNote(topic: TopicSlug, fields: readonly Field[]): string {
  const most = notedMeters(topic);
  const meters = fields.at(-1);
  if (most === null || typeof meters !== 'number' || meters > most) return '';
  const first = typeof layerOf(topic).overlaps === 'object' ? 'newest' : 'most hazardous';
  return meters === 0
    ? `${topic}: zones overlap or meet here, the ${first} is given`
    : `${topic}: another zone is ${meters} m away`;
}
