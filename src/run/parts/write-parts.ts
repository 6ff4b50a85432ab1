import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { perilbookColumns } from '../../columns/row.ts';
import { findPerilbookColumns } from '../../rows/kept-columns.ts';
import { columnIn, openPart, type PartFile, type PartFiles } from '../../rows/parts/part-files.ts';
import type { PlacedFields, WriteRequest, WriteResult } from '../../rows/port.ts';
import type { PartTicket } from '../../store/part-store.ts';
import type { ThreadPool } from '../../threads/thread-pool.ts';
import type { Plan } from '../plan/planning.ts';
import { record } from '../progress.ts';
import type { RunContext } from '../run-context.ts';
import { otherRows } from '../scan/row-places.ts';
import type { Scan } from '../scan/scan-input.ts';
import type { Job } from '../settings/settings.ts';
import { addedTo, openWriteThreads, outputFields, type PartCounts, type Written } from '../write/write-output.ts';
import { outputOfPart } from './part-outputs.ts';
import { basisOf, FieldDigests, fileState, judgePart, type PartTarget } from './part-state.ts';

/** How long a claim holds without a sign of life. A process that dies on this machine loses its claims at once. */
const LEASE_MS = 60_000;
/** A process that is suspended for less than this keeps its part. */
const RENEW_MS = LEASE_MS / 4;
/** How often a process looks at parts that others are writing. */
const POLL_MS = 500;
/** Parts in progress at once: threads write one while another is synced to the disk and recorded in the store. */
const PARTS_AT_ONCE = 2;

/** A part with the scan's results. */
interface ScannedPart {
  readonly part: PartFile;
  readonly output: string;
  readonly columns: Pick<WriteRequest, 'dropFrom' | 'kept' | 'numbers' | 'decimal' | 'added'>;
  readonly rows: number;
  /** Returns the number of each row's cell or finding, from the part's first row. */
  readonly places: () => PlacedFields['next'];
  /** Its pieces, if threads write it. */
  readonly inThreads: PlacedFields['inThreads'];
  /** Null until it is known. */
  target: PartTarget | null;
}

/**
 * The last pass over part files: writes each outdated part whole, together with other processes that share the store. Digests of a
 * part's input, of the settings and of its rows' fields decide whether it is outdated, so a run without changes writes nothing.
 */
export async function writeParts(context: RunContext, plan: Plan, files: PartFiles, run: number): Promise<Written> {
  const { job, store, effects } = context;
  const { scan } = plan;
  const folder = await realpath(job.output);
  const names = files.parts.map(({ name }) => name);
  // Before the answers are read: a written part has all answers that were bought before this number was given.
  const { reading, gone } = await store.startParts(folder, { job: job.name, parts: names });
  for (const name of gone) {
    const old = outputOfPart(job.output, name);
    if (!existsSync(old)) continue;
    effects.notice(`${old} is of a part that is no longer in the input. Delete it if you do not need it.`);
  }
  const digests = new FieldDigests(scan.cells.size + scan.places.unlocated.length);
  const fields = await outputFields(context, plan, digests.sink(addedTo(scan, job).added));
  await using pool = openWriteThreads(scan);
  const parts = scannedParts(job, scan, files, pool);
  const targetOf = (scanned: ScannedPart): PartTarget => {
    scanned.target ??= {
      basis: basisOf(scanned.part, scanned.columns, job.reading),
      fields: digests.ofRows(scanned.places()(scanned.rows)),
      reading,
    };
    return scanned.target;
  };
  const placed = { count: scan.cells.size + scan.places.unlocated.length, give: fields.give, encoded: new Map() };
  const { counts, bytes } = await writeAll(context, { run, folder, parts, targetOf, placed });
  return { rows: scan.rows, bytes, ...fields.sums(), parts: counts };
}

function scannedParts(job: Job, scan: Scan, files: PartFiles, pool: ThreadPool | null): ScannedPart[] {
  const { dropFrom, kept, numbers, decimal, added } = addedTo(scan, job);
  const ownColumns = perilbookColumns(job.prefix);
  const pieces = Map.groupBy(scan.inThreads?.pieces ?? [], ({ file }) => file);
  let row = 0;
  return files.parts.map((part, file) => {
    const first = row;
    const rows = scan.partRows.get(part.name) ?? 0;
    row += rows;
    const own = (column: number) => columnIn(part, files.columns, column);
    return {
      part,
      output: outputOfPart(job.output, part.name),
      columns: {
        dropFrom: dropFrom === null ? null : findPerilbookColumns(part.columns, ownColumns),
        kept: kept.map((column) => ({ ...column, keeps: own(column.keeps) })).filter(({ keeps }) => keeps >= 0),
        numbers: new Set([...numbers].map(own)),
        decimal,
        added,
      },
      rows,
      places: () => scan.places.placesFrom(scan.cells.size, first),
      inThreads: pool === null ? undefined : { pool, pieces: pieces.get(file) ?? [] },
      target: null,
    };
  });
}

