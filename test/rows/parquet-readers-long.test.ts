import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join, parse } from 'node:path';
import { type TestContext, test } from 'node:test';
import * as arrow from 'apache-arrow';
import pl from 'nodejs-polars';
import * as arrowRs from 'parquet-wasm';
import type { Field } from '../../src/contract/answer.ts';
import { pointText } from '../../src/geo/geometry-points.ts';
import { openRowFile } from '../../src/rows/open/open-row-file.ts';
import { extendArrowSchema } from '../../src/rows/parquet/arrow-schema.ts';
import type { AddedColumn } from '../../src/rows/port.ts';
import { fc } from '../properties.ts';
import { noRealData, realFile } from '../real-data.ts';
import { fillWith, temporaryFolder, writeRows } from './book-fixture.ts';
import { askedDuckdb, quoted } from './duckdb-child.ts';
import { ALL_TYPES, madeParquet } from './parquet-fixture.ts';

const folder = temporaryFolder();
const { Bool, DateDay, Dictionary, DurationSecond, Float64, Int32, Int8, LargeUtf8, Null, Utf8 } =
  arrow;

const POINT = 'hazard_geometry';
const ADDED: readonly AddedColumn[] = [...ALL_TYPES, { name: POINT, type: 'point' }];
const FIELDS: readonly (readonly Field[])[] = [
  ['ok', null, '2026-05-01T10:20:30.400Z', 1.5, 3, pointText(38.03, -78.48)],
  ['partial', 'µ "x"', null, null, null, null],
];
const TIME = Date.parse('2026-05-01T10:20:30.400Z');

/** A column as a program sees it. */
interface Column {
  readonly type: string;
  readonly values: readonly string[];
}
type Columns = Readonly<Record<string, Column>>;
interface Reader {
  readonly read: (file: string) => Columns | Promise<Columns>;
  /** The types of the added columns. */
  readonly types: readonly string[];
  /** How it gives the added time. */
  readonly time: string;
}

const text = (value: unknown): string => {
  if (value === null || value === undefined) return 'null';
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1');
  return typeof value === 'object'
    ? JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? String(part) : part))
    : String(value);
};

function readByPolars(file: string): Columns {
  const table = pl.readParquet(file);
  return Object.fromEntries(
    table.getColumns().map((column) => {
      // polars for Node has no form for bytes.
      if (column.name === POINT) return [column.name, { type: 'bytes', values: [] }];
      const type = JSON.stringify(column.dtype);
      const plain = type.includes('Decimal') ? column.cast(pl.Float64) : column;
      return [column.name, { type, values: plain.toArray().map(text) }];
    }),
  );
}

function readByArrowRs(file: string): Columns {
  const table = arrow.tableFromIPC(arrowRs.readParquet(readFileSync(file)).intoIPCStream());
  return Object.fromEntries(
    table.schema.fields.map(({ name, type }, index) => [
      name,
      { type: String(type), values: [...table.getChildAt(index)!].map(text) },
    ]),
  );
}

async function readByDuckdb(file: string): Promise<Columns> {
  const { names, types, rows } = await askedDuckdb(`select * from read_parquet(${quoted(file)})`);
  return Object.fromEntries(
    names.map((name, index) => [
      name,
      { type: types[index]!, values: rows.map((row) => text(row[index])) },
    ]),
  );
}

const polarsType = (name: string) => JSON.stringify({ DataType: name });
const READERS: Readonly<Record<string, Reader>> = {
  polars: {
    read: readByPolars,
    types: [
      polarsType('String'),
      polarsType('String'),
      JSON.stringify({ DataType: { Datetime: 'ms' } }),
      ...['Float64', 'Int32'].map(polarsType),
      'bytes',
    ],
    time: new Date(TIME).toISOString(),
  },
  'arrow-rs': {
    read: readByArrowRs,
    types: ['Utf8', 'Utf8', 'Timestamp<MILLISECOND, UTC>', 'Float64', 'Int32', 'Binary'],
    time: String(TIME),
  },
  duckdb: {
    read: readByDuckdb,
    types: [
      'VARCHAR',
      'VARCHAR',
      'TIMESTAMP WITH TIME ZONE',
      'DOUBLE',
      'INTEGER',
      "GEOMETRY('OGC:CRS84')",
    ],
    time: '2026-05-01 10:20:30.4+00',
  },
};

