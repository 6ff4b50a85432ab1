import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readSheet } from 'read-excel-file/node';
import { checkFormat, formatOfOutput } from '../../src/rows/open/file-formats.ts';
import { columnTypes } from '../../src/rows/open/new-table.ts';
import { openRowFile } from '../../src/rows/open/open-row-file.ts';
import { fc } from '../properties.ts';
import { fillWith, type RowRequest, temporaryFolder, writeRows } from './book-fixture.ts';
import { type Answer, askedDuckdb, quoted } from './duckdb-child.ts';
import { ALL_TYPES, alternating, madeParquet } from './parquet-fixture.ts';
import { workbook } from './xlsx-fixture.ts';

const folder = temporaryFolder();

/** Converts a file, with a status and a score as added columns. */
async function convert(
  input: string,
  output: string,
  request: Partial<RowRequest> = {},
): Promise<string> {
  const [from, to] = [join(folder, input), join(folder, output)];
  await writeRows(await openRowFile(from), {
    output: to,
    dropFrom: null,
    added: [
      { name: 'hazard_status', type: 'text' },
      { name: 'hail_score', type: 'number' },
    ],
    fill: fillWith(['ok', 1.5]),
    ...request,
  });
  return to;
}

/** What DuckDB reads of a Parquet file. */
const parquet = async (file: string): Promise<Answer> =>
  await askedDuckdb(`select * from read_parquet(${quoted(file)})`);

const objects = (file: string) =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

/** The rows of a workbook as another library reads them, dates as ISO 8601. */
async function sheet(file: string): Promise<unknown[][]> {
  const rows = await readSheet(readFileSync(file));
  return rows.map((row) =>
    row.map((value) => (value instanceof Date ? value.toISOString() : value)),
  );
}

const ADDED_TYPES = ['VARCHAR', 'DOUBLE'];
const CSV = `id,zip,price,area,share,note,empty
1,02139,250000,12.5,0.5,7,
2,90210,310000.50,,1,x,
3,60601,,-0.25,1e-7,8,
`;

test('CSV: a column is numeric where each value is written as the number prints again', async () => {
  writeFileSync(join(folder, 'a.csv'), CSV);
  const { names, types, rows } = await parquet(await convert('a.csv', 'a.parquet'));
  assert.deepEqual(names.slice(0, 7), ['id', 'zip', 'price', 'area', 'share', 'note', 'empty']);
  const own = ['BIGINT', 'VARCHAR', 'VARCHAR', 'DOUBLE', 'DOUBLE', 'VARCHAR', 'VARCHAR'];
  assert.deepEqual(types, [...own, ...ADDED_TYPES]);
  assert.deepEqual(rows, [
    ['1', '02139', '250000', 12.5, 0.5, '7', null, 'ok', 1.5],
    ['2', '90210', '310000.50', null, 1, 'x', null, 'ok', 1.5],
    ['3', '60601', null, -0.25, 1e-7, '8', null, 'ok', 1.5],
  ]);
  assert.deepEqual(objects(await convert('a.csv', 'a.ndjson'))[1], {
    ...{ id: 2, zip: '90210', price: '310000.50', area: null, share: 1, note: 'x', empty: null },
    ...{ hazard_status: 'ok', hail_score: 1.5 },
  });
  assert.deepEqual((await sheet(await convert('a.csv', 'a.xlsx')))[2], [
    ...[2, '90210', '310000.50', null, 1, 'x', null],
    ...['ok', 1.5],
  ]);
});

test('CSV with types: text: only the location and value columns of the run are numbers', async () => {
  writeFileSync(join(folder, 'text.csv'), 'id,lat,price\n1,38.50,250000\n2,39,310000\n');
  const request = { types: 'text', numbers: new Set([1]) } as const;
  const { types, rows } = await parquet(await convert('text.csv', 'text.parquet', request));
  assert.deepEqual(types, ['VARCHAR', 'DOUBLE', 'VARCHAR', ...ADDED_TYPES]);
  assert.deepEqual(rows[0], ['1', 38.5, '250000', 'ok', 1.5]);
});

