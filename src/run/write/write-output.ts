import { LEADING_COLUMNS, perilbookColumns } from '../../columns/row.ts';
import { pointText } from '../../geo/geometry-points.ts';
import type { Job } from '../../job/settings.ts';
import { findPerilbookColumns } from '../../rows/kept-columns.ts';
import { checkFormat, formatNamed, formatOfOutput } from '../../rows/open/file-formats.ts';
import {
  columnIn,
  isPartFiles,
  openPart,
  type PartFile,
  type PartFiles,
} from '../../rows/parts/part-files.ts';
import type { RowFile, WriteRequest, WriteResult } from '../../rows/port.ts';
import { outputOfPart } from '../frame/job-outputs.ts';
import { addTo } from '../frame/progress.ts';
import type { RunContext } from '../frame/run-context.ts';
import { keptAnswersAt } from '../scan/kept-answers.ts';
import { type Layout, locationOf } from '../scan/layout.ts';
import { moreRows, otherRows } from '../scan/numbers-of-rows.ts';
import { placeOfRow } from '../scan/read-row.ts';
import type { Scan } from '../scan/scan-input.ts';
import { fieldsWithKept } from './kept-notes.ts';
import type { OutputFields, OutputSums } from './output-fields.ts';

export type Written = WriteResult & OutputSums;

/** Parts in progress at once: threads write one while another is synced to the disk. */
const PARTS_AT_ONCE = 2;

/** A file to write, with the scan's results of it. */
interface ScannedFile
  extends Pick<WriteRequest, 'output' | 'dropFrom' | 'kept' | 'numbers' | 'own'> {
  /** Its name in errors. */
  readonly name: string;
  readonly open: () => RowFile | Promise<RowFile>;
  /** The number of its rows, and of those before it. */
  readonly rows: number;
  readonly rowsBefore: number;
  /** Its number among the files of the input. */
  readonly file: number;
}

/** The last pass: streams the input once more, joins each row with the store, writes. A pure function of input, store and job (with the
 * time of the run), so a resumed run writes the same. Part files are written whole or not at all; an error stops those that follow. */
export async function writeOutput(
  { job, progress, interrupt }: Pick<RunContext, 'job' | 'progress' | 'interrupt'>,
  scan: Scan,
  fields: OutputFields,
): Promise<Written> {
  const { inThreads, decimal } = scan;
  const { added } = scan.layout;
  const { types } = job;
  const files = scannedFiles(job, scan);
  const { places } = fields;
  const pieces = Map.groupBy(inThreads?.pieces ?? [], ({ file }) => file);

  /** @throws INPUT_UNREADABLE where the file has changed since the scan */
  async function write(
    { name, open, rows, rowsBefore, file, ...own }: ScannedFile,
    signal: AbortSignal,
  ) {
    const numbersOf = scan.groups.groupsFrom(rowsBefore);
    const valuesOf = scan.lossValues?.numbersFrom(rowsBefore);
    let given = 0;
    const next = async (count: number) => {
      given += count;
      if (given > rows) throw moreRows(name, rows);
      addTo(progress, { rows: count });
      return { numbers: numbersOf(count), places, values: valuesOf?.(count) };
    };
    const threads =
      inThreads === null
        ? undefined
        : { pool: inThreads.pool, pieces: pieces.get(file) ?? [], places };
    const placed = { next, inThreads: threads };
    const request = { ...own, added, types, decimal, placed, signal, interrupt };
    const result = await (await open()).write(request);
    if (result.rows !== rows) throw otherRows(name, result.rows, rows);
    return result.bytes;
  }

  const failed = new AbortController();
  const left = files.values();
  let bytes = 0;
  async function writeInTurn(): Promise<void> {
    for (const file of left) {
      if (failed.signal.aborted) return;
      bytes += await write(file, failed.signal);
    }
  }
  const lanes = Array.from({ length: PARTS_AT_ONCE }, () =>
    writeInTurn().catch((error: unknown) => failed.abort(error)),
  );
  await Promise.all(lanes);
  failed.signal.throwIfAborted();
  return { rows: scan.rows, bytes, ...fields.sums() };
}

