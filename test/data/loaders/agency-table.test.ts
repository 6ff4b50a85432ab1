import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tableRecords } from '../../../src/data/loaders/agency-table.ts';
import type { TextForm } from '../../../src/formats/csv/parsed-records.ts';
import { LONG } from '../../tier.ts';
import { all, fileOf } from './loading.ts';

async function read(t: Parameters<typeof fileOf>[0], content: string | Buffer, form?: TextForm) {
  return await all(tableRecords(fileOf(t, 'a.csv', content), form));
}

test('lines, line ends, byte order marks and quotes are read', async (t) => {
  const cells = async (content: string | Buffer) => (await read(t, content)).map((record) => record.cells);
  assert.deepEqual(await cells('\ufeffa,b\r\n1,2\r\n\r\n3,\r\n'), [
    ['a', 'b'],
    ['1', '2'],
    ['3', ''],
  ]);
  assert.deepEqual(await cells('a,b\r1,2\r3,4'), [
    ['a', 'b'],
    ['1', '2'],
    ['3', '4'],
  ]);
  assert.deepEqual(await cells('"a ""b"", c",d\n"two\r\nlines",5" pipe\n'), [
    ['a "b", c', 'd'],
    ['two\r\nlines', '5" pipe'],
  ]);
  const plain = await read(t, '"CERTAIN "A" COMPOUNDS, N.E.C.","x"\n"""","a ""b"""', { hasPlainQuotes: true });
  assert.deepEqual(
    plain.map((record) => record.cells),
    [
      ['CERTAIN "A" COMPOUNDS, N.E.C.', 'x'],
      ['"', 'a "b"'],
    ],
  );
  assert.deepEqual(await cells('a,b\n"Joe" Park,y\n1,2\n'), [
    ['a', 'b'],
    ['"Joe" Park', 'y'],
    ['1', '2'],
  ]);
  assert.deepEqual(await cells(Buffer.from([0x5a, 0x82, 0x2c, 0xe9])), [['Z\u201a', 'é']]);
  assert.deepEqual(await cells(''), []);
  await assert.rejects(cells(Buffer.from('\ufeffa', 'utf16le')), { code: 'SERVICE_DATA', message: /UTF-16/ });
  await assert.rejects(all(tableRecords('/no/such/file')), { code: 'SERVICE_DATA' });
  assert.deepEqual((await read(t, 'a|"b"|c\n', { delimiter: '|' }))[0]!.cells, ['a', '"b"', 'c']);
});

test('the line of a record is the line on which it begins', async (t) => {
  assert.deepEqual(
    (await read(t, 'a\n"1\n2\n3",x\n\nb\n')).map(({ line, cells }) => [line, cells[0]]),
    [
      [1, 'a'],
      [2, '1\n2\n3'],
      [6, 'b'],
    ],
  );
});

test('a file larger than a block is read, with quoted cells across the ends of blocks', async (t) => {
  const rows = Array.from({ length: 60_000 }, (_, i) => `${i},"é ""${i}"" \n end",${'x'.repeat(i % 50)}\n`);
  const records = await read(t, rows.join(''));
  assert.equal(records.length, rows.length);
  for (const [i, { line, cells }] of records.entries()) {
    assert.deepEqual(cells, [String(i), `é "${i}" \n end`, 'x'.repeat(i % 50)]);
    assert.equal(line, 1 + 2 * i);
  }
});

test('a quote that is not closed is refused with its line, so that no rows vanish into its cell', LONG, async (t) => {
  const rows = (count: number) => Array.from({ length: count }, (_, i) => `${i},x\n`).join('');
  const refused = (content: string, row: number) =>
    assert.rejects(read(t, content), {
      code: 'SERVICE_DATA',
      message: new RegExp(`line ${row}: a quote is not closed`),
    });
  await refused(`a,b\n1,x\n"Joe Park,y\n${rows(5_000)}`, 3);
  await refused(`a,b\n1,x\n"Joe Park,y\n${rows(20)}`, 3);
  await refused(`a,b\n"Joe Park,y\n${rows(5_000)}"closed",z\n${rows(10)}`, 2);
  await refused(`a,b\n"${'x'.repeat(17 * 1024 * 1024)}\n`, 2);
  // A cell of many lines, as agencies' notes are.
  assert.equal((await read(t, `a,b\n"${'line\n'.repeat(900)}",y\n`)).length, 2);
});
