import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ELEMENT, PHYSICAL_TYPES, type PhysicalType } from '../../src/rows/parquet/format.ts';
import { encodeHybrid } from '../../src/rows/parquet/hybrid.ts';
import {
  type Meaning,
  readSchema,
  type SchemaNode,
  type StoredValue,
} from '../../src/rows/parquet/schema.ts';
import { Damage, makeStruct } from '../../src/rows/parquet/thrift.ts';
import { decodeValues } from '../../src/rows/parquet/value-encodings.ts';
import { textForm, typeOfValues } from '../../src/rows/parquet/value-text.ts';
import { fc } from '../properties.ts';

type Case = readonly [
  type: PhysicalType,
  meaning: Meaning,
  value: StoredValue,
  text: string,
  type: string,
];

const bytes = (...values: number[]) => Uint8Array.from(values);
const stored = { kind: 'stored' } as const;
const decimal = (scale: number) => ({ kind: 'decimal', scale }) as const;
const moment = (kind: 'time' | 'timestamp', digits: 3 | 6 | 9, utc: boolean) =>
  ({ kind, digits, utc }) as const;
const unsigned = { kind: 'unsigned' } as const;
const date = { kind: 'date' } as const;
const uuid = bytes(
  0xf8,
  0x1d,
  0x4f,
  0xae,
  0x7d,
  0xec,
  0x11,
  0xd0,
  0xa7,
  0x65,
  0x00,
  0xa0,
  0xc9,
  0x1e,
  0x6b,
  0xf6,
);
/** Nanoseconds of a day, and the Julian day. */
const int96 = (nanos: bigint, day: bigint) => (day << 64n) | nanos;

