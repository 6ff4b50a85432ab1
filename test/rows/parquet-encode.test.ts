import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { openRowFile } from '../../src/rows/open-row-file.ts';
import { decompress } from '../../src/rows/parquet/decompress.ts';
import { bitsOf, decodeHybrid, encodeHybrid, encodeRun } from '../../src/rows/parquet/hybrid.ts';
import { readThrift, THRIFT, type ThriftStruct, type ThriftValue, writeThrift } from '../../src/rows/parquet/thrift.ts';
import { decodeValues } from '../../src/rows/parquet/value-encodings.ts';
import { fc } from '../properties.ts';
import { allRows, temporaryFolder } from './book-fixture.ts';

const runs = fc.integer({ min: 1, max: 24 }).chain((width) =>
  fc.record({
    width: fc.constant(width),
    runs: fc.array(fc.tuple(fc.nat(2 ** width - 1), fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 40 }))), {
      maxLength: 60,
    }),
  }),
);

test('levels and indexes are read back', () => {
  fc.assert(
    fc.property(runs, ({ width, runs }) => {
      const values = Uint32Array.from(runs.flatMap(([value, times]) => new Array<number>(times).fill(value)));
      const bytes = encodeHybrid(values, width);
      assert.deepEqual(decodeHybrid(bytes, 0, width, values.length), values);
    }),
    { numRuns: 500 },
  );
});

test('a run of one value is a few bytes', () => {
  assert.deepEqual(decodeHybrid(encodeRun(1, 1_000_000, 1), 0, 1, 1_000_000), new Uint32Array(1_000_000).fill(1));
  assert.ok(encodeHybrid(new Uint32Array(1_000_000).fill(3), 2).length < 8);
});

test('values of up to 32 bits are read', () => {
  const value = 0xfedcba98;
  assert.deepEqual([...decodeHybrid(Uint8Array.of(4, 0x98, 0xba, 0xdc, 0xfe), 0, 32, 2)], [value, value]);
  const packed = Uint8Array.of(3, ...new Array(8).fill([0x98, 0xba, 0xdc, 0xfe]).flat());
  assert.deepEqual([...decodeHybrid(packed, 0, 32, 8)], new Array(8).fill(value));
});

test('runs that promise more than there is are refused, whatever the bytes', () => {
  assert.throws(() => decodeHybrid(Uint8Array.of(3), 0, 8, 5), /fewer values/);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.integer({ min: 0, max: 32 }), (bytes, width) => {
      try {
        assert.equal(decodeHybrid(bytes, 0, width, 1000).length, 1000);
      } catch (error) {
        assert.match(String(error), /fewer values/);
      }
    }),
    { numRuns: 2000 },
  );
});

test('the bits of a number', () => {
  assert.deepEqual([0, 1, 2, 3, 4, 255, 256].map(bitsOf), [0, 1, 2, 2, 3, 8, 9]);
});

const struct: fc.Arbitrary<ThriftStruct> = fc.letrec<{ struct: ThriftStruct }>((tie) => {
  const value = (type: number): fc.Arbitrary<ThriftValue> => {
    const bytes = (length: { minLength?: number; maxLength: number }) =>
      fc.uint8Array(length).map((array) => Buffer.from(array));
    switch (type) {
      case THRIFT.TRUE:
      case THRIFT.FALSE:
        return fc.constant(type === THRIFT.TRUE);
      case THRIFT.BYTE:
        return fc.integer({ min: 0, max: 255 });
      case THRIFT.I16:
      case THRIFT.I32:
        return fc.integer();
      case THRIFT.I64:
        return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
      case THRIFT.DOUBLE:
        return bytes({ minLength: 8, maxLength: 8 });
      case THRIFT.UUID:
        return bytes({ minLength: 16, maxLength: 16 });
      case THRIFT.STRUCT:
        return tie('struct');
      default:
        return bytes({ maxLength: 300 });
    }
  };
  const scalar = fc.constantFrom(3, 4, 5, 6, 7, 8, 13, THRIFT.STRUCT);
  const list = scalar.chain((elementType) =>
    fc.array(value(elementType), { maxLength: 5 }).map((items) => ({ elementType, items })),
  );
  const field = fc.oneof(
    fc.constantFrom(1, 2, 3, 4, 5, 6, 7, 8, 12, 13).chain((type) => value(type).map((made) => ({ type, value: made }))),
    list.map((made) => ({ type: THRIFT.LIST, value: made })),
    list.map((made) => ({ type: THRIFT.SET, value: made })),
  );
  const ids = fc.uniqueArray(fc.integer({ min: 1, max: 200 }), { maxLength: 4 });
  return {
    struct: fc
      .tuple(ids, fc.array(field, { minLength: 4, maxLength: 4, depthIdentifier: 'thrift' }))
      .map(([found, fields]) => ({ fields: found.sort((a, b) => a - b).map((id, i) => ({ id, ...fields[i]! })) })),
  };
}).struct;

