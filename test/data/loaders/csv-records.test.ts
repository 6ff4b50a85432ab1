import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'csv-parse/sync';
import { csvRecords } from '../../../src/data/loaders/csv-records.ts';
import { fc } from '../../properties.ts';
import { fileOf } from './loading.ts';

function read(t: Parameters<typeof fileOf>[0], content: string | Buffer, delimiter: ',' | '|' = ',') {
  return [...csvRecords(fileOf(t, 'a.csv', content), delimiter)];
}

test('lines, line ends, byte order marks and quotes are read', (t) => {
  const cells = (content: string | Buffer) => read(t, content).map((record) => record.cells);
  assert.deepEqual(cells('\ufeffa,b\r\n1,2\r\n\r\n3,\r\n'), [
    ['a', 'b'],
    ['1', '2'],
    ['3', ''],
  ]);
  assert.deepEqual(cells('a,b\r1,2\r3,4'), [
    ['a', 'b'],
    ['1', '2'],
    ['3', '4'],
  ]);
  assert.deepEqual(cells('"a ""b"", c",d\n"two\r\nlines",5" pipe\n'), [
    ['a "b", c', 'd'],
    ['two\r\nlines', '5" pipe'],
  ]);
  assert.deepEqual(cells('"CERTAIN "A" COMPOUNDS, N.E.C.","x"\n"""","a"'), [
    ['CERTAIN "A" COMPOUNDS, N.E.C.', 'x'],
    ['"', 'a'],
  ]);
  assert.deepEqual(cells(Buffer.from([0x5a, 0x82, 0x2c, 0xe9])), [['Z\u201a', 'é']]);
  assert.deepEqual(cells(''), []);
  assert.throws(() => cells(Buffer.from('\ufeffa', 'utf16le')), { code: 'SERVICE_DATA', message: /UTF-16/ });
  assert.throws(() => [...csvRecords('/no/such/file')], { code: 'SERVICE_DATA' });
  assert.deepEqual(read(t, 'a|"b"|c\n', '|')[0]!.cells, ['a', '"b"', 'c']);
});

test('the line of a record is the line on which it begins', (t) => {
  assert.deepEqual(
    read(t, 'a\n"1\n2\n3",x\n\nb\n').map(({ line, cells }) => [line, cells[0]]),
    [
      [1, 'a'],
      [2, '1\n2\n3'],
      [6, 'b'],
    ],
  );
});

test('a file larger than a block is read, with quoted cells across the ends of blocks', (t) => {
  const rows = Array.from({ length: 60_000 }, (_, i) => `${i},"é ""${i}"" \n end",${'x'.repeat(i % 50)}\n`);
  const records = read(t, rows.join(''));
  assert.equal(records.length, rows.length);
  for (const [i, { line, cells }] of records.entries()) {
    assert.deepEqual(cells, [String(i), `é "${i}" \n end`, 'x'.repeat(i % 50)]);
    assert.equal(line, 1 + 2 * i);
  }
});

test('a file that csv-parse reads is read the same', (t) => {
  const cell = fc.string({ unit: fc.constantFrom('a', ',', '"', '\n', 'é', ' '), maxLength: 6 });
  fc.assert(
    fc.property(fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 8 }), (rows) => {
      const text = rows.map((row) => `${row.map((c) => `"${c.replaceAll('"', '""')}"`).join(',')}\n`).join('');
      assert.deepEqual(
        read(t, text).map(({ cells }) => cells),
        parse(text),
      );
    }),
    { numRuns: 60, seed: 5 },
  );
});

test('a quote that is not closed is refused with its line, so that no rows vanish into its cell', (t) => {
  const rows = (count: number) => Array.from({ length: count }, (_, i) => `${i},x\n`).join('');
  const refused = (content: string, row: number) =>
    assert.throws(() => read(t, content), {
      code: 'SERVICE_DATA',
      message: new RegExp(`line ${row}: a quote is not closed`),
    });
  refused(`a,b\n1,x\n"Joe" Park,y\n${rows(5_000)}`, 3);
  refused(`a,b\n1,x\n"Joe" Park,y\n${rows(20)}`, 3);
  refused(`a,b\n"Joe" Park,y\n${rows(5_000)}"closed",z\n${rows(10)}`, 2);
  refused(`a,b\n"${'x'.repeat(17 * 1024 * 1024)}\n`, 2);
  // A cell of many lines, as agencies' notes are.
  assert.equal(read(t, `a,b\n"${'line\n'.repeat(900)}",y\n`).length, 2);
});
