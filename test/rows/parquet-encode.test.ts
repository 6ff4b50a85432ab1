import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { openRowFile } from '../../src/rows/open/open-row-file.ts';
import { decompress } from '../../src/rows/parquet/decompress.ts';
import { decodeHybrid, encodeHybrid, encodeRun } from '../../src/rows/parquet/hybrid.ts';
import {
  readThrift,
  THRIFT,
  type ThriftStruct,
  type ThriftValue,
  writeThrift,
} from '../../src/rows/parquet/thrift.ts';
import { fc } from '../properties.ts';
import { allRows, temporaryFolder, writeRows } from './book-fixture.ts';
import { ALL_TYPES, alternating } from './parquet-fixture.ts';

const runs = fc.integer({ min: 1, max: 24 }).chain((width) =>
  fc.record({
    width: fc.constant(width),
    runs: fc.array(
      fc.tuple(fc.nat(2 ** width - 1), fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 40 }))),
      {
        maxLength: 60,
      },
    ),
  }),
);

test('levels and indexes are read back', () => {
  fc.assert(
    fc.property(runs, ({ width, runs }) => {
      const values = Uint32Array.from(
        runs.flatMap(([value, times]) => new Array<number>(times).fill(value)),
      );
      const bytes = encodeHybrid(values, width);
      assert.deepEqual(decodeHybrid(bytes, 0, width, values.length), values);
    }),
    { numRuns: 500 },
  );
});

test('a run of one value is a few bytes', () => {
  assert.deepEqual(
    decodeHybrid(encodeRun(1, 1_000_000, 1), 0, 1, 1_000_000),
    new Uint32Array(1_000_000).fill(1),
  );
  assert.ok(encodeHybrid(new Uint32Array(1_000_000).fill(3), 2).length < 8);
});

test('values of up to 32 bits are read', () => {
  const value = 0xfedcba98;
  assert.deepEqual(
    [...decodeHybrid(Uint8Array.of(4, 0x98, 0xba, 0xdc, 0xfe), 0, 32, 2)],
    [value, value],
  );
  const packed = Uint8Array.of(3, ...new Array(8).fill([0x98, 0xba, 0xdc, 0xfe]).flat());
  assert.deepEqual([...decodeHybrid(packed, 0, 32, 8)], new Array(8).fill(value));
});

test('runs that promise more than there is are refused, whatever the bytes', () => {
  assert.throws(() => decodeHybrid(Uint8Array.of(3), 0, 8, 5), /fewer values/);
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 40 }),
      fc.integer({ min: 0, max: 32 }),
      (bytes, width) => {
        try {
          assert.equal(decodeHybrid(bytes, 0, width, 1000).length, 1000);
        } catch (error) {
          assert.match(String(error), /fewer values/);
        }
      },
    ),
    { numRuns: 500 },
  );
});

test('a tree of Thrift with each type is read back as it was written', () => {
  const { TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, STRUCT, UUID } = THRIFT;
  const eight = Buffer.from('7ff8000000000001', 'hex');
  const inner: ThriftStruct = { fields: [{ id: 16, type: I32, value: -1 }] };
  const values: readonly (readonly [type: number, ...values: ThriftValue[]])[] = [
    [TRUE, true],
    [FALSE, false],
    [BYTE, 0, 255],
    [I16, -32_768, 32_767],
    [I32, 2 ** 31 - 1, -(2 ** 31), 0, 63, 64, -65],
    [I64, 2n ** 63n - 1n, -(2n ** 63n), 0n],
    [DOUBLE, eight],
    [BINARY, Buffer.alloc(0), Buffer.alloc(300, 7)],
    [UUID, Buffer.concat([eight, eight])],
    [STRUCT, inner, { fields: [] }],
  ];
  // In lists a boolean is a byte.
  const lists = values.slice(2).flatMap(([elementType, ...items]) =>
    [items, [], Array.from({ length: 15 }, () => items[0]!)].map((list) => ({
      elementType,
      items: list,
    })),
  );
  const typed = [
    ...values.flatMap(([type, ...all]) => all.map((value) => ({ type, value }))),
    ...lists.flatMap((value) => [LIST, SET].map((type) => ({ type, value }))),
  ];
  // Some fields follow one another, others leave out more numbers than a header holds.
  const tree: ThriftStruct = {
    fields: typed.map((field, i) => ({ id: 1 + i + 20 * Math.floor(i / 3), ...field })),
  };
  const bytes = writeThrift(tree);
  const { struct: again, end } = readThrift(bytes);
  assert.equal(end, bytes.length);
  assert.deepEqual(again, tree);
});