test('a tree of Thrift is read back as it was written', () => {
  fc.assert(
    fc.property(struct, (tree) => {
      const bytes = writeThrift(tree);
      const { struct: again, end } = readThrift(bytes);
      assert.equal(end, bytes.length);
      assert.deepEqual(again, tree);
      assert.deepEqual(writeThrift(again), bytes);
    }),
    { numRuns: 300 },
  );
});

test('bytes that are no Thrift are refused and cost nothing', () => {
  // A list that promises four milliards of structs, and structs in structs without end.
  assert.throws(() => readThrift(Buffer.from([0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x0f])), /ends in the middle/);
  assert.throws(() => readThrift(Buffer.alloc(1_000_000, 0x1c)), /nested too deeply/);
  assert.throws(() => readThrift(Buffer.from([0x18, 0xff, 0xff, 0xff, 0xff, 0x0f])), /ends in the middle/);
});

test('columns that another writer compressed with Snappy are read', async () => {
  const file = join(temporaryFolder(), 'snappy.parquet');
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('a', 'bc', 'hello ', '\u00e9'), { minLength: 1, maxLength: 400 }),
      async (words) => {
        // A column of one long text, so that Snappy has something to refer back to.
        const columnData = [{ name: 'words', data: [words.join(''), 'end'], type: 'STRING' as const }];
        writeFileSync(file, Buffer.from(parquetWriteBuffer({ columnData, codec: 'SNAPPY' })));
        const [first] = await allRows(await openRowFile(file), [0]);
        assert.deepEqual(first!.fields, [words.join('')]);
      },
    ),
    { numRuns: 60 },
  );
});

test('differences are decoded as the format says, and what makes no sense is refused', () => {
  // Apache Parquet, Encodings, example 2: 7, 5, 3, 1, 2, 3, 4, 5 in one block of 128 with four miniblocks.
  const packed = Buffer.from([0x80, 1, 4, 8, 14, 3, 2, 0, 0, 0, 0xc0, 0x3f, 0, 0, 0, 0, 0, 0]);
  const decode = (type: 'INT32' | 'INT64', bytes: Buffer, count: number) =>
    decodeValues(bytes, 0, 5, { index: 0, type, typeLength: 0 }, count);
  assert.deepEqual(decode('INT32', packed, 8), Int32Array.of(7, 5, 3, 1, 2, 3, 4, 5));
  assert.deepEqual(decode('INT64', packed, 8), BigInt64Array.of(7n, 5n, 3n, 1n, 2n, 3n, 4n, 5n));
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.nat(500), (bytes, count) => {
      for (const type of ['INT32', 'INT64'] as const) {
        try {
          assert.equal(decode(type, Buffer.from(bytes), count).length, count);
        } catch (error) {
          assert.match(String(error), /damaged header/);
        }
      }
    }),
    { numRuns: 1000 },
  );
});

test('damaged compressed pages are refused', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 60 }), fc.constantFrom(1, 2, 4, 5, 6, 7), (bytes, codec) => {
      try {
        assert.equal(decompress(Buffer.from(bytes), codec, 500).length, 500);
      } catch (error) {
        assert.ok(error instanceof Error);
      }
    }),
    { numRuns: 2000 },
  );
  assert.throws(() => decompress(Buffer.alloc(10), 1, 2 ** 31 - 1), /over/);
  assert.throws(() => decompress(Buffer.alloc(10), 1, 2 ** 28), /damaged/);
  assert.throws(() => decompress(Buffer.alloc(10), 3, 10), /compressed with LZO/);
});
