import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { csvPieces } from '../../src/rows/csv/csv-row-file.ts';
import { readDialect } from '../../src/rows/csv/dialect.ts';
import { encodingToWrite } from '../../src/rows/csv/field-bytes.ts';
import { openInput } from '../../src/rows/files/input-file.ts';
import { openRowFile } from '../../src/rows/open/open-row-file.ts';
import type { PieceReader, Row, RowPiece } from '../../src/rows/port.ts';
import { inFileOrder } from '../../src/run/scan/scan-pieces.ts';
import { fc } from '../properties.ts';
import { temporaryFolder } from './book-fixture.ts';

const folder = temporaryFolder();

async function readPiece(
  file: PieceReader,
  piece: RowPiece,
): Promise<{ piece: RowPiece; found: Row[] }> {
  const found: Row[] = [];
  const batches = file.read(piece, [0, 1], undefined);
  for (;;) {
    const { done, value } = await batches.next();
    if (done) {
      await sameNumbers(file, piece, found);
      return { piece: value, found };
    }
    found.push(...value);
  }
}

const PLAIN = /^(?:-?(?:0|[1-9]\d{0,2})(?:\.\d{1,16})?|(?=.{1,15}$)-?[1-9]\d{3,}(?:\.\d+)?)$/;

/** Reads a piece as numbers: the same rows, and the numbers that `Number` reads. */
async function sameNumbers(
  file: PieceReader,
  piece: RowPiece,
  rows: readonly Row[],
): Promise<void> {
  const found: Row[] = [];
  for await (const { count, numbers, rowAt } of file.readNumbers!(piece, [0, 1], undefined)!) {
    for (let index = 0; index < count; index++) {
      const row = rowAt(index);
      found.push(row);
      for (const [at, value] of numbers.map((column) => column[index]!).entries()) {
        const text = row.fields[at]!;
        if (!Number.isNaN(value))
          assert.ok(Object.is(value, Number(text)) && PLAIN.test(text), text);
        else assert.ok(row.problem || !PLAIN.test(text) || text.length > 16, text);
      }
    }
  }
  assert.deepEqual(found, rows);
}

/** The rows by pieces of so many bytes, and how many of the guesses were wrong. */
async function byPieces(path: string, bytes: number): Promise<{ rows: Row[]; wrong: number }> {
  const input = await openInput(path);
  const { pieces, reader } = csvPieces(input, readDialect(input, { delimiter: ',' }), bytes)!;
  const file = reader!;
  const rows: Row[] = [];
  let wrong = 0;
  const read = (piece: RowPiece) => {
    if (!piece.isGuess && piece !== pieces[0]) wrong++;
    return readPiece(file, piece);
  };
  for await (const { read: one, linesBefore } of inFileOrder(pieces, 3, read)) {
    assert.equal(one.piece.rows, one.found.length);
    for (const row of one.found)
      rows.push({ ...row, number: rows.length + 1, line: row.line + linesBefore });
  }
  return { rows, wrong };
}

async function straight(path: string): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const batch of (await openRowFile(path, { delimiter: ',' })).read([0, 1]))
    rows.push(...batch);
  return rows;
}

const field = fc.oneof(
  fc.stringMatching(/^[a-z0-9.]{0,6}$/),
  fc.stringMatching(/^-?(?:\d{1,4}(\.\d{0,17})?|\d{5,16}(\.\d{0,3})?)$/),
  fc.constantFrom(
    '"a\nb"',
    '"1,2\r\n3"',
    '"say ""no"""',
    '""',
    '"\n\n\n"',
    'a"b',
    '"open',
    '"a" b',
    '"x\ny" z',
    'µ',
  ),
);
const lineEnd = fc.constantFrom('\n', '\r\n', '\r', '\n\n');
const record = fc
  .tuple(fc.array(field, { minLength: 1, maxLength: 4 }), lineEnd)
  .map(([fields, end]) => fields.join() + end);

test('the rows of a CSV file are the same by pieces of any size', async () => {
  let guessedWrong = 0;
  const path = join(folder, 'pieces.csv');
  await fc.assert(
    fc.asyncProperty(
      fc.array(record, { maxLength: 40 }),
      fc.integer({ min: 1, max: 90 }),
      async (records, bytes) => {
        writeFileSync(path, `id,name\n${records.join('')}`);
        const { rows, wrong } = await byPieces(path, bytes);
        assert.deepEqual(rows, await straight(path));
        guessedWrong += wrong;
      },
    ),
    { numRuns: 25, seed: 6 },
  );
  assert.ok(guessedWrong > 20, 'quoted line ends made guesses wrong');
});