test('bytes that are no Thrift are refused and cost nothing', () => {
  // A list that promises four milliards of structs, and structs in structs without end.
  assert.throws(
    () => readThrift(Buffer.from([0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x0f])),
    /ends in the middle/,
  );
  assert.throws(() => readThrift(Buffer.alloc(1_000_000, 0x1c)), /nested too deeply/);
  assert.throws(
    () => readThrift(Buffer.from([0x18, 0xff, 0xff, 0xff, 0xff, 0x0f])),
    /ends in the middle/,
  );
});

test('columns that another writer compressed with Snappy are read', async () => {
  const file = join(temporaryFolder(), 'snappy.parquet');
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('a', 'bc', 'hello ', '\u00e9'), { minLength: 1, maxLength: 400 }),
      async (words) => {
        // A column of one long text, so that Snappy has something to refer back to.
        const columnData = [
          { name: 'words', data: [words.join(''), 'end'], type: 'STRING' as const },
        ];
        writeFileSync(file, Buffer.from(parquetWriteBuffer({ columnData, codec: 'SNAPPY' })));
        const [first] = await allRows(await openRowFile(file), [0]);
        assert.deepEqual(first!.fields, [words.join('')]);
      },
    ),
    { numRuns: 60 },
  );
});

test('the bounds of a column are its least and greatest text: readers pass over rows by them', async () => {
  const folder = temporaryFolder();
  const [input, output] = [join(folder, 'in.csv'), join(folder, 'out.parquet')];
  writeFileSync(input, 'name\nOak\nElm\nPine\nFir\n');
  await writeRows(await openRowFile(input), { output });
  const { row_groups: groups } = await parquetMetadataAsync(await asyncBufferFromFile(output));
  const { min_value: least, max_value: greatest } = groups[0]!.columns[0]!.meta_data!.statistics!;
  assert.deepEqual([least, greatest], ['Elm', 'Pine']);
});

test('the schema of Spark gets the added columns and keeps its other members; one of other columns is dropped', async () => {
  const folder = temporaryFolder();
  const [input, output] = [join(folder, 'in.parquet'), join(folder, 'out.parquet')];
  const key = 'org.apache.spark.sql.parquet.row.metadata';
  const field = (name: string, type: string) => ({ name, type, nullable: true, metadata: {} });
  const columnData = [{ name: 'id', data: ['a', 'b'], type: 'STRING' as const }];
  for (const [name, isKept] of [
    ['id', true],
    ['other', false],
  ] as const) {
    const spark = { type: 'struct', fields: [field(name, 'string')] };
    const kvMetadata = [{ key, value: JSON.stringify(spark) }];
    writeFileSync(input, Buffer.from(parquetWriteBuffer({ columnData, kvMetadata })));
    await writeRows(await openRowFile(input), { output, added: ALL_TYPES, fill: alternating });
    const { key_value_metadata: pairs = [] } = await parquetMetadataAsync(
      await asyncBufferFromFile(output),
    );
    const written = pairs.find((pair) => pair.key === key)?.value;
    const types = ['string', 'string', 'timestamp', 'double', 'integer'];
    const added = ALL_TYPES.map((column, at) => field(column.name, types[at]!));
    const expected = { ...spark, fields: [...spark.fields, ...added] };
    assert.deepEqual(written && JSON.parse(written), isKept ? expected : undefined);
  }
});