const anyText = fc.oneof(
  fc.string(),
  fc.double().map(String),
  fc.integer().map(String),
  fc.bigInt().map(String),
  fc.stringMatching(/^[ +-]?0?\d{0,20}[.,]?\d{0,20}(e[+-]?\d{1,3})? ?$/),
  fc.constantFrom(
    'NaN',
    'Infinity',
    '-0',
    '0x10',
    '1_000',
    'true',
    '2024-05-01',
    '',
    ' ',
    '1e400',
    '.5',
    '5.',
  ),
);

test('CSV: no text changes by becoming a number, and only such texts become one', () => {
  fc.assert(
    fc.property(fc.array(anyText, { minLength: 1, maxLength: 5 }), (texts) => {
      const found = columnTypes(1, true);
      for (const text of texts) found.add({ number: 1, line: 1, fields: [text] });
      const [type] = found.types();
      const filled = texts.filter((text) => text !== '');
      const isNumeric =
        filled.length > 0 &&
        filled.every((text) => /\d/.test(text) && String(Number(text)) === text);
      assert.equal(type === 'number' || type === 'integer', isNumeric, JSON.stringify(texts));
      if (type === 'integer') assert.ok(filled.every((text) => Number.isSafeInteger(Number(text))));
    }),
    { numRuns: 3000 },
  );
});

const SHEET = {
  name: 'S',
  rows:
    '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="s"><v>2</v></c><c r="D1" t="s"><v>3</v></c>' +
    '<c r="E1" t="s"><v>4</v></c><c r="F1" t="s"><v>5</v></c><c r="G1" t="s"><v>6</v></c></row>' +
    '<row r="2"><c r="A2"><v>250000</v></c><c r="B2"><v>12.5</v></c><c r="C2" t="b"><v>1</v></c><c r="D2" s="1"><v>45292</v></c>' +
    '<c r="E2" s="2"><v>45292.75</v></c><c r="F2" s="3"><v>2139</v></c><c r="G2"><v>7</v></c></row>' +
    '<row r="3"><c r="A3"><v>310000</v></c><c r="C3" t="b"><v>0</v></c><c r="D3" s="1"><v>45293</v></c>' +
    '<c r="E3" s="1"><v>45293</v></c><c r="F3" s="3"><v>90210</v></c><c r="G3" t="str"><v>x</v></c></row>',
};
const STYLES =
  '<numFmts count="1"><numFmt numFmtId="164" formatCode="00000"/></numFmts>' +
  '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="22"/><xf numFmtId="164"/></cellXfs>';
const STRINGS = ['price', 'area', 'sold', 'built', 'seen', 'zip', 'mixed'].map(
  (text) => `<si><t>${text}</t></si>`,
);

test('Excel: numbers, booleans and dates keep their types', async () => {
  writeFileSync(join(folder, 'b.xlsx'), workbook([SHEET], { strings: STRINGS, styles: STYLES }));
  const { types, rows } = await parquet(await convert('b.xlsx', 'b.parquet'));
  const own = ['BIGINT', 'DOUBLE', 'BOOLEAN', 'DATE', 'TIMESTAMP', 'VARCHAR', 'VARCHAR'];
  assert.deepEqual(types, [...own, ...ADDED_TYPES]);
  assert.deepEqual(rows, [
    ['250000', 12.5, true, '2024-01-01', '2024-01-01 18:00:00', '02139', '7', 'ok', 1.5],
    ['310000', null, false, '2024-01-02', '2024-01-02 00:00:00', '90210', 'x', 'ok', 1.5],
  ]);
  assert.deepEqual(objects(await convert('b.xlsx', 'b.ndjson')), [
    {
      ...{
        price: 250_000,
        area: 12.5,
        sold: true,
        built: '2024-01-01',
        seen: '2024-01-01T18:00:00',
        zip: '02139',
      },
      ...{ mixed: 7, hazard_status: 'ok', hail_score: 1.5 },
    },
    {
      ...{
        price: 310_000,
        area: null,
        sold: false,
        built: '2024-01-02',
        seen: '2024-01-02',
        zip: '90210',
      },
      ...{ mixed: 'x', hazard_status: 'ok', hail_score: 1.5 },
    },
  ]);
  assert.deepEqual(await sheet(await convert('b.xlsx', 'b.out.xlsx')), [
    ['price', 'area', 'sold', 'built', 'seen', 'zip', 'mixed', 'hazard_status', 'hail_score'],
    [
      250_000,
      12.5,
      true,
      '2024-01-01T00:00:00.000Z',
      '2024-01-01T18:00:00.000Z',
      2139,
      7,
      'ok',
      1.5,
    ],
    [
      310_000,
      null,
      false,
      '2024-01-02T00:00:00.000Z',
      '2024-01-02T00:00:00.000Z',
      90_210,
      'x',
      'ok',
      1.5,
    ],
  ]);
  // In CSV they are texts, as before.
  const csv = readFileSync(await convert('b.xlsx', 'b.csv'), 'utf8');
  assert.match(csv, /\n250000,12.5,TRUE,2024-01-01,2024-01-01T18:00:00,02139,7,ok,1.5\n/);
});

