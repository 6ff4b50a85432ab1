import { assertSameFile, type InputFile, isPlainFile } from '../files/input-file.ts';
import type { PieceReader, Row, RowPiece, RowPieces } from '../port.ts';
import type { Dialect } from './dialect.ts';
import { readNumbers } from './read-numbers.ts';
import { csvBatches } from './record-batches.ts';

/** A thread takes 0.15 s to start, which is the scan of 16 MB. */
const LARGE_BYTES = 32 * 1024 * 1024;
/** With the fields of 18 topics that is 2.5 MB of output. */
const PIECE_BYTES = 512 * 1024;

/**
 * The file in pieces of half a mebibyte. Only the earlier bytes show whether a byte is inside a quoted field, so each piece
 * begins with a guess: its first line. The guess is right if the previous piece ends there; otherwise the caller reads it again from
 * the right byte. Rejected: counting quotes first, which is an extra pass, and wrong for stray quotes.
 */
export function csvPieces(
  input: InputFile,
  dialect: Dialect,
  pieceBytes = PIECE_BYTES,
): { readonly inPieces?: RowPieces } {
  if (!isPlainFile(input)) return {};
  const { header, firstLine } = dialect;
  const pieces: RowPiece[] = [];
  for (let from = header.next; from < input.size; from += pieceBytes) {
    const isFirst = from === header.next;
    const to = Math.min(input.size, from + pieceBytes);
    pieces.push({ file: 0, from, to, isGuess: !isFirst, line: isFirst ? firstLine : 0, rows: 0, lines: 0 });
  }
  const reader: PieceReader = {
    read: (piece, columns, needed) => rowsOfPiece(input, dialect, piece, columns, needed),
    readNumbers: (piece, columns) => readNumbers(input, dialect, piece, columns),
  };
  return {
    inPieces: {
      pieces,
      size: input.size / LARGE_BYTES,
      files: [input.name],
      open: async () => reader,
      assertSame: () => assertSameFile(input),
    },
  };
}

async function* rowsOfPiece(
  input: InputFile,
  dialect: Dialect,
  piece: RowPiece,
  columns: readonly number[],
  needed: number | undefined,
): AsyncGenerator<readonly Row[], RowPiece> {
  const batches = csvBatches(input, dialect, { columns, needed, dropFrom: null, piece });
  for (;;) {
    const { done, value } = await batches.next();
    if (done) return value;
    if (value.rows.length > 0) yield value.rows;
  }
}
