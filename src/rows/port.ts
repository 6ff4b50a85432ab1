import type { Writable } from 'node:stream';
import type { FieldSink } from '../contract/answer.ts';
import { PerilbookError } from '../errors.ts';
import type { Value, ValueType } from '../formats/typed-value.ts';
import type { ThreadPool } from '../threads/thread-pool.ts';

/** Where a row is: its line, and its part file where the input is several. */
export type LineReference = Pick<Row, 'line' | 'part'>;

/** One record of the input, as far as a run needs it. */
export interface Row {
  /** 1 for the first record after the header. */
  readonly number: number;
  /** Counted from 1: the line on which the record begins, or the number of the row or feature (`unit`). */
  readonly line: number;
  /** The name of the file that it is in, where the input is several part files. */
  readonly part?: string;
  /** The text of the columns that were asked for, in that order; '' for an empty, null or missing field. */
  readonly fields: readonly string[];
  /** What each of the fields is, if the source has types. */
  readonly types?: readonly ValueType[];
  /** Why the record could not be read; it is kept all the same, with status `invalid`. */
  readonly problem?: string;
}

/** What all values of a column of a new file are. `count` is a whole number of 32 bits, `integer` one that a double holds; `time` is a
 * timestamp in UTC, `timestamp` one without a zone; `point` is Well-Known Binary with a character a byte. */
type TableColumnType = AddedColumn['type'] | 'integer' | 'boolean' | 'date' | 'timestamp';

/** A column of a new file. */
export interface TableColumn {
  readonly name: string;
  readonly type: TableColumnType;
  /** The column of the input that it is: its fields stay as they are. */
  readonly keeps?: number;
}

/** A column that Perilbook adds. Its times are ISO 8601 UTC text in text formats; points are for Parquet and GeoJSON. */
export interface AddedColumn {
  readonly name: string;
  readonly type: 'text' | 'number' | 'count' | 'time' | 'point';
  /** The column of the input that it is, added by an earlier run or taken into another format: its fields stay as they are. */
  readonly keeps?: number;
}

type RowUnit = 'line' | 'row' | 'feature';

/** Rows that were opened: their format and columns are known, they are not yet read. */
export interface RowSource {
  readonly format: string;
  /** The names of the columns in file order, decoded, spaces around them removed. */
  readonly columns: readonly string[];
  /** What the places of rows are, where they are not lines: rows of a table or a sheet, features of a collection. */
  readonly unit?: RowUnit | undefined;
  /** Its rows say what their fields are; left out where all are texts. */
  readonly hasTypes?: boolean;
  /** What a user should know of how the file is read; null for nothing. */
  readonly note?: string | null | undefined;
  /** The number of the first other line near the top whose fields could be the column names, where a format may have titles
   * above its header. */
  readonly likelyHeader?: ((isHeader: (fields: readonly string[]) => boolean) => number | null) | undefined;
  /** Streams all records once, in order, in batches. May be called again; each call reads the file anew. A record that is
   * too short for one of the first `needed` columns (all of them, if it is not said) is a problem; where others are
   * missing, they are ''. Records whose numbers are not wanted may be left out. */
  read(
    columns: readonly number[],
    needed?: number,
    isWanted?: (number: number) => boolean,
  ): AsyncIterable<readonly Row[]>;
  /** Left out where the rows can only be read from the first to the last. */
  readonly inPieces?: RowPieces | undefined;
}

/** Rows that lie together in a file. */
export interface RowPiece {
  /** The number of the file, where the input is several part files; else 0. */
  readonly file: number;
  /** Where it begins and ends: bytes of a text, or numbers of row groups. The last row that begins in it is read to its end. */
  readonly from: number;
  readonly to: number;
  /** Whether `from` may lie inside a row: then the first line after it is taken for the beginning of one. */
  readonly isGuess: boolean;
  /** The line at `from`; 0 where it is not known, so that the lines of rows are counted from there. */
  readonly line: number;
  /** How many rows and lines it has; 0 before it was read. */
  readonly rows: number;
  readonly lines: number;
}

/** Two columns of `count` rows. Valid until the next batch is asked for. */
export interface DegreeBatch {
  readonly count: number;
  /** NaN or null where a row has no plain number there: its texts tell what it has. */
  readonly lats: ArrayLike<number | null>;
  readonly lngs: ArrayLike<number | null>;
  /** One of the rows with its texts. */
  readonly rowAt: (index: number) => Row;
}

/** Reads pieces of a file. Each reading returns the piece that was read: it is one of the file's rows only where it begins where the
 * one before ends. */
