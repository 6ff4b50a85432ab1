import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import type { Clock } from '../../clock.ts';
import { knownColumns } from '../../columns/row.ts';
import { findPerilbookColumns } from '../../rows/kept-columns.ts';
import { columnIn, type PartFile, type PartFiles } from '../../rows/parts/part-files.ts';
import { placeFields } from '../../rows/placed-fields.ts';
import type { PartTicket } from '../../store/part-store.ts';
import {
  addedTo,
  type FieldsSource,
  type OutputFields,
  outputFields,
  type PartCounts,
  type Written,
} from '../writing.ts';
import { outputOfPart } from './part-outputs.ts';
import { basisOf, FieldDigests, fileState, judgePart, type PartTarget } from './part-state.ts';
import { localPartWriter, type PartWriter, threadPartWriter } from './part-threads.ts';
import type { PartTask } from './write-part.ts';

/** How long a claim holds without a sign of life. A process that dies on this machine loses its claims at once. */
const LEASE_MS = 60_000;
/** A process that is stopped for less than this keeps its part. */
const RENEW_MS = LEASE_MS / 4;
/** How often a process looks at parts that others are writing. */
const POLL_MS = 500;

export interface PartsWriting extends FieldsSource {
  readonly files: PartFiles;
  readonly run: number;
  readonly clock: Clock;
  /** After it, parts that others are writing are not waited for. */
  readonly interrupt: AbortSignal;
  readonly notice: (message: string) => void;
  readonly onRows: (rows: number) => void;
  /** How many threads write; 0: this one. Left out: one a core, where that is faster. */
  readonly threads?: number | undefined;
}

/** A part, as far as the scan knows it. */
interface ScannedPart {
  readonly part: PartFile;
  readonly output: string;
  readonly columns: PartTask['columns'];
  readonly places: () => Int32Array<ArrayBuffer>;
  /** Null until it is known. */
  target: PartTarget | null;
}

/**
 * The last pass over part files: writes each part whole that is not up to date, together with other processes that share the store.
 * What a part is to contain is judged by digests of its input, of the settings and of its rows' fields, so that a run that changed
 * nothing writes nothing.
 */
export async function writeParts(writing: PartsWriting): Promise<Written> {
  const { files, job, scan, store, notice } = writing;
  const folder = await realpath(job.output);
  const names = files.parts.map(({ name }) => name);
  // Before the answers are read: what is written has all that was bought before this number was given.
  const { reading, gone } = await store.startParts(folder, { job: job.name, parts: names });
  for (const name of gone) {
    const old = outputOfPart(job.output, name);
    if (existsSync(old)) notice(`${old} is of a part that is no longer in the input. Delete it if you do not need it.`);
  }
  const digests = new FieldDigests(scan.cells.size + scan.places.unlocated.length);
  const fields = await outputFields(
    writing,
    placeFields((place, made) => digests.set(place, made)),
  );
  const parts = scannedParts(writing);
  const targetOf = (one: ScannedPart): PartTarget => {
    one.target ??= {
      basis: basisOf(one.part, one.columns, job.reading),
      fields: digests.ofRows(one.places()),
      reading,
    };
    return one.target;
  };
  const { counts, bytes } = await writeAll(writing, { folder, parts, targetOf, give: fields.give });
  return { rows: scan.rows, bytes, ...fields.sums(), parts: counts };
}

function scannedParts({ files, job, scan }: PartsWriting): ScannedPart[] {
  const { dropFrom, kept, numbers, added } = addedTo(scan, job);
  const known = knownColumns(job.prefix);
  let row = 0;
  return files.parts.map((part) => {
    const first = row;
    const rows = scan.partRows.get(part.name) ?? 0;
    row += rows;
    const own = (column: number) => columnIn(part, files.columns, column);
    return {
      part,
      output: outputOfPart(job.output, part.name),
      columns: {
        dropFrom: dropFrom === null ? null : findPerilbookColumns(part.columns, known),
        kept: kept.map((column) => ({ ...column, keeps: own(column.keeps) })).filter(({ keeps }) => keeps >= 0),
        numbers: new Set([...numbers].map(own)),
        added,
      },
      places: () => scan.places.placesFrom(scan.cells.size, first)(rows),
      target: null,
    };
  });
}

interface PartsToWrite {
  readonly folder: string;
  readonly parts: readonly ScannedPart[];
  readonly targetOf: (part: ScannedPart) => PartTarget;
  readonly give: OutputFields['give'];
}

