import type { Writable } from 'node:stream';
import { bug } from '../base/errors.ts';
import type { Field } from '../contract/answer.ts';
import type { OutputPlaces } from '../formats/packed/output-places.ts';
import type { Value, ValueType } from '../formats/typed-value.ts';
import type { ThreadPool } from '../threads/thread-pool.ts';
import type { NoLocation } from './no-locations.ts';
import type { FileEncoding } from './text-encoding.ts';

/** Where a row is: its line, and its part file where the input is several. */
export type LineReference = Pick<Row, 'line' | 'part'>;

/** One record of the input. */
export interface Row {
  /** 1 for the first record after the header. */
  readonly number: number;
  /** From 1: the line on which the record begins, or the number of the row or feature (`unit`). */
  readonly line: number;
  /** The name of the file that it is in, where the input is several part files. */
  readonly part?: string;
  /** The texts of the requested columns, in that order; '' for an empty, null or missing field. */
  readonly fields: readonly string[];
  /** The type of each field, if the source has types. */
  readonly types?: readonly ValueType[];
  /** The columns whose formulas have no stored value: their fields are ''. */
  readonly formulas?: readonly number[];
  /** What is to be said in the row's note if it has a location. */
  readonly remark?: string;
  /** Why the record is no location: an empty row, a total. */
  readonly noLocation?: NoLocation;
  /** Why the record could not be read; it is kept anyway, with status `invalid`. */
  readonly problem?: string;
  /** It has more fields than the file has columns. Where its bytes are kept, its added fields stand farther right. */
  readonly isTooLong?: true;
}

/** The type of a column of a new file. `count` is a whole number of 32 bits, `integer` one that a double holds; `time` is a
 * timestamp in UTC, `timestamp` one without a zone; `point` is Well-Known Binary with a character a byte. */
type TableColumnType = AddedColumn['type'] | 'integer' | 'boolean' | 'date' | 'timestamp';

/** A column of a new file. */
export interface TableColumn {
  readonly name: string;
  readonly type: TableColumnType;
  /** The column of the input whose fields it keeps unchanged. */
  readonly keeps?: number;
}

/** A column that Perilbook adds, or keeps. Its times are ISO 8601 UTC text in text formats; points are for Parquet and GeoJSON. */
export interface AddedColumn extends TableColumn {
  readonly type: 'text' | 'number' | 'count' | 'time' | 'point';
}

/** Geometries that are not points. */
export interface OtherShapes {
  /** Null: the geometries of GeoJSON, which are no column. */
  readonly column: string | null;
  /** For example Polygon. */
  readonly kinds: readonly string[];
}

/** Opened rows: their format and columns are known, but they are not read yet. */
export interface RowSource {
  readonly format: string;
  /** The names of the columns in file order, decoded, spaces around them removed. Those of an earlier run stand last, also where rows have
   * different members: they are replaced from there on. */
  readonly columns: readonly string[];
  /** The meaning of `line`, if it is not a line: a row of a table or a sheet, or a feature of a collection. */
  readonly unit?: 'line' | 'row' | 'feature' | undefined;
  /** Its geometries that are not points. */
  readonly shapes?: OtherShapes | undefined;
  /** Some of its rows have remarks. */
  readonly hasRemarks?: boolean | undefined;
  /** Its rows have types; absent if all fields are texts. */
  readonly hasTypes?: boolean;
  /** A note for the user on how the file is read; null for none. */
  readonly note?: string | null | undefined;
  /** A note for an output of the same format; null for none. */
  readonly ownFormatNote?: string | null | undefined;
  /** The same, of what stands after the rows: known once they were read to the end. */
  readonly ownFormatNoteOfEnd?: (() => string | null) | undefined;
  /** A note for an output of another format, whose letters are decoded; null for none. */
  readonly conversionNote?: string | null | undefined;
  /** What to do if its columns have no location, where the file shows it: another delimiter. */
  readonly columnsHint?: string | null | undefined;
  /** The number of the first other line near the top whose fields could be the column names, in a format that may have titles there. */
  readonly likelyHeader?:
    | ((isHeader: (fields: readonly string[]) => boolean) => number | null)
    | undefined;
  /** The names of the other sheets near whose top a line has fields that could be the column names, in a workbook. */
  readonly likelySheets?:
    | ((isHeader: (fields: readonly string[]) => boolean) => Promise<readonly string[]>)
    | undefined;
  /** The columns that can be read without an error, where these are not all: points in another system than degrees are refused. */
  readonly readable?: readonly number[] | undefined;
  /** Its columns are stored apart: a few of many are read in a small part of the time. */
  readonly isColumnar?: true;
  /** Of a file with such columns, those whose fields are texts. */
  readonly textColumns?: readonly number[];
  /** Streams all records once, in order, in batches. May be called again; each call reads the file anew. A record that lacks one of the
   * first `needed` columns (default: all) has a problem; other missing fields are ''. Unwanted records may be skipped. */
  read(
    columns: readonly number[],
    needed?: number,
    isWanted?: (number: number) => boolean,
  ): AsyncIterable<readonly Row[]>;
  /** Absent if the rows can only be read in sequence. */
  readonly inPieces?: RowPieces | undefined;
}

