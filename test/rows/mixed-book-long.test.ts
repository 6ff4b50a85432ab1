import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkFormat, formatOfOutput } from '../../src/rows/file-formats.ts';
import { openRowFile } from '../../src/rows/open-row-file.ts';
import { type RowRequest, temporaryFolder, writeRows } from './book-fixture.ts';
import { askedDuckdb, quoted } from './duckdb-child.ts';
import { ALL_TYPES, alternating, hazardNames } from './parquet-fixture.ts';

const folder = temporaryFolder();

async function convert(input: string, output: string, request: Partial<RowRequest> = {}) {
  const book = await openRowFile(join(folder, input));
  const all = { added: ALL_TYPES, fill: alternating, ...request };
  return await writeRows(book, { output: join(folder, output), ...all });
}

test('CSV to Parquet: many rows, in several row groups', async () => {
  const count = 150_000;
  const lines = Array.from({ length: count }, (_, i) => `${i},street ${i},city ${i % 50}`);
  writeFileSync(join(folder, 'many.csv'), `id,street,city\n${lines.join('\n')}\n`);
  await convert('many.csv', 'many.parquet');
  const file = quoted(join(folder, 'many.parquet'));
  const { rows } = await askedDuckdb(
    `select count(*), count(distinct id), count(distinct street), count(distinct city), sum(hail_reports),
       count(*) filter (street = 'street ' || id and city = 'city ' || (id::int % 50)),
       (select num_row_groups from parquet_file_metadata(${file})) from read_parquet(${file})`,
  );
  assert.deepEqual(rows, [
    [String(count), String(count), String(count), '50', String((count / 2) * 3), String(count), '3'],
  ]);
});

test('features in a file called .ndjson stay features in one that is called so too', async () => {
  const feature = (geometry: string) => `{"type":"Feature","geometry":${geometry},"properties":{"a":1}}\n`;
  const outline = '{"type":"Polygon","coordinates":[[[-97,38],[-96,38],[-96,39],[-97,38]]]}';
  writeFileSync(join(folder, 'f.ndjson'), feature('{"type":"Point","coordinates":[-97.2,38.5]}') + feature(outline));
  await convert('f.ndjson', 'f.out.ndjson');
  const features = readFileSync(join(folder, 'f.out.ndjson'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const told = features.map(({ type, geometry, properties }) => `${type} ${geometry.type} ${properties.a}`);
  assert.deepEqual(told, ['Feature Point 1', 'Feature Polygon 1']);
  // Any other name asks for a table.
  await convert('f.ndjson', 'f.csv');
  assert.match(readFileSync(join(folder, 'f.csv'), 'utf8'), /^geometry\.latitude,geometry\.longitude,a,/);
});

test('CSV to NDJSON: columns of one name, or of none, keep what is in them', async () => {
  writeFileSync(join(folder, 'twins.csv'), 'id,name,name,\n1,Ann,Lee,x\n');
  await convert('twins.csv', 'twins.ndjson');
  const row = JSON.parse(readFileSync(join(folder, 'twins.ndjson'), 'utf8'));
  assert.deepEqual(Object.entries(row).slice(0, 4), [
    ['id', 1],
    ['name', 'Ann'],
    ['name_2', 'Lee'],
    ['column_4', 'x'],
  ]);
});

test('NDJSON to CSV: members that come late in a large file have a column too', async () => {
  const lines = Array.from({ length: 20_000 }, (_, i) => `{"id":${i},"pad":"${'x'.repeat(60)}","hazard_status":"old"}`);
  lines.push('{"id":-1,"late":"here"}', '{"id":-2,"late":null,"later":{"a":1}}');
  writeFileSync(join(folder, 'late.ndjson'), `${lines.join('\n')}\n`);
  for (const dropFrom of [null, 2]) {
    const { rows } = await convert('late.ndjson', 'late.csv', { dropFrom });
    assert.equal(rows, lines.length);
    const written = readFileSync(join(folder, 'late.csv'), 'utf8').trimEnd().split('\n');
    const old = dropFrom === null ? 'hazard_status,' : '';
    assert.equal(written[0], `id,pad,${old}late,later,${hazardNames.replaceAll(', ', ',')}`);
    assert.ok(written.at(-2)!.startsWith(`-1,,${old && ','}here,,`));
    assert.ok(written.at(-1)!.startsWith(`-2,,${old && ','},"{""a"":1}",`));
  }
});

test('NDJSON to CSV: numbers keep their digits', async () => {
  const numbers = ['1234567890.123456789', '9007199254740993', '1e400', '-118.243683123456789', '1E5', '0.25'];
  writeFileSync(join(folder, 'digits.ndjson'), numbers.map((number) => `{"id":${number}}\n`).join(''));
  await convert('digits.ndjson', 'digits.csv');
  const written = readFileSync(join(folder, 'digits.csv'), 'utf8').trimEnd().split('\n').slice(1);
  const kept = written.map((line) => line.split(',')[0]);
  assert.deepEqual(kept, numbers);
});

test('the name of the output decides its format', () => {
  assert.deepEqual(
    ['a.parquet', 'A.PQ', 'b.csv', 'b.csv.gz', 'c.jsonl', 'd.tsv.zst', 'e', 'f.txt', '-'].map(formatOfOutput),
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
  const check = (pair: string) => checkFormat(...(pair.split(' ') as [output: string, format: string]));
  for (const pair of refused.split(', ')) assert.throws(() => check(pair), { code: 'OUTPUT_UNWRITABLE' }, pair);
  for (const pair of taken.split(', ')) check(pair);
});

test('an output that is called .tsv has tabs, whatever the input has', async () => {
  writeFileSync(join(folder, 'commas.csv'), 'id,name\n1,"a,b"\n2,"c\td"\n');
  await convert('commas.csv', 'tabs.tsv');
  assert.match(readFileSync(join(folder, 'tabs.tsv'), 'utf8'), /^id\tname\t.*\n1\ta,b\t.*\n2\t"c\td"\t/);
  // Tabs stay byte for byte, quotes included.
  writeFileSync(join(folder, 'tabs.txt'), 'id\tname\n1\t"a"\n');
  await convert('tabs.txt', 'again.tsv');
  assert.match(readFileSync(join(folder, 'again.tsv'), 'utf8'), /\n1\t"a"\t/);
});
