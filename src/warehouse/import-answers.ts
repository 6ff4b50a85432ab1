import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Answer } from '../contract/answer.ts';
import type { TopicSlug } from '../contract/topics.ts';
import { PerilbookError } from '../errors.ts';
import type { CellAnswers, Store } from '../store/port.ts';
import { type ImportedRow, readAnswers } from './read-answers.ts';

export interface Imported {
  /** Places that got an answer. */
  places: number;
  answers: number;
  /** Answers of which the store has one as new or newer. */
  alreadyStored: number;
  /** Answers from sample data of a service that also has real ones: they are left out. */
  sample: number;
}

const CELLS_A_WRITE = 5_000;

type RowBatches = AsyncIterable<readonly ImportedRow[]>;
/** Whether all answers of a source are sample data, by its name. They stay under that name. */
type IsSampleSource = (source: string) => boolean;

/** The files that `cache export` may have written at a path. @throws INPUT_UNREADABLE */
export function filesOfExport(path: string): string[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) {
    throw new PerilbookError('INPUT_UNREADABLE', `${path} does not exist`, 'Check the path.', { file: path });
  }
  if (!stats.isDirectory()) return [path];
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => /\.(?:parquet|csv|ndjson|jsonl)(?:\.(?:gz|zst))?$/i.test(name)).sort();
  if (files.length > 0) return files.map((name) => join(path, name));
  const hint = 'Name the folder or the file of a cache export.';
  throw new PerilbookError('INPUT_UNREADABLE', `${path} has no .parquet, .csv or .ndjson file`, hint, { file: path });
}

/** Brings the answers of exported files into a store. All files are checked before the first answer is written. */
export async function importFiles(
  store: Store,
  files: readonly string[],
  now: number,
  isSampleSource: IsSampleSource,
): Promise<Imported> {
  for (const file of files) for await (const _ of readAnswers(file, now));
  const sums = noneImported();
  for (const file of files) await putRows(store, readAnswers(file, now), isSampleSource, sums);
  return sums;
}

/** Brings the answers of another store into a store, and the rejections of locations. The ledger, runs and kept details stay where
 * they are. */
export async function importStore(store: Store, other: Store, isSampleSource: IsSampleSource): Promise<Imported> {
  const sums = noneImported();
  await putRows(store, rowsOfStore(other), isSampleSource, sums);
  return sums;
}

const noneImported = (): Imported => ({ places: 0, answers: 0, alreadyStored: 0, sample: 0 });

async function* rowsOfStore(other: Store): RowBatches {
  const untils = new Map<string, number>();
  let batch: ImportedRow[] = [];
  for await (const { source, cell, record } of other.cells()) {
    if (!untils.has(source)) {
      const mark = await other.sampleMark(await other.source(source));
      untils.set(source, mark?.until ?? Number.NEGATIVE_INFINITY);
    }
    const isSample = ({ asOf }: Answer) => asOf <= untils.get(source)!;
    const answers = [...record.answers.values()];
    const rejections = [...record.failures].filter(([, { reason }]) => reason === 'rejected');
    const failures = rejections.map(([topic, failure]) => ({ topic, ...failure }));
    batch.push({ source, cell, answers: answers.filter((answer) => !isSample(answer)), failures, isSample: false });
    batch.push({ source, cell, answers: answers.filter(isSample), failures: [], isSample: true });
    if (batch.length < CELLS_A_WRITE) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}

async function putRows(store: Store, batches: RowBatches, isSampleSource: IsSampleSource, sums: Imported) {
  const numbers = new Map<string, number>();
  for await (const rows of batches) {
    for (const [name, ofSource] of Map.groupBy(rows, ({ source }) => source)) {
      const leftOut = isSampleSource(name) ? [] : ofSource.filter(({ isSample }) => isSample);
      sums.sample += leftOut.reduce((sum, { answers }) => sum + answers.length, 0);
      const cells = cellsOf(ofSource.filter((row) => !leftOut.includes(row)));
      if (cells.length === 0) continue;
      if (!numbers.has(name)) numbers.set(name, await store.source(name));
      await putNewer(store, numbers.get(name)!, cells, sums);
    }
  }
}

/** Writes what the store does not know better. `putAnswers` keeps the newer answer too: this one counts them, and spares the
 * writes of an import that is repeated. */
async function putNewer(store: Store, source: number, cells: readonly CellAnswers[], sums: Imported): Promise<void> {
  const stored = await store.read(
    source,
    cells.map(({ cell }) => cell),
  );
  const newer: CellAnswers[] = [];
  for (const [index, { cell, answers, failures }] of cells.entries()) {
    const answeredAt = (topic: TopicSlug) => stored[index]?.answers.get(topic)?.asOf ?? Number.NEGATIVE_INFINITY;
    const failedAt = (topic: TopicSlug) => stored[index]?.failures.get(topic)?.at ?? Number.NEGATIVE_INFINITY;
    const taken = answers.filter(({ topic, asOf }) => asOf > answeredAt(topic));
    const rejected = failures.filter(({ topic, at }) => at > Math.max(answeredAt(topic), failedAt(topic)));
    sums.alreadyStored += answers.length - taken.length;
    if (taken.length === 0 && rejected.length === 0) continue;
    sums.answers += taken.length;
    if (taken.length > 0) sums.places++;
    newer.push({ cell, answers: taken, failures: rejected });
  }
  if (newer.length > 0) await store.putAnswers(source, newer);
}

/** The rows by cell, with the newest answer to each topic: a line an answer gives a cell many rows. */
function cellsOf(rows: readonly ImportedRow[]): CellAnswers[] {
  return [...Map.groupBy(rows, ({ cell }) => `${cell.lat7} ${cell.lng7}`).values()].map((ofCell) => {
    const newest = new Map<TopicSlug, Answer>();
    for (const answer of ofCell.flatMap(({ answers }) => answers)) {
      if (answer.asOf > (newest.get(answer.topic)?.asOf ?? Number.NEGATIVE_INFINITY)) newest.set(answer.topic, answer);
    }
    return {
      cell: ofCell[0]!.cell,
      answers: [...newest.values()],
      failures: ofCell.flatMap(({ failures }) => failures),
    };
  });
}
