import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findLocationColumns } from '../../src/rows/location-columns.ts';
import { openRowFile } from '../../src/rows/open-row-file.ts';
import { allRows, temporaryFolder, writeRows } from './book-fixture.ts';

const folder = temporaryFolder();
const [input, output] = [join(folder, 'in.csv'), join(folder, 'out.csv')];

async function rowFileOf(content: string) {
  writeFileSync(input, content);
  return await openRowFile(input, { header: false });
}

test('columns are named by their numbers, and the output has no header line either', async () => {
  const book = await rowFileOf('\ufeff7,30.5,-90\n8,31.5,-91\n');
  assert.deepEqual(book.columns, ['1', '2', '3']);
  const { lat, lng } = findLocationColumns(book.columns, { lat: '2', lng: '3' });
  assert.deepEqual(await allRows(book, [lat, lng]), [
    { number: 1, line: 1, fields: ['30.5', '-90'] },
    { number: 2, line: 2, fields: ['31.5', '-91'] },
  ]);
  const { rows } = await writeRows(book, { output });
  assert.equal(rows, 2);
  assert.equal(readFileSync(output, 'utf8'), '\ufeff7,30.5,-90,ok,,1.5\n8,31.5,-91,ok,,1.5\n');
});

test('blank lines and a line that declares the delimiter come before the first row', async () => {
  const book = await rowFileOf('sep=;\r\n\r\n1;2\r\n');
  assert.deepEqual(await allRows(book, [0, 1]), [{ number: 1, line: 3, fields: ['1', '2'] }]);
  await writeRows(book, { output });
  assert.equal(readFileSync(output, 'utf8'), 'sep=;\r\n\r\n1;2;ok;;1.5\r\n');
});

test('the width is the usual one: a torn first row is the exception and not the rule', async () => {
  const book = await rowFileOf('1,2\n1,2,3\n1,2,3\n1,2,3,4\n');
  assert.deepEqual(book.columns, ['1', '2', '3']);
  const problems = (await allRows(book, [0, 2])).map((row) => row.problem);
  assert.match(problems[0] ?? '', /2 fields where the file has 3/);
  assert.deepEqual(problems.slice(1, 3), [undefined, undefined]);
  assert.match(problems[3] ?? '', /4 fields where the file has 3/);
});

test('without column numbers the error asks for them', async () => {
  const { columns } = await rowFileOf('1,2\n');
  assert.throws(() => findLocationColumns(columns), {
    code: 'INPUT_COLUMNS',
    hint: /no header line: give the numbers of the latitude and the longitude column/,
  });
  assert.throws(() => findLocationColumns(columns, { lat: '1', lng: '3' }), { message: /no longitude column "3"/ });
});

test('a single row without a line end is a row', async () => {
  const book = await rowFileOf('30.5,-90');
  await writeRows(book, { output });
  assert.equal(readFileSync(output, 'utf8'), '30.5,-90,ok,,1.5');
});
