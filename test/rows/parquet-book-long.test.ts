import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Field } from '../../src/contract/answer.ts';
import { findPerilbookColumns } from '../../src/rows/kept-columns.ts';
import { openRowFile } from '../../src/rows/open/open-row-file.ts';
import { CHUNK, CHUNK_META, FOOTER, ROW_GROUP } from '../../src/rows/parquet/format.ts';
import {
  readThrift,
  setField,
  type ThriftStruct,
  writeThrift,
} from '../../src/rows/parquet/thrift.ts';
import { noRealData, realFile } from '../real-data.ts';
import { allRows, fillWith, type RowFill, temporaryFolder, writeRows } from './book-fixture.ts';
import { askedDuckdb, quoted } from './duckdb-child.ts';
import { locationByNames } from './location-of.ts';
import { ALL_TYPES, alternating, madeParquet, withFooter } from './parquet-fixture.ts';

const folder = temporaryFolder();

const TABLE = `select i as id, 'name ' || (i % 7) as name, 30 + i / 1000 as lat, -90.5 - i / 1000 as lng,
  case when i % 3 = 0 then null else [i, i + 1] end as list, {'zip': lpad(i::varchar, 5, '0'), 'n': {'deep': i}} as address,
  (i / 8)::decimal(9, 3) as price, date '2024-02-28' + (i % 3)::int as day,
  timestamp '2024-01-01 00:00:00.25' + to_seconds(i) as local_time, timestamptz '2024-01-01 00:00:00+00' as utc_time,
  map {'k' || i: i} as tags, i % 2 = 0 as even, null::int as nothing, (i / 3)::float as ratio,
  '\\x00\\xFF'::blob as bytes, '00112233-4455-6677-8899-aabbccddeeff'::uuid as uid from range`;

test('golden files come out to the byte, and so does an output that is enriched again', async () => {
  const golden = join(import.meta.dirname, 'golden-parquet');
  const own = new Set(ALL_TYPES.map(({ name }) => name));
  for (const [input, expected] of [
    ['flat.in', 'flat.out'],
    ['flat.out', 'flat.out'],
    ['no-rows.in', 'no-rows.out'],
  ]) {
    const output = join(folder, 'golden.parquet');
    const book = await openRowFile(join(golden, `${input}.parquet`));
    const dropFrom = findPerilbookColumns(book.columns, own);
    await writeRows(book, { output, columns: [0], dropFrom, added: ALL_TYPES, fill: alternating });
    assert.deepEqual(
      readFileSync(output),
      readFileSync(join(golden, `${expected}.parquet`)),
      input,
    );
  }
});

test('replaced answers in each row group do not stay in the file, and what follows them is found', async () => {
  const [file, output, again] = ['replaced', 'replaced.out', 'again.out'].map((name) =>
    join(folder, `${name}.parquet`),
  ) as [string, string, string];
  const own = new Set(ALL_TYPES.map(({ name }) => name));
  const answers = `'ok' as hazard_status, 'replaced answer ' || i as hazard_note, timestamptz '2024-01-01 00:00:00+00' as hazard_as_of`;
  await madeParquet(
    `select i as id, 'name ' || (i % 7) as name, ${answers} from range(5000) t(i)`,
    file,
    'row_group_size 2048',
  );
  for (const [from, to] of [
    [file, output],
    [output, again],
  ] as const) {
    const book = await openRowFile(from);
    const dropFrom = findPerilbookColumns(book.columns, own);
    await writeRows(book, { output: to, dropFrom, added: ALL_TYPES, fill: alternating });
    assert.ok(!readFileSync(to).includes('replaced answer'));
  }
  assert.deepEqual(readFileSync(output), readFileSync(again));
  // DuckDB asks the bloom filters of the names.
  const { rows } = await askedDuckdb(
    `select count(*), sum(id), count(*) filter (name = 'name ' || (id % 7)) from read_parquet(${quoted(output)});`,
  );
  assert.deepEqual(rows, [['5000', '12497500', '5000']]);
  const { rows: filtered } = await askedDuckdb(
    `select count(*) from read_parquet(${quoted(output)}) where name = 'name 3'`,
  );
  assert.deepEqual(filtered, [['714']]);
});

