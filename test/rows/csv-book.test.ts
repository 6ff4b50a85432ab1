import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { FieldPacker } from '../../src/formats/packed/packed-fields.ts';
import { makePlaceTable, placeWriter, takeBlocks } from '../../src/formats/packed/place-table.ts';
import { placedText } from '../../src/rows/csv/placed-text.ts';
import { byteBuffer } from '../../src/rows/files/byte-buffer.ts';
import { openRowFile } from '../../src/rows/open/open-row-file.ts';
import { guessUtf16 } from '../../src/rows/text-encoding.ts';
import { fc } from '../properties.ts';
import { times } from '../tier.ts';
import { ADDED, allRows, enrich, fillWith, temporaryFolder, writeRows } from './book-fixture.ts';

const folder = temporaryFolder();

const NAMES = ADDED.map((column) => column.name).join();

/** Files with marks for what is added: `@` the new names, `#` the new fields, `+` the delimiter of a missing field, `{7}` the fields of a row
 * with 7 fields where the header has 5 (`{7 file}` if not all columns have a name). */
const EXACT: Readonly<Record<string, string>> = {
  'blank lines': '\n\nlat,lng@\n\n1,2#\n\r\n\n3,4#\n\n',
  'a mark, CRLF': '\ufefflat,lng,"na, me"@\r\n34.05,-118.25,"Los ""Angeles"""#\r\n 1 , 2 ,#\r\n',
  'CR only, no final end': 'lat,lng@\r1,2#\r3,4#',
  'duplicate and empty names': 'lat,lng,,x,x@\n1,2,3,4,5#\n',
  'header only': 'lat,lng@',
  'mixed line ends': 'lat,lng@\r\n1,2#\n3,4#\r5,6#\r\r\n7,8#\n',
  'quoted line ends': 'lat,lng,note@\n1,2,"a\nb\r\n\r\nc"#\n3,4,d#\n',
  ragged:
    'lat,lng,c,d,@\n1,2+++#\n1++++{1}\n1,2,3,4+#\n1,2,3,4,5,6,7{7}\n   ++++,invalid,The row is empty.,\n',
  'semicolons, decimal commas': 'lat;lng;note@\n34,05;-118,25;"a;b"#\n"1";2;c,d#\n',
  'a line that declares the delimiter': 'sep=;\r\nlat;lng@\r\n1;2#\r\n',
  'stray quotes':
    'lat,lng,c@\n1,2,5" pipe#\n3,4,"oops#\n5,6,"a, b"#\n7,8,"x" y#\n9,10,"never closed#\n11,12,z#\n',
  'unnamed fields':
    'name,lat,lng++@\na,38,-97,x,#\n\nb,39,-98,"y,\r\nz",1#\nc,40,-99,w+#\nd,41,-90,1,2,3{6 file}\n',
};