async function writeAll(writing: PartsWriting, toWrite: PartsToWrite): Promise<{ counts: PartCounts; bytes: number }> {
  const { store, run, clock, interrupt, onRows, job } = writing;
  const { folder, parts, targetOf, give } = toWrite;
  const left = new Set(parts);
  const inWork = new Set<ScannedPart>();
  let [written, bytes] = [0, 0];
  const failed = new AbortController();

  /** Claims the next part to write. `held`: other processes write what is left; null: nothing is left for this writer. */
  async function nextPart(): Promise<{ one: ScannedPart; ticket: PartTicket } | 'held' | null> {
    for (const one of left) {
      if (inWork.has(one)) continue;
      inWork.add(one);
      let ticket: PartTicket | null = null;
      try {
        const { name: part } = one.part;
        const [record = null] = await store.parts(folder, part);
        const verdict = judgePart(record, targetOf(one), await fileState(one.output));
        if (verdict === 'current') {
          left.delete(one);
          onRows(one.places().length);
        } else if (verdict === 'write') {
          ticket = await store.claimPart({ folder, part, version: record?.version ?? 0, run, leaseMs: LEASE_MS });
        }
        if (ticket !== null) return { one, ticket };
      } finally {
        if (ticket === null) inWork.delete(one);
      }
    }
    return [...left].every((one) => inWork.has(one)) ? null : 'held';
  }

  async function writeClaimed(writer: PartWriter, one: ScannedPart, ticket: PartTicket): Promise<void> {
    const lost = new AbortController();
    const ended = new AbortController();
    const renewing = renew(ticket, lost, ended.signal);
    try {
      const { part, output, columns } = one;
      const task = { part, output, columns, reading: job.reading, places: one.places() };
      const result = await writer.write(task, AbortSignal.any([lost.signal, failed.signal]));
      const state = await fileState(output);
      const isMine =
        state !== null && (await store.finishPart(ticket, { ...targetOf(one), ...state, rows: result.rows }));
      if (!isMine) return;
      left.delete(one);
      written++;
      bytes += result.bytes;
    } catch (error) {
      // Another process has the part now, because this one was stopped for too long: look at it again.
      if (lost.signal.aborted && !failed.signal.aborted) return;
      await store.releasePart(ticket).catch(() => {});
      throw error;
    } finally {
      inWork.delete(one);
      ended.abort();
      await renewing;
    }
  }

  async function renew(ticket: PartTicket, lost: AbortController, ended: AbortSignal): Promise<void> {
    for (;;) {
      await clock.sleep(RENEW_MS, ended);
      if (ended.aborted) return;
      if (!(await store.renewPart(ticket, LEASE_MS).catch(() => false))) return lost.abort();
    }
  }

  async function writeInTurn(writer: PartWriter): Promise<void> {
    while (!failed.signal.aborted) {
      const next = await nextPart();
      if (next === null) return;
      if (next !== 'held') await writeClaimed(writer, next.one, next.ticket);
      else if (interrupt.aborted) return;
      else await clock.sleep(POLL_MS, AbortSignal.any([interrupt, failed.signal]));
    }
  }

  await using writers = new AsyncDisposableStack();
  const lanes = partWriters(writing, give).map((writer) =>
    writeInTurn(writers.use(writer)).catch((error: unknown) => failed.abort(error)),
  );
  await Promise.all(lanes);
  // The first error: the others are told to stop by it.
  failed.signal.throwIfAborted();
  const counts = { total: parts.length, written, up_to_date: parts.length - written - left.size, left: left.size };
  return { counts, bytes };
}

/** Cells whose fields all threads keep together; some 600 bytes each. */
const MOST_CELLS = 400_000;

function partWriters({ files, scan, onRows, threads }: PartsWriting, give: PartsToWrite['give']): PartWriter[] {
  const wanted = threads ?? threadsFor(scan.rows, scan.cells.size, availableParallelism());
  const count = Math.min(wanted, files.parts.length);
  if (count === 0) return [localPartWriter({ give, onRows })];
  const mostCells = Math.floor(MOST_CELLS / count);
  return Array.from({ length: count }, () => threadPartWriter({ give, onRows }, { mostCells }));
}

const LEAST_ROWS = 1_000_000;
const LEAST_ROWS_A_CELL = 50;

/**
 * How many threads write so many rows. Each thread takes half a second of processor time to start, and makes the text of each cell
 * again: for 1.2 million rows two threads took 1.1 to 1.25 times the processor time of none at 120 rows a cell, 1.45 times at 20.
 */
export function threadsFor(rows: number, cells: number, cores: number): number {
  return cores > 1 && rows >= Math.max(LEAST_ROWS, LEAST_ROWS_A_CELL * cells) ? cores : 0;
}