test('columns are read as text, one row group after the other', async () => {
  const file = join(folder, 'table.parquet');
  await madeParquet(`${TABLE}(0, 5000) t(i)`, file, 'row_group_size 2048');
  const book = await openRowFile(file);
  const inner = book.columns.filter((name) => name.includes('.'));
  assert.deepEqual(inner, ['address.zip', 'address.n.deep']);
  const wanted = [...book.columns.keys()];
  const rows = await allRows(book, wanted);
  assert.equal(rows.length, 5000);
  const last = Object.fromEntries(book.columns.map((name, i) => [name, rows[4997]!.fields[i]]));
  assert.deepEqual(last, {
    id: '4997',
    name: 'name 6',
    lat: '34.997',
    lng: '-95.497',
    list: '[4997,4998]',
    address: '{"zip":"04997","n":{"deep":4997}}',
    'address.zip': '04997',
    'address.n.deep': '4997',
    price: '624.625',
    day: '2024-03-01',
    local_time: '2024-01-01T01:23:17.250000',
    utc_time: '2024-01-01T00:00:00Z',
    tags: '{"k4997":4997}',
    even: 'false',
    nothing: '',
    ratio: '1665.6666',
    bytes: 'AP8=',
    uid: '00112233-4455-6677-8899-aabbccddeeff',
  });
  assert.deepEqual([rows[4997]!.number, rows[4997]!.line], [4998, 4998]);
  assert.equal(rows[3]!.fields[book.columns.indexOf('list')], '');
});

test('any values of the added columns are read back', async () => {
  const file = join(folder, 'values.parquet');
  const output = join(folder, 'values-out.parquet');
  const count = 140_000;
  await madeParquet(`select i as id from range(0, ${count}) t(i)`, file, 'row_group_size 200000');
  const fieldsOf = (number: number): Field[] => [
    number % 5 === 0 ? null : `status ${number % 3}`,
    number % 2 === 0 ? `note ${number}` : null,
    new Date(-1e12 + number * 1e8).toISOString(),
    number % 7 === 0 ? null : number / 7,
    number % 4 === 0 ? null : -(number % 1000),
  ];
  const book = await openRowFile(file);
  await writeRows(book, {
    output,
    added: ALL_TYPES,
    fill: async (rows) => rows.map(({ number }) => fieldsOf(number)),
  });
  const { rows } = await askedDuckdb(
    `select hazard_status, hazard_note, epoch_ms(hazard_as_of)::varchar, hail_score, hail_reports
     from read_parquet(${quoted(output)}) where id % 9973 in (0, 1, 2, 3)`,
  );
  const ids = Array.from({ length: count }, (_, id) => id).filter((id) =>
    [0, 1, 2, 3].includes(id % 9973),
  );
  const expected = ids.map((id) => {
    const fields = fieldsOf(id + 1);
    return [fields[0], fields[1], String(Date.parse(String(fields[2]))), fields[3], fields[4]];
  });
  assert.deepEqual(rows, expected);
  // A reader skips row groups by the bounds of their values: a wrong bound would hide these rows.
  for (const [where, holds] of [
    ["hazard_status = 'status 2'", ([status]: readonly Field[]) => status === 'status 2'],
    ["hazard_status = 'status 0'", ([status]: readonly Field[]) => status === 'status 0'],
    ['hail_score > 19999', ([, , , score]: readonly Field[]) => Number(score) > 19_999],
    ['hail_reports = -999', ([, , , , reports]: readonly Field[]) => reports === -999],
    ['hail_score is null', ([, , , score]: readonly Field[]) => score === null],
    ['hail_reports = -1', ([, , , , reports]: readonly Field[]) => reports === -1],
  ] as const) {
    const matching = Array.from({ length: count }, (_, id) => id).filter((id) =>
      holds(fieldsOf(id + 1)),
    );
    const query = `select count(*)::int from read_parquet(${quoted(output)}) where ${where}`;
    assert.deepEqual((await askedDuckdb(query)).rows, [[matching.length]], where);
    assert.ok(matching.length > 0, where);
  }
  // The same values, read by this reader.
  const again = await openRowFile(output);
  const read = await allRows(again, [4]);
  assert.ok(read.every(({ number, fields }) => fields[0] === String(fieldsOf(number)[3] ?? '')));
});

test('a value that its column cannot hold is an error, and nothing is written', async () => {
  const file = join(folder, 'misfit.parquet');
  const output = join(folder, 'misfit-out.parquet');
  await madeParquet('select 1 as id', file);
  const book = await openRowFile(file);
  for (const fields of [
    ['ok', null, null, null, 2 ** 31],
    ['ok', null, 'yesterday', null, 1],
    ['ok', null, null, 'high', 1],
  ]) {
    const request = { output, added: ALL_TYPES, fill: fillWith(fields) };
    await assert.rejects(writeRows(book, request), { code: 'SERVICE_DATA' });
    assert.equal(existsSync(output), false);
  }
});

