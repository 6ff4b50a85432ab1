import type Database from 'better-sqlite3';
import type { Answer, CellRecord, TopicFailure } from '../../contract/answer.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import type { Cell } from '../../geo/coordinates.ts';
import { cellCodec, type PackedCell, type WidthOf } from '../cell-answers.ts';
import type { CompleteCell, WantedAnswer } from '../port.ts';
import type { StoredDictionary } from './text-dictionary.ts';

type CellTuple = [id: number, answers: Buffer, failures: string | null];
type AskedTuple = [lat7: number, lng7: number, answers: Buffer, failures: string | null] | [null, null, null, null];

/** Cells that one statement reads. To read each with a statement of its own takes half as much time again. */
const CELLS_A_STATEMENT = 2_000;

/** Reading and writing of cells; every function runs inside the caller's transaction, if there is one. */
export function cellStatements(database: Database.Database, texts: StoredDictionary, widthOf: WidthOf) {
  const select = database
    .prepare<[number, number, number], CellTuple>(
      'SELECT id, answers, failures FROM cells WHERE source = ? AND lat7 = ? AND lng7 = ?',
    )
    .raw();
  const insert = database.prepare('INSERT INTO cells (source, lat7, lng7, answers, failures) VALUES (?, ?, ?, ?, ?)');
  const update = database.prepare('UPDATE cells SET answers = ?, failures = ? WHERE id = ?');
  // Failures that cannot be parsed stay: `read` reports them.
  const forgetRejections = database.prepare(
    `UPDATE cells SET failures = (
       SELECT nullif(json_group_object(key, json(value)), '{}') FROM json_each(cells.failures)
       WHERE json_extract(value, '$[0]') <> 'rejected')
     WHERE instr(failures, '["rejected"') > 0 AND json_valid(failures)`,
  );
  const codec = cellCodec(texts, widthOf);
  // The keys are an object with a latitude and a longitude for each member: its names may repeat, and as an array of pairs it is read for
  // half as long again. LEFT JOIN, because SQLite may turn a JOIN round: then it reads all cells of the source for each statement.
  const asked = database
    .prepare<[string, number], AskedTuple>(
      `SELECT lat7, lng7, answers, failures FROM json_each(?) AS asked
       LEFT JOIN cells ON source = ? AND lat7 = asked.key AND lng7 = asked.value`,
    )
    .raw();

  function packedAt(source: number, { lat7, lng7 }: Cell): PackedCell | undefined {
    const row = select.get(source, lat7, lng7);
    return row && { answers: row[1], failures: row[2] };
  }

  function read(source: number, cell: Cell): CellRecord | null {
    const packed = packedAt(source, cell);
    return packed ? codec.unpack(packed) : null;
  }

  /** Reads cells in the order asked. */
  function readEach<Result>(
    source: number,
    cells: readonly Cell[],
    make: (cell: PackedCell) => Result,
  ): (Result | null)[] {
    const made: (Result | null)[] = [];
    for (let first = 0; first < cells.length; first += CELLS_A_STATEMENT) {
      const keys = cells.slice(first, first + CELLS_A_STATEMENT).map(({ lat7, lng7 }) => `"${lat7}":${lng7}`);
      for (const [lat7, lng7, answers, failures] of asked.all(`{${keys.join(',')}}`, source)) {
        const cell = cells[made.length]!;
        if (lat7 === null) made.push(null);
        else if (lat7 === cell.lat7 && lng7 === cell.lng7) made.push(make({ answers, failures }));
        // SQL promises no order without ORDER BY: paid answers must never go to another cell.
        else throw new Error('SQLite gave cells in another order than they were asked for');
      }
    }
    return made;
  }

  /** Reads cells; of those that have all that is wanted only that, in the order wanted. */
  function readWanted(source: number, cells: readonly Cell[], wanted: readonly WantedAnswer[]) {
    const pick = codec.picker(wanted);
    return readEach<CompleteCell | CellRecord>(source, cells, (packed) =>
      pick.has(packed.answers) ? pick.taken(packed.answers) : codec.unpack(packed),
    );
  }

  /** Stores the answers and failures of a call. */
  function merge(
    source: number,
    { lat7, lng7 }: Cell,
    answers: readonly Answer[],
    failures: readonly (TopicFailure & { readonly topic: TopicSlug })[],
  ): void {
    if (answers.length === 0 && failures.length === 0) return;
    const row = select.get(source, lat7, lng7);
    const merged = codec.merged(row && { answers: row[1], failures: row[2] }, answers, failures);
    if (row) update.run(merged.answers, merged.failures, row[0]);
    else insert.run(source, lat7, lng7, merged.answers, merged.failures);
  }

  return {
    read,
    readAll: (source: number, cells: readonly Cell[]) => readEach(source, cells, codec.unpack),
    readWanted,
    unpack: codec.unpack,
    merge,
    /** Returns the number of cells. */
    forgetRejections: () => forgetRejections.run().changes,
  };
}
