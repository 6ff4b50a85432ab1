import { memo } from '../../base/memo.ts';
import { type CompleteFields, completeFields, enrichedFields } from '../../columns/row.ts';
import { cellStatus, LOOKED_UP, OF_BOTH, type RowStatus } from '../../columns/row-status.ts';
import { wantedColumns } from '../../columns/topic-columns.ts';
import {
  type Answer,
  type CellRecord,
  type Field,
  isNoData,
  isReplaced,
} from '../../contract/answer.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import type { PlaceOrigin } from '../../data/topics/origin-notes.ts';
import type { RecordWithAreas } from '../areas/run-areas.ts';
import { timesOf } from '../frame/freshness.ts';
import type { RunContext } from '../frame/run-context.ts';
import { plainFields } from '../plan/place-fields.ts';
import type { Plan } from '../plan/planning.ts';
import type { KnownForm } from '../plan/source-fields.ts';
import { statusWithKept } from '../scan/kept-answers.ts';
import type { OfCodes } from './coded-places.ts';

/** Places with the same status and note. */
export interface PlaceKind {
  readonly status: RowStatus;
  /** The status by the job's topics alone, where columns of an earlier run stay. */
  readonly ofJob?: RowStatus;
  /** To topics of the job. */
  readonly hasAnswers: boolean;
  /** The fields of status and note. */
  readonly fields: readonly Field[];
}

/** Makes status and note of places. */
interface KindMaker {
  /** A place with all answers. @param completed makes status and note; default: by `from` */
  complete(
    form: KnownForm | null,
    oldest: number,
    isSample: boolean,
    from: PlaceOrigin | null,
    completed?: CompleteFields,
  ): PlaceKind;
  lacking(record: CellRecord, isSample: boolean, from: PlaceOrigin | null): PlaceKind;
  /** All fields of a place that lacks something, with the answers of its areas, and those of codes. */
  withAreas(record: RecordWithAreas, cell: number, codes?: OfCodes): PlaceKind;
  /** A place with answers of codes. */
  withCodes(
    held: CellRecord,
    codes: OfCodes,
    oldest: number,
    isSample: boolean,
    from: PlaceOrigin | null,
  ): PlaceKind;
}

/** Makes status and note of places. */
export function kindMaker(context: RunContext, plan: Plan): KindMaker {
  const { job, freshness, setAside, sampleRows, connection, sources } = context;
  const { topics, counts } = job;
  const { startedAt } = freshness;
  const times = (topic: TopicSlug) => timesOf(freshness, topic);
  const { origin } = plan;
  const completeBy =
    (from: PlaceOrigin | null, byCode?: readonly TopicSlug[]) => (isSample: boolean) =>
      completeFields(
        topics,
        counts,
        () => isSample,
        startedAt,
        (answered) => (from === null ? '' : origin!.noteOf(answered, from, byCode)),
      );
  const completeOf = memo((from: PlaceOrigin | null) => memo(completeBy(from)));
  const width = (topic: TopicSlug) => wantedColumns(topic, counts).length;

  function lacking(
    held: CellRecord,
    isSample: (oldest: number) => boolean,
    from: PlaceOrigin | null,
    used: readonly string[] = [],
    byCode: readonly TopicSlug[] = [],
  ): PlaceKind {
    const isLocal = connection.kind === 'local';
    const record = isLocal ? withoutReplaced(held) : held;
    const ofBoth = sources.length > 1 ? OF_BOTH : undefined;
    const texts = isLocal ? LOOKED_UP : ofBoth;
    const result = cellStatus(record, topics, times, startedAt, texts, setAside);
    const answered = topics.filter((topic) => record.answers.has(topic));
    // A dataset that has nothing on the place gave no answer.
    const told = answered.filter((topic) => !isNoData(record.answers.get(topic)!.fields));
    const ofOrigin = origin !== null && told.length > 0 ? origin.noteOf(told, from!, byCode) : '';
    const note = [ofOrigin, result.note, used.length > 0 ? `by ${used.join(' and ')}` : '']
      .filter(Boolean)
      .join('; ');
    const fields = enrichedFields(record, topics, { ...result, note }, isSample, counts, startedAt);
    return { status: result.status, hasAnswers: answered.length > 0, fields };
  }

  return {
    complete(form, oldest, isSample, from, completed = completeOf(from)(isSample)) {
      const answers = form === null ? [] : topics.map((topic) => form.record.answers.get(topic)!);
      const stated = answers.some((answer) => answer.stated)
        ? answers.map((answer) => answer.stated ?? '').join('\n')
        : '';
      const own = topics.flatMap((topic, index) =>
        form === null ? plainFields(width(topic)) : answers[index]!.fields.slice(0, width(topic)),
      );
      const [status, note] = completed(oldest, own, stated);
      return { status: 'ok', hasAnswers: true, fields: [status!, note!] };
    },
    lacking(record, isSample, from) {
      const { fields, ...kind } = lacking(record, () => isSample, from);
      return { ...kind, fields: fields.slice(0, 2) };
    },
    withAreas({ record, used }, cell, codes = NO_CODES) {
      const from = origin?.originOf(cell) ?? null;
      const byCode = [...codes.answers.keys()];
      const made = lacking(answered(record, codes), sampleRows.has, from, used, byCode);
      return withRemark(made, codes.remark);
    },
    withCodes(held, codes, oldest, isSample, from) {
      const record = answered(held, codes);
      const byCode = [...codes.answers.keys()];
      const made = lacking(record, () => isSample, from, [], byCode);
      if (made.status !== 'ok') return withRemark(plainKind(made), codes.remark);
      const time = Number.isNaN(oldest) ? startedAt : oldest;
      const form = { isComplete: true, record };
      const completed = completeBy(from, byCode)(isSample);
      return withRemark(this.complete(form, time, isSample, from, completed), codes.remark);
    },
  };
}

const NO_CODES: OfCodes = { key: '', answers: new Map(), remark: '' };

/** A record with the answers of codes in place of what it has to their topics. */
function answered({ answers, failures }: CellRecord, codes: OfCodes): CellRecord {
  const others = [...failures].filter(([topic]) => !codes.answers.has(topic));
  return { answers: new Map([...answers, ...codes.answers]), failures: new Map(others) };
}

/** A kind with its first fields alone, status and note. */
export const plainKind = ({ fields, ...kind }: PlaceKind): PlaceKind => ({
  ...kind,
  fields: fields.slice(0, 2),
});

/** A kind whose note says more. */
export function withRemark(
  { fields: [status, note, ...others], ...kind }: PlaceKind,
  remark: string,
): PlaceKind {
  const said = [note, remark].filter(Boolean).join('; ') || null;
  return { ...kind, fields: [status!, said, ...others] };
}

/** A kind of rows with kept columns of an earlier run.
 * @param has what these columns have (`KEPT`)
 * @param lacking what the note says where only they lack something; '' where the note of each row says it */
export function withKept(kind: PlaceKind, has: number, lacking: string): PlaceKind {
  const status = statusWithKept(kind.status, has);
  const { fields, ...rest } =
    kind.status === 'ok' && status !== 'ok' ? withRemark(kind, lacking) : kind;
  return { ...rest, status, ofJob: kind.status, fields: [status, ...fields.slice(1)] };
}

/** Without the answers that a later look-up did not find again: their data was removed or replaced, and costs nothing to look up. */
function withoutReplaced({ answers, failures }: CellRecord): CellRecord {
  const isCurrent = ({ topic, asOf }: Answer) => !isReplaced(asOf, failures.get(topic)?.at);
  return { answers: new Map([...answers].filter(([, answer]) => isCurrent(answer))), failures };
}