/** Consecutive rows of a file. */
export interface RowPiece {
  /** The number of the part file; 0 for one file. */
  readonly file: number;
  /** Its range: bytes of a text, or numbers of row groups. The last row that begins in it is read to its end. */
  readonly from: number;
  readonly to: number;
  /** Whether `from` is a guess and may lie inside a row. Reading then begins at the next line. */
  readonly isGuess: boolean;
  /** The line at `from`; 0 if it is unknown, and lines are counted from there. */
  readonly line: number;
  /** The number of rows and lines; 0 before reading. */
  readonly rows: number;
  readonly lines: number;
  /** Of a text that was read: the encoding of its first bytes beyond ASCII; null where there are none. */
  readonly encoding?: 'utf-8' | 'windows-1252' | null;
  /** Of a text that was read, if each of its records has the header's number of fields: for each the bytes from the end of the record
   * before it to its own end. */
  readonly lengths?: Uint16Array<ArrayBuffer>;
}

/** Columns of `count` rows. Valid until the next batch. */
export interface NumberBatch {
  readonly count: number;
  /** The numbers of each column: NaN or null if a row has no plain number there; its texts are then read. */
  readonly numbers: readonly ArrayLike<number | null>[];
  readonly rowAt: (index: number) => Row;
}

type ReadPiece<Batches> = (piece: RowPiece, columns: readonly number[], needed?: number) => Batches;

/** Reads pieces of a file, and returns each as read: its rows are those of the file only if it begins where the previous one ends. */
export interface PieceReader {
  readonly read: ReadPiece<AsyncGenerator<readonly Row[], RowPiece>>;
  /** Reads columns of numbers without their texts; null if one of them is not stored as doubles. */
  readonly readNumbers?: ReadPiece<AsyncGenerator<NumberBatch, RowPiece> | null>;
}

/** An input in pieces, which threads read independently. */
export interface RowPieces {
  /** In the order of the rows. All pieces of a text but the first are guesses: a quoted field with line ends may make one wrong. */
  readonly pieces: readonly RowPiece[];
  /** The relative size of the input and of what some added columns take in the output; from 1 up, threads save more time than they take
   * to start. */
  readonly size: (added: number) => number;
  readonly files: readonly string[];
  /** Absent where there are several files: each is opened for its own. */
  readonly reader?: PieceReader;
  /** @throws INPUT_UNREADABLE if a file has changed since it was opened */
  assertSame(): Promise<void>;
}

/** Settings of an input that override the detection by its content. */
export interface OpenOptions {
  /** Of a CSV file: one ASCII character except quotes and line ends. */
  readonly delimiter?: string;
  readonly encoding?: FileEncoding;
  /** False if the first row of a table is already a record; columns are then named by number. */
  readonly header?: boolean;
  /** The line or the row of a table with the column names. Lines above it are copied to the output. */
  readonly headerLine?: number;
  /** The name of a sheet, or its number from 1. */
  readonly sheet?: string;
}