test('NDJSON: numbers and booleans keep their types, texts are texts, and long numbers their digits', async () => {
  const lines = [
    '{"id":1,"price":250000,"rate":0.5,"sold":true,"day":"2024-05-01","code":"02139","big":9007199254740993,"tags":["a"],"mixed":1}',
    '{"id":2,"price":310000.5,"rate":1,"sold":null,"day":"2024-05-02","code":"7","big":1,"tags":{"b":null},"mixed":"x"}',
  ];
  writeFileSync(join(folder, 'c.ndjson'), `${lines.join('\n')}\n`);
  const { types, rows } = await parquet(await convert('c.ndjson', 'c.parquet'));
  const own = ['BIGINT', 'DOUBLE', 'DOUBLE', 'BOOLEAN', ...new Array(5).fill('VARCHAR')];
  assert.deepEqual(types, [...own, ...ADDED_TYPES]);
  assert.deepEqual(rows, [
    ['1', 250_000, 0.5, true, '2024-05-01', '02139', '9007199254740993', '["a"]', '1', 'ok', 1.5],
    ['2', 310_000.5, 1, null, '2024-05-02', '7', '1', '{"b":null}', 'x', 'ok', 1.5],
  ]);
  assert.deepEqual((await sheet(await convert('c.ndjson', 'c.xlsx')))[1], [
    ...[1, 250_000, 0.5, true, '2024-05-01', '02139', '9007199254740993', '["a"]', 1, 'ok', 1.5],
  ]);
});

test('GeoJSON: properties keep their types in a table', async () => {
  const feature = (lng: number, properties: string) =>
    `{"type":"Feature","geometry":{"type":"Point","coordinates":[${lng},38.5]},"properties":${properties}}`;
  const features = [
    feature(-97.2, '{"price":250000,"sold":false}'),
    feature(-97, '{"price":null,"sold":true}'),
  ];
  writeFileSync(
    join(folder, 'd.geojson'),
    `{"type":"FeatureCollection","features":[${features.join(',')}]}`,
  );
  const { types, rows } = await parquet(await convert('d.geojson', 'd.parquet'));
  assert.deepEqual(types, ['DOUBLE', 'DOUBLE', 'BIGINT', 'BOOLEAN', ...ADDED_TYPES]);
  assert.deepEqual(rows[0], [38.5, -97.2, '250000', false, 'ok', 1.5]);
});