const CASES: readonly Case[] = [
  ['BOOLEAN', stored, true, 'true', 'boolean'],
  ['INT32', stored, -5, '-5', 'number'],
  ['INT64', stored, -(2n ** 62n), '-4611686018427387904', 'number'],
  ['INT32', unsigned, -1, '4294967295', 'number'],
  ['INT64', unsigned, -1n, '18446744073709551615', 'number'],
  ['INT32', decimal(2), 12_345, '123.45', 'number'],
  ['INT32', decimal(2), -5, '-0.05', 'number'],
  ['INT64', decimal(0), -5n, '-5', 'number'],
  ['FIXED_LEN_BYTE_ARRAY', decimal(1), bytes(0xff, 0x85), '-12.3', 'number'],
  ['BYTE_ARRAY', decimal(2), bytes(), '0.00', 'number'],
  ['INT32', date, 19_782, '2024-02-29', 'date'],
  ['INT32', date, -1, '1969-12-31', 'date'],
  ['INT32', date, -719_528, '0000-01-01', 'date'],
  ['INT32', date, -719_529, '-000001-12-31', 'date'],
  ['INT32', date, 2_932_896, '9999-12-31', 'date'],
  ['INT32', date, 2_932_897, '+010000-01-01', 'date'],
  ['INT32', moment('time', 3, true), 3_723_004, '01:02:03.004Z', 'text'],
  ['INT64', moment('time', 6, false), 86_399_000_000n, '23:59:59', 'text'],
  ['INT64', moment('timestamp', 3, false), -1n, '1969-12-31T23:59:59.999', 'timestamp'],
  [
    'INT64',
    moment('timestamp', 9, true),
    86_400_000_000_001n,
    '1970-01-02T00:00:00.000000001Z',
    'timestamp',
  ],
  ['INT96', stored, int96(3_600_000_000_000n, 2_440_589n), '1970-01-02T01:00:00', 'timestamp'],
  ['INT96', stored, int96(0n, 2_440_587n), '1969-12-31T00:00:00', 'timestamp'],
  ['DOUBLE', stored, -0, '-0', 'number'],
  ['FLOAT', stored, Number.NaN, 'NaN', 'number'],
  ['FLOAT', stored, -0, '-0', 'number'],
  ['BYTE_ARRAY', { kind: 'text' }, Buffer.from('\u0000é'), '\u0000é', 'text'],
  ['BYTE_ARRAY', stored, Buffer.from('a\tb\r\né '), 'a\tb\r\né ', 'text'],
  ['BYTE_ARRAY', stored, bytes(0x61, 0x1f), 'YR8=', 'text'],
  ['BYTE_ARRAY', stored, bytes(0x61, 0xff), 'Yf8=', 'text'],
  ['FIXED_LEN_BYTE_ARRAY', stored, Buffer.from('ab'), 'YWI=', 'text'],
  ['FIXED_LEN_BYTE_ARRAY', { kind: 'uuid' }, uuid, 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6', 'text'],
  ['FIXED_LEN_BYTE_ARRAY', { kind: 'float16' }, bytes(0x00, 0xbe), '-1.5', 'number'],
  ['FIXED_LEN_BYTE_ARRAY', { kind: 'float16' }, bytes(1, 2, 3), 'AQID', 'number'],
  [
    'FIXED_LEN_BYTE_ARRAY',
    { kind: 'interval' },
    bytes(1, 0, 0, 0, 2, 0, 0, 0, 0xac, 0xd, 0, 0),
    'P1M2DT3.5S',
    'text',
  ],
  ['FIXED_LEN_BYTE_ARRAY', { kind: 'interval' }, bytes(1), 'AQ==', 'text'],
  ['BYTE_ARRAY', { kind: 'geometry', crs: null }, Buffer.from('ab'), 'YWI=', 'text'],
];

test('a value of each type has one text, exact, and its column a type', () => {
  for (const [type, meaning, value, text, columnType] of CASES) {
    const node = {
      leaf: { index: 0, type, typeLength: 0 },
      meaning,
      maxRepetition: 0,
    } as unknown as SchemaNode;
    assert.equal(textForm(node)(value), text, `${type} ${meaning.kind}`);
    assert.equal(typeOfValues(node), columnType, `${type} ${meaning.kind}`);
    for (const nested of [{ maxRepetition: 1 }, { leaf: null }]) {
      assert.equal(typeOfValues({ ...node, ...nested }), 'json');
    }
  }
});

test('doubles and floats have the shortest text that reads back to them', () => {
  const leaf = (name: string, type: PhysicalType) =>
    makeStruct(ELEMENT.type.make(PHYSICAL_TYPES.indexOf(type)), ELEMENT.name.make(name));
  const root = makeStruct(ELEMENT.name.make('root'), ELEMENT.children.make(2));
  const elements = [root, leaf('double', 'DOUBLE'), leaf('float', 'FLOAT')];
  const [double, float] = readSchema(elements).leaves.map(textForm);
  const coordinates = fc
    .integer({ min: -400_000_000, max: 400_000_000 })
    .map((value) => value / 1e6);
  fc.assert(
    fc.property(fc.oneof(fc.double(), coordinates), (value) => {
      assert.equal(double!(value), Object.is(value, -0) ? '-0' : String(value));
    }),
    { numRuns: 5000 },
  );
  fc.assert(
    fc.property(fc.float(), (value) => {
      const text = float!(value);
      assert.ok(Object.is(Math.fround(Number(text)), value), text);
      assert.ok(Object.is(value, -0) || text.length <= String(value).length);
    }),
    { numRuns: 2000 },
  );
  const texts = ['0.1', '2.5', '24.316275', '10.0560255', '-1e-10', '16777216'];
  const again = texts.map((text) => float!(Math.fround(Number(text))));
  assert.deepEqual(again, texts);
});

/** The encodings by their numbers (Apache Parquet, Encodings), written here as plainly as can be. */
const PLAIN = 0;
const RLE = 3;
const DELTA = 5;
const DELTA_LENGTH = 6;
const DELTA_TEXT = 7;
const SPLIT = 9;

const FIXED_BYTES = 3;

const uint32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer);
const bytesOf = (values: ArrayBufferView) => Buffer.from(values.buffer);
const withLength = (text: Uint8Array) => Buffer.concat([uint32(text.length), text]);

