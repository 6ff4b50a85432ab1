import { memo } from '../../base/memo.ts';
import { perilbookColumns } from '../../columns/row.ts';
import type { RowStatus } from '../../columns/row-status.ts';
import type { Field } from '../../contract/answer.ts';
import { isTopicSlug, TOPIC_SLUGS, type TopicSlug } from '../../contract/topics.ts';
import { datasetsOf } from '../../data/topics/origin-notes.ts';
import {
  KEPT,
  type KeptAnswers,
  type KeptOfRow,
  keptAsOf,
  keptOfRow,
  namedAtEnd,
  OF_EARLIER_RUN,
} from '../scan/kept-answers.ts';

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
  told[note] = [fields[note], keptNote(said)].filter(Boolean).join('; ');
  if (isOlder) told[note + 1] = new Date(earlier).toISOString();
  return told;
}

const LOOKED_UP_STATUSES: ReadonlySet<string> = new Set([
  'ok',
  'partial',
  'deferred',
  'failed',
] satisfies RowStatus[]);

/** What the note of a row says of its kept columns. Rows with the same share it. */
export const keptNote: (said: KeptOfRow) => string = memo(({ statements }: KeptOfRow) => {
  const notes = statements.map(({ topics, parts, lacking }) => {
    const own = parts.flatMap((part) => partFor(part, topics) ?? []);
    if (own.length === 0 && lacking.length > 0) own.push(`no answer: ${lacking.join(' ')}`);
    return [`${topics.join(' ')}${OF_EARLIER_RUN}`, own.join('; ')].filter(Boolean).join(': ');
  });
  return notes.join('; ');
}, 1_000);

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
