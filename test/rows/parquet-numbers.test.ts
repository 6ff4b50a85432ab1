import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openRowFile } from '../../src/rows/open/open-row-file.ts';
import type { PieceReader, Row, RowPiece } from '../../src/rows/port.ts';
import { openDuckdb } from '../duckdb.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** More than a batch of numbers (4,096) in a row group, and more than one group. */
const ROWS = 9_000;

/** How many of the columns are the location. */
const NEEDED = 2;

/** What a row says of itself: its texts, and whether it is a location. */
const toldBy = ({ fields, noLocation }: Row) => ({ fields, noLocation });

/** All rows of a piece, by the way that reads numbers, with the numbers beside them. */
async function readNumbers(reader: PieceReader, piece: RowPiece, columns: readonly number[]) {
  const [rows, values] = [[] as ReturnType<typeof toldBy>[], [] as number[][]];
  for await (const { count, numbers, rowAt } of reader.readNumbers!(piece, columns, NEEDED)!) {
    for (let row = 0; row < count; row++) {
      rows.push(toldBy(rowAt(row)));
      values.push(numbers.map((column) => column[row]!));
    }
  }
  return { rows, values };
}

async function readTexts(reader: PieceReader, piece: RowPiece, columns: readonly number[]) {
  const all: ReturnType<typeof toldBy>[] = [];
  for await (const rows of reader.read(piece, columns, NEEDED)) all.push(...rows.map(toldBy));
  return all;
}

test('numbers of a Parquet file are the same as arrays and as texts, with nulls, dictionaries and 64 bits', async (t) => {
  const file = join(temporaryFolder(t), 'numbers.parquet');
  const duckdb = await openDuckdb();
  t.after(() => duckdb.close());
  await duckdb.execute(
    `COPY (SELECT 'Total' AS name, CASE WHEN i % 3 = 0 THEN NULL ELSE i * 1.5 END::DOUBLE AS nulls,
       CASE WHEN i % 4 = 0 THEN NULL ELSE i END::BIGINT AS gaps,
       (i / 7.0)::DOUBLE AS plain, ((i % 5) / 2.0)::DOUBLE AS coded,
       CASE WHEN i % 11 = 0 THEN 'nan'::DOUBLE WHEN i % 13 = 0 THEN NULL ELSE -i END::DOUBLE AS odd,
       (i::BIGINT - 4500) * 900000000000 AS wide, (i % 40 - 20)::BIGINT AS narrow, (i - 4500)::INTEGER AS whole,
       9007199254740993 + i * 1000003 AS beyond,
       CASE WHEN i % 3 = 0 THEN NULL WHEN i % 3 = 1 THEN -9007199254740995 ELSE 7 END::BIGINT AS beyond_coded
     FROM range(${ROWS}) AS rows(i)) TO '${file}' (FORMAT parquet, ROW_GROUP_SIZE 6144)`,
  );
  const opened = await openRowFile(file);
  const { pieces, reader } = opened.inPieces!;
  assert.ok(pieces.length > 1);
  const columns = [...opened.columns.keys()].slice(1);
  let [all, totals] = [0, 0];
  for (const piece of pieces) {
    const { rows, values } = await readNumbers(reader!, piece, columns);
    assert.deepEqual(rows, await readTexts(reader!, piece, columns));
    for (const [row, numbers] of values.entries()) {
      const told = rows[row]!.fields.map((text) => (text === '' ? Number.NaN : Number(text)));
      assert.deepEqual(numbers, told);
    }
    all += rows.length;
    totals += rows.filter(({ noLocation }) => noLocation === 'total_row').length;
  }
  // Rows of a total: those without either number of a location.
  assert.deepEqual([all, totals], [ROWS, Math.ceil(ROWS / 12)]);
});
