import { counted } from '../../base/format-numbers.ts';
import type { OutputPlaces } from '../../formats/packed/output-places.ts';
import { fieldOf } from '../../formats/typed-value.ts';
import type { ByteBuffer } from '../files/byte-buffer.ts';
import { assertSameFile, type InputFile, isPlainFile } from '../files/input-file.ts';
import { type WriteNewFile, writeNewText, writeTextRows } from '../files/row-output.ts';
import { nextPlaces } from '../placed-fields.ts';
import type {
  OpenOptions,
  PieceReader,
  RowFile,
  RowPiece,
  RowPieces,
  WriteRequest,
  WriteResult,
} from '../port.ts';
import { encodingNote } from '../text-encoding.ts';
import { type Dialect, delimitedFormat, likelyHeader, readDialect } from './dialect.ts';
import { encodingToWrite, FieldEncoder, textFormatter } from './field-bytes.ts';
import type { PlacedText } from './placed-text.ts';
import {
  type BatchRequest,
  CUT_WIDTH,
  csvBatches,
  cutRecord,
  readNumbers,
} from './record-batches.ts';
import { addBatch, textOfPlaces, writeCsvPieces } from './write-csv.ts';

/** The rows of a delimited text, whose bytes are written again unchanged. */
export function csvRowFile(input: InputFile, options: OpenOptions): RowFile {
  const dialect = readDialect(input, options);
  return {
    format: delimitedFormat(dialect.delimiter),
    columns: dialect.columns,
    note: unnamedNote(dialect),
    conversionNote: encodingNote(input.head, dialect),
    columnsHint: dialect.columnsHint,
    likelyHeader: (isHeader) => (dialect.hasHeader ? likelyHeader(input, options, isHeader) : null),
    read: (columns, needed, isWanted) =>
      readRows(input, dialect, { columns, needed, isWanted, dropFrom: null }),
    write: (request) => writeCsv(input, dialect, request),
    inPieces: csvPieces(input, dialect),
  };
}

const SPLIT_NUMBERS =
  ' If its numbers have decimal commas, these split them: write decimal points, or put ; between the fields.';

function unnamedNote({ header, hasHeader, columns, delimiter }: Dialect): string | null {
  const unnamed = columns.length - header.fields;
  if (!hasHeader || unnamed === 0) return null;
  const what = `The rows have ${columns.length} fields and the header ${counted(header.fields, 'name')}`;
  return unnamed === 1
    ? `${what}: the last field has none. If it is the first that has none, add its name to the header.`
    : `${what}: the last ${unnamed} fields have none.${unnamed === 2 && delimiter === ',' ? SPLIT_NUMBERS : ''}`;
}

async function* readRows(input: InputFile, dialect: Dialect, request: BatchRequest) {
  // A reader that takes no more rows leaves the file open otherwise.
  await using batches = csvBatches(input, dialect, request);
  for (;;) {
    const { done, value } = await batches.next();
    if (done) return value;
    if (value.rows.length > 0) yield value.rows;
  }
}

async function writeCsv(
  input: InputFile,
  dialect: Dialect,
  request: WriteRequest,
): Promise<WriteResult> {
  const { dropFrom, signal, placed, decimal } = request;
  const { delimiter, quoting } = dialect;
  const encoding = await encodingToWrite(input, dialect, placed.inThreads?.pieces);
  const format = { delimiter, quoting, encoding, decimal };
  // Between the original and the added fields; none if one of them is empty.
  const separator = dropFrom === 0 || request.added.length === 0 ? '' : delimiter;
  return await writeTextRows(request, input, async (gathered) => {
    addHeader(gathered, input.head, dialect, request, separator, textFormatter(format));
    const { added } = request;
    const rowFormat = { dialect, dropFrom, separator, format, added };
    if (placed.inThreads) return await writeCsvPieces(gathered, input, rowFormat, request);
    let made = null as { readonly of: OutputPlaces; readonly text: PlacedText } | null;
    let rows = 0;
    for await (const batch of csvBatches(input, dialect, { columns: null, dropFrom, signal })) {
      const { places, ...placed } = await nextPlaces(request, batch.count);
      if (made?.of !== places) made = { of: places, text: textOfPlaces(places, rowFormat) };
      addBatch(gathered, batch, rowFormat, made.text, placed);
      rows += batch.count;
      await gathered.flushIfFull();
    }
    return rows;
  });
}

