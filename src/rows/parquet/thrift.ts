import { type ByteBuffer, byteBuffer } from '../files/byte-buffer.ts';

/** Thrift's compact protocol as a generic tree. A Parquet footer is edited in this form, so that unknown fields are kept. Maps are not
 * supported: no version of Parquet has one in footer or pages. */

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
  STRUCT: 12,
  UUID: 13,
} as const;

/** Doubles and UUIDs stay bytes, because a NaN has a payload. */
export type ThriftValue = boolean | number | bigint | Buffer | ThriftStruct | ThriftList;

export interface ThriftField {
  readonly id: number;
  readonly type: number;
  value: ThriftValue;
}

export interface ThriftStruct {
  fields: ThriftField[];
}

interface ThriftList {
  readonly elementType: number;
  items: ThriftValue[];
}

/** The limits of a tree: about 100 bytes of memory a value, and deeper than any real schema. */
const MOST_VALUES = 8_000_000;
const DEEPEST = 64;

/** Bytes that do not follow their format. */
export class Damage extends Error {}

/** Bytes that end before their value does; with more bytes it may be complete. */
export class TooShort extends Damage {}

/** Bytes and the position in them. */
interface Position {
  readonly bytes: Buffer;
  at: number;
}

interface Reader extends Position {
  left: number;
}

/** Reads the struct at the start of `bytes`, and returns its end. @throws Damage */
export function readThrift(bytes: Buffer): { struct: ThriftStruct; end: number } {
  const reader: Reader = { bytes, at: 0, left: MOST_VALUES };
  const struct = readStruct(reader, 0);
  return { struct, end: reader.at };
}

/** A page's header takes some 40 bytes. */
const FIRST_BYTES = 4 * 1024;

/** Writes a struct as bytes. */
export function writeThrift(struct: ThriftStruct): Buffer {
  // Never flushed: it is passed on as a whole.
  const writer = byteBuffer(async () => {}, new ArrayBuffer(FIRST_BYTES));
  writeStruct(writer, struct);
  return writer.bytes.subarray(0, writer.used);
}

interface Codec {
  read(reader: Reader, depth: number): ThriftValue;
  write(writer: ByteBuffer, value: ThriftValue): void;
}

function codec<T extends ThriftValue>(
  read: (reader: Reader, depth: number) => T,
  write: (to: ByteBuffer, value: T) => void,
) {
  return { read, write: write as Codec['write'] };
}

const BYTE = codec(readByte, writeByte);
const INTEGER = codec(readInteger, writeInteger);
const LIST = codec(readList, writeList);
const bytesOf = (length: number) => codec((reader) => readBytes(reader, length), writeBytes);

const CODECS: Readonly<Record<number, Codec>> = {
  // Only in lists, where a boolean is one byte.
  [THRIFT.TRUE]: BYTE,
  [THRIFT.FALSE]: BYTE,
  [THRIFT.BYTE]: BYTE,
  [THRIFT.I16]: INTEGER,
  [THRIFT.I32]: INTEGER,
  [THRIFT.I64]: codec(readLong, writeInteger),
  [THRIFT.DOUBLE]: bytesOf(8),
  [THRIFT.BINARY]: codec(
    (reader) => readBytes(reader, readVarint(reader)),
    (writer, value: Buffer) => {
      writeVarint(writer, value.length);
      writeBytes(writer, value);
    },
  ),
  [THRIFT.LIST]: LIST,
  [THRIFT.SET]: LIST,
  [THRIFT.STRUCT]: codec((reader, depth) => readStruct(reader, depth + 1), writeStruct),
  [THRIFT.UUID]: bytesOf(16),
};

function readValue(reader: Reader, type: number, depth: number): ThriftValue {
  if (--reader.left < 0) throw new Damage(`it holds more than ${MOST_VALUES} values`);
  const valueCodec = CODECS[type];
  if (!valueCodec) throw new Damage(`it has a value of the unknown type ${type}`);
  return valueCodec.read(reader, depth);
}

