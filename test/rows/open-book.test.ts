import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { openRowFile } from '../../src/rows/open/open-row-file.ts';
import type { OpenOptions } from '../../src/rows/port.ts';
import { allRows, fillWith, temporaryFolder, writeRows } from './book-fixture.ts';

const folder = temporaryFolder();

async function rowFileOf(content: Buffer | string, options: OpenOptions = {}) {
  const file = join(folder, 'in.csv');
  writeFileSync(file, content);
  return await openRowFile(file, options);
}

const assertRefused = (content: Buffer | string, message: RegExp) =>
  assert.rejects(rowFileOf(content), { code: 'INPUT_UNREADABLE', message, hint: /\w.*[.:]/ });

const REFUSED: readonly (readonly [content: Buffer | string, message: RegExp])[] = [
  ['', /is empty$/],
  ['\ufeff\n\r\n', /has no header line$/],
  ['x'.repeat(2 * 1024 * 1024), /no line end in its first mebibyte$/],
  [gzipSync(gzipSync('lat,lng\n')), /is compressed twice/],
  [
    zstdCompressSync(Buffer.from('PAR1\x15\x04\x15', 'latin1')),
    /is a Parquet file that was compressed again/,
  ],
  [gzipSync(''), /is empty$/],
  [Buffer.from('PAR1\x15\x04\x15', 'latin1'), /is a Parquet file that was cut off$/],
  [
    'PK\x03\x04\x14\0\x06\0\x08\0[Content_Types].xml',
    /is an Excel workbook or .* and it is cut off or damaged/,
  ],
  ['PK\x03\x04\x14\0\0\0in.csv', /another zip archive/],
  [Buffer.from('\xff\xfe\0\0l\0\0\0', 'latin1'), /is text in UTF-32/],
  [Buffer.from('\xff\xfel\0a\0t\0\n', 'latin1'), /ends within a UTF-16 character/],
  [`in.csv${'\0'.repeat(94)}0000644\0${'0'.repeat(148)}\0ustar`, /is a tar archive/],
  [Buffer.from([0xd0, 0xcf, 0x11, 0xe0]), /is an old Excel workbook/],
  ['SQLite format 3\0', /is an SQLite database/],
  ['  <!DOCTYPE html><html>', /is a web page/],
  ['{"type": "FeatureCollection"}', /is JSON/],
  ['[[1, 2]]', /is JSON/],
  ['{\n  "lat": 1\n}\n', /is JSON/],
  [Buffer.from([1, 2, 3, 0, 5, 6]), /is binary data/],
  [`a,b\n${'\0'.repeat(9)}x`, /is binary data/],
  [Buffer.from(`\0\0\x27\x0a${'\0'.repeat(20)}`, 'latin1'), /is the shapes of a shapefile/],
  [Buffer.from('\x03\x7c\x02\x1d\x02\0\0\0', 'latin1'), /is a dBASE table/],
  [`SQLite format 3\0${' '.repeat(52)}GPKG`, /is a GeoPackage/],
];

for (const [content, message] of REFUSED)
  test(`refused: ${message.source}`, () => assertRefused(content, message));

test('a web page that Excel would open is to be saved as a table', async () => {
  await assert.rejects(rowFileOf('<html><table><tr><td>lat</td></tr></table></html>'), {
    hint: /Excel.* save it there as \.xlsx or CSV/,
  });
});

test('names that look like the start of another format are still names', async () => {
  assert.deepEqual((await rowFileOf('PAR1,PAR2\n1,2\n')).columns, ['PAR1', 'PAR2']);
  assert.deepEqual((await rowFileOf('BZh,lat\n1,2\n')).columns, ['BZh', 'lat']);
});

