import { type Cell, cellUnits, type Location } from '../../geo/coordinates.ts';
import { checkLocation, LOCATION_NOTES, type ParsedLocation } from '../../geo/parse-location.ts';
import {
  findCovered,
  isCovered,
  type KnownCoverage,
  knownCoverage,
  useCoverage,
} from '../../geo/us-coverage.ts';
import type { Job } from '../../job/settings.ts';
import { openRowFile } from '../../rows/open/open-row-file.ts';
import type { NumberBatch, PieceReader, Row, RowPiece, RowPieces } from '../../rows/port.ts';
import type { InThread } from '../../threads/thread-messages.ts';
import { inOrder, type ThreadPool } from '../../threads/thread-pool.ts';
import { growArray, NO_CELL } from './cell-table.ts';
import { type ColumnType, ColumnTypes } from './column-types.ts';
import { SignCounts } from './currency.ts';
import type { Layout } from './layout.ts';
import { codesWidth, type LocateSettings, type ScannedRow, scannedRow } from './read-row.ts';
import { FIRST_VALUE } from './value.ts';

interface ScanThreadSetup extends PieceScan {
  readonly files: readonly string[];
  readonly reading: Job['reading'];
  readonly coverage: KnownCoverage;
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
    memoryOf: ({ cells, values, lossValues, codes }) =>
      [cells, values, lossValues, codes].flatMap((numbers) =>
        numbers === null ? [] : [numbers.buffer],
      ),
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

/** The rows of a piece in a message between threads. Most rows have only a cell, which is in `cells`. */
export interface ScannedPiece {
  readonly piece: RowPiece;
  /** Latitude and longitude of each row's cell; the latitude is `NO_CELL` for a row without one, which is outside the US if it is not in `others`. */
  readonly cells: Int32Array<ArrayBuffer>;
  /** The value of each row; null where the job has no value columns. */
  readonly values: Float64Array<ArrayBuffer> | null;
  /** The value of each row that loss rates apply to, NaN without one; null where the job has no amounts of losses. */
  readonly lossValues: Float64Array<ArrayBuffer> | null;
  /** The codes of each row, one after the other; null where the job reads none. */
  readonly codes: Float64Array<ArrayBuffer> | null;
  /** How many rows have the sign of each currency at their amounts. */
  readonly signs: SignCounts['all'];
  /** The rows with a finding, in their order. */
  readonly others: readonly (ScannedRow & { readonly index: number; readonly line: number })[];
  /** The number of further rows without a value, after the first in `others`: a column may be mostly blank. */
  readonly moreMissing: number;
  /** The box of the rows outside the US; null where there are none. */
  readonly elsewhere: DegreeBox | null;
  readonly types: readonly ColumnType[];
}

const NOWHERE: Cell = { lat7: NO_CELL, lng7: 0 };

/** In degrees. */
export interface DegreeBox {
  /** Its northern edge, in degrees. */
  readonly north: number;
  /** Its southern edge, in degrees. */
  readonly south: number;
  /** Its eastern edge, in degrees. */
  readonly east: number;
  /** Its western edge, in degrees. */
  readonly west: number;
}

/** The smallest box around another and a location. */
export function boxWith(box: DegreeBox | null, { lat, lng }: Location): DegreeBox {
  const { north, south, east, west } = box ?? { north: lat, south: lat, east: lng, west: lng };
  return {
    north: Math.max(north, lat),
    south: Math.min(south, lat),
    east: Math.max(east, lng),
    west: Math.min(west, lng),
  };
}

export interface PieceScan {
  readonly settings: LocateSettings;
  readonly layout: Layout;
}

async function scanPiece(
  file: PieceReader,
  piece: RowPiece,
  { settings, layout }: PieceScan,
): Promise<ScannedPiece> {
  const pieceRows = new PieceRows(settings, layout, piece.rows || USUAL_ROWS);
  const { columns } = pieceRows.types;
  const hasNumbersOnly = columns.length === FIRST_VALUE + layout.values && layout.pair === null;
  const numbers = hasNumbersOnly ? (file.readNumbers?.(piece, columns, FIRST_VALUE) ?? null) : null;
  if (numbers !== null)
    return pieceRows.ended(await takeAll(numbers, (batch) => pieceRows.addNumbers(batch)));
  return pieceRows.ended(
    await takeAll(file.read(piece, columns, FIRST_VALUE), (batch) => pieceRows.addRows(batch)),
  );
}

async function takeAll<Batch, End>(
  batches: AsyncGenerator<Batch, End>,
  take: (batch: Batch) => void,
): Promise<End> {
  for (;;) {
    const { done, value } = await batches.next();
    if (done) return value;
    take(value);
  }
}

/** A number whose text is a plain decimal that a double keeps, so that the text is not needed: degrees, whole numbers, amounts with cents. */
function plainOrNaN(number: number | null = Number.NaN): number {
  const size = Math.abs(number ?? Number.NaN);
  const isPlain =
    (size < 1_000 && size >= 1e-6) || (size < 1e9 && Math.round(size * 100) / 100 === size);
  return isPlain ? number! : Number.NaN;
}

/** An array without the rooms after its first elements. */
function shortened<A extends Int32Array<ArrayBuffer> | Float64Array<ArrayBuffer>>(
  array: A,
  length: number,
): A {
  return array.length === length ? array : (array.slice(0, length) as A);
}

/** Rows of a piece of a text. */
const USUAL_ROWS = 8_192;

class PieceRows {
  readonly types: ColumnTypes;
  readonly #settings: LocateSettings;
  readonly #layout: Layout;
  readonly #others: ScannedPiece['others'][number][] = [];
  #cells: Int32Array<ArrayBuffer>;
  #values: Float64Array<ArrayBuffer>;
  #lossValues: Float64Array<ArrayBuffer> | null = null;
  #codes: Float64Array<ArrayBuffer> | null = null;
  #rows = 0;
  readonly #signs = new SignCounts();
  #hasMissing = false;
  #moreMissing = 0;
  #elsewhere: DegreeBox | null = null;