test('each row group keeps its columns where columns are added, also where it moves', async () => {
  const folder = temporaryFolder();
  const [input, output] = [join(folder, 'in.parquet'), join(folder, 'out.parquet')];
  const names = Array.from({ length: 60 }, (_, row) => `name ${row % 7}`);
  const columnData = [
    { name: 'name', data: names, type: 'STRING' as const },
    { name: 'value', data: names.map((_, row) => row / 7), type: 'DOUBLE' as const },
    // Another program wrote the columns of an earlier run into each group.
    { name: 'hazard_status', data: names, type: 'STRING' as const },
  ];
  writeFileSync(input, Buffer.from(parquetWriteBuffer({ columnData, rowGroupSize: 20 })));
  for (const dropFrom of [null, 2]) {
    const added = dropFrom === null ? ALL_TYPES.slice(1) : ALL_TYPES;
    const fill: typeof alternating = async (rows) =>
      (await alternating(rows)).map((fields) => fields.slice(-added.length));
    await writeRows(await openRowFile(input), { output, added, dropFrom, fill });
    const file = await asyncBufferFromFile(output);
    const groups = (await parquetMetadataAsync(file)).row_groups;
    assert.equal(groups.length, 3);
    // Other programs split their work by the sizes of row groups.
    for (const { columns, total_byte_size, total_compressed_size } of groups) {
      const sum = (name: 'total_uncompressed_size' | 'total_compressed_size') =>
        columns.reduce((total, { meta_data }) => total + meta_data![name], 0n);
      assert.equal(total_byte_size, sum('total_uncompressed_size'));
      if (total_compressed_size !== undefined)
        assert.equal(total_compressed_size, sum('total_compressed_size'));
    }
    const rows = await parquetReadObjects({ file });
    assert.deepEqual(
      rows.map(({ name, value, hail_score }) => [name, value, hail_score]),
      names.map((name, row) => [name, row / 7, row % 2 === 0 ? null : 1.5]),
    );
  }
});

test('the metadata of pandas get the added columns with their types, in the place of those of an earlier run', async () => {
  const folder = temporaryFolder();
  const [input, output] = [join(folder, 'in.parquet'), join(folder, 'out.parquet')];
  const column = (name: string, pandas_type: string, numpy_type: string) => ({
    ...{ name, field_name: name, pandas_type, numpy_type, metadata: null as unknown },
  });
  const own = [column('id', 'unicode', 'object'), { name: null, field_name: 'name' }];
  const pandas = { pandas_version: '2.2.0', columns: [...own, column('hail_old', 'x', 'y')] };
  const columnData = ['id', 'name', 'hazard_status'].map((name) => ({
    ...{ name, data: ['a', 'b'], type: 'STRING' as const },
  }));
  const kvMetadata = [{ key: 'pandas', value: JSON.stringify(pandas) }];
  writeFileSync(input, Buffer.from(parquetWriteBuffer({ columnData, kvMetadata })));
  await writeRows(await openRowFile(input), {
    ...{ output, added: ALL_TYPES, dropFrom: 2, fill: alternating },
  });
  const { key_value_metadata: pairs } = await parquetMetadataAsync(
    await asyncBufferFromFile(output),
  );
  const written = JSON.parse(pairs!.find(({ key }) => key === 'pandas')!.value!);
  assert.deepEqual(written, {
    ...pandas,
    columns: [
      ...own,
      column('hazard_status', 'unicode', 'object'),
      column('hazard_note', 'unicode', 'object'),
      {
        ...column('hazard_as_of', 'datetimetz', 'datetime64[ms]'),
        ...{ metadata: { timezone: 'UTC' } },
      },
      column('hail_score', 'float64', 'float64'),
      column('hail_reports', 'int32', 'Int32'),
    ],
  });
});

test('damaged compressed pages are refused', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 1, maxLength: 60 }),
      fc.constantFrom(1, 2, 4, 5, 6, 7),
      (bytes, codec) => {
        try {
          assert.equal(decompress(Buffer.from(bytes), codec, 500).length, 500);
        } catch (error) {
          assert.ok(error instanceof Error);
        }
      },
    ),
    { numRuns: 500 },
  );
  assert.throws(() => decompress(Buffer.alloc(10), 1, 2 ** 31 - 1), /over/);
  assert.throws(() => decompress(Buffer.alloc(10), 1, 2 ** 28), /damaged/);
  assert.throws(() => decompress(Buffer.alloc(10), 3, 10), /compressed with LZO/);
});
