import { THRIFT, type ThriftList, type ThriftMap, type ThriftStruct, type ThriftValue } from './thrift.ts';

/** Writes a struct as bytes. */
export function writeThrift(struct: ThriftStruct): Buffer {
  const writer = { bytes: Buffer.allocUnsafe(64 * 1024), used: 0 };
  writeStruct(writer, struct);
  return writer.bytes.subarray(0, writer.used);
}

interface Writer {
  bytes: Buffer;
  used: number;
}

function writeStruct(writer: Writer, { fields }: ThriftStruct): void {
  let last = 0;
  for (const { id, type, value } of fields) {
    const step = id - last;
    if (step > 0 && step < 16) writeByte(writer, (step << 4) | type);
    else {
      writeByte(writer, type);
      writeVarint(writer, zigzag(id));
    }
    last = id;
    if (type !== THRIFT.TRUE && type !== THRIFT.FALSE) writeValue(writer, type, value);
  }
  writeByte(writer, 0);
}

function writeValue(writer: Writer, type: number, value: ThriftValue): void {
  switch (type) {
    case THRIFT.TRUE:
    case THRIFT.FALSE:
    case THRIFT.BYTE:
      writeByte(writer, value as number);
      return;
    case THRIFT.I16:
    case THRIFT.I32:
      writeVarint(writer, zigzag(value as number));
      return;
    case THRIFT.I64:
      writeI64(writer, value as bigint);
      return;
    case THRIFT.BINARY:
      writeVarint(writer, (value as Buffer).length);
      writeBytes(writer, value as Buffer);
      return;
    case THRIFT.LIST:
    case THRIFT.SET: {
      const { elementType, items } = value as ThriftList;
      writeByte(writer, (Math.min(items.length, 15) << 4) | elementType);
      if (items.length > 14) writeVarint(writer, items.length);
      for (const item of items) writeValue(writer, elementType, item);
      return;
    }
    case THRIFT.MAP: {
      const { keyType, valueType, entries } = value as ThriftMap;
      writeVarint(writer, entries.length);
      if (entries.length > 0) writeByte(writer, (keyType << 4) | valueType);
      for (const [key, item] of entries) {
        writeValue(writer, keyType, key);
        writeValue(writer, valueType, item);
      }
      return;
    }
    case THRIFT.STRUCT:
      writeStruct(writer, value as ThriftStruct);
      return;
    default:
      writeBytes(writer, value as Buffer);
  }
}

function makeRoom(writer: Writer, more: number): void {
  if (writer.used + more <= writer.bytes.length) return;
  const larger = Buffer.allocUnsafe(Math.max(writer.bytes.length * 2, writer.used + more));
  writer.bytes.copy(larger, 0, 0, writer.used);
  writer.bytes = larger;
}

function writeByte(writer: Writer, byte: number): void {
  makeRoom(writer, 1);
  writer.bytes[writer.used++] = byte;
}

function writeBytes(writer: Writer, bytes: Buffer): void {
  makeRoom(writer, bytes.length);
  writer.used += bytes.copy(writer.bytes, writer.used);
}

function writeVarint(writer: Writer, value: number): void {
  makeRoom(writer, 5);
  let rest = value >>> 0;
  for (; rest >= 0x80; rest >>>= 7) writer.bytes[writer.used++] = (rest & 0x7f) | 0x80;
  writer.bytes[writer.used++] = rest;
}

function zigzag(value: number): number {
  return (value << 1) ^ (value >> 31);
}

function writeI64(writer: Writer, value: bigint): void {
  makeRoom(writer, 10);
  let rest = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n));
  for (; rest >= 0x80n; rest >>= 7n) writer.bytes[writer.used++] = Number(rest & 0x7fn) | 0x80;
  writer.bytes[writer.used++] = Number(rest);
}