  /** @param rows how many are expected */
  constructor(settings: LocateSettings, layout: Layout, rows: number) {
    this.#cells = new Int32Array(2 * rows);
    this.types = new ColumnTypes(layout);
    this.#settings = settings;
    this.#layout = layout;
    this.#values = new Float64Array(layout.values > 0 ? this.#cells.length / 2 : 0);
    if (layout.lossValues.length > 0) this.#lossValues = new Float64Array(this.#cells.length / 2);
    if (codesWidth(layout) > 0) this.#codes = new Float64Array(rows * codesWidth(layout));
  }

  addRows(batch: readonly Row[]): void {
    this.#makeRoom(batch.length);
    for (const row of batch) this.#addRow(row);
  }

  addNumbers({ count, numbers, rowAt }: NumberBatch): void {
    this.#makeRoom(count);
    const { mayBeNegative, values: width, lossValues } = this.#layout;
    const { precision } = this.#settings;
    const [lats, lngs] = [numbers[0]!, numbers[1]!];
    /** 1 for the rows whose texts are not needed; first for those in the US. */
    const isTaken = new Uint8Array(count);
    findCovered(lats, lngs, isTaken);
    // By index and without objects: a row has some nanoseconds.
    for (let index = 0; index < count; index++) {
      const lat = lats[index] ?? Number.NaN;
      const lng = lngs[index] ?? Number.NaN;
      let value = 0;
      for (let at = FIRST_VALUE; at < numbers.length; at++) {
        const part = plainOrNaN(numbers[at]![index]);
        value += part < 0 && !mayBeNegative ? Number.NaN : part;
      }
      const isWhole = !Number.isNaN(value + plainOrNaN(lat) + plainOrNaN(lng));
      // A place at 0, 0 is a missing one. Other rows are checked by their texts.
      const isPlace = isWhole && lat !== 0 && isTaken[index] === 1;
      const row = this.#rows;
      if (isPlace) {
        this.#cells[2 * row] = cellUnits(lat, precision);
        this.#cells[2 * row + 1] = cellUnits(lng, precision);
        if (width > 0) this.#values[row] = value;
      } else if (
        isWhole &&
        this.#elsewhere !== null &&
        this.#isMoreElsewhere(checkLocation({ lat, lng }, isCovered))
      )
        this.#addCell(NOWHERE);
      else {
        isTaken[index] = 0;
        this.#addRow(rowAt(index));
        continue;
      }
      isTaken[index] = 1;
      if (this.#lossValues !== null) {
        let lossValue = 0;
        for (const column of lossValues) lossValue += numbers[column]![index]!;
        this.#lossValues[row] = lossValue;
      }
      this.#rows++;
    }
    for (let at = 0; at < numbers.length; at++) this.types.noteDecimals(at, numbers[at]!, isTaken);
  }

