import { perilbookColumns } from '../../columns/row.ts';
import type { Job } from '../../job/settings.ts';
import { findPerilbookColumns } from '../../rows/kept-columns.ts';
import { columnIn, openPart, type PartFile, type PartFiles } from '../../rows/parts/part-files.ts';
import type { PlacedFields, WriteRequest, WriteResult } from '../../rows/port.ts';
import type { ThreadPool } from '../../threads/thread-pool.ts';
import type { Plan } from '../plan/planning.ts';
import { record } from '../progress.ts';
import type { RunContext } from '../run-context.ts';
import { otherRows } from '../scan/row-places.ts';
import type { Scan } from '../scan/scan-input.ts';
import { addedTo, fieldsOnDemand, openWriteThreads, type Written } from '../write/write-output.ts';
import { otherFiles, outputOfPart } from './part-outputs.ts';

/** Parts in progress at once: threads write one while another is synced to the disk. */
const PARTS_AT_ONCE = 2;

/** A part with the scan's results. */
interface ScannedPart {
  readonly part: PartFile;
  readonly output: string;
  readonly columns: Pick<WriteRequest, 'dropFrom' | 'kept' | 'numbers' | 'decimal' | 'added'>;
  readonly rows: number;
  /** Returns the number of each row's cell or finding, from the part's first row. */
  readonly next: PlacedFields['next'];
  /** Its pieces, if threads write it. */
  readonly inThreads: PlacedFields['inThreads'];
}

/** The last pass over part files: writes each part whole or not at all. The first error stops the parts that follow. */
export async function writeParts(context: RunContext, plan: Plan, files: PartFiles): Promise<Written> {
  const { job, progress, effects } = context;
  const { scan } = plan;
  const fields = fieldsOnDemand(context, plan);
  const placed = { count: scan.cells.size + scan.places.unlocated.length, give: fields.give, encoded: new Map() };
  await using pool = openWriteThreads(scan);

  /** @throws INPUT_UNREADABLE where the part has changed since the scan */
  async function writePart(
    { part, output, columns, rows, next: places, inThreads }: ScannedPart,
    signal: AbortSignal,
  ): Promise<WriteResult> {
    const rowFile = await openPart(part, job.reading);
    let given = 0;
    const next = (count: number) => {
      given += count;
      if (given > rows) throw otherRows(part.path, given, rows);
      record(progress, 'rowsWritten', count);
      return places(count);
    };
    const result = await rowFile.write({ output, signal, ...columns, placed: { ...placed, next, inThreads } });
    if (result.rows !== rows) throw otherRows(part.path, result.rows, rows);
    return result;
  }

  const failed = new AbortController();
  const left = scannedParts(job, scan, files, pool).values();
  let bytes = 0;
  async function writeInTurn(): Promise<void> {
    for (const scanned of left) {
      if (failed.signal.aborted) return;
      bytes += (await writePart(scanned, failed.signal)).bytes;
    }
  }
  const lanes = Array.from({ length: PARTS_AT_ONCE }, () =>
    writeInTurn().catch((error: unknown) => failed.abort(error)),
  );
  await Promise.all(lanes);
  failed.signal.throwIfAborted();
  const others = await otherFiles(job.output, files.parts);
  if (others !== null) effects.notice(others);
  return { rows: scan.rows, bytes, ...(await fields.sums()) };
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
      next: scan.places.placesFrom(scan.cells.size, first),
      inThreads: pool === null ? undefined : { pool, pieces: pieces.get(file) ?? [] },
    };
  });
}