test('Parquet: each type in NDJSON and in Excel', async () => {
  await madeParquet(
    `select 1::bigint as id, 9007199254740993 as big, 1.50::decimal(5, 2) as price, true as flag, date '2024-02-29' as day,
       timestamp '2024-02-29 12:30:00.25' as seen, [1, null] as list, 'x' as name, 'nan'::double as none, 0.1::float as small,
       date '1850-01-01' as early, null::int as nothing`,
    join(folder, 'e.parquet'),
  );
  const text = readFileSync(await convert('e.parquet', 'e.ndjson'), 'utf8');
  assert.equal(
    text,
    '{"id":1,"big":9007199254740993,"price":1.5,"flag":true,"day":"2024-02-29","seen":"2024-02-29T12:30:00.250000",' +
      '"list":[1,null],"name":"x","none":"NaN","small":0.1,"early":"1850-01-01","nothing":null,"hazard_status":"ok","hail_score":1.5}\n',
  );
  assert.deepEqual((await sheet(await convert('e.parquet', 'e.xlsx')))[1], [
    ...[
      1,
      '9007199254740993',
      1.5,
      true,
      '2024-02-29T00:00:00.000Z',
      '2024-02-29T12:30:00.250Z',
      '[1,null]',
      'x',
    ],
    ...['NaN', 0.1, '1850-01-01', null, 'ok', 1.5],
  ]);
});

test('CSV to Parquet: many rows, in several row groups', async () => {
  const count = 150_000;
  const lines = Array.from({ length: count }, (_, i) => `${i},street ${i},city ${i % 50}`);
  writeFileSync(join(folder, 'many.csv'), `id,street,city\n${lines.join('\n')}\n`);
  const file = quoted(
    await convert('many.csv', 'many.parquet', { added: ALL_TYPES, fill: alternating }),
  );
  const { rows } = await askedDuckdb(
    `select count(*), count(distinct id), count(distinct street), count(distinct city), sum(hail_reports),
       count(*) filter (street = 'street ' || id and city = 'city ' || (id::int % 50)),
       (select num_row_groups from parquet_file_metadata(${file})) from read_parquet(${file})`,
  );
  assert.deepEqual(rows, [
    [
      String(count),
      String(count),
      String(count),
      '50',
      String((count / 2) * 3),
      String(count),
      '3',
    ],
  ]);
});

test('features in a file called .ndjson stay features in one that is called so too', async () => {
  const feature = (geometry: string) =>
    `{"type":"Feature","geometry":${geometry},"properties":{"a":1}}\n`;
  const outline = '{"type":"Polygon","coordinates":[[[-97,38],[-96,38],[-96,39],[-97,38]]]}';
  writeFileSync(
    join(folder, 'f.ndjson'),
    feature('{"type":"Point","coordinates":[-97.2,38.5]}') + feature(outline),
  );
  const features = objects(await convert('f.ndjson', 'f.out.ndjson'));
  const told = features.map(
    ({ type, geometry, properties }) => `${type} ${geometry.type} ${properties.a}`,
  );
  assert.deepEqual(told, ['Feature Point 1', 'Feature Polygon 1']);
  // Any other name asks for a table.
  const table = readFileSync(await convert('f.ndjson', 'f.csv'), 'utf8');
  assert.match(table, /^geometry\.latitude,geometry\.longitude,a,/);
});

test('CSV to NDJSON: columns of one name, or of none, keep what is in them', async () => {
  writeFileSync(join(folder, 'twins.csv'), 'id,name,name,\n1,Ann,Lee,x\n');
  const row = readFileSync(await convert('twins.csv', 'twins.ndjson'), 'utf8');
  assert.ok(row.startsWith('{"id":1,"name":"Ann","name_2":"Lee","column_4":"x",'), row);
});

test('NDJSON to CSV: members that come late in a large file have a column too', async () => {
  const lines = Array.from(
    { length: 20_000 },
    (_, i) => `{"id":${i},"pad":"${'x'.repeat(60)}","hazard_status":"old"}`,
  );
  lines.push('{"id":-1,"late":"here"}', '{"id":-2,"late":null,"later":{"a":1}}');
  writeFileSync(join(folder, 'late.ndjson'), `${lines.join('\n')}\n`);
  for (const dropFrom of [null, 2]) {
    const written = readFileSync(
      await convert('late.ndjson', 'late.csv', { dropFrom }),
      'utf8',
    ).split('\n');
    assert.equal(written.length, lines.length + 2);
    const old = dropFrom === null ? 'hazard_status,' : '';
    assert.equal(written[0], `id,pad,${old}late,later,hazard_status,hail_score`);
    assert.deepEqual(written.slice(-3), [
      `-1,,${old && ','}here,,ok,1.5`,
      `-2,,${old && ','},"{""a"":1}",ok,1.5`,
      '',
    ]);
  }
});