interface PartsToWrite {
  readonly run: number;
  readonly folder: string;
  readonly parts: readonly ScannedPart[];
  readonly targetOf: (part: ScannedPart) => PartTarget;
  readonly placed: Omit<PlacedFields, 'next' | 'inThreads'>;
}

/** After an interrupt, parts that other processes are writing are not waited for. */
async function writeAll(context: RunContext, toWrite: PartsToWrite): Promise<{ counts: PartCounts; bytes: number }> {
  const { store, interrupt, job, progress } = context;
  const { clock } = context.effects;
  const onRows = (rows: number) => record(progress, 'rowsWritten', rows);
  const { run, folder, parts, targetOf, placed } = toWrite;
  const left = new Set(parts);
  const inWork = new Set<ScannedPart>();
  let [written, bytes] = [0, 0];
  const failed = new AbortController();

  /** Claims the next part to write. `held`: other processes write what is left; null: nothing is left for this writer. */
  async function nextPart(): Promise<{ scanned: ScannedPart; ticket: PartTicket } | 'held' | null> {
    for (const scanned of left) {
      if (inWork.has(scanned)) continue;
      inWork.add(scanned);
      let ticket: PartTicket | null = null;
      try {
        const { name: part } = scanned.part;
        const [record = null] = await store.parts(folder, part);
        const verdict = judgePart(record, targetOf(scanned), await fileState(scanned.output));
        if (verdict === 'current') {
          left.delete(scanned);
          onRows(scanned.rows);
        } else if (verdict === 'write') {
          ticket = await store.claimPart({ folder, part, version: record?.version ?? 0, run, leaseMs: LEASE_MS });
        }
        if (ticket !== null) return { scanned, ticket };
      } finally {
        if (ticket === null) inWork.delete(scanned);
      }
    }
    return [...left].every((scanned) => inWork.has(scanned)) ? null : 'held';
  }

  async function writeClaimed(scanned: ScannedPart, ticket: PartTicket): Promise<void> {
    const lost = new AbortController();
    const ended = new AbortController();
    const renewing = renew(ticket, lost, ended.signal);
    try {
      const result = await writePart(scanned, AbortSignal.any([lost.signal, failed.signal]));
      const state = await fileState(scanned.output);
      const isMine =
        state !== null && (await store.finishPart(ticket, { ...targetOf(scanned), ...state, rows: result.rows }));
      if (!isMine) return;
      left.delete(scanned);
      written++;
      bytes += result.bytes;
    } catch (error) {
      // This process was suspended for too long, and another process has the part now: check it again.
      if (lost.signal.aborted && !failed.signal.aborted) return;
      await store.releasePart(ticket).catch(() => {});
      throw error;
    } finally {
      inWork.delete(scanned);
      ended.abort();
      await renewing;
    }
  }

  /** Writes a part whole or not at all. @throws INPUT_UNREADABLE where it has changed since the scan */
  async function writePart(scanned: ScannedPart, signal: AbortSignal): Promise<WriteResult> {
    const { part, output, columns, inThreads, rows } = scanned;
    const rowFile = await openPart(part, job.reading);
    const places = scanned.places();
    let given = 0;
    const next = (count: number) => {
      given += count;
      if (given > rows) throw otherRows(part.path, given, rows);
      onRows(count);
      return places(count);
    };
    const result = await rowFile.write({ output, signal, ...columns, placed: { ...placed, next, inThreads } });
    if (result.rows !== rows) throw otherRows(part.path, result.rows, rows);
    return result;
  }

  async function renew(ticket: PartTicket, lost: AbortController, ended: AbortSignal): Promise<void> {
    for (;;) {
      await clock.sleep(RENEW_MS, ended);
      if (ended.aborted) return;
      if (!(await store.renewPart(ticket, LEASE_MS).catch(() => false))) return lost.abort();
    }
  }

  async function writeInTurn(): Promise<void> {
    while (!failed.signal.aborted) {
      const next = await nextPart();
      if (next === null) return;
      if (next !== 'held') await writeClaimed(next.scanned, next.ticket);
      else if (interrupt.aborted) return;
      else await clock.sleep(POLL_MS, AbortSignal.any([interrupt, failed.signal]));
    }
  }

  const lanes = Array.from({ length: PARTS_AT_ONCE }, () =>
    writeInTurn().catch((error: unknown) => failed.abort(error)),
  );
  await Promise.all(lanes);
  // The first error stops the others.
  failed.signal.throwIfAborted();
  const counts = { total: parts.length, written, up_to_date: parts.length - written - left.size, left: left.size };
  return { counts, bytes };
}
