import { counted } from '../../base/format-numbers.ts';
import type { CellAreaFinder } from '../../data/tables/cell-area-finder.ts';
import type { Job } from '../../job/settings.ts';
import { openRowFile, type Streams } from '../../rows/open/open-row-file.ts';
import { listParts } from '../../rows/parts/list-parts.ts';
import { isPartFiles, openPartFiles, type PartFiles } from '../../rows/parts/part-files.ts';
import type { RowFile, RowPiece } from '../../rows/port.ts';
import { ThreadPool, threadsOfMachine } from '../../threads/thread-pool.ts';
import { enterPhase, setIn } from '../frame/progress.ts';
import type { RunContext } from '../frame/run-context.ts';
import { findLayout, type Layout } from './layout.ts';
import { USUAL_CURRENCY } from './read-row.ts';
import { scanInThreads } from './scan-pieces.ts';
import { type RowTally, ScanTally } from './scan-tally.ts';
import { FIRST_VALUE } from './value.ts';

/** The result of the first pass over the input. Disposing of it closes its file. */
export interface Scan extends RowTally, Disposable {
  readonly rowFile: RowFile | PartFiles;
  /** The pieces of the input, and the threads that read them and can write them. Null if only this thread has read. */
  readonly inThreads: { readonly pool: ThreadPool; readonly pieces: readonly RowPiece[] } | null;
  readonly layout: Layout;
  /** Disposes of something together with the scan. */
  readonly adopt: <Resource extends Disposable>(resource: Resource) => Resource;
}

/** The first pass: streams the input once, checks each location, collects the distinct cells. Spends nothing.
 * @param rowFile the rows; default: those of the job's input, which is opened
 * @throws INPUT_*, SERVICE_DATA where the boundaries are not here */
export async function scan(
  { job, connection, effects, progress }: RunContext,
  rowFile?: RowFile | PartFiles,
): Promise<Scan> {
  // Local answers are free, so areas save nothing.
  const scannedFor = connection.kind === 'local' ? { ...job, areas: null } : job;
  using boundaries = scannedFor.areas === null ? null : effects.openAreas!(scannedFor);
  const input = rowFile ?? (await openJobInput(job, effects.streams));
  const onRows = (rows: number) => setIn(progress, { rows });
  const scanned = await scanRows(input, scannedFor, {
    onRows,
    find: boundaries?.find,
    threads: effects.rowThreads,
  });
  enterPhase(progress, 'pricing');
  return scanned;
}

/** Opens the input of a job: one file, or its parts. @throws INPUT_* */
export async function openJobInput(
  { input, parts, reading }: Pick<Job, 'input' | 'parts' | 'reading'>,
  streams: Streams,
): Promise<RowFile | PartFiles> {
  if (parts === null) return await openRowFile(input, reading, streams);
  const listed = await listParts(parts.folder, parts.sources);
  const files = await openPartFiles(listed.parts, reading);
  const [first] = listed.unfinished;
  if (first === undefined) return files;
  const count = listed.unfinished.length;
  const notes = [
    files.note,
    `${counted(count, 'temporary file')} left out (${first}${count > 1 ? ', …' : ''}).`,
  ];
  return { ...files, note: notes.filter(Boolean).join(' ') };
}

interface ScanOptions {
  /** Gets the number of rows so far, once a batch. */
  readonly onRows?: (rows: number) => void;
  /** Finds the areas of the cells by boundaries; left out where the job does not ask for it. */
  readonly find?: CellAreaFinder | undefined;
  /** How many threads read the file beside this one; left out: the other cores for a large file, else none. */
  readonly threads?: number | undefined;
}

/** Scans rows by the settings of a job alone; again where all rows say otherwise than the first ones of what their columns hold. */
export async function scanRows(
  rowFile: RowFile | PartFiles,
  job: Job,
  options: ScanOptions = {},
): Promise<Scan> {
  const scanWith = (layout: Layout) => scanLaidOut(rowFile, job, layout, options);
  const first = await scanWith(await findLayout(rowFile, job));
  return await withSignedCurrency(await withPlaceOrder(first, scanWith), scanWith);
}

