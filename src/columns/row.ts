import { isoDay } from '../base/format-numbers.ts';
import { memo } from '../base/memo.ts';
import { type CellRecord, type Field, isNoData, PRESENT_HOLDS_MS } from '../contract/answer.ts';
import {
  isZoneTopic,
  NATURAL_SLUGS,
  TOPICS,
  type Topic,
  type TopicSlug,
} from '../contract/topics.ts';
import type { AddedColumn } from '../rows/port.ts';
import type { ToldField } from '../store/answers/port.ts';
import { type LossColumns, lossColumns } from './loss-columns.ts';
import {
  type CellStatus,
  noDataNote,
  notedMeters,
  SAMPLE_NOTE,
  statedNote,
  zoneNote,
} from './row-status.ts';
import { columnsOf, wantedColumns } from './topic-columns.ts';

/** The columns that come before the topics' own, on every row. */
export const LEADING_COLUMNS: readonly AddedColumn[] = [
  { name: 'hazard_status', type: 'text' },
  { name: 'hazard_note', type: 'text' },
  { name: 'hazard_as_of', type: 'time' },
];

/** The columns that are added for some topics, in order; without `counts` those that count records of `details` are left out. */
export function addedColumns(
  topics: readonly TopicSlug[],
  prefix = '',
  counts = true,
  losses: LossColumns = 'none',
): AddedColumn[] {
  const ofTopics = topics.flatMap((topic) => wantedColumns(topic, counts));
  return [...LEADING_COLUMNS, ...ofTopics, ...lossColumns(topics, losses)].map(
    ({ name, type }) => ({
      name: prefix + name,
      type,
    }),
  );
}

/** The column of a GeoParquet output with the place of each row: the location that was looked up. It is the last one. */
export function geometryColumn(prefix = ''): AddedColumn {
  return { name: `${prefix}hazard_geometry`, type: 'point' };
}

/** A column that an earlier run may have written, and its topic: none for status, note, time and point. */
export interface PerilbookColumn {
  readonly type: AddedColumn['type'];
  readonly topic: TopicSlug | null;
}

/** Every column that Perilbook may have written for some topics, by its name. They identify an earlier output. */
export function perilbookColumns(
  prefix = '',
  topics: readonly Topic[] = TOPICS,
): ReadonlyMap<string, PerilbookColumn> {
  const entry = ({ name, type }: AddedColumn, topic: TopicSlug | null) =>
    [prefix + name, { type, topic }] as const;
  const ofTopics = topics.flatMap(({ slug }) =>
    columnsOf(slug).map((column) => entry(column, slug)),
  );
  const ofLosses = lossColumns(NATURAL_SLUGS, 'amounts').map((column) =>
    entry(column, column.topic),
  );
  const { name, type } = geometryColumn();
  // The reader of Parquet gives the coordinates of a point as columns of their own.
  const ofPoint = [name, `${name}.latitude`, `${name}.longitude`].map((column) => ({
    name: column,
    type,
  }));
  const [first, last] = [LEADING_COLUMNS, ofPoint].map((columns) =>
    columns.map((column) => entry(column, null)),
  );
  return new Map([...first!, ...ofTopics, ...ofLosses, ...last!]);
}

/** The fields of a row whose location was looked up, in the order of `addedColumns`. `isSample` decides by the time of the oldest answer
 * whether it is sample data; `now` is the time of the run. */
export function enrichedFields(
  record: CellRecord,
  topics: readonly TopicSlug[],
  status: CellStatus,
  isSample: (oldest: number) => boolean,
  counts: boolean,
  now: number,
): Field[] {
  let oldest = Number.POSITIVE_INFINITY;
  const fields: Field[] = [];
  const notes = [status.note];
  const stated: [TopicSlug, string][] = [];
  for (const topic of topics) {
    const answer = record.answers.get(topic);
    const width = wantedColumns(topic, counts).length;
    const isStored = answer !== undefined && answer.fields.length >= width;
    for (let i = 0; i < width; i++) fields.push(isStored ? answer.fields[i]! : null);
    if (!isStored) continue;
    oldest = Math.min(oldest, answer.asOf);
    if (answer.stated) stated.push([topic, answer.stated]);
    if (!isPast(answer.asOf, now)) continue;
    notes.push(
      presentNote(emptyPresent(topic, fields, fields.length - width, fields.length), answer.asOf),
    );
  }
  const isAnswered = Number.isFinite(oldest);
  const asOf = isAnswered ? new Date(oldest).toISOString() : null;
  const sample = isAnswered && isSample(oldest);
  const note = [sample ? '' : statedNote(stated), ...notes].filter(Boolean).join('; ');
  return [...leadingFields(asOf, { ...status, note }, sample), ...fields];
}

/** The fields of complete rows, from the topics' own fields and the time of the oldest answer. `stated` is what a service states of its
 * data: a line for each topic, '' where it states nothing. */
export type CompleteFields = (oldest: number, fields: readonly Field[], stated?: string) => Field[];

/** @param origin the source of the answers, as the note names it, or the function that names it for the topics with an answer: what has
 * nothing on a place gave none */