test('files whose footer or columns would be outside of them are refused', async () => {
  const file = join(folder, 'whole.parquet');
  await madeParquet(`${TABLE}(0, 100) t(i)`, file);
  const whole = readFileSync(file);
  const longFooter = Buffer.from(whole);
  longFooter.writeUInt32LE(0xffffffff, whole.length - 8);
  for (const [bytes, message] of [
    [longFooter, /more than the file/],
    [Buffer.concat([whole.subarray(0, 4), whole.subarray(500)]), /outside the file/],
  ] as const) {
    writeFileSync(file, bytes);
    await assert.rejects(openRowFile(file), { code: 'INPUT_UNREADABLE', message });
  }
});

test('real files: which columns are the location, and what stands in them', {
  skip: noRealData,
}, async () => {
  for (const [name, columns, count] of [
    ['cities', ['latitude', 'longitude'], 1249],
    ['us_cities', ['geometry.latitude', 'geometry.longitude'], 3666],
  ] as const) {
    const book = await openRowFile(realFile(`parquet/${name}.parquet`));
    const { lat, lng } = locationByNames(book.columns);
    assert.deepEqual([book.columns[lat], book.columns[lng]], columns);
    const points = ['geometry.latitude', 'geometry.longitude'].map((axis) =>
      book.columns.indexOf(axis),
    );
    const rows = await allRows(book, [lat, lng, ...points]);
    assert.equal(rows.length, count);
    const isNear = (a?: string, b?: string) => Math.abs(Number(a) - Number(b)) < 0.001;
    assert.ok(
      rows.every(({ fields: [y, x, py, px] }) => y !== '' && isNear(y, py) && isNear(x, px)),
    );
  }
  const outlines = await openRowFile(realFile('parquet/geoparquet_example.parquet'));
  assert.throws(() => locationByNames(outlines.columns), { code: 'INPUT_COLUMNS' });
  const projected = await openRowFile(
    realFile('parquet/conformance/data/geospatial/crs-srid.parquet'),
  );
  const { lat, lng } = locationByNames(projected.columns);
  await assert.rejects(allRows(projected, [lat, lng]), {
    code: 'INPUT_COLUMNS',
    message: /srid:5070/,
  });
});

/** The file with a row group of no rows after each of its own, as writers leave them that are handed an empty batch. */
function withEmptyGroups(bytes: Buffer): Buffer {
  return withFooter(bytes, (footer) => {
    const groups = FOOTER.rowGroups.read(footer)!.flatMap((group) => {
      const empty = structuredCopy(group);
      for (const size of [ROW_GROUP.rows, ROW_GROUP.unpackedSize]) setField(empty, size.make(0));
      for (const chunk of ROW_GROUP.chunks.read(empty)!) {
        const meta = CHUNK.meta.read(chunk)!;
        meta.fields = meta.fields.filter(({ id }) => id <= CHUNK_META.dataStart.id);
        for (const size of [CHUNK_META.values, CHUNK_META.unpackedSize, CHUNK_META.size])
          setField(meta, size.make(0));
        chunk.fields = [CHUNK.start, CHUNK.meta].flatMap(({ id }) =>
          chunk.fields.filter((field) => field.id === id),
        );
      }
      return [group, empty];
    });
    setField(footer, FOOTER.rowGroups.make(groups));
  });
}

/** A struct with structs of its own. */
const structuredCopy = (struct: ThriftStruct): ThriftStruct =>
  readThrift(writeThrift(struct)).struct;

test('a row group without rows gets none', async () => {
  const [file, output] = [join(folder, 'gaps.parquet'), join(folder, 'gaps.out.parquet')];
  await madeParquet('select i as id from range(0, 5000) t(i)', file, 'row_group_size 2048');
  writeFileSync(file, withEmptyGroups(readFileSync(file)));
  const book = await openRowFile(file);
  const fill: RowFill = async (rows) =>
    rows.map(({ number }): Field[] => ['ok', null, null, null, number]);
  assert.equal(
    (await writeRows(book, { output, dropFrom: null, added: ALL_TYPES, fill })).rows,
    5000,
  );
  const { rows } = await askedDuckdb(
    `select count(*), count(*) filter (hail_reports = id + 1), count(hail_reports) from read_parquet(${quoted(output)})`,
  );
  assert.deepEqual(rows, [['5000', '5000', '5000']]);
  assert.equal((await allRows(await openRowFile(output), [1])).length, 5000);
});
