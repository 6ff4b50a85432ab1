import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { PerilbookError } from '../../base/errors.ts';
import { counted, grouped } from '../../base/format-numbers.ts';
import { perilbookColumns } from '../../columns/row.ts';
import { SAMPLE_NOTE } from '../../columns/row-status.ts';
import { TOPIC_SLUGS, type TopicSlug } from '../../contract/topics.ts';
import type { Job } from '../../job/settings.ts';
import { extensionOf } from '../../rows/files/compression.ts';
import { openRowFile } from '../../rows/open/open-row-file.ts';
import type { RowFile } from '../../rows/port.ts';
import type { Store } from '../../store/port.ts';
import type { RunRecord } from '../../store/runs/port.ts';
import type { Connection } from './connection-kinds.ts';
import { isEarlierFile, outputFiles } from './job-outputs.ts';

/** Where the answers of an output come from. */
export interface AnswersFrom {
  readonly kind: 'service' | 'local' | 'sample';
  /** The service's address; null where it is not known, and for other kinds. */
  readonly address: string | null;
}

/** The rows of an output that is there before a run. */
export interface ReplacedOutput {
  /** Null: no row says it. */
  readonly from: AnswersFrom | null;
  /** Its rows that are `ok`; 0 where it has no topic of the job. */
  readonly complete: number;
  /** The files that it is in. */
  readonly files: readonly string[];
}

/** What is lost if a run replaces an earlier output. */
export type Loss =
  | { readonly kind: 'other_source'; readonly earlier: AnswersFrom; readonly now: AnswersFrom }
  | { readonly kind: 'fewer_answers'; readonly earlier: number; readonly now: number };

/** Where the answers of this run come from, as the summary of a run records it. */
export function answersFrom({ kind, sample, source }: Connection): AnswersFrom {
  if (kind === 'local') return { kind, address: null };
  return sample ? { kind: 'sample', address: null } : { kind: 'service', address: source };
}

/** Reads what an earlier output of the job has: from the store's record of the run that wrote it, if the file has not changed since, else from
 * the file. Null where there is none, or no table that Perilbook wrote. */
export async function readReplacedOutput(job: Job, store: Store): Promise<ReplacedOutput | null> {
  const files = (await outputFiles(job)).filter(isEarlierFile);
  if (files.length === 0) return null;
  const recorded = earlierInStore(await store.runs(), job.output, files);
  if (recorded !== null) {
    const hasTopics = recorded.complete === 0 || (await hasTopicsOf(files[0]!, job));
    return hasTopics ? recorded : { ...recorded, complete: 0 };
  }
  const read: Omit<ReplacedOutput, 'files'>[] = [];
  for (const file of files) {
    const earlier = await earlierInFile(file, job);
    if (earlier !== null) read.push(earlier);
  }
  if (read.length === 0) return null;
  return {
    from: read.find(({ from }) => from !== null)?.from ?? null,
    complete: read.reduce((sum, { complete }) => sum + complete, 0),
    files,
  };
}

/** What a run's summary says of its output. One of an earlier version may lack it: then the file is read. */
const RECORDED = z.object({
  source: z.object({
    kind: z.enum(['service', 'local', 'sample']),
    address: z.string().nullable().default(null),
  }),
  sample_data: z.boolean(),
  status: z.object({ ok: z.number() }),
  output_kept: z.literal(false),
});

/** Times of files have other clocks than the store. */
const CLOCKS_DIFFER_MS = 2_000;

function earlierInStore(
  runs: readonly RunRecord[],
  output: string,
  files: readonly string[],
): ReplacedOutput | null {
  for (const run of runs) {
    if (run.output !== output || run.finishedAt === null) continue;
    const { success, data } = RECORDED.safeParse(run.summary);
    if (!success) continue;
    const until = run.finishedAt + CLOCKS_DIFFER_MS;
    if (files.some((file) => statSync(file).mtimeMs > until)) return null;
    const { kind, address } = data.source;
    // A service may say of its answers that they are made up.
    const from = data.sample_data
      ? ({ kind: 'sample', address: null } as const)
      : { kind, address };
    return { from: data.status.ok > 0 ? from : null, complete: data.status.ok, files };
  }
  return null;
}

async function earlierInFile(
  file: string,
  job: Job,
): Promise<Omit<ReplacedOutput, 'files'> | null> {
  return await orNull(async () => {
    const rowFile = await openRowFile(file);
    let complete = 0;
    let from: AnswersFrom | null = null;
    for await (const note of notesOfComplete(rowFile, job.prefix)) {
      complete++;
      from ??= { kind: kindInNote(note), address: null };
    }
    return {
      from,
      complete: topicsIn(rowFile, job).some((topic) => job.topics.includes(topic)) ? complete : 0,
    };
  });
}

/** Whether a file has columns of a topic that the job asks for: answers to other topics are no measure for its own. */
async function hasTopicsOf(file: string, job: Job): Promise<boolean> {
  const found = await orNull(async () => topicsIn(await openRowFile(file), job));
  return found === null || found.some((topic) => job.topics.includes(topic));
}

/** The topics whose columns a file has. */
function topicsIn(
  { columns }: Pick<RowFile, 'columns'>,
  { prefix }: Pick<Job, 'prefix'>,
): TopicSlug[] {
  const known = perilbookColumns(prefix);
  const there = new Set(columns.map((name) => known.get(name)?.topic));
  return TOPIC_SLUGS.filter((topic) => there.has(topic));
}