/** Adds the columns to a file. */
async function enriched(file: string): Promise<string> {
  const output = join(folder, `${parse(file).name}-out.parquet`);
  const rowFile = await openRowFile(file);
  const first = rowFile.columns.indexOf('hazard_status');
  const dropFrom = first < 0 ? null : first;
  const fill = async (rows: readonly { number: number }[]) =>
    rows.map(({ number }) => FIELDS[(number - 1) % 2]!);
  await writeRows(rowFile, { output, columns: [0], dropFrom, added: ADDED, fill });
  return output;
}

/** Compares what readers see of a file, or of one with the same columns, before and after columns were added to it. */
async function compare(
  t: TestContext,
  file: string,
  readers = Object.keys(READERS),
  same = file,
): Promise<void> {
  const output = await enriched(file);
  for (const name of readers) {
    await t.test(`${name} reads ${basename(file)}`, async () => {
      const { read, types, time } = READERS[name]!;
      const before = await read(same);
      const after = await read(output);
      const original = Object.keys(before);
      assert.deepEqual(Object.keys(after), [...original, ...ADDED.map((column) => column.name)]);
      for (const column of original) assert.deepEqual(after[column], before[column], column);
      const added = ADDED.map((column) => after[column.name]!);
      assert.deepEqual(
        added.map((column) => column.type),
        types,
      );
      const inRow = (row: number) => added.slice(0, 5).map(({ values }) => values[row]);
      assert.deepEqual(inRow(0), ['ok', 'null', time, '1.5', '3']);
      assert.deepEqual(inRow(1), ['partial', 'µ "x"', 'null', 'null', 'null']);
    });
  }
}

const SPARK = 'org.apache.spark.sql.parquet.row.metadata';
const GEO =
  '{"version":"1.1.0","primary_column":"hazard_geometry","columns":{"hazard_geometry":{"encoding":"WKB",' +
  '"geometry_types":["Point"]}}}';

async function keyValues(file: string): Promise<Record<string, string>> {
  const { rows } = await askedDuckdb(
    `select decode(key), decode(value) from parquet_kv_metadata(${quoted(file)})`,
  );
  return Object.fromEntries(rows as [string, string][]);
}

const ROWS = Array.from({ length: 40 }, (_, index) => index);

function writtenByPolars(file: string): void {
  pl.DataFrame({
    id: ROWS,
    seen: ROWS.map((i) => new Date(1.7e12 + i * 1e7)),
    day: ROWS.map((i) => new Date(1.7e12 + i * 1e8)),
    tags: ROWS.map((i) => [`a${i}`, 'b']),
    price: ROWS.map((i) => i / 4),
  })
    .withColumns(
      pl.col('seen').cast(pl.Datetime('ms', 'America/New_York')),
      pl.col('day').cast(pl.Date),
    )
    .writeParquet(file);
}

function writtenByArrowRs(file: string): void {
  const vector = (type: arrow.DataType, value: (row: number) => unknown) =>
    arrow.vectorFromArray(ROWS.map(value), type);
  const table = new arrow.Table({
    lat: vector(new Float64(), (i) => 38 + i / 100),
    kind: vector(new Dictionary(new Utf8(), new Int8()), (i) =>
      i % 5 === 0 ? null : `kind ${i % 3}`,
    ),
    zip: vector(new LargeUtf8(), (i) => `0${2139 + i}`),
    seen: vector(new arrow.TimestampMicrosecond('America/New_York'), (i) => 1.7e12 + i),
    age: vector(new DurationSecond(), (i) => BigInt(i * 3600)),
    rooms: vector(new Int32(), (i) => (i % 2 === 0 ? null : i)),
  });
  writeFileSync(
    file,
    arrowRs.writeParquet(arrowRs.Table.fromIPCStream(arrow.tableToIPC(table, 'stream'))),
  );
}

test('other programs read the added columns of each file, and its own columns with their types', async (t) => {
  const made = (name: string) => join(folder, `${name}.parquet`);
  await madeParquet(
    `select i as id, 38 + i / 100 as lat, 'k' || (i % 3) as kind, date '2024-02-28' + i::int as day, [i] as list
     from range(40) t(i)`,
    made('duckdb'),
  );
  writtenByPolars(made('polars'));
  writtenByArrowRs(made('arrow-rs'));
  for (const name of ['duckdb', 'polars', 'arrow-rs']) await compare(t, made(name));
});

