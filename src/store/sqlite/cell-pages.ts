import type Database from 'better-sqlite3';

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

type PageTuple = [answers: Buffer | null, lengths: string, lats: string, lngs: string, failures: string];

/**
 * Reads all cells of a source in the order of the file, a page in one row. Most of the time of a look-up by key goes into passing each row
 * to JavaScript (2.7 µs of 4.4), so SQLite puts the rows of a page together: their answers are one blob, their keys JSON.
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
  };
}

function integers(json: string): Int32Array {
  return new Int32Array(JSON.parse(json) as number[]);
}