/** The position of the column with the status of each row, with the prefix of the job or another; -1 where there is none. */
export function statusColumn(columns: readonly string[], prefix: string): number {
  const own = columns.indexOf(`${prefix}hazard_status`);
  return own >= 0 ? own : columns.findIndex((name) => name.endsWith('hazard_status'));
}

/** The notes of the rows that are `ok`. */
async function* notesOfComplete(
  rowFile: Pick<RowFile, 'columns' | 'read'>,
  prefix: string,
): AsyncGenerator<string> {
  const status = statusColumn(rowFile.columns, prefix);
  if (status < 0) return;
  for await (const rows of rowFile.read([status, status + 1]))
    for (const { fields } of rows) if (fields[0] === 'ok') yield fields[1] ?? '';
}

/** Whether a file that is no table may be replaced is checked elsewhere. */
async function orNull<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof PerilbookError) return null;
    throw error;
  }
}

/** The topics whose columns an earlier output has and a job does not ask for; none where there is no such file, or where the job would fill
 * them from another source: columns that were paid for get no made-up values. */
export async function topicsOnlyBefore(job: Job): Promise<TopicSlug[]> {
  const { output, parts, prefix, topics, service } = job;
  if (parts !== null || !isEarlierFile(output)) return [];
  const found = await orNull(async () => {
    const rowFile = await openRowFile(output);
    const lost = topicsIn(rowFile, job).filter((topic) => !topics.includes(topic));
    if (lost.length === 0) return lost;
    for await (const note of notesOfComplete(rowFile, prefix))
      return MAY_FILL[service.kind].has(kindInNote(note)) ? lost : [];
    return lost;
  });
  return found ?? [];
}

/** The answers that a source can give again. A service may say of its answers that they are made up. */
const MAY_FILL: Readonly<Record<Job['service']['kind'], ReadonlySet<AnswersFrom['kind']>>> = {
  remote: new Set(['service', 'sample'] as const),
  local: new Set(['local'] as const),
  sample: new Set(['sample'] as const),
};

/** Local data and made-up data are named in the note of each row. A service may state nothing of its data. */
function kindInNote(note: string): AnswersFrom['kind'] {
  if (note === SAMPLE_NOTE || note.startsWith(`${SAMPLE_NOTE}; `)) return 'sample';
  return note.startsWith('local data: ') ? 'local' : 'service';
}

/** Whether the answers of a run would replace those of another source. Made-up answers are worth nothing: real ones replace them. */
export function sourceLoss(earlier: ReplacedOutput, now: AnswersFrom): Loss | null {
  const { from } = earlier;
  if (from === null || from.kind === 'sample') return null;
  const isSame =
    from.kind === now.kind &&
    (from.address === null || now.address === null || from.address === now.address);
  return isSame ? null : { kind: 'other_source', earlier: from, now };
}

/** Whether a run would write fewer rows with answers than are there. Rows that left the input are no loss, so where the sums say that there is
 * one, the rows that stayed are counted. Without that, a job that was paused would refuse the book of the next night.
 * @param now rows with an answer, also a stale one
 * @param located the input may have fewer rows than before
 * @param stayed counts the rows of the input that the output answers; null where it does not say it */
export async function answersLoss(
  { complete }: ReplacedOutput,
  { now, located }: { readonly now: number; readonly located: number },
  stayed: () => Promise<number | null>,
): Promise<Loss | null> {
  const most = Math.min(complete, located);
  if (now >= most) return null;
  const earlier = Math.min(most, (await stayed()) ?? most);
  return now < earlier ? { kind: 'fewer_answers', earlier, now } : null;
}

/** @param job the job that would replace its output
 * @param commandWith the command that writes another output; null where there is no command line */
export function lossError(
  loss: Loss,
  { output, limit }: Pick<Job, 'output' | 'limit'>,
  commandWith: ((output: string) => string) | null,
): PerilbookError {
  const other = otherName(output, loss, limit);
  const way =
    commandWith === null
      ? `Choose another output, such as ${other}`
      : `To another file: ${commandWith(other)}`;
  const hint = `${way}. To replace this one all the same: --force (in a program: force: true).`;
  return new PerilbookError('OUTPUT_EXISTS', `${output} ${lossText(loss)}`, hint, { file: output });
}

function lossText(loss: Loss): string {
  if (loss.kind === 'other_source')
    return `has answers of ${sourceText(loss.earlier, loss.now)}, and this run would replace them by those of ${sourceText(loss.now, loss.earlier)}`;
  const { earlier, now } = loss;
  return `has ${counted(earlier, 'row')} with answers, and this run would leave ${now === 0 ? 'none' : grouped(now)}`;
}

function sourceText({ kind, address }: AnswersFrom, other: AnswersFrom): string {
  const NAMES = {
    service: address !== null && other.kind === 'service' ? address : 'a lookup service',
    local: 'public data on this machine',
    sample: 'the sample, which are made up',
  } satisfies Record<AnswersFrom['kind'], string>;
  return NAMES[kind];
}

/** `b.hazards.sample.csv` for answers of the sample, `b.hazards.first-2.csv` for a trial with two rows. */
function otherName(output: string, loss: Loss, limit: number | null): string {
  const extension = extensionOf(output);
  const stem = basename(output, extension);
  const mark = (): string => {
    if (loss.kind === 'other_source') return loss.now.kind;
    return limit === null ? 'new' : `first-${limit}`;
  };
  return join(dirname(output), `${stem}.${mark()}${extension}`);
}