function varint(value: bigint): number[] {
  return value < 128n ? [Number(value)] : [Number(value & 127n) | 128, ...varint(value >> 7n)];
}

const zigZag = (value: bigint) => varint(BigInt.asUintN(64, (value << 1n) ^ (value >> 63n)));

/** Blocks of 64 differences in two miniblocks. */
function deltas(values: readonly bigint[], bits: 32 | 64): Buffer {
  const bytes = [
    ...varint(64n),
    ...varint(2n),
    ...varint(BigInt(values.length)),
    ...zigZag(values[0]!),
  ];
  const differences = values
    .slice(1)
    .map((value, index) => BigInt.asIntN(bits, value - values[index]!));
  for (let from = 0; from < differences.length; from += 64) {
    const block = differences.slice(from, from + 64);
    const least = block.reduce((a, b) => (b < a ? b : a));
    const packs = [block.slice(0, 32), block.slice(32)].map((part) =>
      part.map((value) => BigInt.asUintN(bits, value - least)),
    );
    const widths = packs.map((part) =>
      Math.max(0, ...part.map((value) => (value === 0n ? 0 : value.toString(2).length))),
    );
    bytes.push(...zigZag(least), ...widths);
    for (const [index, part] of packs.entries()) {
      const width = widths[index]!;
      const all = part.reduce((sum, value, at) => sum | (value << BigInt(at * width)), 0n);
      for (let byte = 0; byte < 4 * width; byte++)
        bytes.push(Number((all >> BigInt(byte * 8)) & 255n));
    }
  }
  return Buffer.from(bytes);
}

function transposed(bytes: Buffer, width: number): Buffer {
  const count = bytes.length / width;
  return Buffer.from(bytes.map((_, at) => bytes[(at % count) * width + Math.floor(at / count)]!));
}

type Encoded = readonly [
  type: PhysicalType,
  encoding: number,
  body: Buffer,
  values: readonly StoredValue[],
];

const many = { minLength: 1, maxLength: 150, size: 'max' } as const;
const int32s = fc.array(fc.integer(), many);
const int64s = fc.array(
  fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.bigInt({ min: -9n, max: 9n })),
  many,
);
const texts = fc.array(fc.uint8Array({ maxLength: 9 }), many);
const fixed = fc.array(fc.uint8Array({ minLength: FIXED_BYTES, maxLength: FIXED_BYTES }), {
  minLength: 1,
  maxLength: 40,
});
const flags = fc.array(fc.boolean(), { minLength: 1, maxLength: 40 });
const doubles = fc.array(fc.double(), { minLength: 1, maxLength: 40 });
const floats = fc.array(fc.float(), { minLength: 1, maxLength: 40 });

const lengthsOf = (values: readonly { readonly length: number }[]) =>
  deltas(
    values.map(({ length }) => BigInt(length)),
    32,
  );

/** Each text as the bytes that it shares with the one before, and the rest. */
function sharing(values: readonly Uint8Array[]): Buffer {
  const prefixes = values.map((value, index) => {
    const before = values[index - 1] ?? new Uint8Array();
    const end = value.findIndex((byte, at) => byte !== before[at]);
    return value.slice(0, end < 0 ? value.length : end);
  });
  const rests = values.map((value, index) => value.slice(prefixes[index]!.length));
  return Buffer.concat([lengthsOf(prefixes), lengthsOf(rests), ...rests]);
}