test('a file whose other schemas cannot be read is read by its own', async (t) => {
  const file = join(folder, 'foreign-keys.parquet');
  const keys = `{"ARROW:schema": 'damaged', "parquet.avro.schema": '{"fields": [{"name": "other"}]}', owner: 'we'}`;
  const [query, same] = [
    'select i as id, 38 + i / 100 as lat from range(40) t(i)',
    join(folder, 'no-keys.parquet'),
  ];
  await madeParquet(query, file, `kv_metadata ${keys}`);
  await madeParquet(query, same);
  await compare(t, file, Object.keys(READERS), same);
  assert.deepEqual(await keyValues(await enriched(file)), { geo: GEO, owner: 'we' });
});

test('a CSV file that becomes Parquet is read by other programs', async (t) => {
  const [file, same] = [join(folder, 'places.csv'), join(folder, 'places.parquet')];
  writeFileSync(file, `zip,lat\n${ROWS.map((i) => `0${2139 + i},${38 + i}.5`).join('\n')}\n`);
  await madeParquet(
    `select zip, lat::double as lat from read_csv(${quoted(file)}, all_varchar = true)`,
    same,
  );
  await compare(t, file, Object.keys(READERS), same);
});

test('the schemas of Spark and Avro in a file get the added columns', async () => {
  const file = join(folder, 'spark.parquet');
  const spark = {
    type: 'struct',
    fields: [{ name: 'id', type: 'long', nullable: true, metadata: { comment: 'µ' } }],
  };
  const avro = {
    type: 'record',
    name: 'place',
    fields: [{ name: 'id', type: ['null', 'long'], default: null }],
  };
  const quotedJson = (value: object) => quoted(JSON.stringify(value));
  const keys = `{"${SPARK}": ${quotedJson(spark)}, "parquet.avro.schema": ${quotedJson(avro)}}`;
  await madeParquet('select i as id from range(40) t(i)', file, `kv_metadata ${keys}`);
  const { [SPARK]: ofSpark, 'parquet.avro.schema': ofAvro } = await keyValues(await enriched(file));
  const sparkTypes = ['string', 'string', 'timestamp', 'double', 'integer', 'binary'];
  const time = { type: 'long', logicalType: 'timestamp-millis' };
  const avroTypes = ['string', 'string', time, 'double', 'int', 'bytes'];
  const names = ADDED.map(({ name }) => name);
  const sparkFields = names.map((name, at) => ({
    name,
    type: sparkTypes[at],
    nullable: true,
    metadata: {},
  }));
  const avroFields = names.map((name, at) => ({
    name,
    type: ['null', avroTypes[at]],
    default: null,
  }));
  assert.deepEqual(JSON.parse(ofSpark!), { ...spark, fields: [...spark.fields, ...sparkFields] });
  assert.deepEqual(JSON.parse(ofAvro!), { ...avro, fields: [...avro.fields, ...avroFields] });
});

const LEAF_TYPES: readonly arrow.DataType[] = [
  ...[Utf8, LargeUtf8, Int8, Int32, Float64, DurationSecond, Bool, DateDay, Null].map(
    (Type) => new Type(),
  ),
  ...[
    new arrow.Decimal(2, 12),
    new arrow.FixedSizeBinary(16),
    new Dictionary(new Utf8(), new Int8()),
  ],
  new arrow.TimestampMicrosecond('America/New_York'),
];

const anyType: fc.Arbitrary<arrow.DataType> = fc.letrec<{ type: arrow.DataType }>((tie) => ({
  type: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(...LEAF_TYPES),
    tie('type').map((type) => new arrow.List(new arrow.Field('item', type, true))),
    fc
      .array(tie('type'), { maxLength: 3 })
      .map((types) => new arrow.Struct(types.map((type, i) => new arrow.Field(`f${i}`, type)))),
  ),
})).type;
const anySchema = fc
  .uniqueArray(fc.tuple(fc.string({ unit: 'grapheme', minLength: 1 }), anyType, fc.boolean()), {
    selector: ([name]) => name,
    maxLength: 12,
  })
  .map(
    (fields) =>
      new arrow.Schema(
        fields.map(
          ([name, type, nullable]) =>
            new arrow.Field(name, type, nullable, new Map([['of', name]])),
        ),
        new Map([['key', 'value']]),
      ),
  );