const isBoolean = (type: number) => type === THRIFT.TRUE || type === THRIFT.FALSE;

function readStruct(reader: Reader, depth: number): ThriftStruct {
  if (depth > DEEPEST) throw new Damage('it is nested too deeply');
  const fields: ThriftField[] = [];
  let id = 0;
  for (;;) {
    const header = readByte(reader);
    const type = header & 0x0f;
    if (type === 0) return { fields };
    id = header >> 4 === 0 ? readInteger(reader) : id + (header >> 4);
    fields.push({
      id,
      type,
      value: isBoolean(type) ? type === THRIFT.TRUE : readValue(reader, type, depth),
    });
  }
}

function writeStruct(writer: ByteBuffer, { fields }: ThriftStruct): void {
  let last = 0;
  for (const { id, type, value } of fields) {
    const step = id - last;
    if (step > 0 && step < 16) writeByte(writer, (step << 4) | type);
    else {
      writeByte(writer, type);
      writeInteger(writer, id);
    }
    last = id;
    if (!isBoolean(type)) CODECS[type]!.write(writer, value);
  }
  writeByte(writer, 0);
}

function readList(reader: Reader, depth: number): ThriftList {
  const header = readByte(reader);
  const elementType = header & 0x0f;
  const size = header >> 4 === 15 ? readVarint(reader) : header >> 4;
  // Every element takes at least a byte, so a list cannot have more elements than bytes.
  if (size > reader.bytes.length - reader.at) throw new TooShort('it ends in the middle of a list');
  const items: ThriftValue[] = [];
  for (let i = 0; i < size; i++) items.push(readValue(reader, elementType, depth + 1));
  return { elementType, items };
}

function writeList(writer: ByteBuffer, { elementType, items }: ThriftList): void {
  writeByte(writer, (Math.min(items.length, 15) << 4) | elementType);
  if (items.length > 14) writeVarint(writer, items.length);
  for (const item of items) CODECS[elementType]!.write(writer, item);
}

function readByte(reader: Position): number {
  const byte = reader.bytes[reader.at++];
  if (byte === undefined) throw new TooShort('it ends in the middle of a value');
  return byte;
}

function writeByte(writer: ByteBuffer, byte: number): void {
  writer.makeRoom(1);
  writer.bytes[writer.used++] = byte;
}

function readBytes(reader: Reader, length: number): Buffer {
  if (length > reader.bytes.length - reader.at)
    throw new TooShort('it ends in the middle of a text');
  reader.at += length;
  return reader.bytes.subarray(reader.at - length, reader.at);
}

function writeBytes(writer: ByteBuffer, bytes: Buffer): void {
  writer.addBytes(bytes, 0, bytes.length);
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

function writeVarint(writer: ByteBuffer, value: number | bigint): void {
  let rest = BigInt(value);
  for (; rest >= 0x80n; rest >>= 7n) writeByte(writer, Number(rest & 0x7fn) | 0x80);
  writeByte(writer, Number(rest));
}

/** Signed numbers are stored in zigzag order: 0, -1, 1, -2. */
function readInteger(reader: Reader): number {
  const value = readVarint(reader);
  return (value >>> 1) ^ -(value & 1);
}

/** A number of 64 bits: zigzag, as all signed numbers of the compact protocol. */
export function readLong(reader: Position): bigint {
  const value = readUnsigned(reader);
  return BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n));
}