const anyEncoded: fc.Arbitrary<Encoded> = fc.oneof(
  int32s.map((all): Encoded => ['INT32', PLAIN, bytesOf(Int32Array.from(all)), all]),
  int32s.map((all): Encoded => ['INT32', SPLIT, transposed(bytesOf(Int32Array.from(all)), 4), all]),
  int32s.map((all): Encoded => ['INT32', DELTA, deltas(all.map(BigInt), 32), all]),
  int64s.map((all): Encoded => ['INT64', PLAIN, bytesOf(BigInt64Array.from(all)), all]),
  int64s.map(
    (all): Encoded => ['INT64', SPLIT, transposed(bytesOf(BigInt64Array.from(all)), 8), all],
  ),
  int64s.map((all): Encoded => ['INT64', DELTA, deltas(all, 64), all]),
  doubles.map((all): Encoded => ['DOUBLE', PLAIN, bytesOf(Float64Array.from(all)), all]),
  doubles.map(
    (all): Encoded => ['DOUBLE', SPLIT, transposed(bytesOf(Float64Array.from(all)), 8), all],
  ),
  floats.map((all): Encoded => ['FLOAT', PLAIN, bytesOf(Float32Array.from(all)), all]),
  int64s.map(
    (all): Encoded => [
      ...(['INT96', PLAIN] as const),
      Buffer.concat(all.map((low) => Buffer.concat([bytesOf(BigInt64Array.of(low)), uint32(7)]))),
      all.map((low) => (7n << 64n) | low),
    ],
  ),
  flags.map((all): Encoded => {
    const body = Buffer.alloc(Math.ceil(all.length / 8));
    for (const [at, flag] of all.entries()) if (flag) body[at >> 3]! |= 1 << (at & 7);
    return ['BOOLEAN', PLAIN, body, all];
  }),
  flags.map(
    (all): Encoded => [
      'BOOLEAN',
      RLE,
      withLength(encodeHybrid(Uint32Array.from(all, Number), 1)),
      all,
    ],
  ),
  texts.map((all): Encoded => ['BYTE_ARRAY', PLAIN, Buffer.concat(all.map(withLength)), all]),
  texts.map(
    (all): Encoded => ['BYTE_ARRAY', DELTA_LENGTH, Buffer.concat([lengthsOf(all), ...all]), all],
  ),
  texts.map((all): Encoded => ['BYTE_ARRAY', DELTA_TEXT, sharing(all), all]),
  fixed.map((all): Encoded => ['FIXED_LEN_BYTE_ARRAY', PLAIN, Buffer.concat(all), all]),
  fixed.map(
    (all): Encoded => [
      'FIXED_LEN_BYTE_ARRAY',
      SPLIT,
      transposed(Buffer.concat(all), FIXED_BYTES),
      all,
    ],
  ),
);

