import { knownCoverage, useCoverage } from '../../geo/us-coverage.ts';
import type { Job } from '../../job/settings.ts';
import { openRowFile } from '../../rows/open-row-file.ts';
import type { PieceReader, RowPiece, RowPieces } from '../../rows/port.ts';
import type { InThread } from '../../threads/thread-messages.ts';
import { inOrder, type ThreadPool } from '../../threads/thread-pool.ts';
import { type PieceScan, type ScannedPiece, scanPiece } from './scanned-rows.ts';

interface ScanThreadSetup extends PieceScan {
  readonly files: readonly string[];
  readonly reading: Job['reading'];
  readonly coverage: ReturnType<typeof knownCoverage>;
}

/** Scans an input in the threads of a pool and this one; gives its pieces in their order. */
export async function* scanInThreads(
  { pieces, files, assertSame }: RowPieces,
  { reading, ...scan }: PieceScan & Pick<ScanThreadSetup, 'reading'>,
  pool: ThreadPool,
): AsyncGenerator<OrderedPiece<ScannedPiece>> {
  await assertSame();
  const setup = { ...scan, files, reading, coverage: knownCoverage() };
  await using work = pool.begin(import.meta.url, setup, pieceScanner(setup));
  yield* inFileOrder(pieces, 3 * (pool.threads + 1), (piece) => work.run(piece));
  // The threads open the files themselves. The file states before and after must be equal.
  await assertSame();
}

/** Makes a function that scans pieces. With several files, only the last one stays open, because pieces come file by file. */
function pieceScanner({
  files,
  reading,
  ...scan
}: Omit<ScanThreadSetup, 'coverage'>): (piece: RowPiece) => Promise<ScannedPiece> {
  const open = async (file: number) => (await openRowFile(files[file]!, reading)).inPieces!.reader!;
  let opened: { readonly file: number; readonly reader: Promise<PieceReader> } | null = null;
  return async (piece) => {
    if (opened?.file !== piece.file) opened = { file: piece.file, reader: open(piece.file) };
    return await scanPiece(await opened.reader, piece, scan);
  };
}

/** @public: threads import it */
export const inThread: InThread<ScanThreadSetup, RowPiece, ScannedPiece> = (setup) => {
  useCoverage(setup.coverage);
  return {
    run: pieceScanner(setup),
    memoryOf: ({ cells, values }) => (values === null ? [cells.buffer] : [cells.buffer, values.buffer]),
  };
};

/** The scanned piece, and the number of lines to add to its rows' lines. */
interface OrderedPiece<Read> {
  readonly read: Read;
  readonly linesBefore: number;
}

/** Yields the pieces of files in order. A piece with a wrongly guessed start is read again from the end of the previous piece, so the
 * rows are always those of a sequential reading. */
export async function* inFileOrder<Read extends { readonly piece: RowPiece }>(
  pieces: readonly RowPiece[],
  atOnce: number,
  read: (piece: RowPiece) => Promise<Read>,
): AsyncGenerator<OrderedPiece<Read>> {
  let [from, line] = [0, 0];
  // A wrong guess may also fail: in the middle of a quoted field the rest of the file can look like one record.
  const orNull = (piece: RowPiece) => (piece.isGuess ? read(piece).catch(() => null) : read(piece));
  for await (const [piece, guessed] of inOrder(pieces, atOnce, orNull)) {
    // The first piece of a file.
    if (!piece.isGuess) [from, line] = [piece.from, piece.line];
    const isRight = guessed !== null && guessed.piece.from === from;
    const scanned = isRight ? guessed : await read({ ...piece, from, isGuess: false, line });
    yield { read: scanned, linesBefore: isRight ? line - piece.line : 0 };
    from = scanned.piece.to;
    line += scanned.piece.lines;
  }
}
