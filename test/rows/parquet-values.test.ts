import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ELEMENT, PHYSICAL_TYPES, type PhysicalType } from '../../src/rows/parquet/format.ts';
import { type Meaning, readSchema, type SchemaNode, type StoredValue } from '../../src/rows/parquet/schema.ts';
import { makeStruct } from '../../src/rows/parquet/thrift.ts';
import { textForm, typeOfValues } from '../../src/rows/parquet/value-text.ts';
import { fc } from '../properties.ts';

type Case = readonly [type: PhysicalType, meaning: Meaning, value: StoredValue, text: string, type: string];

const bytes = (...values: number[]) => Uint8Array.from(values);
const stored = { kind: 'stored' } as const;
const decimal = (scale: number) => ({ kind: 'decimal', scale }) as const;
const moment = (kind: 'time' | 'timestamp', digits: 3 | 6 | 9, utc: boolean) => ({ kind, digits, utc }) as const;
const unsigned = { kind: 'unsigned' } as const;
const date = { kind: 'date' } as const;
const uuid = bytes(0xf8, 0x1d, 0x4f, 0xae, 0x7d, 0xec, 0x11, 0xd0, 0xa7, 0x65, 0x00, 0xa0, 0xc9, 0x1e, 0x6b, 0xf6);
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
  ['INT64', moment('timestamp', 9, true), 86_400_000_000_001n, '1970-01-02T00:00:00.000000001Z', 'timestamp'],
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
  ['FIXED_LEN_BYTE_ARRAY', { kind: 'interval' }, bytes(1, 0, 0, 0, 2, 0, 0, 0, 0xac, 0xd, 0, 0), 'P1M2DT3.5S', 'text'],
  ['FIXED_LEN_BYTE_ARRAY', { kind: 'interval' }, bytes(1), 'AQ==', 'text'],
  ['BYTE_ARRAY', { kind: 'geometry', crs: null }, Buffer.from('ab'), 'YWI=', 'text'],
];

test('a value of each type has one text, exact, and its column a type', () => {
  for (const [type, meaning, value, text, columnType] of CASES) {
    const node = { leaf: { index: 0, type, typeLength: 0 }, meaning, maxRepetition: 0 } as unknown as SchemaNode;
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
  const coordinates = fc.integer({ min: -400_000_000, max: 400_000_000 }).map((value) => value / 1e6);
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
