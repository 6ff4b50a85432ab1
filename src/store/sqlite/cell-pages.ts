import type Database from 'better-sqlite3';
import type { Cell } from '../../geo/coordinates.ts';

/** Cells whose numbers (`id`) follow each other are read together; a page of them is about a megabyte. */
export const CELLS_PER_PAGE = 2_000;

/** The cells of a page, one behind the other. */
export interface CellPage {
  /** The packed answers of all of them. */
  readonly answers: Buffer;
  /** How many bytes of `answers` belong to each cell. */
  readonly lengths: Int32Array;
  readonly lats: Int32Array;
  readonly lngs: Int32Array;
  /** The stored failures of each cell or null, as a JSON array: few pages need them. */
  readonly failures: string;
}

/** Cells that were asked for, in the order asked. */
interface FoundCells {
  readonly answers: Buffer;
  /** Null for a cell that is not stored. */
  readonly lengths: readonly (number | null)[];
  readonly failures: readonly (string | null)[];
}

type PageTuple = [answers: Buffer | null, lengths: string, lats: string, lngs: string, failures: string];

/**
 * Reads cells a page in one row: passing each row to JavaScript takes more than half of the time of a look-up by key, so SQLite puts the rows
 * of a page together. Their answers are one blob, their keys JSON. Rejected: to map the file into memory (`mmap_size`), which saves a tenth,
 * because an error of the disk would end the process.
 */
export function cellPages(database: Database.Database) {
  // `+source`: by its index SQLite would sort all cells of the source for each page. The aggregates of a query get the same rows in the same
  // order, whatever it is. Pages of so many ids, not of so many rows with LIMIT: that needs a sorted subquery, a fifth slower.
  const page = database
    .prepare<[number, number, number], PageTuple>(
      `SELECT CAST(group_concat(answers, '') AS BLOB), json_group_array(length(answers)), json_group_array(lat7),
         json_group_array(lng7), json_group_array(failures)
       FROM cells WHERE id > ? AND id <= ? AND +source = ?`,
    )
    .raw();
  // The keys are an object with a latitude and a longitude for each member: names may repeat, and its members come in their order.
  const asked = database
    .prepare<[string, number], [answers: Buffer | null, lengths: string, failures: string]>(
      `SELECT CAST(group_concat(answers, '') AS BLOB), json_group_array(length(answers)), json_group_array(failures)
       FROM json_each(?) AS asked LEFT JOIN cells ON source = ? AND lat7 = asked.key AND lng7 = asked.value`,
    )
    .raw();
  const lastId = database.prepare<[], number | null>('SELECT max(id) FROM cells').pluck();

  return {
    lastId: () => lastId.get() ?? 0,
    /** The cells of a source in the page of this number, from 0; null where there are none. */
    read(number: number, source: number): CellPage | null {
      const from = number * CELLS_PER_PAGE;
      const [answers, lengths, lats, lngs, failures] = page.get(from, from + CELLS_PER_PAGE, source)!;
      if (answers === null) return null;
      return { answers, lengths: integers(lengths), lats: integers(lats), lngs: integers(lngs), failures };
    },
    /** The cells of a source at these places: at most a page. */
    find(source: number, cells: readonly Cell[]): FoundCells {
      const keys = cells.map(({ lat7, lng7 }) => `"${lat7}":${lng7}`);
      const [answers, lengths, failures] = asked.get(`{${keys.join(',')}}`, source)!;
      return { answers: answers ?? Buffer.alloc(0), lengths: JSON.parse(lengths), failures: JSON.parse(failures) };
    },
  };
}

function integers(json: string): Int32Array {
  return new Int32Array(JSON.parse(json) as number[]);
}