type ScanWith = (layout: Layout) => Promise<Scan>;

/** Scans again with the other order of two numbers in one column, where only that gives places in the US. */
async function withPlaceOrder(scanned: Scan, scanWith: ScanWith): Promise<Scan> {
  const { layout } = scanned;
  const { pair } = layout;
  const isExchanged =
    scanned.located === 0 && scanned.findings.some(({ finding }) => finding === 'swapped');
  if (pair === null || pair.given !== null || !isExchanged) return scanned;
  // No place in the US is there with its numbers exchanged, so the other order holds for all rows.
  const note = `In column "${layout.used.lat}" the longitude comes first: only so are its places in the US.`;
  const again = await scanWith({
    ...layout,
    pair: { given: null, assumed: 'lng,lat' },
    notes: [...layout.notes, note],
  });
  // Forms that say their order keep it.
  const [best, rest] = again.located > 0 ? [again, scanned] : [scanned, again];
  rest[Symbol.dispose]();
  return best;
}

/** Scans again where most amounts with a sign are of another currency than those of the first rows. */
async function withSignedCurrency(scanned: Scan, scanWith: ScanWith): Promise<Scan> {
  const { layout, signed } = scanned;
  const { given, assumed } = layout.amountCurrency;
  if (signed === null || signed === (assumed ?? USUAL_CURRENCY)) return scanned;
  using _ = scanned;
  return await scanWith({ ...layout, amountCurrency: { given, assumed: signed } });
}

async function scanLaidOut(
  rowFile: RowFile | PartFiles,
  job: Job,
  layout: Layout,
  { onRows = () => {}, find, threads }: ScanOptions,
): Promise<Scan> {
  using opened = new DisposableStack();
  const tally = opened.use(new ScanTally(job, layout, rowFile));
  // The first row with a currency decides on later rows, so one thread reads these files.
  const inPieces = layout.currency !== null ? undefined : rowFile.inPieces;
  const isLarge =
    inPieces !== undefined && inPieces.size(layout.added.length) >= 1 && inPieces.pieces.length > 1;
  const count = threads ?? (isLarge ? threadsOfMachine() : 0);
  const pieces: RowPiece[] = [];
  const pool = opened.use(new ThreadPool({ threads: count, purpose: 'read and wrote rows' }));
  // Also in this thread alone: pieces are read as numbers, which takes half the time of texts.
  if (inPieces && (count > 0 || isLarge)) {
    const { precision, coordinates, reading } = job;
    const setup = { reading, settings: { precision, coordinates }, layout };
    for await (const { read, linesBefore } of scanInThreads(inPieces, setup, pool)) {
      pieces.push(read.piece);
      tally.addPiece(
        read,
        linesBefore,
        isPartFiles(rowFile) ? rowFile.parts[read.piece.file]!.name : undefined,
      );
      onRows(tally.rows);
    }
  } else {
    for await (const batch of rowFile.read(tally.types.columns, FIRST_VALUE)) {
      tally.addRows(batch);
      onRows(tally.rows);
    }
  }
  const owned = opened.move();
  return {
    ...tally.result(find),
    rowFile,
    layout: withNoteOfEnd(layout, rowFile),
    inThreads: count > 0 && pieces.length > 0 ? { pool, pieces } : null,
    adopt: (resource) => owned.use(resource),
    [Symbol.dispose]: () => owned.dispose(),
  };
}

/** The layout with what the end of the file has shown of an output of its own format. */
function withNoteOfEnd(layout: Layout, { ownFormatNoteOfEnd }: RowFile | PartFiles): Layout {
  const note = layout.isConverted ? null : (ownFormatNoteOfEnd?.() ?? null);
  // A second scan knows it already.
  if (note === null || layout.notes.includes(note)) return layout;
  return { ...layout, notes: [...layout.notes, note] };
}
