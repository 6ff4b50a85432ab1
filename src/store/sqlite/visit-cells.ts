import type Database from 'better-sqlite3';
import type { cellCodec } from '../cell-answers.ts';
import { damagedCell } from '../packed-answers.ts';
import type { CellVisitor, WantedAnswer } from '../port.ts';

/** A page is about a megabyte. */
const CELLS_PER_PAGE = 2_000;

/** A visited row costs a third of a row that is found by its key. */
const LEAST_SHARE = 1 / 3;

type PageTuple = [last: number | null, answers: Buffer, lengths: string, lats: string, lngs: string, failures: string];

/**
 * Reads all cells of a source in the order of the file, a page in one row. Most of the time of a look-up by key goes into passing each row
 * to JavaScript (2.7 µs of 4.4), so SQLite puts the rows of a page together: their answers are one blob, their keys JSON.
 */
export function cellVisits(database: Database.Database, codec: ReturnType<typeof cellCodec>) {
  // `+source`: by the index of the source SQLite would sort all of its cells for each page.
  const page = database
    .prepare<[number, number], PageTuple>(
      `SELECT max(id), CAST(group_concat(answers, '') AS BLOB), json_group_array(length(answers)),
         json_group_array(lat7), json_group_array(lng7), json_group_array(failures)
       FROM (SELECT id, lat7, lng7, answers, failures FROM cells WHERE id > ? AND +source = ? ORDER BY id LIMIT ${CELLS_PER_PAGE})`,
    )
    .raw();
  const lastId = database.prepare<[], number | null>('SELECT max(id) FROM cells').pluck();

  /** Whether visiting all cells is faster than looking up so many. */
  function isWorthwhile(asked: number): boolean {
    return asked >= CELLS_PER_PAGE && asked >= (lastId.get() ?? 0) * LEAST_SHARE;
  }

  function visit(
    source: number,
    wanted: readonly WantedAnswer[],
    { numberOf, complete, incomplete }: CellVisitor,
  ): void {
    const pick = codec.picker(wanted);
    for (let last = 0; ; ) {
      const [end, answers, ...texts] = page.get(last, source)!;
      if (end === null) return;
      last = end;
      const [lengths, lats, lngs, failures] = texts.map((text) => JSON.parse(text)) as [
        number[],
        number[],
        number[],
        (string | null)[],
      ];
      let from = 0;
      for (let row = 0; row < lengths.length; row++) {
        const to = from + lengths[row]!;
        const number = numberOf({ lat7: lats[row]!, lng7: lngs[row]! });
        if (number >= 0) {
          const bytes = answers.subarray(from, to);
          if (pick.has(bytes)) complete(number, () => pick.taken(bytes));
          else incomplete(number, codec.unpack({ answers: bytes, failures: failures[row]! }));
        }
        from = to;
      }
      if (from !== answers.length) throw damagedCell();
    }
  }

  return { isWorthwhile, visit };
}