test('a quoted field that is longer than a piece leaves rows and lines as they are', async () => {
  const path = join(folder, 'without-end.csv');
  writeFileSync(path, `id,name\n1,"${'a\n'.repeat(2_000)}"\n2,b\n`);
  const { rows } = await byPieces(path, 100);
  assert.deepEqual(rows, await straight(path));
  const lines = rows.map(({ line }) => line);
  assert.deepEqual(lines, [2, 2003]);
});

test('the lengths of records that the last pass goes by are right, also of those that two bytes cannot count', async () => {
  const path = join(folder, 'lengths.csv');
  for (const length of [65_535, 65_536, 65_537]) {
    const records = ['1,a\n', `2,${'x'.repeat(length - 3)}\n`, '3,b\n'];
    writeFileSync(path, `id,name\n${records.join('')}`);
    const input = await openInput(path);
    const { pieces, reader } = csvPieces(input, readDialect(input, {}), 2 ** 20)!;
    const batches = reader!.readNumbers!(pieces[0]!, [0], undefined)!;
    let end = await batches.next();
    while (!end.done) end = await batches.next();
    const { rows, lengths } = end.value;
    assert.deepEqual([pieces.length, rows], [1, 3]);
    // From the end of one record to that of the next, line ends left out.
    const expected = [3, length, 4];
    if (length === 65_535 || lengths !== undefined) assert.deepEqual([...lengths!], expected);
  }
});

test('where no line end is quoted, each piece begins at the line that was guessed', async () => {
  const path = join(folder, 'plain.csv');
  for (const end of ['\n', '\r\n', '\r']) {
    const lines = Array.from({ length: 40 }, (_, row) => `${row},${'x'.repeat(row % 5)}${end}`);
    writeFileSync(path, `id,name${end}${lines.join('')}`);
    for (const bytes of [20, 21, 22, 23]) {
      const { rows, wrong } = await byPieces(path, bytes);
      assert.deepEqual([wrong, rows.length], [0, 40], JSON.stringify(end));
    }
  }
});

test('the pieces know the encoding of the first bytes beyond ASCII, which decides how added text is written', async () => {
  const [path, ascii] = [
    join(folder, 'late.csv'),
    // More than the head that is read first; long rows, since a row takes time whatever its length.
    `name,lat,lng\n${`${'plain '.repeat(40)},1,2\n`.repeat(6_000)}`,
  ];
  const late = (text: string, encoding: 'utf8' | 'latin1') => [
    Buffer.from(ascii),
    Buffer.from(text, encoding),
  ];
  for (const [parts, expected] of [
    [[Buffer.from(ascii)], 'utf-8'],
    [late('Café,1,2\n', 'utf8'), 'utf-8'],
    [late('Café,1,2\n', 'latin1'), 'windows-1252'],
    [[...late('Café,1,2\n', 'latin1'), ...late('Peña,1,2\n', 'utf8')], 'windows-1252'],
  ] as const) {
    writeFileSync(path, Buffer.concat(parts));
    const input = await openInput(path);
    const dialect = readDialect(input, {});
    const { pieces, reader } = csvPieces(input, dialect, 100_000)!;
    const file = reader!;
    const scanned: RowPiece[] = [];
    for (const piece of pieces) scanned.push((await readPiece(file, piece)).piece);
    assert.equal(await encodingToWrite(input, dialect, scanned), expected);
    assert.equal(await encodingToWrite(input, dialect, undefined), expected);
  }
});

test('the size that decides on threads counts what is added to the rows, too', async () => {
  const file = join(folder, 'many.csv');
  writeFileSync(file, `lat,lng\n${'40.5,-99.5\n'.repeat(400_000)}`);
  const input = await openInput(file);
  const { size } = csvPieces(input, readDialect(input, {}))!;
  assert.ok(size(0) < 0.2 && size(19) < 1 && size(57) > 1, `${size(0)}, ${size(19)}, ${size(57)}`);
});

test('pieces of short rows are smaller: each row gets all added fields; after a head of empty lines they are not tiny', async () => {
  const piecesOf = async (text: string) => {
    const file = join(folder, 'short.csv');
    writeFileSync(file, text);
    const { pieces } = csvPieces(await openInput(file), readDialect(await openInput(file), {}))!;
    return pieces.map(({ from, to }) => to - from);
  };
  const row = 'a house,40.5,-99.5\n';
  const sizes = await piecesOf(`name,lat,lng\n${row.repeat(100_000)}`);
  const most = Math.max(...sizes) / row.length;
  assert.ok(most < 5_000 && sizes.length < 30, `${most} rows in one of ${sizes.length} pieces`);
  const few = await piecesOf(`name,lat,lng\n${'\n'.repeat(2 ** 17)}${row.repeat(100_000)}`);
  assert.ok(few.length < 40, `${few.length} pieces`);
});
