import { memo } from '../../base/memo.ts';
import { perilbookColumns, SAMPLE_NOTE } from '../../columns/row.ts';
import type { RowStatus } from '../../columns/row-status.ts';
import type { Field } from '../../contract/answer.ts';
import { isTopicSlug, TOPIC_SLUGS, type TopicSlug } from '../../contract/topics.ts';
import { datasetsOf } from '../../data/topics/origin-notes.ts';

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
interface KeptOfRow {
  /** A sum of `KEPT`. */
  readonly has: number;
  /** What the note says of them. */
  readonly note: string;
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

/** The fields that are added to a row, with what is said of its kept columns in note and time. Of a row whose location is of no use nothing is said, unless they have answers.
 * @param note the position of the note, between status and time @param texts the row's, as `kept` has their positions */
export function fieldsWithKept(
  fields: readonly Field[],
  note: number,
  texts: readonly string[],
  kept: KeptAnswers,
): readonly Field[] {
  const said = keptOfRow(texts, kept);
  const isLookedUp = LOOKED_UP_STATUSES.has(String(fields[note - 1]));
  if (!isLookedUp && (said.has & (KEPT.real | KEPT.madeUp)) === 0) return fields;
  const asOf = fields[note + 1];
  const earlier = keptAsOf(texts, kept);
  const isOlder = earlier !== null && !(asOf != null && Date.parse(String(asOf)) <= earlier);
  const told = [...fields];
  told[note] = [fields[note], said.note].filter(Boolean).join('; ');
  if (isOlder) told[note + 1] = new Date(earlier).toISOString();
  return told;
}

const LOOKED_UP_STATUSES: ReadonlySet<string> = new Set([
  'ok',
  'partial',
  'deferred',
  'failed',
] satisfies RowStatus[]);

/** The time of the earlier run's oldest answer in milliseconds; null where there is no answer or no time. */
function keptAsOf(fields: readonly string[], kept: KeptAnswers): number | null {
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
  const notes = statementsOf(text, slugs).map(({ topics, text: said }) => {
    const parts = partsOf(said).flatMap((part) => partFor(part, topics) ?? []);
    const lacking =
      ok === 'ok' ? [] : topics.filter((topic) => isMissing(topic, isAnswered(topic), parts));
    if (topics.some(isAnswered)) has |= parts.includes(SAMPLE_NOTE) ? KEPT.madeUp : KEPT.real;
    if (lacking.length > 0) has |= KEPT.lacking;
    if (parts.length === 0 && lacking.length > 0) parts.push(`${NO_ANSWER}: ${lacking.join(' ')}`);
    return [`${topics.join(' ')}${OF_EARLIER_RUN}`, parts.join('; ')].filter(Boolean).join(': ');
  });
  return { has, note: notes.join('; ') };
}

/** The status of a row, by that of the job's topics and by what its kept columns have. What is wrong with its location stays. */
export function statusWithKept(ofJob: RowStatus, has: number): RowStatus {
  if (ofJob === 'ok') return (has & KEPT.lacking) === 0 ? 'ok' : 'partial';
  if (ofJob === 'failed') return (has & (KEPT.real | KEPT.madeUp)) === 0 ? 'failed' : 'partial';
  return ofJob;
}

const OF_EARLIER_RUN = ' of an earlier run';
const NO_ANSWER = 'no answer';
/** The topics of a statement, in a note that speaks of columns of earlier runs. */
const STATEMENT = new RegExp(`(?:^|; )([^;:]+)${OF_EARLIER_RUN}(?:: |(?=; )|$)`);

interface KeptStatement {
  readonly topics: readonly TopicSlug[];
  readonly text: string;
}

/** What a note says of each of some topics: the run that wrote it had kept columns, too, perhaps. */
function statementsOf(note: string, kept: readonly TopicSlug[]): KeptStatement[] {
  const [ofRun = '', ...statements] = note.split(STATEMENT);
  const named: KeptStatement[] = [];
  for (let at = 0; at < statements.length; at += 2) {
    const names = statements[at]!.split(' ');
    const topics = kept.filter((topic) => names.includes(topic));
    named.push({ topics, text: statements[at + 1]! });
  }
  const others = kept.filter((topic) => named.every(({ topics }) => !topics.includes(topic)));
  return [{ topics: others, text: ofRun }, ...named].filter(({ topics }) => topics.length > 0);
}

const partsOf = (text: string): string[] => text.split('; ').filter(Boolean);

/** Whether a topic of a row that is not `ok` lacks a fresh answer. */
function isMissing(topic: TopicSlug, isAnswered: boolean, parts: readonly string[]): boolean {
  const isSaid = (begin: string) =>
    parts.some(
      (part) => part.startsWith(begin) && namedAtEnd(part)?.topics.includes(topic) === true,
    );
  if (isAnswered) return isSaid('stale');
  return !isSaid('no data here: ') && !parts.some((part) => part.startsWith(`${topic}: `));
}

/** A part of a note as it is of some topics; null where it speaks of others alone. */
function partFor(part: string, topics: readonly TopicSlug[]): string | null {
  const listed = namedAtEnd(part);
  if (listed !== null) {
    const own = listed.topics.filter((topic) => topics.includes(topic));
    return own.length === 0 ? null : `${listed.before}: ${own.join(' ')}${listed.after}`;
  }
  const [, label, entries] = /^(local data|service's data): (.*)$/.exec(part) ?? [];
  if (entries !== undefined) {
    const own = datasetsIn(entries, topics);
    return own === '' ? null : `${label}: ${own}`;
  }
  const [subject] = part.split(':', 1);
  const of = subject!.split(' ').map((word) => topicOfWord(word));
  const isOfOthers = of.every((topic) => topic !== null && !topics.includes(topic));
  return isOfOthers ? null : part;
}

/** The topics that stand at the end of a part, such as `no data here: hail radon`; null where there are none. */
function namedAtEnd(part: string): {
  readonly before: string;
  readonly topics: readonly TopicSlug[];
  readonly after: string;
} | null {
  const [, before, words, after = ''] = /^(.*): ([^:]+?)( and \d+ more)?$/.exec(part) ?? [];
  const topics = words?.split(' ') ?? [];
  if (before === undefined || !topics.every(isTopicSlug)) return null;
  return { before, topics: topics as TopicSlug[], after };
}

/** The datasets of a note, as `nri December 2025`, without those that answer none of some topics. */
function datasetsIn(entries: string, topics: readonly TopicSlug[]): string {
  const [all, own] = [datasetsOf(TOPIC_SLUGS, true), datasetsOf(topics, true)];
  const nameOf = (entry: string) => entry.split(' ', 1)[0]!;
  const isOther = (entry: string) => all.has(nameOf(entry)) && !own.has(nameOf(entry));
  return entries
    .split(', ')
    .filter((entry) => !isOther(entry))
    .join(', ');
}

/** The topic that a word names, as its name or as that of one of its columns; null for another word. */
function topicOfWord(word: string): TopicSlug | null {
  if (isTopicSlug(word)) return word;
  return perilbookColumns().get(word)?.topic ?? null;
}