export function completeFields(
  topics: readonly TopicSlug[],
  counts: boolean,
  isSample: (oldest: number) => boolean,
  now: number,
  origin: string | ((answered: readonly TopicSlug[]) => string) = '',
): CompleteFields {
  let next = 0;
  const spans = topics.map((topic) => {
    const from = next;
    next += wantedColumns(topic, counts).length;
    return { topic, from, to: next };
  });
  // The answers of one run have few different times, and formatting one costs as much as all other fields.
  let [last, lastText] = [Number.NaN, ''];
  const leading = (oldest: number, note: string): readonly Field[] => {
    if (oldest !== last) [last, lastText] = [oldest, new Date(oldest).toISOString()];
    return leadingFields(lastText, { status: 'ok', note }, isSample(oldest));
  };
  const zones = spans.filter(({ topic }) => isZoneTopic(topic));
  const noteIn = memo((stated: string) =>
    statedNote(
      stated
        .split('\n')
        .flatMap((text, index) => (text === '' ? [] : [[topics[index]!, text] as const])),
    ),
  );
  const ofAll = typeof origin === 'string' ? origin : origin(topics);
  const ofAnswered = (without: ReadonlySet<TopicSlug>): string => {
    if (typeof origin === 'string' || without.size === 0) return ofAll;
    return without.size === topics.length
      ? ''
      : origin(topics.filter((topic) => !without.has(topic)));
  };
  const originIn = (stated: string, oldest: number, without: ReadonlySet<TopicSlug>) =>
    stated === '' || isSample(oldest)
      ? ofAnswered(without)
      : [ofAnswered(without), noteIn(stated)].filter(Boolean).join('; ');
  return (oldest, fields, stated = '') => {
    const without = spans.filter(
      ({ from, to }) => fields[from] === null && isNoData(fields.slice(from, to)),
    );
    const none = without.length === 0 ? '' : noDataNote(without.map(({ topic }) => topic));
    const onZones = zones.map(({ topic, from, to }) => zoneNote(topic, fields.slice(from, to)));
    // The time of a complete row is that of its oldest answer: a field of the present is not told by an older row.
    const told = [...fields];
    const ended = isPast(oldest, now)
      ? spans.flatMap(({ topic, from, to }) => emptyPresent(topic, told, from, to))
      : [];
    const withoutData = new Set(without.map(({ topic }) => topic));
    const note = [
      originIn(stated, oldest, withoutData),
      none,
      ...onZones,
      presentNote(ended, oldest),
    ]
      .filter(Boolean)
      .join('; ');
    return [...leading(oldest, note), ...told];
  };
}

/** An answer has the service's time. */
const CLOCKS_DIFFER_MS = 3_600_000;

/** The columns that speak of the moment of their answer. */
const PRESENT_COLUMNS: ReadonlySet<string> = new Set(['wildfire_current']);

const presentIndexes = memo((topic: TopicSlug): readonly number[] =>
  columnsOf(topic).flatMap(({ name }, index) => (PRESENT_COLUMNS.has(name) ? [index] : [])),
);

/** Whether an answer of a time no longer tells what is now. */
const isPast = (asOf: number, now: number): boolean =>
  asOf < now - PRESENT_HOLDS_MS - CLOCKS_DIFFER_MS;

/** The fields of a topic of which the note of a row speaks. */
export function toldFields(topic: TopicSlug, now: number): ToldField[] {
  const atMost = notedMeters(topic);
  const meters = { field: columnsOf(topic).length - 1, atMost, endedBefore: null };
  const endedBefore = now - PRESENT_HOLDS_MS - CLOCKS_DIFFER_MS;
  return [
    ...(atMost === null ? [] : [meters]),
    ...presentIndexes(topic).map((field) => ({ field, atMost: null, endedBefore })),
  ];
}

/** Empties the fields of the present of a topic. @returns the names of their columns */
function emptyPresent(topic: TopicSlug, fields: Field[], from: number, to: number): string[] {
  const told = presentIndexes(topic).filter(
    (index) => from + index < to && fields[from + index] !== null,
  );
  for (const index of told) fields[from + index] = null;
  return told.map((index) => columnsOf(topic)[index]!.name);
}

/** Why fields of the present are empty; '' if none is. */
function presentNote(names: readonly string[], asOf: number): string {
  return names.length === 0
    ? ''
    : `${names.join(' ')}: unknown now, the answer is of ${isoDay(asOf)}`;
}

/** The fields before the topics' own. `asOf`: the time of the oldest answer, in ISO 8601. */
function leadingFields(
  asOf: string | null,
  { status, note }: CellStatus,
  sample: boolean,
): Field[] {
  return [status, [sample ? SAMPLE_NOTE : '', note].filter(Boolean).join('; ') || null, asOf];
}

/** The fields of a row that was not looked up: only its status and the reason. */
export function bareFields(
  topics: readonly TopicSlug[],
  status: CellStatus,
  counts = true,
): Field[] {
  const width = topics.reduce((sum, topic) => sum + wantedColumns(topic, counts).length, 0);
  return [...leadingFields(null, status, false), ...new Array<null>(width).fill(null)];
}