test('a missing file, a directory and a missing stream are refused', async () => {
  await assert.rejects(openRowFile(join(folder, 'none.csv')), {
    code: 'INPUT_UNREADABLE',
    message: /does not exist/,
  });
  mkdirSync(join(folder, 'sub'));
  await assert.rejects(openRowFile(join(folder, 'sub')), {
    code: 'INPUT_UNREADABLE',
    message: /is a directory/,
  });
  // What the system refuses for a reason of its own is told in its words. To Windows, a file of such a name does not exist.
  await assert.rejects(openRowFile(join(folder, `${'x'.repeat(300)}.csv`)), {
    code: 'INPUT_UNREADABLE',
    message: process.platform === 'win32' ? /does not exist$/ : /cannot be read \(ENAMETOOLONG: /,
  });
  await assert.rejects(openRowFile('-'), { code: 'USAGE' });
  await assert.rejects(openRowFile('/dev/null'), {
    code: 'INPUT_UNREADABLE',
    message: '/dev/null is empty',
  });
});

test('the delimiter is found in the first records', async () => {
  const cases: readonly (readonly [content: string, columns: readonly string[]])[] = [
    ['lat;lng;a, b, c\n34,05;-118,25;x\n', ['lat', 'lng', 'a, b, c']],
    ['lat\tlng\tnote\n1\t2\ta,b,c,d\n', ['lat', 'lng', 'note']],
    ['lat|lng\n1|2\n', ['lat', 'lng']],
    ['"a;b;c;d",lat,lng\n"x;y",1,2\n', ['a;b;c;d', 'lat', 'lng']],
    ['sep=|\nlat|lng\n1|2\n', ['lat', 'lng']],
    ['a,sep=;\n1,2\n', ['a', 'sep=;']],
    ['a;b;c;d,lat,lng\nx,1,2\ny,3,4\n', ['a;b;c;d', 'lat', 'lng']],
    ['lat;lng', ['lat', 'lng']],
    ['only\n1\n', ['only']],
    ['lat,lng', ['lat', 'lng']],
    [' lat , "lng" \r\n', ['lat', 'lng']],
    ...['^', '~', '\x01', '\x1c', '\x1f', '\x07', ' ', '#', ':', '/', '&'].map(
      (mark) =>
        [`id${mark}lat${mark}lng\n1${mark}25.7${mark}-80.1\n`, ['id', 'lat', 'lng']] as const,
    ),
    // Not certain: no location, or another number of fields.
    ['a^b\n1^2\n', ['a^b']],
    ['lat^lng\n1^2^3\n', ['lat^lng']],
    ['a lat lng\n1 25 -80 x\n', ['a lat lng']],
    ["'lat','lng'\n'1','2'\n", ['lat', 'lng']],
    ["lat,lng,'n'\n1,2,3\n", ['lat', 'lng', "'n'"]],
  ];
  for (const [content, columns] of cases)
    assert.deepEqual((await rowFileOf(content)).columns, columns);
});

test('what cannot be read for certain is named, with a way that works', async () => {
  const hintOf = async (content: string) => (await rowFileOf(content)).columnsHint ?? null;
  assert.match((await hintOf('a^b\n1^2\n'))!, /--delimiter '\^' \(delimiter: '\^'/);
  assert.match((await hintOf('a\x02b\n1\x022\n'))!, /--delimiter \$'\\x02' \(delimiter: "\\x02"/);
  assert.match(
    (await hintOf('id  lat    lng\n1   25.7   -80\n'))!,
    /sed -E '[^']*; s\/ \{2,\}\/,\/g'/,
  );
  assert.match((await hintOf(' lat lng\n  25.7 -80\n'))!, /sed -E '[^']*; s\/ \+\/,\/g'/);
  // As write.table of R writes a table where nothing else is said; with a name for its first column it is read.
  const ofR = '"name" "lat" "lng"\n"1" "Plant, 7" 25.7 -80\n"2" "Clinic 9" 25.8 -80.1\n';
  assert.match((await hintOf(ofR))!, /table of R.*row\.names = FALSE.*sed '1s/);
  assert.deepEqual((await rowFileOf(`row ${ofR}`)).columns, ['row', 'name', 'lat', 'lng']);
  for (const content of ['a,b\n1,2\n', 'only\n1\n', 'my place\nx\n', '"my & place"\nx\n'])
    assert.equal(await hintOf(content), null);
  assert.deepEqual((await rowFileOf('a\x02b\n1\x022\n', { delimiter: '\x02' })).columns, [
    'a',
    'b',
  ]);
});

const QUOTINGS: readonly (readonly [what: string, content: string, ...rows: readonly string[]])[] =
  [
    [
      'spaces before quotes',
      'id, "n", lat\n1, "a, b" , 2\n2, "c ""d""",3\n',
      '1|a, b| 2',
      '2|c "d"|3',
    ],
    ['a word in quotes after a space', 'id,n\n1, "a" b\n', '1| "a" b'],
    ['a stray quote after a space', 'id,n\n1, "a\n2,"b"\n', '1| "a', '2|b'],
    ['single quotes', "'id','n'\n'1','it''s, x'\n'2',''\n", "1|it's, x", '2|'],
    ['single quotes below plain names', "id,n\n1,'a, b'\n2,'c'\n", '1|a, b', '2|c'],
    ['apostrophes', "id,n\n1,'tis\n2,O'Brien's\n", "1|'tis", "2|O'Brien's"],
    ['single quotes in some rows', "id,n\n1,'a'\n2,b\n", "1|'a'", '2|b'],
    ['backslashes before quotes', 'id,n\n1,"a \\"b\\", c"\n2,"x\\\\y"\n', '1|a "b", c', '2|x\\y'],
    [
      'a backslash at the end of a field',
      'id,n,m\n1,"C:\\",x\n2,"D:\\","y"\n',
      '1|C:\\|x',
      '2|D:\\|y',
    ],
    ['a NUL byte', `id,n\n1,a\0b\n2,c\n`, '1|a\0b', '2|c'],
  ];

test('quotes of other programs are read where they are certain, and each row keeps its bytes', async () => {
  for (const [what, content, ...rows] of QUOTINGS) {
    const book = await rowFileOf(content);
    const read = (await allRows(book, [...book.columns.keys()], 0)).map(({ fields }) =>
      fields.join('|'),
    );
    assert.deepEqual(read, rows, what);
    const output = join(folder, 'quoted.csv');
    await writeRows(book, { output, fill: fillWith(['ok', `it's "a", b`, 1.5]) });
    const lines = readFileSync(output, 'latin1').split('\n');
    for (const [at, line] of content.split('\n').entries())
      assert.ok(lines[at]!.startsWith(line), what);
    const again = await openRowFile(output);
    const note = again.columns.indexOf('hazard_note');
    for (const { fields } of await allRows(again, [note]))
      assert.equal(fields[0], `it's "a", b`, what);
  }
});

test('a NUL byte in a coordinate is named, and a backslash in a row that is too long', async () => {
  const [row] = await allRows(
    await rowFileOf(`lat,lng,n\n39.7\0,-104.9,${'x'.repeat(40)}\n`),
    [0, 1],
  );
  assert.match(row!.problem!, /NUL byte.* tr -d '\\000'/);
  const [long] = await allRows(
    await rowFileOf('id,n,lat\n1,"a \\"b, c\\" d",2\nx,y,1\nx,y,1,2,3\n'),
    [0, 2],
  );
  assert.match(long!.problem!, /4 fields .* not with a backslash/);
});

test('a delimiter and an encoding that are given are taken', async () => {
  assert.deepEqual((await rowFileOf('a~b,c\n', { delimiter: '~' })).columns, ['a', 'b,c']);
  assert.deepEqual((await rowFileOf('é,b\n', { encoding: 'windows-1252' })).columns, ['Ã©', 'b']);
  for (const delimiter of ['', ',,', '"', '\n', 'é', '.', '1', 'e'])
    await assert.rejects(rowFileOf('a,b\n', { delimiter }), { code: 'USAGE' });
});

test('a header below titles is read from the line that is given, and its line is found', async () => {
  const titled = 'Report\r\n"2024, a"\rsecond\n\nlat,lng,n\n1,2,3\n';
  for (const mark of ['', '\ufeff']) {
    const book = await rowFileOf(mark + titled, { headerLine: 5 });
    assert.deepEqual(book.columns, ['lat', 'lng', 'n']);
    assert.deepEqual(await allRows(book, [1, 2]), [{ number: 1, line: 6, fields: ['2', '3'] }]);
  }
  const refused = (headerLine: number, message: RegExp) =>
    assert.rejects(rowFileOf(titled, { headerLine }), { code: 'INPUT_UNREADABLE', message });
  await refused(4, /has nothing on line 4/);
  await refused(7, /has no header line/);
  await refused(8, /has no line 8/);
  await assert.rejects(rowFileOf(titled, { headerLine: 5, header: false }), { code: 'USAGE' });
  const lineIn = async (content: string, options?: OpenOptions) =>
    (await rowFileOf(content, options)).likelyHeader?.((fields) => fields.includes('lat'));
  const below = (lines: number) => `${'title\n'.repeat(lines)}lat,lng\n1,2\n`;
  assert.deepEqual(
    [await lineIn(titled), await lineIn(below(19)), await lineIn(below(20))],
    [5, 20, null],
  );
  assert.deepEqual(
    [await lineIn('lat\n1\n'), await lineIn(`lat\n${below(2)}`, { headerLine: 2 })],
    [null, 1],
  );
});

test('a file that changed between two passes, or changes during one, is refused', async () => {
  const file = join(folder, 'in.csv');
  const refusal = { code: 'INPUT_UNREADABLE', message: /has changed/ };
  const book = await rowFileOf('lat,lng\n1,2\n');
  appendFileSync(file, '3,4\n');
  await assert.rejects(allRows(book, [0]), refusal);
  await assert.rejects(writeRows(book, { output: join(folder, 'changed-out.csv') }), refusal);
  rmSync(file);
  await assert.rejects(allRows(book, [0]), refusal);
  const long = await rowFileOf(`lat,lng\n${'1,2\n'.repeat(10_000)}`);
  const reading = async () => {
    for await (const _ of long.read([0])) appendFileSync(file, '3,4\n');
  };
  await assert.rejects(reading, refusal);
});

test('standard input and output stand for a dash, and the input can be read twice', async () => {
  const stdout = new PassThrough();
  const stdin = Readable.from([Buffer.from('lat,l'), Buffer.from('ng\n1,2\n')]);
  const book = await openRowFile('-', {}, { stdin, stdout });
  assert.deepEqual((await allRows(book, [1]))[0]!.fields, ['2']);
  const result = await writeRows(book, { output: '-' });
  stdout.end();
  const text = Buffer.concat(await stdout.toArray()).toString();
  assert.equal(text, 'lat,lng,hazard_status,hazard_note,hail_score\n1,2,ok,,1.5\n');
  assert.deepEqual(result, { rows: 1, bytes: text.length });
});

const SPECIAL_FILES = { skip: process.platform === 'win32' && 'Windows has no such files' };

test('a named pipe is read like a file', SPECIAL_FILES, async () => {
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const [book] = await Promise.all([
    openRowFile(pipe),
    import('node:fs/promises').then((fs) => fs.writeFile(pipe, 'lat,lng\n1,2\n')),
  ]);
  for (let pass = 0; pass < 2; pass++)
    assert.deepEqual((await allRows(book, [0]))[0]?.fields, ['1']);
});

test('leaving a read early closes the file, and it can be read again', async () => {
  const book = await rowFileOf(`lat,lng\n${'1,2\n'.repeat(20_000)}`);
  for await (const batch of book.read([0])) {
    assert.ok(batch.length >= 1000 && batch.length <= 4096);
    break;
  }
  assert.equal((await allRows(book, [0])).length, 20_000);
});

test(
  'an endless device is refused, and the wait for a silent pipe ends when asked',
  SPECIAL_FILES,
  async () => {
    for (const device of ['/dev/zero', '/dev/urandom']) {
      const message = `${device} is a device, not a file`;
      await assert.rejects(openRowFile(device), { code: 'INPUT_UNREADABLE', message });
    }
    const pipe = join(folder, 'silent');
    execFileSync('mkfifo', [pipe]);
    for (const file of [pipe, '-']) {
      const stopped = new AbortController();
      const silent = { stdin: new PassThrough(), stdout: new PassThrough() };
      const opening = openRowFile(file, {}, { ...silent, interrupt: stopped.signal });
      stopped.abort();
      await assert.rejects(opening, { code: 'INTERRUPTED' });
    }
  },
);