/** Reads an unsigned number of at most 64 bits (LEB128). */
export function readUnsigned(reader: Position): bigint {
  let value = 0n;
  for (let shift = 0n; shift < 70n; shift += 7n) {
    const byte = readByte(reader);
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  throw new Damage('it has a number that is too long');
}

function writeInteger(writer: ByteBuffer, value: number | bigint): void {
  const whole = BigInt(value);
  writeVarint(writer, (whole << 1n) ^ (whole >> 63n));
}

/** A field of a struct as the format defines it. */
export interface FieldDefinition<Read, Made = Read> {
  readonly id: number;
  /** Undefined when the struct lacks the field. @throws Damage when it is of another type */
  read(struct: ThriftStruct): Read | undefined;
  make(value: Made): ThriftField;
}

function define<Read, Made = Read>(
  what: string,
  parse: (field: ThriftField) => Read | null,
  make: (value: Made) => Omit<ThriftField, 'id'>,
): (id: number) => FieldDefinition<Read, Made> {
  return (id) => ({
    id,
    read(struct) {
      const field = struct.fields.find((one) => one.id === id);
      if (field === undefined) return undefined;
      const value = parse(field);
      if (value === null)
        throw new Damage(`one of its descriptions has a field (${id}) that is not ${what}`);
      return value;
    },
    make: (value) => ({ id, ...make(value) }),
  });
}

/** A whole number of two bytes or more. The format has single bytes only in fields that are not read, so here a byte is damage. */
function wholeNumber({ type, value }: ThriftField): number | null {
  if (typeof value === 'number') return type === THRIFT.BYTE ? null : value;
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : null;
}

const number = (type: number) =>
  define<number>('a number', wholeNumber, (value) => ({ type, value }));
export const i16 = number(THRIFT.I16);
export const i32 = number(THRIFT.I32);
export const i64 = number(THRIFT.I64);

export const flag = define<boolean>(
  'a boolean',
  ({ value }) => (typeof value === 'boolean' ? value : null),
  (value) => ({ type: value ? THRIFT.TRUE : THRIFT.FALSE, value }),
);

export const text = define<string, string | Uint8Array>(
  'a text',
  ({ value }) => (Buffer.isBuffer(value) ? value.toString('utf8') : null),
  (value) => ({ type: THRIFT.BINARY, value: Buffer.from(value as string) }),
);

export const struct = define<ThriftStruct>(
  'a struct',
  ({ type, value }) => (type === THRIFT.STRUCT ? (value as ThriftStruct) : null),
  (value) => ({ type: THRIFT.STRUCT, value }),
);

function list<Item extends ThriftValue>(elementType: number, what: string) {
  return (id: number): FieldDefinition<Item[]> => {
    const { read, make } = define<ThriftList>(
      what,
      ({ type, value }) => {
        const { elementType: own, items } = value as ThriftList;
        return type === THRIFT.LIST && (own === elementType || items.length === 0)
          ? (value as ThriftList)
          : null;
      },
      (value) => ({ type: THRIFT.LIST, value }),
    )(id);
    return {
      id,
      read: (from) => read(from)?.items as Item[] | undefined,
      make: (items) => make({ elementType, items }),
    };
  };
}

export const structs = list<ThriftStruct>(THRIFT.STRUCT, 'a list of structs');
export const numbers = list<number>(THRIFT.I32, 'a list of numbers');
export const texts = list<Buffer>(THRIFT.BINARY, 'a list of texts');

/** A structure of these fields, to be written. */
export const makeStruct = (...fields: ThriftField[]): ThriftStruct => ({ fields });

/** A size or a count: present, whole and not negative. @throws Damage */
export function readSize(
  struct: ThriftStruct,
  field: FieldDefinition<number>,
  what: string,
): number {
  const value = field.read(struct);
  if (value === undefined) throw new Damage(`${what} is missing`);
  if (value < 0) throw new Damage(`${what} is negative (${value})`);
  return value;
}

/** Replaces a field of the same type, or inserts it in the order of ids. */
export function setField(struct: ThriftStruct, field: ThriftField): void {
  const old = struct.fields.find(({ id }) => id === field.id);
  if (old && old.type === field.type) {
    old.value = field.value;
    return;
  }
  const others = struct.fields.filter(({ id }) => id !== field.id);
  const at = others.findIndex(({ id }) => id > field.id);
  struct.fields =
    at < 0 ? [...others, field] : [...others.slice(0, at), field, ...others.slice(at)];
}