  ended(piece: RowPiece): ScannedPiece {
    const values = this.#layout.values > 0 ? shortened(this.#values, this.#rows) : null;
    const lossValues = this.#lossValues && shortened(this.#lossValues, this.#rows);
    const codes = this.#codes && shortened(this.#codes, this.#rows * codesWidth(this.#layout));
    const cells = shortened(this.#cells, 2 * this.#rows);
    const found = {
      others: this.#others,
      signs: this.#signs.all,
      moreMissing: this.#moreMissing,
      elsewhere: this.#elsewhere,
    };
    return { piece, cells, values, lossValues, codes, ...found, types: this.types.types };
  }

  #addRow(row: Row): void {
    this.types.note(row.fields);
    const scanned = scannedRow(row, this.#settings, this.#layout);
    const { located, value, lossValue, valueProblem, signed } = scanned;
    this.#addCell(located.ok ? located.cell : NOWHERE);
    if (this.#layout.values > 0) this.#values[this.#rows] = value;
    if (this.#lossValues !== null) this.#lossValues[this.#rows] = lossValue;
    this.#codes?.set(scanned.codes, this.#rows * scanned.codes.length);
    this.#signs.add(signed);
    const isMissing = valueProblem?.finding === 'value_missing';
    const isPlain = located.ok && !located.isLenient;
    if (isPlain && isMissing && this.#hasMissing) this.#moreMissing++;
    else if (!this.#isMoreElsewhere(located) && (!isPlain || valueProblem !== null))
      this.#others.push({ ...scanned, index: this.#rows, line: row.line });
    this.#hasMissing ||= isMissing;
    this.#rows++;
  }

  /** Whether a row is outside the US, and not the first. Many rows may be, and sending them one by one took as long as reading them. Rows
   * that say how far off the coast they are have notes of their own. */
  #isMoreElsewhere(located: ScannedRow['located'] | ParsedLocation): boolean {
    if (located.ok || located.finding !== 'outside_us' || !('elsewhere' in located)) return false;
    if (located.note !== LOCATION_NOTES.outside_us) return false;
    const isFirst = this.#elsewhere === null;
    this.#elsewhere = boxWith(this.#elsewhere, located.elsewhere!);
    return !isFirst;
  }

  #addCell({ lat7, lng7 }: Cell): void {
    this.#cells[2 * this.#rows] = lat7;
    this.#cells[2 * this.#rows + 1] = lng7;
  }

  #makeRoom(more: number): void {
    const needed = 2 * (this.#rows + more);
    if (needed <= this.#cells.length) return;
    const room = Math.max(2 * this.#cells.length, needed);
    this.#cells = growArray(this.#cells, new Int32Array(room));
    if (this.#layout.values > 0) this.#values = growArray(this.#values, new Float64Array(room / 2));
    if (this.#lossValues !== null)
      this.#lossValues = growArray(this.#lossValues, new Float64Array(room / 2));
    if (this.#codes !== null)
      this.#codes = growArray(this.#codes, new Float64Array((room / 2) * codesWidth(this.#layout)));
  }
}