export interface PieceReader {
  read(
    piece: RowPiece,
    columns: readonly number[],
    needed: number | undefined,
  ): AsyncGenerator<readonly Row[], RowPiece>;
  /** Reads two columns of numbers without their texts; null where they are not stored as doubles. */
  readonly readDegrees?: (piece: RowPiece, lat: number, lng: number) => AsyncGenerator<DegreeBatch, RowPiece> | null;
}

/** An input in pieces, which threads can read each on its own. */
export interface RowPieces {
  /** In the order of the rows. Where all but the first of a file are guesses, a quoted field with line ends may make one of them wrong. */
  readonly pieces: readonly RowPiece[];
  /** How large it is: from 1 on, threads gain more than their start takes. */
  readonly size: number;
  /** The paths of its files. */
  readonly files: readonly string[];
  /** Opens one of its files. */
  open(file: number): Promise<PieceReader>;
  /** @throws INPUT_UNREADABLE where a file has changed since it was opened */
  assertSame(): Promise<void>;
}

/** An input file that was opened. */
export interface RowFile extends RowSource {
  /** The columns that are not parts of others, where some are: `address` holds `address.zip` too. */
  readonly wholeColumns?: readonly number[];
  /** The file with the columns of all its rows, where opening reads its beginning only: the same columns, and after them
   * those that come late. */
  readonly entire?: () => Promise<RowFile>;
  /** Streams the file once more and writes it with the added columns after the original ones. */
  write(request: WriteRequest): Promise<WriteResult>;
}

/** Where rows are written to. */
export interface TableTarget {
  /** A path, or `-` for standard output. A path is written through a temporary file beside it and renamed at the end:
   * an old output stays whole until then. */
  readonly output: string;
  /** What takes an output named `-`. */
  readonly stdout?: Writable | undefined;
  readonly signal?: AbortSignal | undefined;
  /** What stands before the decimals of added numbers in delimited text; left out: a point. */
  readonly decimal?: 'point' | 'comma' | undefined;
}

export interface WriteRequest extends TableTarget {
  /** The original columns from this index on were written by Perilbook earlier and are left out; null keeps all. */
  readonly dropFrom: number | null;
  /** Columns of an earlier run that stay as they are, by their index; they take their old place among the added ones. */
  readonly kept?: readonly (AddedColumn & { readonly keeps: number })[];
  /** Original columns that hold numbers in every row, for formats that have types. */
  readonly numbers?: ReadonlySet<number>;
  /** `text`: columns of a source without types stay texts in formats that have types; left out: numbers are inferred. */
  readonly types?: 'infer' | 'text' | undefined;
  readonly added: readonly AddedColumn[];
  /** The fields of the added columns. */
  readonly placed: PlacedFields;
}

/** The columns of a new file and the fields of its rows. */
export interface NewTable {
  readonly columns: readonly TableColumn[];
  readonly batches: () => AsyncIterable<readonly (readonly Value[])[]>;
}

/** The fields of rows by the places that the rows stand at: rows of one place have the same fields. */
export interface PlacedFields {
  /** How many places there are. Infinity where rows are places of their own: each is then asked for once, in their order. */
  readonly count: number;
  /** Gives the fields of places: of some by their numbers, in the order asked, or of all. */
  readonly give: (sink: PlaceSink, places?: readonly number[]) => Promise<void>;
  /** The writer has encoded the fields of all places: it asks for none again. */
  readonly release?: () => void;
  /** The places of the next `count` rows, by number. */
  readonly next: (count: number) => Int32Array<ArrayBuffer>;
  /** The pieces of the file, and the threads that are to write them; left out where this thread alone writes. */
  readonly inThreads?: { readonly pool: ThreadPool; readonly pieces: readonly RowPiece[] } | undefined;
  /** What writers have made of the fields of all places, by how they are written: the part files of a run share it. */
  readonly encoded?: Map<string, Promise<unknown>>;
}

/** Takes the fields of places. */
export interface PlaceSink extends FieldSink {
  /** All fields of a place were given: those of the next one follow. */
  endPlace(): void;
}

export interface WriteResult {
  readonly rows: number;
  readonly bytes: number;
}

/** Whether the texts of a column are Perilbook's own. */
export function isWritten({ keeps, type }: TableColumn): boolean {
  return keeps === undefined && type !== 'point';
}

/** @throws BUG unless there is a field for each added column */
export function assertFieldCount({ added }: { readonly added: readonly unknown[] }, count: number): void {
  if (count === added.length) return;
  const message = `A row was given ${count} fields for ${added.length} columns`;
  throw new PerilbookError('BUG', message, 'Please report this.');
}