test('NDJSON to CSV: numbers keep their digits', async () => {
  const numbers = [
    '1234567890.123456789',
    '9007199254740993',
    '1e400',
    '-118.243683123456789',
    '1E5',
    '0.25',
  ];
  writeFileSync(
    join(folder, 'digits.ndjson'),
    numbers.map((number) => `{"id":${number}}\n`).join(''),
  );
  const written = readFileSync(await convert('digits.ndjson', 'digits.csv'), 'utf8');
  assert.equal(
    written,
    ['id,hazard_status,hail_score', ...numbers.map((number) => `${number},ok,1.5`), ''].join('\n'),
  );
});

test('the name of the output decides its format', () => {
  assert.deepEqual(
    ['a.parquet', 'A.PQ', 'b.csv', 'b.csv.gz', 'c.jsonl', 'd.tsv.zst', 'e', 'f.txt', '-'].map(
      formatOfOutput,
    ),
    ['parquet', 'parquet', 'csv', 'csv', 'ndjson', 'tsv', null, null, null],
  );
});

test('an output whose name promises what would not stand in it is refused', () => {
  // The name of the output, and the format of the input.
  const refused =
    'a.json csv, a.json parquet, a.xls csv, a.xlsm csv, a.xlsx xlsm, a.xlsx.gz xlsx, a.csv.bz2 csv, a.zip csv, ' +
    'a.csv.xz tsv, a.parquet.gz csv, a.parquet.zst parquet';
  const taken =
    'a.geojson geojson, a.geojson csv, a.GeoJSON.gz parquet, a.json geojson, a.json.gz ndjson, a.csv.gz parquet, ' +
    'a.parquet csv, a csv, a.txt csv, a.xlsx csv, a.xlsm xlsm, a.hazards parquet, - csv, /dev/full csv';
  const check = (pair: string) =>
    checkFormat(...(pair.split(' ') as [output: string, format: string]));
  for (const pair of refused.split(', '))
    assert.throws(() => check(pair), { code: 'OUTPUT_UNWRITABLE' }, pair);
  for (const pair of taken.split(', ')) check(pair);
});

test('an output that is called .tsv has tabs, whatever the input has', async () => {
  writeFileSync(join(folder, 'commas.csv'), 'id,name\n1,"a,b"\n2,"c\td"\n');
  const tabs = readFileSync(await convert('commas.csv', 'tabs.tsv'), 'utf8');
  assert.match(tabs, /^id\tname\t.*\n1\ta,b\t.*\n2\t"c\td"\t/);
  // Tabs stay byte for byte, quotes included.
  writeFileSync(join(folder, 'tabs.txt'), 'id\tname\n1\t"a"\n');
  assert.match(readFileSync(await convert('tabs.txt', 'again.tsv'), 'utf8'), /\n1\t"a"\t/);
});

test('the other endings of a format are files that DuckDB reads as that format', async () => {
  writeFileSync(join(folder, 'ends.csv'), 'id,lat,lng\n1,34.05,-118.24\n2,29.76,-95.37\n');
  const read = async (ending: string, sql: (file: string) => string) => {
    const file = await convert('ends.csv', `ends.${ending}`);
    const { names, rows } = await askedDuckdb(`select * from ${sql(quoted(file))}`);
    return { names: names.slice(0, 3), rows: rows.length };
  };
  const whole = { names: ['id', 'lat', 'lng'], rows: 2 };
  for (const ending of ['parq', 'geoparquet'])
    assert.deepEqual(await read(ending, (file) => `read_parquet(${file})`), whole, ending);
  const tab = await read('tab', (file) => `read_csv(${file}, delim = '\t', header = true)`);
  assert.deepEqual(tab, whole);
});