/** The value of the key `ARROW:schema`. */
function schemaKey(schema: arrow.Schema): string {
  const bytes = Buffer.from(arrow.tableToIPC(new arrow.Table(schema), 'stream'));
  return bytes.subarray(0, 8 + bytes.readInt32LE(4)).toString('base64');
}
const schemaOfKey = (key: string): arrow.Schema =>
  arrow.tableFromIPC(Buffer.from(key, 'base64')).schema;

const shownField = (field: arrow.Field): string =>
  JSON.stringify([
    field.name,
    String(field.type),
    field.nullable,
    [...field.metadata],
    (field.type.children ?? []).map(shownField),
  ]);

const NO_PANDAS = () => null;

test('an Arrow schema keeps its fields and gets the added ones', () => {
  fc.assert(
    fc.property(anySchema, fc.nat(12), (schema, dropped) => {
      const key = schemaKey(schema);
      const names = schema.names.slice(0, Math.max(0, schema.names.length - dropped)).map(String);
      const kept = schemaOfKey(key).fields.slice(0, names.length);
      const value = extendArrowSchema(key, names, ADDED, NO_PANDAS)!;
      const { fields, metadata } = schemaOfKey(value);
      assert.deepEqual(fields.slice(0, kept.length).map(shownField), kept.map(shownField));
      assert.deepEqual(
        fields.slice(kept.length).map(({ name, type, nullable }) => [name, String(type), nullable]),
        ADDED.map(({ name }, index) => [name, READERS['arrow-rs']!.types[index], true]),
      );
      assert.deepEqual([...metadata], [['key', 'value']]);
      // Once more: what the first run added is replaced, or kept.
      assert.equal(extendArrowSchema(value, names, ADDED, NO_PANDAS), value);
      const all = [...names, ...ADDED.map(({ name }) => name)];
      const more = schemaOfKey(
        extendArrowSchema(value, all, [{ name: 'more', type: 'count' }], NO_PANDAS)!,
      );
      const moreNames = more.fields.map(({ name }) => name);
      assert.deepEqual(moreNames, [...all, 'more']);
      assert.equal(extendArrowSchema(value, ['another', ...names], ADDED, NO_PANDAS), null);
    }),
  );
});

test('a damaged Arrow schema gives another or none, and ends', () => {
  fc.assert(
    fc.property(anySchema, fc.nat(), fc.nat(255), fc.nat(), (schema, at, byte, cut) => {
      const bytes = Buffer.from(schemaKey(schema), 'base64');
      bytes[at % bytes.length] = byte;
      const names = schema.fields.map(({ name }) => name);
      for (const part of [bytes, bytes.subarray(0, cut % bytes.length)]) {
        const value = extendArrowSchema(part.toString('base64'), names, ADDED, NO_PANDAS);
        assert.ok(value === null || value.length > 0);
      }
    }),
  );
});

test('the metadata of pandas names the columns as they are, whatever an earlier run added', {
  skip: noRealData,
}, async () => {
  for (const name of ['pandas', 'pandas_index']) {
    let from = realFile(`parquet/writers/${name}.parquet`);
    const { columns } = await openRowFile(from);
    for (const [run, added, dropFrom] of [
      [1, ADDED, null],
      [2, ADDED.slice(1), columns.length],
    ] as const) {
      const output = join(folder, `${name}-${run}.parquet`);
      const fill = fillWith(FIELDS[0]!.slice(-added.length));
      await writeRows(await openRowFile(from), { output, added, dropFrom, fill });
      const pandas: { columns: { name: string; field_name?: string }[] } = JSON.parse(
        (await keyValues(output)).pandas!,
      );
      const names = pandas.columns.map((column) => column.field_name ?? column.name);
      assert.deepEqual(names.sort(), [...columns, ...added.map((column) => column.name)].sort());
      from = output;
    }
  }
});

test('files of pandas, polars, pyarrow and geopandas keep their types for other readers', {
  skip: noRealData,
}, async (t) => {
  const [polars, ...others] = Object.keys(READERS);
  for (const [name, readers] of Object.entries({
    pandas: [polars!, ...others],
    pandas_index: [polars!, ...others],
    polars: Object.keys(READERS),
    // polars for Node has no form for some of their columns.
    pyarrow: others,
    pyarrow_no_arrow_schema: others,
    geopandas: others,
  })) {
    await compare(t, realFile(`parquet/writers/${name}.parquet`), readers);
  }
});
