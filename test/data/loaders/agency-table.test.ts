import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  findColumns,
  keyOf,
  numberIn,
  parsePoint,
  pickProperties,
  propertyFinder,
  tableRecords,
} from '../../../src/data/loaders/agency-table.ts';
import { type VintageColumns, vintageByColumns } from '../../../src/data/loaders/vintages.ts';
import type { TextForm } from '../../../src/formats/csv/parsed-records.ts';
import { LONG } from '../../tier.ts';
import { all, fileOf } from './loading.ts';

async function read(t: Parameters<typeof fileOf>[0], content: string | Buffer, form?: TextForm) {
  return await all(tableRecords(fileOf(t, 'a.csv', content), form));
}

test('lines, line ends, byte order marks and quotes are read', async (t) => {
  const cells = async (content: string | Buffer) =>
    (await read(t, content)).map((record) => record.cells);
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
  const plain = await read(t, '"CERTAIN "A" COMPOUNDS, N.E.C.","x"\n"""","a ""b"""', {
    hasPlainQuotes: true,
  });
  const quoted = plain.map((record) => record.cells.join(' | '));
  assert.deepEqual(quoted, ['CERTAIN "A" COMPOUNDS, N.E.C. | x', '" | a "b"']);
  assert.deepEqual(await cells('a,b\n"Joe" Park,y\n1,2\n'), [
    ['a', 'b'],
    ['"Joe" Park', 'y'],
    ['1', '2'],
  ]);
  assert.deepEqual(await cells(Buffer.from([0x5a, 0x82, 0x2c, 0xe9])), [['Z\u201a', 'é']]);
  assert.deepEqual(await cells(''), []);
  assert.deepEqual(await cells('a <html>'), [['a <html>']]);
  for (const utf16 of [
    Buffer.from('\ufeffa', 'utf16le'),
    Buffer.from('\ufeffa', 'utf16le').swap16(),
  ]) {
    await assert.rejects(cells(utf16), { code: 'SERVICE_DATA', message: /UTF-16/ });
  }
  assert.deepEqual((await read(t, 'a|"b"|c\n', { delimiter: '|' }))[0]!.cells, ['a', '"b"', 'c']);
});

test('the line of a record is the line on which it begins', async (t) => {
  const read3 = (await read(t, 'a\n"1\n2\n3",x\n\nb\n')).map(
    ({ line, cells }) => `${line} ${cells[0]}`,
  );
  assert.deepEqual(read3, ['1 a', '2 1\n2\n3', '6 b']);
});

test('a file larger than a block is read, with quoted cells across the ends of blocks', async (t) => {
  const text = `${'x'.repeat(256 * 1024)}\ufeff<html>`;
  assert.deepEqual((await read(t, text))[0]!.cells, [text]);
  const rows = Array.from(
    { length: 15_000 },
    (_, i) => `${i},"é ""${i}"" \n end",${'x'.repeat(i % 50)}\n`,
  );
  const records = await read(t, rows.join(''));
  assert.equal(records.length, rows.length);
  for (const [i, { line, cells }] of records.entries()) {
    assert.deepEqual(cells, [String(i), `é "${i}" \n end`, 'x'.repeat(i % 50)]);
    assert.equal(line, 1 + 2 * i);
  }
});

test(
  'a quote that is not closed is refused with its line, so that no rows vanish into its cell',
  LONG,
  async (t) => {
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
  },
);

