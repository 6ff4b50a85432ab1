import { isUtf8 } from 'node:buffer';
import { decodeText } from '../../formats/bytes/decode-text.ts';
import type { ValueType } from '../../formats/typed-value.ts';
import type { Leaf, Meaning, SchemaNode, StoredValue } from './schema.ts';

/**
 * The function that converts the values of a column to texts. The text form of each type:
 *
 * | type | text |
 * |---|---|
 * | boolean | `true`, `false` |
 * | integers, float, double | shortest decimal that reads back to the same number; `NaN`, `Infinity`, `-Infinity` |
 * | float16 | its exact value |
 * | decimal | exact, with all the places of its scale: `12.50` |
 * | date, time, timestamp | ISO 8601: `2024-05-01`, `13:05:00.250`, `2024-05-01T13:05:00Z`; `Z` only where the type says UTC |
 * | interval | ISO 8601: `P1M2DT3.5S` |
 * | string, enum, JSON | as it is |
 * | UUID | `f81d4fae-7dec-11d0-a765-00a0c91e6bf6` |
 * | bytes without a meaning | as text where they are UTF-8 without control characters (as old writers stored texts), else base64 |
 * | other binary: geometry, fixed length, BSON | base64 |
 * | list, struct, map | JSON; in it numbers and booleans are JSON's, all else is the text above |
 *
 * Null is the empty text.
 */
export function textForm({ leaf, meaning }: SchemaNode): (value: StoredValue) => string {
  const { type } = leaf!;
  return (value) => {
    if (typeof value === 'boolean') return String(value);
    return typeof value === 'object'
      ? bytesText(value, type, meaning)
      : numberText(value, type, meaning);
  };
}

/** The type of a field's texts. `NaN` counts as a number. */
export function typeOfValues({ leaf, meaning, maxRepetition }: SchemaNode): ValueType {
  if (!leaf || maxRepetition > 0) return 'json';
  if (leaf.type === 'BOOLEAN') return 'boolean';
  switch (meaning.kind) {
    case 'date':
    case 'timestamp':
      return meaning.kind;
    case 'unsigned':
    case 'decimal':
    case 'float16':
      return 'number';
    case 'stored':
      if (leaf.type === 'INT96') return 'timestamp';
      return leaf.type === 'BYTE_ARRAY' || leaf.type === 'FIXED_LEN_BYTE_ARRAY' ? 'text' : 'number';
    default:
      return 'text';
  }
}

function numberText(value: number | bigint, type: Leaf['type'], meaning: Meaning): string {
  if (type === 'INT96') return int96Text(value as bigint);
  if (type === 'FLOAT') return floatText(value as number);
  if (type === 'DOUBLE') return doubleText(value as number);
  switch (meaning.kind) {
    case 'unsigned':
      return typeof value === 'bigint' ? String(BigInt.asUintN(64, value)) : String(value >>> 0);
    case 'decimal':
      return decimalText(BigInt(value), meaning.scale);
    case 'date':
      return dateText(BigInt(value));
    case 'time':
      return timeText(BigInt(value), meaning.digits) + (meaning.utc ? 'Z' : '');
    case 'timestamp':
      return timestampText(BigInt(value), meaning.digits) + (meaning.utc ? 'Z' : '');
    default:
      return String(value);
  }
}

function bytesText(bytes: Uint8Array, type: Leaf['type'], meaning: Meaning): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  switch (meaning.kind) {
    case 'text':
      return decodeText(buffer, 0, buffer.length, 'utf-8');
    case 'decimal':
      return decimalText(bigEndian(buffer), meaning.scale);
    case 'uuid':
      return buffer.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
    case 'float16':
      return buffer.length === 2 ? doubleText(halfFloat(bytes)) : buffer.toString('base64');
    case 'interval':
      return buffer.length === 12 ? intervalText(buffer) : buffer.toString('base64');
    case 'stored':
      return type === 'BYTE_ARRAY' && isPlainText(buffer)
        ? buffer.toString('utf8')
        : buffer.toString('base64');
    default:
      return buffer.toString('base64');
  }
}

function isPlainText(bytes: Buffer): boolean {
  for (const byte of bytes)
    if (byte < 0x20 && byte !== 9 && byte !== 10 && byte !== 13) return false;
  return isUtf8(bytes);
}

function doubleText(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

/** The shortest digits that read back to this float: as a double, 0.1 would be 0.10000000149011612. */
function floatText(value: number): string {
  if (value === 0) return doubleText(value);
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return doubleText(short);
  }
  return doubleText(Number.isFinite(value) ? Number(value.toPrecision(9)) : value);
}

const halfFloat = (bytes: Uint8Array): number =>
  new DataView(bytes.buffer, bytes.byteOffset).getFloat16(0, true);

function bigEndian(bytes: Buffer): bigint {
  return bytes.length === 0
    ? 0n
    : BigInt.asIntN(bytes.length * 8, BigInt(`0x${bytes.toString('hex')}`));
}

function decimalText(unscaled: bigint, scale: number): string {
  if (scale === 0) return String(unscaled);
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

const SECONDS_A_DAY = 86_400n;

function dateText(days: bigint): string {
  const date = new Date(Number(days) * 86_400_000);
  // Beyond some 270,000 years there is no date.
  return Number.isNaN(date.getTime()) ? `${days} days` : date.toISOString().split('T')[0]!;
}

function timeText(units: bigint, digits: 3 | 6 | 9): string {
  const scale = 10n ** BigInt(digits);
  const seconds = floorDivide(units, scale);
  const fraction = units - seconds * scale;
  const two = (value: bigint) => String(value).padStart(2, '0');
  const whole = `${two(seconds / 3600n)}:${two((seconds / 60n) % 60n)}:${two(seconds % 60n)}`;
  return fraction === 0n ? whole : `${whole}.${String(fraction).padStart(digits, '0')}`;
}

function timestampText(units: bigint, digits: 3 | 6 | 9): string {
  const perDay = SECONDS_A_DAY * 10n ** BigInt(digits);
  const days = floorDivide(units, perDay);
  return `${dateText(days)}T${timeText(units - days * perDay, digits)}`;
}

const JULIAN_EPOCH = 2_440_588n;

/** Spark's and Impala's timestamps: nanoseconds of the day in the low 64 bits, the Julian day in the high 32. */
function int96Text(value: bigint): string {
  const days = BigInt.asIntN(32, value >> 64n) - JULIAN_EPOCH;
  return timestampText(days * SECONDS_A_DAY * 10n ** 9n + BigInt.asIntN(64, value), 9);
}

function intervalText(bytes: Buffer): string {
  const [months, days, millis] = [
    bytes.readUInt32LE(0),
    bytes.readUInt32LE(4),
    bytes.readUInt32LE(8),
  ];
  return `P${months}M${days}DT${millis / 1000}S`;
}

function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a % b < 0n ? quotient - 1n : quotient;
}
