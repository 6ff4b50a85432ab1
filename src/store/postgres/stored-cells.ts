import type { CellRecord } from '../../contract/answer.ts';
import type { Cell } from '../../geo/coordinates.ts';
import type { Session } from '../../sql/postgres-pool.ts';
import type { cellCodec, PackedCell } from '../cell-answers.ts';
import type { CellAnswers, CompleteCell, WantedAnswer } from '../port.ts';
import type { TextTable } from './text-table.ts';

/** What a call or a lookup brought for a cell of a source. */
interface CellChange extends CellAnswers {
  readonly source: number;
}

type CellCodec = ReturnType<typeof cellCodec>;

/** A page of a read: a longer list would only make the answer wait for its end. */
const CELLS_A_STATEMENT = 5_000;

/** An array for PostgreSQL. `pg` would quote each number. */
export const integers = (numbers: readonly number[]): string => `{${numbers.join(',')}}`;

/** The stored rows of cells, in the order asked; undefined for a cell never heard of. */
async function packedCells(
  session: Session,
  source: number,
  cells: readonly Cell[],
): Promise<(PackedCell | undefined)[]> {
  const found: (PackedCell | undefined)[] = new Array(cells.length).fill(undefined);
  const pages: Promise<void>[] = [];
  for (let from = 0; from < cells.length; from += CELLS_A_STATEMENT) pages.push(page(from));
  await Promise.all(pages);
  return found;

  async function page(from: number): Promise<void> {
    const part = cells.slice(from, from + CELLS_A_STATEMENT);
    // LEFT JOIN keeps the order of the tables: a JOIN made for an empty table reads all cells of the source, and looks for each in the keys.
    const rows = await session.rows<PackedCell & { place: number }>(
      `SELECT place, answers, failures FROM unnest($2::integer[], $3::integer[]) WITH ORDINALITY AS asked (lat7, lng7, place)
       LEFT JOIN cells ON cells.source = $1 AND cells.lat7 = asked.lat7 AND cells.lng7 = asked.lng7`,
      [source, integers(part.map(({ lat7 }) => lat7)), integers(part.map(({ lng7 }) => lng7))],
    );
    for (const row of rows) if (row.answers !== null) found[from + row.place - 1] = row;
  }
}

export async function readCells(
  session: Session,
  texts: TextTable,
  codec: CellCodec,
  source: number,
  cells: readonly Cell[],
): Promise<(CellRecord | null)[]> {
  // The texts behind the cells, in the pipeline's order: they hold all that the cells name.
  const [packed] = await Promise.all([packedCells(session, source, cells), texts.refresh(session)]);
  return packed.map((cell) => (cell ? codec.unpack(cell) : null));
}

export async function readWantedCells(
  session: Session,
  texts: TextTable,
  codec: CellCodec,
  source: number,
  cells: readonly Cell[],
  wanted: readonly WantedAnswer[],
): Promise<(CompleteCell | CellRecord | null)[]> {
  const [packed] = await Promise.all([packedCells(session, source, cells), texts.refresh(session)]);
  const pick = codec.picker(wanted);
  return packed.map((cell) => {
    if (cell === undefined || cell === null) return null;
    return pick.has(cell.answers) ? pick.taken(cell.answers) : codec.unpack(cell);
  });
}

/** Merges what was brought into the cells, in the caller's transaction. */
export async function mergeCells(
  session: Session,
  texts: TextTable,
  codec: CellCodec,
  changes: readonly CellChange[],
): Promise<void> {
  const real = changes.filter(({ answers, failures }) => answers.length > 0 || failures.length > 0);
  if (real.length === 0) return;
  await texts.give(
    session,
    real.flatMap(({ answers }) => answers),
  );
  const keyOf = (source: number, { lat7, lng7 }: Cell) => `${source}/${lat7}/${lng7}`;
  const places = [...new Map(real.map(({ source, cell }) => [keyOf(source, cell), { source, ...cell }])).values()];
  // In one order, so that two transactions do not wait for one another. DO UPDATE, because it locks the row and returns it.
  places.sort((a, b) => a.source - b.source || a.lat7 - b.lat7 || a.lng7 - b.lng7);
  const rows = await session.rows<{ id: number; source: number; lat7: number; lng7: number } & PackedCell>(
    `INSERT INTO cells AS known (source, lat7, lng7) SELECT * FROM unnest($1::integer[], $2::integer[], $3::integer[])
     ON CONFLICT (source, lat7, lng7) DO UPDATE SET source = known.source
     RETURNING id, source, lat7, lng7, answers, failures`,
    [places.map((p) => p.source), places.map((p) => p.lat7), places.map((p) => p.lng7)].map(integers),
  );
  const merged = new Map(rows.map((row) => [keyOf(row.source, row), { id: row.id, packed: row as PackedCell }]));
  for (const { source, cell, answers, failures } of real) {
    const kept = merged.get(keyOf(source, cell))!;
    kept.packed = codec.merged(kept.packed, answers, failures);
  }
  const all = [...merged.values()];
  await session.rows(
    `UPDATE cells SET answers = new.answers, failures = new.failures
     FROM unnest($1::bigint[], $2::bytea[], $3::text[]) AS new (id, answers, failures) WHERE cells.id = new.id`,
    [
      integers(all.map(({ id }) => id)),
      all.map(({ packed }) => packed.answers),
      all.map(({ packed }) => packed.failures),
    ],
  );
}
