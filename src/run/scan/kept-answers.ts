import { memo } from '../../base/memo.ts';
import { type RowStatus, SAMPLE_NOTE } from '../../columns/row-status.ts';
import { isTopicSlug, type TopicSlug } from '../../contract/topics.ts';

/* Columns of an earlier run stay in the output where the job does not ask for their topics. The status, note and time of a row speak of them too:
 * what the input says of them in its own status, note and time is read before these are replaced. */

/** Where a row has what an earlier run wrote: positions among the columns that are read; null for a column that a part file lacks. */
export interface KeptAnswers {
  readonly status: number | null;
  readonly note: number | null;
  readonly asOf: number | null;
  /** The topics whose columns stay, with these columns. */
  readonly topics: readonly { readonly topic: TopicSlug; readonly at: readonly number[] }[];
}

/** What the kept columns of a row have, as a number that threads and groups of rows share. */
export const KEPT = {
  /** An answer that is not made up. */
  real: 1,
  /** A made-up answer. */
  madeUp: 2,
  /** No answer, or a stale one, to some topic. */
  lacking: 4,
} as const;

/** A kept column, and its number in the file. */
export interface KeptTopicColumn {
  readonly topic: TopicSlug;
  readonly keeps: number;
}

/** Where the rows have what an earlier run wrote. @param from the number of its first column @param positionOf gives the position of a column */
export function keptAnswersAt(
  kept: readonly KeptTopicColumn[],
  from: number,
  positionOf: (column: number) => number | null,
): KeptAnswers {
  const [status, note, asOf] = [from, from + 1, from + 2].map(positionOf);
  const topics = [...Map.groupBy(kept, ({ topic }) => topic)].map(([topic, columns]) => ({
    topic,
    at: columns.map(({ keeps }) => positionOf(keeps)).filter((at) => at !== null),
  }));
  return { status: status!, note: note!, asOf: asOf!, topics };
}

/** What is said of the kept columns of a row. */
export interface KeptOfRow {
  /** A sum of `KEPT`. */
  readonly has: number;
  /** What the earlier run, and those before it, said. */
  readonly statements: readonly KeptStatement[];
}

interface KeptStatement {
  readonly topics: readonly TopicSlug[];
  /** The parts of its note. They may speak of other topics, too. */
  readonly parts: readonly string[];
  /** The topics without a fresh answer. */
  readonly lacking: readonly TopicSlug[];
}

/** Reads what an earlier run wrote of the kept columns of a row. */
export function keptOfRow(fields: readonly string[], kept: KeptAnswers): KeptOfRow {
  const isOk = fieldAt(fields, kept.status) === 'ok';
  const note = fieldAt(fields, kept.note);
  const answered = answeredIn(fields, kept).map((is) => (is ? '1' : '0'));
  let read = READERS.get(kept);
  if (read === undefined) {
    read = memo((key: string) => readKept(key, kept), NOTES_KEPT);
    READERS.set(kept, read);
  }
  return read([isOk ? 'ok' : '', answered.join(''), note].join('|'));
}

/** The time of the earlier run's oldest answer in milliseconds; null where there is no answer or no time. */
export function keptAsOf(fields: readonly string[], kept: KeptAnswers): number | null {
  const time = Date.parse(fieldAt(fields, kept.asOf));
  return Number.isNaN(time) || !answeredIn(fields, kept).includes(true) ? null : time;
}

function fieldAt(fields: readonly string[], at: number | null): string {
  return at === null ? '' : (fields[at] ?? '').trim();
}

function answeredIn(fields: readonly string[], { topics }: KeptAnswers): boolean[] {
  return topics.map(({ at }) => at.some((column) => fieldAt(fields, column) !== ''));
}

/** A million rows have few different notes. */
const NOTES_KEPT = 1_000;
const READERS = new WeakMap<KeptAnswers, (key: string) => KeptOfRow>();

/** @param key whether the row was `ok`, whether each topic has an answer, and the note */
function readKept(key: string, { topics: kept }: KeptAnswers): KeptOfRow {
  const [ok, answered] = key.split('|', 2);
  const text = key.slice(ok!.length + answered!.length + 2);
  const slugs = kept.map(({ topic }) => topic);
  const isAnswered = (topic: TopicSlug) => answered![slugs.indexOf(topic)] === '1';
  let has = 0;
  const statements = statementsOf(text, slugs).map(([topics, said]) => {
    const parts = said.split('; ').filter(Boolean);
    const lacking =
      ok === 'ok' ? [] : topics.filter((topic) => isMissing(topic, isAnswered(topic), parts));
    if (topics.some(isAnswered)) has |= parts.includes(SAMPLE_NOTE) ? KEPT.madeUp : KEPT.real;
    if (lacking.length > 0) has |= KEPT.lacking;
    return { topics, parts, lacking };
  });
  return { has, statements };
}

/** The status of a row, by that of the job's topics and by what its kept columns have. What is wrong with its location stays. */
export function statusWithKept(ofJob: RowStatus, has: number): RowStatus {
  if (ofJob === 'ok') return (has & KEPT.lacking) === 0 ? 'ok' : 'partial';
  if (ofJob === 'failed') return (has & (KEPT.real | KEPT.madeUp)) === 0 ? 'failed' : 'partial';
  return ofJob;
}

/** What stands between the topics of a statement and the rest of it. */
export const OF_EARLIER_RUN = ' of an earlier run';
/** The topics of a statement, in a note that speaks of columns of earlier runs. */
const STATEMENT = new RegExp(`(?:^|; )([^;:]+)${OF_EARLIER_RUN}(?:: |(?=; )|$)`);

/** What a note says of each of some topics: the run that wrote it had kept columns, too, perhaps. */
function statementsOf(
  note: string,
  kept: readonly TopicSlug[],
): (readonly [topics: readonly TopicSlug[], text: string])[] {
  const [ofRun = '', ...statements] = note.split(STATEMENT);
  const named: [TopicSlug[], string][] = [];
  for (let at = 0; at < statements.length; at += 2) {
    const names = statements[at]!.split(' ');
    named.push([kept.filter((topic) => names.includes(topic)), statements[at + 1]!]);
  }
  const others = kept.filter((topic) => named.every(([topics]) => !topics.includes(topic)));
  return [[others, ofRun] as const, ...named].filter(([topics]) => topics.length > 0);
}

/** Whether a topic of a row that is not `ok` lacks a fresh answer. */
function isMissing(topic: TopicSlug, isAnswered: boolean, parts: readonly string[]): boolean {
  const isSaid = (begin: string) =>
    parts.some(
      (part) => part.startsWith(begin) && namedAtEnd(part)?.topics.includes(topic) === true,
    );
  if (isAnswered) return isSaid('stale');
  return !isSaid('no data here: ') && !parts.some((part) => part.startsWith(`${topic}: `));
}

/** The topics that stand at the end of a part, such as `no data here: hail radon`; null where there are none. */
export function namedAtEnd(part: string): {
  readonly before: string;
  readonly topics: readonly TopicSlug[];
  readonly after: string;
} | null {
  const [, before, words, after = ''] = /^(.*): ([^:]+?)( and \d+ more)?$/.exec(part) ?? [];
  const topics = words?.split(' ') ?? [];
  if (before === undefined || !topics.every(isTopicSlug)) return null;
  return { before, topics: topics as TopicSlug[], after };
}