test('numbers and coordinates as agencies write them; a column by its name in any form', () => {
  const numbers = [
    '1',
    '1.',
    '.55',
    ' +1e3 ',
    '-1',
    '-0',
    'x1',
    '1x',
    '1e',
    '',
    '1e999',
    undefined,
  ].map(numberIn);
  assert.deepEqual(numbers, [1, 1, 0.55, 1000, -1, 0, null, null, null, null, null, null]);
  for (const [lat, lng, point] of [
    ['90', '-180', [-180, 90]],
    ['0', '1', [1, 0]],
    ['1', '0', [0, 1]],
    ['1', undefined, 'the coordinates are blank'],
    [' ', '1', 'the coordinates are blank'],
    ['1', ' ', 'the coordinates are blank'],
    ['x', '1', 'the coordinates are not decimal numbers'],
    ['1', 'x', 'the coordinates are not decimal numbers'],
    ['0', '0', 'the coordinates are 0 and 0, which means none'],
    ['90.1', '1', 'the coordinates are beyond 90 and 180 degrees'],
    ['1', '180.1', 'the coordinates are beyond 90 and 180 degrees'],
  ] as const) {
    assert.deepEqual(parsePoint(lat, lng), point);
  }
  assert.deepEqual([' 12.  Lat-itude', 'v1. x', '2.x'].map(keyOf), ['latitude', 'v1x', '2x']);
  assert.deepEqual(pickProperties(['a', '', 'c'], [' 1 ', '2', '3', ' '], new Set([2])), {
    a: '1',
    'column 2': '2',
  });
  const columns = findColumns(['', ' A b', 'a_B', ...'cdefgh'], 'a.csv');
  assert.deepEqual(
    [columns.find('zz', 'AB'), columns.find(''), columns.need('C'), columns.names[1]],
    [1, -1, 3, 'A b'],
  );
  assert.throws(() => columns.need('zz', 'y'), {
    message: 'Cannot load "a.csv": it has no column zz or y',
    hint: 'Check that this is a file for this loader. Its first columns are: ,  A b, a_B, c, d, e, f, g.',
    context: { file: 'a.csv', column: 'zz' },
  });
});

test('the age of rows by their years, months or days, whatever else a column holds', () => {
  for (const [as, values, text] of [
    ['year', [2017, '2005', 1799, 2201, 1900.5, 'x'], '2005-2017'],
    ['year', [1800, 2200], '1800-2200'],
    ['year', [2020, 2020], '2020'],
    ['year', ['x'], ''],
    [
      'month',
      ['202108', ' 202112', '202110', '202113', '202200', 'x202601', '202601x', 'x'],
      '2021-12',
    ],
    ['month', ['202501', '202502.00'], '2025-02'],
    ['day', ['2024-10-03 08:00', '2023/1/5', 'x2025-01-01', '2025-01-011', ''], 'to 2024-10-03'],
    [
      'day',
      [Date.UTC(2022, 3, 28), null, 1e15, 'x1750000000000', '17500000000001', '1750000000000x'],
      'to 2022-04-28',
    ],
    ['day', ['1650000000000'], 'to 2022-04-15'],
    ['day', ['165000000000', '17500000000'], 'to 1975-03-25'],
    ['day', [Date.UTC(1900)], 'to 1900-01-01'],
    ['day', [Date.UTC(2200)], 'to 2200-01-01'],
    ['day', [Date.UTC(1900) - 1, Date.UTC(2200) + 1], ''],
  ] as const) {
    const vintage = vintageByColumns({ names: ['Age'], as } satisfies VintageColumns);
    for (const AGE of values) vintage.see({ AGE });
    vintage.see({ other: 2030 });
    assert.equal(vintage.text(), text, `${as} ${values}`);
  }
  assert.equal(vintageByColumns(undefined).text(), '');
});

test('of two columns whose names differ in case or punctuation alone, the one that is named is read', () => {
  const columns = findColumns(['fid', ' FID_ ', 'Class', 'CLASS'], 'a.csv');
  const named = ['FID_', 'fid', 'CLASS', 'Class', 'class', 'F.I.D.'];
  assert.deepEqual(
    named.map((name) => columns.find(name)),
    [1, 0, 3, 2, 2, 0],
  );
  const properties = { fid: 1, FID_: 'A', Class: 2, CLASS: 'B' };
  assert.deepEqual(
    named.map((name) => propertyFinder([name])(properties)),
    ['FID_', 'fid', 'CLASS', 'Class', 'Class', 'fid'],
  );
});
