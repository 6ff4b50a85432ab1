import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openRowFile } from '../../src/rows/open/open-row-file.ts';
import type { PieceReader, RowPiece } from '../../src/rows/port.ts';
import { openDuckdb } from '../duckdb.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const ROWS = 20_000;

/** The texts of all rows of a piece, by the way that reads numbers, with the numbers beside them. */
async function readNumbers(reader: PieceReader, piece: RowPiece, columns: readonly number[]) {
  const [texts, values] = [[] as (readonly string[])[], [] as number[][]];
  for await (const { count, numbers, rowAt } of reader.readNumbers!(piece, columns)!) {
    for (let row = 0; row < count; row++) {
      texts.push(rowAt(row).fields);
      values.push(numbers.map((column) => column[row]!));
    }
  }
  return { texts, values };
}

async function readTexts(reader: PieceReader, piece: RowPiece, columns: readonly number[]) {
  const texts: (readonly string[])[] = [];
  for await (const rows of reader.read(piece, columns))
    texts.push(...rows.map(({ fields }) => fields));
  return texts;
}

test('numbers of a Parquet file are the same as arrays and as texts, with nulls, dictionaries and 64 bits', async (t) => {
  const file = join(temporaryFolder(t), 'numbers.parquet');
  const duckdb = await openDuckdb();
  t.after(() => duckdb.close());
  await duckdb.execute(
    `COPY (SELECT (i / 7.0)::DOUBLE AS plain, ((i % 5) / 2.0)::DOUBLE AS coded,
       CASE WHEN i % 3 = 0 THEN NULL ELSE i * 1.5 END::DOUBLE AS nulls,
       CASE WHEN i % 11 = 0 THEN 'nan'::DOUBLE WHEN i % 13 = 0 THEN NULL ELSE -i END::DOUBLE AS odd,
       (i::BIGINT - 10000) * 400000000000 AS wide, (i % 40 - 20)::BIGINT AS narrow, (i - 10000)::INTEGER AS whole,
       CASE WHEN i % 4 = 0 THEN NULL ELSE i END::BIGINT AS gaps, 9007199254740993 + i * 1000003 AS beyond,
       CASE WHEN i % 3 = 0 THEN NULL WHEN i % 3 = 1 THEN -9007199254740995 ELSE 7 END::BIGINT AS beyond_coded
     FROM range(${ROWS}) AS rows(i)) TO '${file}' (FORMAT parquet, ROW_GROUP_SIZE 6144)`,
  );
  const opened = await openRowFile(file);
  const { pieces, reader } = opened.inPieces!;
  assert.ok(pieces.length > 1);
  const columns = [...opened.columns.keys()];
  let rows = 0;
  for (const piece of pieces) {
    const { texts, values } = await readNumbers(reader!, piece, columns);
    assert.deepEqual(texts, await readTexts(reader!, piece, columns));
    for (const [row, numbers] of values.entries()) {
      const told = texts[row]!.map((text) => (text === '' ? Number.NaN : Number(text)));
      assert.deepEqual(numbers, told);
    }
    rows += texts.length;
  }
  assert.equal(rows, ROWS);
});