function addHeader(
  gathered: ByteBuffer,
  head: Buffer,
  { header, hasHeader, columns, delimiter }: Dialect,
  request: WriteRequest,
  separator: string,
  textOf: (text: string, isWritten: boolean) => string,
): void {
  if (!hasHeader) {
    gathered.addBytes(head, 0, header.next);
    return;
  }
  const cuts = new Int32Array(CUT_WIDTH);
  cutRecord(header, columns.length, request.dropFrom, cuts, 0);
  gathered.addBytes(head, 0, cuts[0]!);
  for (let unnamed = cuts[1]!; unnamed > 0; unnamed--) gathered.addText(separator);
  gathered.addText(separator);
  gathered.addText(request.added.map(({ name }) => textOf(name, false)).join(delimiter));
  gathered.addBytes(head, header.end, header.next);
}

const LF = 10;

/** A thread takes 0.15 s to start, which is the scan of 16 MB. */
const LARGE_BYTES = 32 * 1024 * 1024;
/** An added field takes some bytes, and writing four takes the time of reading one. */
const [BYTES_A_FIELD, BYTES_WRITTEN] = [8, 4];
const PIECE_BYTES = 512 * 1024;
/** With the fields of 18 topics and their counts, so many rows have 3.5 MB of output: pieces of short rows had 13 MB. */
const PIECE_ROWS = 4_096;
/** Rows are seldom shorter than 16 bytes. After a head of empty lines, pieces of few bytes would lie inside of long rows, and each would
 * read to the end of its row. */
const LEAST_PIECE_BYTES = 16 * PIECE_ROWS;

/** About how many rows a file has, by the lines of its head. */
function rowsIn({ head, size }: InputFile): number {
  let lines = 1;
  for (let at = head.indexOf(LF); at >= 0; at = head.indexOf(LF, at + 1)) lines++;
  return head.length === 0 ? 0 : (lines * size) / head.length;
}

/** The file in pieces of half a mebibyte, or of fewer bytes where rows are short. Only the earlier bytes show whether a byte is inside a
 * quoted field, so each piece begins with a guess: its first line. The guess is right if the previous piece ends there; otherwise the
 * caller reads the piece again from the right byte. Counting quotes first would be an extra pass, and wrong for stray quotes. */
export function csvPieces(
  input: InputFile,
  dialect: Dialect,
  mostBytes = PIECE_BYTES,
): RowPieces | undefined {
  if (!isPlainFile(input)) return undefined;
  const { header, firstLine } = dialect;
  const ofRows = Math.ceil((PIECE_ROWS * input.size) / rowsIn(input));
  const pieceBytes = Math.min(mostBytes, Math.max(LEAST_PIECE_BYTES, ofRows));
  const pieces: RowPiece[] = [];
  for (let from = header.next; from < input.size; from += pieceBytes) {
    const isFirst = from === header.next;
    const to = Math.min(input.size, from + pieceBytes);
    pieces.push({
      file: 0,
      from,
      to,
      isGuess: !isFirst,
      line: isFirst ? firstLine : 0,
      rows: 0,
      lines: 0,
    });
  }
  const reader: PieceReader = {
    read: (piece, columns, needed) =>
      readRows(input, dialect, { columns, needed, dropFrom: null, piece }),
    readNumbers: (piece, columns, needed) => readNumbers(input, dialect, piece, columns, needed),
  };
  const assertSame = () => assertSameFile(input);
  const size = (added: number) =>
    (input.size + (rowsIn(input) * added * BYTES_A_FIELD) / BYTES_WRITTEN) / LARGE_BYTES;
  return { pieces, size, files: [input.name], reader, assertSame };
}

/** Makes the writer of a table as a new file of delimited text. */
export function newCsvWriter(delimiter: string): WriteNewFile {
  return async (table, target, source) => {
    const format = { delimiter, encoding: 'utf-8', decimal: target.decimal } as const;
    const textOf = textFormatter(format);
    return await writeNewText(table, target, source, (gathered) => {
      gathered.addText(`${table.columns.map(({ name }) => textOf(name, false)).join(delimiter)}\n`);
      const record = new FieldEncoder(format, table.columns, false, (bytes, length) => {
        gathered.addBytes(bytes, 0, length);
        gathered.addText('\n');
      });
      return (values) => {
        for (const value of values) record.put(fieldOf(value));
        record.endPlace();
      };
    });
  };
}