const plain = (values: ArrayLike<StoredValue>) =>
  Array.from(values, (value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value,
  );
const decode = ([type, encoding, , { length }]: Encoded, body: Buffer, at: number) =>
  decodeValues(body, at, encoding, { index: 0, type, typeLength: FIXED_BYTES }, length);

test('values of each type in each encoding are read back, wherever they begin, and a body cut short is refused', () => {
  fc.assert(
    fc.property(anyEncoded, fc.nat(9), fc.integer({ min: 1, max: 4 }), (encoded, at, cut) => {
      const [, , body, values] = encoded;
      const moved = Buffer.concat([Buffer.alloc(at, 0xff), body]);
      assert.deepEqual(plain(decode(encoded, moved, at)), plain(values));
      try {
        // What is missing may be padding alone.
        assert.deepEqual(plain(decode(encoded, moved.subarray(0, -cut), at)), plain(values));
        assert.ok([DELTA, DELTA_LENGTH, DELTA_TEXT].includes(encoded[1]));
      } catch (error) {
        assert.ok(error instanceof Damage, String(error));
      }
    }),
    { numRuns: 700 },
  );
});

test('an encoding that does not fit the type, or that is unknown, is refused', () => {
  const zeros = Buffer.alloc(99);
  const runs = withLength(encodeHybrid(Uint32Array.of(1), 1));
  for (const [type, encoding, body] of [
    ['BOOLEAN', SPLIT, zeros],
    ['INT96', SPLIT, zeros],
    ['BYTE_ARRAY', SPLIT, zeros],
    ['DOUBLE', DELTA, deltas([1n], 64)],
    ['INT32', RLE, runs],
    ['INT32', 4, runs],
    ['BOOLEAN', 4, runs],
    ['BOOLEAN', RLE, runs.subarray(0, 3)],
  ] as const) {
    const reason = new RegExp(
      `it has ${type} values in encoding ${encoding}, which Perilbook does not read$`,
    );
    assert.throws(() => decode([type, encoding, body, [1]], body, 0), reason);
  }
  assert.deepEqual(decode(['INT32', 4, Buffer.alloc(0), []], Buffer.alloc(0), 0), []);
});

test('differences are decoded as in the example of the format', () => {
  // Apache Parquet, Encodings, example 2: one block of 128 with four miniblocks.
  const packed = Buffer.from([0x80, 1, 4, 8, 14, 3, 2, 0, 0, 0, 0xc0, 0x3f, 0, 0, 0, 0, 0, 0]);
  const values = [7, 5, 3, 1, 2, 3, 4, 5];
  assert.deepEqual(decode(['INT32', DELTA, packed, values], packed, 0), Int32Array.from(values));
});

test('headers of differences that make no sense are refused, and so are texts that reach beyond their page', () => {
  const differences = (blockSize: number, miniblocks: number, total: number, width = 0) =>
    Buffer.from([
      ...[blockSize, miniblocks, total].flatMap((value) => varint(BigInt(value))),
      0,
      0,
      width,
    ]);
  const isRead = (type: PhysicalType, encoding: number, body: Buffer, count: number) => {
    try {
      return (
        decode([type, encoding, body, new Array<number>(count).fill(0)], body, 0).length === count
      );
    } catch (error) {
      assert.ok(error instanceof Damage, String(error));
      return false;
    }
  };
  const padded = (header: Buffer) => Buffer.concat([header, Buffer.alloc(70_000)]);
  const most = 65_536;
  for (const [header, type, read] of [
    [differences(8, 1, 2), 'INT32', true],
    [differences(0, 1, 2), 'INT32', false],
    [differences(8, 0, 2), 'INT32', false],
    [differences(12, 1, 2), 'INT32', false],
    [differences(8, 1, 3), 'INT32', false],
    [differences(8 * most, most, 2), 'INT32', true],
    [differences(8 * (most + 1), most + 1, 2), 'INT32', false],
    [differences(8, 1, 2, 32), 'INT32', true],
    [differences(8, 1, 2, 33), 'INT32', false],
    [differences(8, 1, 2, 64), 'INT64', true],
    [differences(8, 1, 2, 65), 'INT64', false],
    [Buffer.alloc(10, 0xff), 'INT64', false],
    [Buffer.from([8, 1, 2, ...Buffer.alloc(10, 0xff)]), 'INT64', false],
  ] as const) {
    assert.equal(isRead(type, DELTA, padded(header), 2), read, header.toString('hex'));
  }
  // Without the width of the second miniblock, without any, and without the bits of the first.
  for (const cut of [
    differences(16, 2, 2),
    differences(8, 1, 2).subarray(0, -1),
    differences(8, 1, 2, 32),
  ])
    assert.equal(isRead('INT32', DELTA, cut, 2), false);
  const shared = (prefix: bigint, length: bigint) =>
    Buffer.concat([deltas([prefix], 32), deltas([length], 32), Buffer.from('a')]);
  for (const [prefix, length, read] of [
    [0n, 1n, true],
    [1n, 0n, false],
    [-1n, 1n, false],
    [0n, -1n, false],
    [0n, 2n, false],
  ] as const) {
    assert.equal(
      isRead('BYTE_ARRAY', DELTA_TEXT, shared(prefix, length), 1),
      read,
      `${prefix} ${length}`,
    );
  }
});
