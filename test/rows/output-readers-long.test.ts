import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tableFromIPC } from 'apache-arrow';
import pl from 'nodejs-polars';
import * as arrowRs from 'parquet-wasm';
import { readSheet } from 'read-excel-file/node';
import { openRowFile } from '../../src/rows/open-row-file.ts';
import { temporaryFolder, writeRows } from './book-fixture.ts';
import { askedDuckdb, quoted } from './duckdb-child.ts';
import { ALL_TYPES, alternating, madeParquet } from './parquet-fixture.ts';
import { workbook } from './xlsx-fixture.ts';

const folder = temporaryFolder();

/** Adds a column of each type to a file: one row has them all, the next hardly any. */
async function enriched(input: string, output: string): Promise<string> {
  const file = join(folder, output);
  const rowFile = await openRowFile(join(folder, input));
  await writeRows(rowFile, { output: file, added: ALL_TYPES, fill: alternating });
  return file;
}

const ADDED = [
  ['partial', 'µ "x"', null, null, null],
  ['ok', null, '2026-05-01 10:20:30.4+00', 1.5, 3],
];

test('DuckDB reads an enriched CSV: types, nulls, counts', async () => {
  writeFileSync(join(folder, 'in.csv'), 'id;name\r\n007;"a;""b"\r\n8;Peña\r\n');
  const file = await enriched('in.csv', 'out.csv');
  const query = `select id, name, columns('ha.*') from read_csv(${quoted(file)}, types = {'hazard_as_of': 'timestamptz', 'id': 'varchar'})`;
  const { types, rows } = await askedDuckdb(query);
  assert.deepEqual(types.slice(2), ['VARCHAR', 'VARCHAR', 'TIMESTAMP WITH TIME ZONE', 'DOUBLE', 'BIGINT']);
  assert.deepEqual(
    rows.map((row) => row.map((value) => (value === '3' ? 3 : value))),
    [
      ['007', 'a;"b', ...ADDED[0]!],
      ['8', 'Peña', ...ADDED[1]!],
    ],
  );
});

test('DuckDB reads enriched NDJSON, and NDJSON that was made from a CSV', async () => {
  writeFileSync(join(folder, 'in.ndjson'), '{"id":1,"tags":["a"],"sold":true}\n{"id":2,"tags":null,"sold":false}\n');
  writeFileSync(join(folder, 'made.csv'), 'id,sold\n1,x\n2,\n');
  for (const [input, own] of [
    ['in.ndjson', ['BIGINT', 'VARCHAR[]', 'BOOLEAN']],
    ['made.csv', ['BIGINT', 'VARCHAR']],
  ] as const) {
    const file = await enriched(input, `${input}.out.ndjson`);
    const { types, rows } = await askedDuckdb(`select * from read_json(${quoted(file)}, format = 'newline_delimited')`);
    assert.deepEqual(types, [...own, 'VARCHAR', 'VARCHAR', 'TIMESTAMP', 'DOUBLE', 'BIGINT'], input);
    const added = rows.map((row) => row.slice(own.length));
    assert.deepEqual(added, [ADDED[0], ['ok', null, '2026-05-01 10:20:30.4', 1.5, '3']]);
  }
});

test('another library reads an enriched workbook, and one that was made from Parquet', async () => {
  const cell = (reference: string, text: string) => `<c r="${reference}" t="inlineStr"><is><t>${text}</t></is></c>`;
  const rows =
    `<row r="1">${cell('A1', 'id')}${cell('B1', 'city')}</row><row r="2"><c r="A2"><v>1</v></c>${cell('B2', 'Peña')}</row>` +
    '<row r="3"><c r="A3"><v>2</v></c></row>';
  writeFileSync(join(folder, 'in.xlsx'), workbook([{ name: 'S', rows }]));
  await madeParquet(
    "select 1 as id, timestamptz '2026-05-01 10:20:30+00' as city union all select 2, null order by id",
    join(folder, 'made.parquet'),
  );
  const names = ['id', 'city', ...ALL_TYPES.map(({ name }) => name)];
  for (const [input, city] of [
    ['in.xlsx', 'Peña'],
    ['made.parquet', new Date('2026-05-01T10:20:30Z')],
  ] as const) {
    const read = await readSheet(readFileSync(await enriched(input, `${input}.out.xlsx`)));
    assert.deepEqual(
      read,
      [
        names,
        [1, city, 'partial', 'µ "x"', null, null, null],
        [2, null, 'ok', null, '2026-05-01T10:20:30.400Z', 1.5, 3],
      ],
      input,
    );
  }
});

test('polars and arrow-rs read the types of a Parquet file that was made from NDJSON and from Excel', async () => {
  writeFileSync(
    join(folder, 'types.ndjson'),
    '{"n":1,"d":0.5,"b":true}\n{"n":9007199254740991,"d":null,"b":false}\n{"b":null}\n',
  );
  const styles = '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="22"/></cellXfs>';
  const rows =
    '<row r="1"><c r="A1" t="str"><v>day</v></c><c r="B1" t="str"><v>seen</v></c></row>' +
    '<row r="2"><c r="A2" s="1"><v>45292</v></c><c r="B2" s="2"><v>45292.75</v></c></row><row r="3"><c r="A3" s="1"><v>45293</v></c></row>';
  writeFileSync(join(folder, 'types.xlsx'), workbook([{ name: 'S', rows }], { styles }));
  const numbers = await enriched('types.ndjson', 'numbers.parquet');
  const dates = await enriched('types.xlsx', 'dates.parquet');
  const polarsTypes = (file: string) =>
    pl
      .readParquet(file)
      .getColumns()
      .slice(0, -ALL_TYPES.length)
      .map(({ dtype }) => JSON.stringify(dtype));
  assert.deepEqual(
    polarsTypes(numbers),
    ['Int64', 'Float64', 'Bool'].map((name) => JSON.stringify({ DataType: name })),
  );
  assert.deepEqual(polarsTypes(dates), ['{"DataType":"Date"}', '{"DataType":{"Datetime":"ms"}}']);
  const arrow = (file: string) => tableFromIPC(arrowRs.readParquet(readFileSync(file)).intoIPCStream());
  const typesOf = (file: string) =>
    arrow(file)
      .schema.fields.slice(0, -ALL_TYPES.length)
      .map(({ type }) => String(type));
  assert.deepEqual(typesOf(numbers), ['Int64', 'Float64', 'Bool']);
  assert.deepEqual(typesOf(dates), ['Date32<DAY>', 'Timestamp<MILLISECOND>']);
  const valuesOf = (file: string, name: string) => [...arrow(file).getChild(name)!];
  assert.deepEqual(valuesOf(numbers, 'n'), [1n, 9007199254740991n, null]);
  assert.deepEqual(valuesOf(numbers, 'd'), [0.5, null, null]);
  assert.deepEqual(valuesOf(numbers, 'b'), [true, false, null]);
  assert.deepEqual(valuesOf(dates, 'seen'), [Date.UTC(2024, 0, 1, 18), null]);
});