test('files come out to the byte, with the added fields at the end of each record', async () => {
  for (const [name, marked] of Object.entries(EXACT)) {
    const delimiter = marked.includes(';') ? ';' : ',';
    const problem = (_: string, fields: string, file = 'header') =>
      `,invalid,The row has ${fields} field${fields === '1' ? '' : 's'} where the ${file} has 5${
        Number(fields) > 5 ? ': a text with a delimiter in it needs quotes.' : '.'
      },`;
    const expected = marked
      .replace('@', `${delimiter}${NAMES.replaceAll(',', delimiter)}`)
      .replaceAll('#', [delimiter, 'ok', delimiter, delimiter, '1.5'].join(''))
      .replaceAll('+', delimiter)
      .replaceAll(/\{(\d)(?: (file))?\}/g, problem);
    const output = await enrich(folder, marked.replaceAll(/[@#+]|\{[^}]*\}|,invalid.*/g, ''));
    assert.equal(output, Buffer.from(expected).toString('latin1'), name);
  }
});

test('a number is written as it prints, at each edge of the ways in which it is packed', async () => {
  const numbers = [
    ...[0, 9, 10, 99, 100, 255, 256, 999, 1_000, 1_001, 2_147, 2_148, 65_536, -1, -1_000],
    ...[
      0.000001, 0.1, 9.05, 99.999, 999.999999, 1_000.000001, 1_000.25, 2_147.483647, 2_147.483648,
    ],
    ...[-0.5, -1_000.25, -2_147.483648, 0.0000001, 1e21, 123_456_789.125],
  ];
  const rows = numbers.map((_, row) => `${row},2\n`);
  const output = await enrich(folder, `lat,lng\n${rows.join('')}`, {
    fill: async (rows) => rows.map(({ number }) => ['ok', null, numbers[number - 1]!]),
  });
  const written = output.trimEnd().split('\n').slice(1);
  assert.deepEqual(
    written,
    numbers.map((number, row) => `${row},2,ok,,${number}`),
  );
});

test('a status and a note that places share have room, however long they are', async () => {
  const table = makePlaceTable(1, 2 ** 20, null);
  const writer = placeWriter(table);
  const packed = new FieldPacker({ numberOf: () => -1, textOf: () => '' }).pack([1.5]);
  writer.reserve(packed.length);
  writer.room.bytes.set(packed, writer.room.at);
  writer.end(0, packed.length);
  takeBlocks(table, writer.flush());
  const note = 'n'.repeat(50_000);
  const kindOf = new Uint32Array(new SharedArrayBuffer(4));
  const shared = { kinds: [['ok', note]], kindOf, times: null, losses: null, empty: 0 };
  const places = { tables: [{ table, width: 1 }], ...shared, texts: [], store: '' };
  const format = { delimiter: ',', encoding: 'utf-8', decimal: 'point' } as const;
  const { add } = placedText(places, format, ADDED, true);
  const parts: string[] = [];
  const gathered = byteBuffer(async (bytes) => void parts.push(bytes.toString('latin1')));
  // A batch of rows is added before any of it is written.
  for (let row = 0; row < 100; row++) add(gathered, 0);
  await gathered.finish();
  assert.ok(parts.join('') === `,ok,${note},1.5`.repeat(100));
});

test('the columns of an earlier run are replaced, whatever a row has or lacks', async () => {
  const rows = ['1,2,"a,b",ok,"x,y"', '1,2', '3,4,z,ok', '3,4,5,6,7,8,9'];
  const output = await enrich(folder, `lat,lng,c,hazard_status,hail_rating\n${rows.join('\n')}\n`, {
    dropFrom: 3,
  });
  const problem =
    'The row has 7 fields where the header has 5: a text with a delimiter in it needs quotes.';
  const expected = [
    '1,2,"a,b",ok,,1.5',
    '1,2,,ok,,1.5',
    '3,4,z,ok,,1.5',
    `3,4,5,6,7,invalid,${problem},`,
  ];
  assert.equal(output, `lat,lng,c,${NAMES}\n${expected.join('\n')}\n`);
});

test('writing an output again with the old fields dropped gives the same output', async () => {
  await fc.assert(
    fc.asyncProperty(fc.stringMatching(/^[ab",\n ]{0,40}$/), async (text) => {
      const first = await enrich(folder, `lat,lng,c\n${text}`, { fill: fillWith(['ok', 'x', 1]) });
      const dropFrom = first.split('\n', 1)[0]!.split(',').indexOf('hazard_status');
      const second = await enrich(folder, Buffer.from(first, 'latin1'), {
        fill: fillWith(['ok', 'x', 1]),
        dropFrom,
      });
      // A quote that is never closed may pair with nothing before, and with nothing after either.
      assert.equal(second, first);
    }),
    { numRuns: times({ short: 10, long: 120, soak: 1_000 }) },
  );
});

test('rows say their number, their line and what is wrong with them', async () => {
  const file = join(folder, 'lines.csv');
  writeFileSync(file, '\nlat,lng,c,\n1,2,"x\r\ny",\n\n3,4,z\n5\n6,7,8,9,10\n"11","1""2"\n');
  const book = await openRowFile(file);
  assert.deepEqual(book.columns, ['lat', 'lng', 'c', '']);
  const short = 'The row has 1 field where the header has 4.';
  const long =
    'The row has 5 fields where the header has 4: a text with a delimiter in it needs quotes.';
  assert.deepEqual(await allRows(book, [1, 0]), [
    { number: 1, line: 3, fields: ['2', '1'] },
    { number: 2, line: 6, fields: ['4', '3'] },
    { number: 3, line: 7, fields: ['', '5'], problem: short },
    { number: 4, line: 8, fields: ['7', '6'], isTooLong: true, problem: long },
    { number: 5, line: 9, fields: ['1"2', '11'] },
  ]);
  // A row can do without its third column here.
  const problems = (await allRows(book, [0, 1, 2], 2)).map(({ problem }) => problem);
  assert.deepEqual(problems, [undefined, undefined, short, long, undefined]);
});

test('rows that all have more fields than the header are read, and the user is told', async () => {
  const file = join(folder, 'unnamed.csv');
  const rowFileOf = async (content: string) => {
    writeFileSync(file, content);
    return await openRowFile(file);
  };
  const comma = await rowFileOf('lat,lng\n38,-97,\n39,-98,\n');
  assert.deepEqual(comma.columns, ['lat', 'lng', '']);
  assert.equal(
    comma.note,
    'The rows have 3 fields and the header 2 names: the last field has none. ' +
      'If it is the first that has none, add its name to the header.',
  );
  const texts = (await allRows(comma, [0, 1])).map(({ fields, problem }) => `${fields} ${problem}`);
  assert.deepEqual(texts, ['38,-97 undefined', '39,-98 undefined']);
  const more = await rowFileOf('lat,lng\n38,-97,a,b,c\n');
  assert.equal(
    more.note,
    'The rows have 5 fields and the header 2 names: the last 3 fields have none.',
  );
  assert.equal((await rowFileOf('lat,lng\n38,-97\n39,-98,\n')).note, null);
});

test('records that are longer than the window are read whole', async () => {
  const file = join(folder, 'long.csv');
  const shapes = ['x'.repeat(700_000), `"${'POLYGON,\n'.repeat(400_000)}"`, 'y'.repeat(2_000_000)];
  writeFileSync(file, `lat,lng,shape\n${shapes.map((s, i) => `${i},2,${s}`).join('\n')}\n`);
  const book = await openRowFile(file);
  const rows = await allRows(book, [0, 2]);
  const read = rows.map(({ line, fields }) => `${line} ${fields[1]?.length}`);
  assert.deepEqual(read, ['2 700000', '3 3600000', '400004 2000000']);
  const output = join(folder, 'long-out.csv');
  await writeRows(book, { output });
  const bare = readFileSync(output, 'latin1').replaceAll(',ok,,1.5', '').replace(`,${NAMES}`, '');
  assert.equal(bare, readFileSync(file, 'latin1'));
});

test('line ends and quotes that fall on the edge of the window change nothing', async () => {
  const file = join(folder, 'edge.csv');
  for (let shift = 0; shift < 12; shift++) {
    const first = `${'a'.repeat(512 * 1024 - 20 + shift)},1\r\n`;
    writeFileSync(file, `lat,lng\r\n${first}"b""c","2"\r\n3,4\r\n`);
    const rows = await allRows(await openRowFile(file), [0, 1]);
    const read = rows.slice(1).map(({ line, fields }) => `${line} ${fields}`);
    assert.deepEqual(read, ['3 b"c,2', '4 3,4']);
  }
});

test('whatever the bytes, a file is refused with a reason or comes back whole', async () => {
  const noise = fc.oneof(
    fc.uint8Array({ maxLength: 80 }),
    fc.uint8Array({ maxLength: 80, max: 64 }),
  );
  const runs = times({ short: 40, long: 250, soak: 2_000 });
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(
      noise,
      fc.constantFrom('', 'lat,lng\n', `lat,lng\n${'1,2\n'.repeat(1200)}`),
      async (bytes, header) => {
        const source = Buffer.concat([Buffer.from(header), bytes]);
        fc.pre(guessUtf16(source) === null);
        try {
          const output = await enrich(folder, source, {
            added: ADDED.slice(0, 1),
            fill: fillWith(['#MARK#']),
          });
          const bare = output
            .replace(/[\t;|,]?hazard_status/, '')
            .replaceAll(/[\t;|,]?#MARK#/g, '');
          // Padding adds delimiters only.
          const plain = (text: string) => text.replaceAll(/[\t;|,]/g, '');
          assert.equal(plain(bare), plain(source.toString('latin1')));
        } catch (error) {
          assert.equal((error as { code?: string }).code, 'INPUT_UNREADABLE');
          refused++;
        }
      },
    ),
    { numRuns: runs },
  );
  assert.ok(refused > 0 && refused < runs);
});

test('without a header columns are named by their numbers, and the output has no header line either', async () => {
  const [input, output] = [join(folder, 'in.csv'), join(folder, 'out.csv')];
  const torn = [
    '1,2,,invalid,The row has 2 fields where the file has 3.,\n1,2,3,ok,,1.5\n1,2,3,ok,,1.5\n1,2,3,4,invalid,',
    'The row has 4 fields where the file has 3: a text with a delimiter in it needs quotes.,\n',
  ];
  for (const [content, columns, rows, written] of [
    [
      '\ufeff7,30.5,-90\n8,31.5,-91\n',
      '1,2,3',
      '1 7,30.5,-90|2 8,31.5,-91',
      '\ufeff7,30.5,-90,ok,,1.5\n8,31.5,-91,ok,,1.5\n',
    ],
    // Blank lines and a line that declares the delimiter come before the first row.
    ['sep=;\r\n\r\n1;2\r\n', '1,2', '3 1,2', 'sep=;\r\n\r\n1;2;ok;;1.5\r\n'],
    // The width is the usual one: a torn first row is the exception and not the rule.
    ['1,2\n1,2,3\n1,2,3\n1,2,3,4\n', '1,2,3', '1 1,2,|2 1,2,3|3 1,2,3|4 1,2,3', torn.join('')],
    ['30.5,-90', '1,2', '1 30.5,-90', '30.5,-90,ok,,1.5'],
  ] as const) {
    writeFileSync(input, content);
    const book = await openRowFile(input, { header: false });
    const all = [...book.columns.keys()];
    const read = (await allRows(book, all)).map(({ line, fields }) => `${line} ${fields}`);
    assert.deepEqual([String(book.columns), read.join('|')], [columns, rows]);
    assert.equal((await writeRows(book, { output, columns: all })).rows, read.length);
    assert.equal(readFileSync(output, 'utf8'), written);
  }
});
