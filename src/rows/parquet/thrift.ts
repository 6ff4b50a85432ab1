/**
 * Thrift's compact protocol as a generic tree. A Parquet footer is edited in this form, so that unknown fields are kept.
 */

/** The types as they stand in field headers. */
export const THRIFT = {
  TRUE: 1,
  FALSE: 2,
  BYTE: 3,
  I16: 4,
  I32: 5,
  I64: 6,
  DOUBLE: 7,
  BINARY: 8,
  LIST: 9,
  SET: 10,
  MAP: 11,
  STRUCT: 12,
  UUID: 13,
} as const;

/** Doubles and UUIDs are kept as their bytes: a NaN has a payload. */
export type ThriftValue = boolean | number | bigint | Buffer | ThriftStruct | ThriftList | ThriftMap;

export interface ThriftField {
  readonly id: number;
  readonly type: number;
  value: ThriftValue;
}

export interface ThriftStruct {
  fields: ThriftField[];
}

export interface ThriftList {
  readonly elementType: number;
  items: ThriftValue[];
}

export interface ThriftMap {
  readonly keyType: number;
  readonly valueType: number;
  readonly entries: readonly (readonly [ThriftValue, ThriftValue])[];
}

/** What a tree may grow to: some 100 bytes of memory a value, and no deeper than any real schema. */
const MOST_VALUES = 8_000_000;
const DEEPEST = 64;

/** The bytes are not as their format says. */
export class Damage extends Error {}

/** The bytes end before the value does; with more bytes it may be complete. */
export class TooShort extends Damage {}

interface Reader {
  readonly bytes: Buffer;
  at: number;
  left: number;
}

/** Reads the struct at the start of `bytes`, and says where it ends. @throws Damage */
export function readThrift(bytes: Buffer): { struct: ThriftStruct; end: number } {
  const reader: Reader = { bytes, at: 0, left: MOST_VALUES };
  const struct = readStruct(reader, 0);
  return { struct, end: reader.at };
}

function readStruct(reader: Reader, depth: number): ThriftStruct {
  if (depth > DEEPEST) throw new Damage('it is nested too deeply');
  const fields: ThriftField[] = [];
  let id = 0;
  for (;;) {
    const header = readByte(reader);
    const type = header & 0x0f;
    if (type === 0) return { fields };
    id = header >> 4 === 0 ? unzigzag(readVarint(reader)) : id + (header >> 4);
    const isBoolean = type === THRIFT.TRUE || type === THRIFT.FALSE;
    fields.push({ id, type, value: isBoolean ? type === THRIFT.TRUE : readValue(reader, type, depth) });
  }
}

function readValue(reader: Reader, type: number, depth: number): ThriftValue {
  if (--reader.left < 0) throw new Damage(`it holds more than ${MOST_VALUES} values`);
  switch (type) {
    // Only in lists and maps: there a boolean is a byte of its own.
    case THRIFT.TRUE:
    case THRIFT.FALSE:
    case THRIFT.BYTE:
      return readByte(reader);
    case THRIFT.I16:
    case THRIFT.I32:
      return unzigzag(readVarint(reader));
    case THRIFT.I64:
      return readI64(reader);
    case THRIFT.DOUBLE:
      return readBytes(reader, 8);
    case THRIFT.BINARY:
      return readBytes(reader, readVarint(reader));
    case THRIFT.LIST:
    case THRIFT.SET:
      return readList(reader, depth);
    case THRIFT.MAP:
      return readMap(reader, depth);
    case THRIFT.STRUCT:
      return readStruct(reader, depth + 1);
    case THRIFT.UUID:
      return readBytes(reader, 16);
    default:
      throw new Damage(`it has a value of the unknown type ${type}`);
  }
}

function readList(reader: Reader, depth: number): ThriftList {
  const header = readByte(reader);
  const elementType = header & 0x0f;
  const size = header >> 4 === 15 ? readVarint(reader) : header >> 4;
  checkCount(reader, size);
  const items: ThriftValue[] = [];
  for (let i = 0; i < size; i++) items.push(readValue(reader, elementType, depth + 1));
  return { elementType, items };
}

function readMap(reader: Reader, depth: number): ThriftMap {
  const size = readVarint(reader);
  if (size === 0) return { keyType: 0, valueType: 0, entries: [] };
  checkCount(reader, size);
  const types = readByte(reader);
  const [keyType, valueType] = [types >> 4, types & 0x0f];
  const entries: [ThriftValue, ThriftValue][] = [];
  for (let i = 0; i < size; i++) {
    entries.push([readValue(reader, keyType, depth + 1), readValue(reader, valueType, depth + 1)]);
  }
  return { keyType, valueType, entries };
}

/** Every element takes a byte at least: a list cannot promise more than there is. */
function checkCount(reader: Reader, count: number): void {
  if (count > reader.bytes.length - reader.at) throw new TooShort('it ends in the middle of a list');
}

function readByte(reader: Reader): number {
  const byte = reader.bytes[reader.at++];
  if (byte === undefined) throw new TooShort('it ends in the middle of a value');
  return byte;
}

function readBytes(reader: Reader, length: number): Buffer {
  if (length > reader.bytes.length - reader.at) throw new TooShort('it ends in the middle of a text');
  reader.at += length;
  return reader.bytes.subarray(reader.at - length, reader.at);
}

function readVarint(reader: Reader): number {
  let value = 0;
  for (let shift = 0; shift < 35; shift += 7) {
    const byte = readByte(reader);
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value >>> 0;
  }
  throw new Damage('it has a number that is too long');
}

function unzigzag(value: number): number {
  return (value >>> 1) ^ -(value & 1);
}

function readI64(reader: Reader): bigint {
  let low = 0;
  let scale = 1;
  for (let i = 0; i < 7; i++) {
    const byte = readByte(reader);
    low += (byte & 0x7f) * scale;
    if (byte < 0x80) return low % 2 === 0 ? BigInt(low / 2) : -BigInt((low + 1) / 2);
    scale *= 128;
  }
  let value = BigInt(low);
  for (let shift = 49n; shift < 70n; shift += 7n) {
    const byte = readByte(reader);
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n));
  }
  throw new Damage('it has a number that is too long');
}