/** Refuses, before anything is bought, an output whose format cannot be written or has no room for the rows or columns. @throws OUTPUT_UNWRITABLE, INPUT_COLUMNS */
export async function checkRoom(job: Job, scan: Scan): Promise<void> {
  const { added } = scan.layout;
  if (job.parts === null) checkFormat(job.output, scan.rowFile.format);
  for (const { open, ...file } of scannedFiles(job, scan)) {
    // Parts of other formats are not opened again.
    if (!formatNamed(formatOfOutput(file.output) ?? scan.rowFile.format).isSheet) continue;
    await (await open()).checkRoom?.({ ...file, added });
  }
}

function scannedFiles(job: Job, scan: Scan): ScannedFile[] {
  const { rowFile } = scan;
  return isPartFiles(rowFile) ? scannedParts(job, scan, rowFile) : [singleFile(job, scan, rowFile)];
}

function singleFile(
  job: Job,
  { rows, layout, kept, numbers }: Scan,
  rowFile: RowFile,
): ScannedFile {
  const { input: name, output } = job;
  const { dropFrom } = layout;
  const own = ownFields(job, layout);
  return {
    name,
    output,
    open: () => rowFile,
    rows,
    rowsBefore: 0,
    file: 0,
    dropFrom,
    kept,
    numbers,
    own,
  };
}

/** The fields in which rows of one place differ: each row's own place, unrounded; what is said of it, and of the columns of an earlier run that it
 * keeps. @param own gives the number of a column in the file that is written, -1 where it lacks it */
function ownFields(
  job: Job,
  layout: Layout,
  own = (column: number) => column,
): WriteRequest['own'] {
  const { added, kept, dropFrom, hasPoints, hasRemarks } = layout;
  if (!hasPoints && !hasRemarks && kept.length === 0) return undefined;
  const note = added.findIndex(({ name }) => name === `${job.prefix}hazard_note`);
  const { columns: ofPlace, ...location } = locationOf(layout);
  const ofEarlierRun = [
    ...(kept.length === 0 ? [] : LEADING_COLUMNS.map((_, at) => dropFrom! + at)),
    ...kept.map(({ keeps }) => keeps),
  ].filter((column) => own(column) >= 0);
  const positionOf = (column: number) => {
    const at = ofEarlierRun.indexOf(column);
    return at < 0 ? null : ofPlace.length + at;
  };
  const answers = kept.length === 0 ? null : keptAnswersAt(kept, dropFrom!, positionOf);
  return {
    columns: [...ofPlace, ...ofEarlierRun].map(own),
    needed: ofPlace.length,
    of(row, fields) {
      const { place, remark } =
        hasPoints || hasRemarks ? placeOfRow(row, job, location) : { place: null, remark: '' };
      const told = [...fields];
      for (const [at, { type }] of added.entries())
        if (type === 'point') told[at] = place && pointText(place.lat, place.lng);
      if (remark !== '') told[note] = [told[note], remark].filter(Boolean).join('; ');
      return answers === null ? told : fieldsWithKept(told, note, row.fields, answers);
    },
  };
}

function scannedParts(
  job: Job,
  { layout, kept, numbers, partRows }: Scan,
  { parts, columns }: PartFiles,
) {
  const ownColumns = perilbookColumns(job.prefix);
  let rowsBefore = 0;
  return parts.map((part: PartFile, file) => {
    const before = rowsBefore;
    const rows = partRows.get(part.name) ?? 0;
    rowsBefore += rows;
    const own = (column: number) => columnIn(part, columns, column);
    return {
      name: part.path,
      output: outputOfPart(job.output, part.name),
      open: () => openPart(part, job.reading),
      rows,
      rowsBefore: before,
      file,
      dropFrom: layout.dropFrom === null ? null : findPerilbookColumns(part.columns, ownColumns),
      kept: kept
        .map((column) => ({ ...column, keeps: own(column.keeps) }))
        .filter(({ keeps }) => keeps >= 0),
      numbers: new Set([...numbers].map(own)),
      own: ownFields(job, layout, own),
    };
  });
}
