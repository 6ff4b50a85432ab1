import type Database from 'better-sqlite3';
import type { Answer, CellRecord, TopicFailure } from '../../contract/answer.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import type { Cell } from '../../geo/coordinates.ts';
import { cellCodec, type PackedCell, type WidthOf } from '../cell-answers.ts';
import type { CompleteCell, WantedAnswer } from '../port.ts';
import { CELLS_PER_PAGE, cellPages } from './cell-pages.ts';
import type { StoredDictionary } from './text-dictionary.ts';
import { cellVisits } from './visit-cells.ts';

type CellTuple = [id: number, answers: Buffer, failures: string | null];

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
  const pages = cellPages(database);

  function packedAt(source: number, { lat7, lng7 }: Cell): PackedCell | undefined {
    const row = select.get(source, lat7, lng7);
    return row && { answers: row[1], failures: row[2] };
  }

  function read(source: number, cell: Cell): CellRecord | null {
    const packed = packedAt(source, cell);
    return packed ? codec.unpack(packed) : null;
  }

  /** Reads cells in the order asked, a page at a time. */
  function readEach<Found>(
    source: number,
    cells: readonly Cell[],
    make: (cell: PackedCell) => Found,
  ): (Found | null)[] {
    const made: (Found | null)[] = [];
    for (let first = 0; first < cells.length; first += CELLS_PER_PAGE) {
      const { answers, lengths, failures } = pages.find(source, cells.slice(first, first + CELLS_PER_PAGE));
      let to = 0;
      for (const [row, length] of lengths.entries()) {
        const from = to;
        to += length ?? 0;
        made.push(length === null ? null : make({ answers: answers.subarray(from, to), failures: failures[row]! }));
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
    ...cellVisits(database.name, pages, codec),
    read,
    readAll: (source: number, cells: readonly Cell[]) => readEach(source, cells, codec.unpack),
    readWanted,
    unpack: codec.unpack,
    merge,
    /** Returns the number of cells. */
    forgetRejections: () => forgetRejections.run().changes,
  };
}
