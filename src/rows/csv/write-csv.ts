import { readWhole } from '../../formats/bytes/byte-source.ts';
import type { OutputPlaces } from '../../formats/packed/output-places.ts';
import type { InThread } from '../../threads/thread-messages.ts';
import type { ByteBuffer } from '../files/byte-buffer.ts';
import { assertSameFile, type InputFile, openInput } from '../files/input-file.ts';
import {
  type MakePiece,
  type PieceResult,
  type PieceTask,
  pieceRunner,
  writePieces,
} from '../files/piece-writer.ts';
import { nextPlaces } from '../placed-fields.ts';
import type { PlacesOfRows, RowPiece, TableColumn, WriteRequest } from '../port.ts';
import type { Dialect } from './dialect.ts';
import type { FieldFormat } from './field-bytes.ts';
import { type RateTexts, roomForRates } from './loss-text.ts';
import { type PlacedText, placedText } from './placed-text.ts';
import { type CsvBatch, CUT_WIDTH, csvBatches } from './record-batches.ts';

/** How the rows of an input get their added fields. */
export interface RowFormat {
  readonly dialect: Dialect;
  readonly dropFrom: number | null;
  /** Between the original and the added fields. */
  readonly separator: string;
  readonly format: FieldFormat;
  readonly added: readonly TableColumn[];
}

/** Of rows without added fields. */
const NO_TEXT: PlacedText = { add() {}, readAhead() {} };

/** Makes the text of the places of an output. @param rateTexts as of `placedText` */
export function textOfPlaces(
  places: OutputPlaces,
  { format, added, separator }: RowFormat,
  rateTexts?: RateTexts | null,
): PlacedText {
  const leads = separator !== '';
  return added.length === 0 ? NO_TEXT : placedText(places, format, added, leads, rateTexts);
}

/** Adds a batch of records with the fields of their places at the end of each; line ends and blank lines are copied too.
 * @param placed the places of the records, which begin at the index `first` */
export function addBatch(
  gathered: ByteBuffer,
  { count, bytes, from, to, cuts }: CsvBatch,
  { separator }: RowFormat,
  { add, readAhead }: PlacedText,
  { numbers, values }: PlacesOfRows,
  first = 0,
): void {
  let copied = from;
  for (let row = 0; row < count; row++) {
    const at = row * CUT_WIDTH;
    gathered.addBytes(bytes, copied, cuts[at]!);
    for (let missing = cuts[at + 1]!; missing > 0; missing--) gathered.addText(separator);
    const index = first + row;
    readAhead(numbers, index);
    add(gathered, numbers[index]!, values, index);
    copied = cuts[at + 2]!;
  }
  gathered.addBytes(bytes, copied, to);
}

interface CsvPiece extends PlacesOfRows {
  readonly piece: RowPiece;
}

interface CsvWriteSetup extends RowFormat {
  readonly file: string;
  readonly places: OutputPlaces;
  readonly rateTexts: RateTexts | null;
  readonly output: { readonly name: string; readonly fd: number } | null;
}

/** Writes the pieces of the scan in threads and here. */
export async function writeCsvPieces(
  gathered: ByteBuffer,
  input: InputFile,
  rowFormat: RowFormat,
  request: WriteRequest,
): Promise<number> {
  const { signal } = request;
  const { pool, pieces, places } = request.placed.inThreads!;
  await assertSameFile(input);
  const { direct } = gathered;
  const output = direct === undefined ? null : { name: direct.name, fd: direct.fd };
  const rateTexts = places.losses && roomForRates(places.losses);
  const setup: CsvWriteSetup = { ...rowFormat, file: input.name, places, rateTexts, output };
  const taskOf = async (piece: RowPiece): Promise<CsvPiece> => {
    const { numbers, values } = await nextPlaces(request, piece.rows);
    return { piece, numbers, values };
  };
  const memoryOf = ({ numbers, values }: CsvPiece) =>
    values === undefined ? [numbers.buffer] : [numbers.buffer, values.buffer];
  const work = { pool, module: import.meta.url, setup, items: pieces, taskOf, memoryOf, signal };
  let rows = 0;
  for await (const { facts } of writePieces(gathered, work, pieceMaker(input, setup)))
    rows += facts;
  await assertSameFile(input);
  return rows;
}

/** Makes what reads a piece of the input and adds the fields of its rows. @returns how many rows it has */
function pieceMaker(input: InputFile, setup: CsvWriteSetup): MakePiece<CsvPiece, number> {
  const { dialect, dropFrom, places } = setup;
  const text = textOfPlaces(places, setup, setup.rateTexts);
  let memory: Buffer = Buffer.alloc(0);

  /** The scan has found where each record ends. */
  async function addRecords(
    { from, to }: RowPiece,
    lengths: Uint16Array,
    { numbers, values }: PlacesOfRows,
    gathered: ByteBuffer,
  ): Promise<void> {
    if (to - from > memory.length) memory = Buffer.allocUnsafeSlow(to - from);
    const bytes = memory.subarray(0, to - from);
    await using pass = await input.startPass(true);
    if (!(await readWhole(pass, bytes, from))) await pass.assertSame();
    const { add, readAhead } = text;
    let at = 0;
    for (let row = 0; row < lengths.length; row++) {
      gathered.addBytes(bytes, at, at + lengths[row]!);
      at += lengths[row]!;
      readAhead(numbers, row);
      add(gathered, numbers[row]!, values, row);
    }
    gathered.addBytes(bytes, at, bytes.length);
    await pass.assertSame();
  }

  return async ({ piece, ...placed }, gathered) => {
    const { lengths } = piece;
    if (lengths !== undefined && dropFrom === null) {
      await addRecords(piece, lengths, placed, gathered);
      return piece.rows;
    }
    let rows = 0;
    for await (const batch of csvBatches(input, dialect, { columns: null, dropFrom, piece })) {
      addBatch(gathered, batch, setup, text, placed, rows);
      rows += batch.count;
    }
    return rows;
  };
}

/** @public: threads import it */
export const inThread: InThread<CsvWriteSetup, PieceTask<CsvPiece>, PieceResult<number>> = async (
  setup,
) => pieceRunner(pieceMaker(await openInput(setup.file), setup), setup.output);