/** An opened input file. */
export interface RowFile extends RowSource {
  /** The columns that are not parts of others, if some are: `address` contains `address.zip`. */
  readonly wholeColumns?: readonly number[];
  /** The coordinates of a column of points: `geometry.latitude`, `geometry.longitude`; none for other columns. */
  readonly coordinatesOf?: (column: number) => readonly number[];
  /** If opening reads only the beginning: the file with the columns of all its rows, which are the same columns and then late ones. */
  readonly entire?: () => Promise<RowFile>;
  /** If its format has limits: refuses an output that would have more rows or columns. @throws OUTPUT_UNWRITABLE, INPUT_COLUMNS */
  readonly checkRoom?: (shape: OutputShape) => Promise<void>;
  /** Streams the file once more and writes it with the added columns after the original ones. */
  write(request: WriteRequest): Promise<WriteResult>;
}

/** What is known of an output before its fields are. */
export interface OutputShape extends Pick<WriteRequest, 'output' | 'dropFrom' | 'added' | 'kept'> {
  readonly rows: number;
}

/** The target of written rows. */
export interface TableTarget {
  /** A path, or `-` for standard output. An old file stays whole until the new one, written beside it, is renamed at the end. */
  readonly output: string;
  readonly stdout?: Writable | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Ends the wait for a program that reads a pipe. An interrupted run writes its output to all else. */
  readonly interrupt?: AbortSignal | undefined;
  /** The decimal separator of added numbers in delimited text; default: a point. */
  readonly decimal?: 'point' | 'comma' | undefined;
}

export interface WriteRequest extends TableTarget {
  /** The original columns from this index on were written by Perilbook earlier and are left out; null keeps all. */
  readonly dropFrom: number | null;
  /** Columns of an earlier run that stay unchanged, by index; they keep their order among the added ones. */
  readonly kept?: readonly (AddedColumn & { readonly keeps: number })[];
  /** Original columns that hold numbers in every row, for formats that have types. */
  readonly numbers?: ReadonlySet<number>;
  /** `text`: columns of a source without types stay texts in formats with types; default: numbers are inferred. */
  readonly types?: 'infer' | 'text' | undefined;
  readonly added: readonly AddedColumn[];
  readonly placed: PlacedFields;
  /** Gives a row fields of its own (its point, a remark), where rows of one place differ. `columns` are read for it. */
  readonly own?: OwnFields | undefined;
}

interface OwnFields {
  readonly columns: readonly number[];
  /** How many of these a record must have, as for `read`; default: all. */
  readonly needed?: number;
  readonly of: (row: Row, fields: readonly Field[]) => readonly Field[];
}

/** The columns of a new file and the fields of its rows. */
export interface NewTable {
  readonly columns: readonly TableColumn[];
  readonly batches: () => AsyncIterable<readonly (readonly Value[])[]>;
}

/** Some rows and the fields of their places. */
export interface PlacedRows {
  /** The place of each row, by number. */
  readonly numbers: Int32Array<ArrayBuffer>;
  readonly places: OutputPlaces;
  /** The value of each row, where its fields depend on it; NaN without one. */
  readonly values?: Float64Array<ArrayBuffer> | undefined;
}

/** The places of some rows, and their values. */
export type PlacesOfRows = Omit<PlacedRows, 'places'>;

/** The fields of rows by place: rows of one place have the same fields, but for those that depend on their values. */
export interface PlacedFields {
  /** The places of the next `count` rows, valid until the next call. Called in the order of the rows, also before an earlier call ends. */
  readonly next: (count: number) => Promise<PlacedRows>;
  /** The pieces of the file, the fields of all their places, and the threads that write them; absent if the rows are written in turn. */
  readonly inThreads?:
    | {
        readonly pool: ThreadPool;
        readonly pieces: readonly RowPiece[];
        readonly places: OutputPlaces;
      }
    | undefined;
}

export interface WriteResult {
  readonly rows: number;
  readonly bytes: number;
}

/** Whether Perilbook made the texts of a column. */
export function isWritten({ keeps, type }: TableColumn): boolean {
  return keeps === undefined && type !== 'point';
}

/** @throws BUG unless there is a field for each added column */
export function assertFieldCount(
  { added }: { readonly added: readonly unknown[] },
  count: number,
): void {
  if (count === added.length) return;
  throw bug(`A row was given ${count} fields for ${added.length} columns`);
}
