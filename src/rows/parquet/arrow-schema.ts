/** The key `ARROW:schema` of a Parquet file: the schema again, as an Arrow message (Message.fbs and Schema.fbs of Arrow) in Base64. Readers
 * that know Arrow take the columns from it: polars leaves out columns that are missing there, and arrow-rs refuses the file.
 *
 * A flatbuffer refers only to bytes after itself. So the new parts are written before the old bytes: the message, the schema, the list of
 * its fields and the added fields. Kept fields are references into the old bytes, whatever their types. The libraries were rejected:
 * flatbuffers (592 kB, and tables to write by hand), apache-arrow (8.6 MB, and 100 ms of each start). */
import type { AddedColumn } from '../port.ts';

const MESSAGE = { version: 0, headerType: 1, header: 2, metadata: 4 } as const;
const SCHEMA = { endianness: 0, fields: 1, metadata: 2, features: 3 } as const;
const FIELD = { name: 0 } as const;
const KEY_VALUE = { key: 0, value: 1 } as const;
const SCHEMA_HEADER = 1;

/** A part of a flatbuffer to write: a table by its fields (a number takes 4 bytes), a list, a text, or a position in the old bytes. */
type Part =
  | { readonly table: readonly (Part | number | null)[] }
  | { readonly list: readonly Part[] }
  | { readonly text: string }
  | { readonly old: number };

/** The number of the Arrow type of an added column, and its table. */
const ARROW_TYPES: Readonly<Record<AddedColumn['type'], readonly [number, Part]>> = {
  text: [5, { table: [] }],
  point: [4, { table: [] }],
  number: [3, { table: [2] }],
  count: [2, { table: [32, 1] }],
  time: [10, { table: [1, { text: 'UTC' }] }],
};

/** The value of the key for a file that keeps its first columns and gets others after them.
 * @param extendPandas extends what pandas says of the columns: Arrow keeps a copy of it, and reads this one
 * @returns null if the value cannot be read or describes other columns: a file without the key is read by its own schema */
export function extendArrowSchema(
  value: string,
  kept: readonly string[],
  added: readonly AddedColumn[],
  extendPandas: (metadata: string) => string | null,
): string | null {
  try {
    return extendSchema(messageIn(Buffer.from(value, 'base64')), kept, added, extendPandas);
  } catch (error) {
    // A reference leads outside the value.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** The flatbuffer of a message, after its length. Before Arrow 0.15 there was no marker before the length. */
function messageIn(bytes: Buffer): Buffer {
  const at = bytes.readInt32LE(0) === -1 ? 4 : 0;
  return bytes.subarray(at + 4, at + 4 + bytes.readUInt32LE(at));
}

function extendSchema(
  bytes: Buffer,
  kept: readonly string[],
  added: readonly AddedColumn[],
  extendPandas: (metadata: string) => string | null,
): string | null {
  const message = referredAt(bytes, 0);
  const headerType = fieldAt(bytes, message, MESSAGE.headerType);
  const header = fieldAt(bytes, message, MESSAGE.header);
  if (headerType === 0 || bytes[headerType] !== SCHEMA_HEADER || header === 0) return null;
  const schema = referredAt(bytes, header);
  const fields = listAt(bytes, fieldAt(bytes, schema, SCHEMA.fields)).slice(0, kept.length);
  const names = fields.map((field) => textAt(bytes, fieldAt(bytes, field, FIELD.name)));
  if (names.length !== kept.length || names.some((name, index) => name !== kept[index]))
    return null;
  // The part that an earlier run wrote is replaced, unless one of its columns stays.
  const own = ownPart(bytes);
  const from = fields.every((field) => field >= own) ? own : 0;
  const same = (table: number, field: number): Part | null => {
    const at = fieldAt(bytes, table, field);
    return at === 0 ? null : { old: referredAt(bytes, at) - from };
  };
  const number = (table: number, field: number): number => {
    const at = fieldAt(bytes, table, field);
    return at === 0 ? 0 : bytes.readInt16LE(at);
  };
  const list = [...fields.map((field) => ({ old: field - from })), ...added.map(arrowField)];
  const metadata = listAt(bytes, fieldAt(bytes, schema, SCHEMA.metadata)).flatMap(
    (entry): Part[] => {
      const text = (field: number) => textAt(bytes, fieldAt(bytes, entry, field));
      if (text(KEY_VALUE.key) !== 'pandas') return [{ old: entry - from }];
      const extended = extendPandas(text(KEY_VALUE.value));
      return extended === null ? [] : [{ table: [{ text: 'pandas' }, { text: extended }] }];
    },
  );
  const schemaPart: Part = {
    table: [
      number(schema, SCHEMA.endianness),
      { list },
      metadata.length === 0 ? null : { list: metadata },
      same(schema, SCHEMA.features),
    ],
  };
  const version = number(message, MESSAGE.version);
  const root: Part = {
    table: [version, SCHEMA_HEADER, schemaPart, null, same(message, MESSAGE.metadata)],
  };
  const written = writtenBefore(root, bytes.subarray(from));
  const start = Buffer.alloc(8, 0xff);
  start.writeUInt32LE(written.length, 4);
  return Buffer.concat([start, written]).toString('base64');
}

/** Name, nullable, number of the type, type, no dictionary, no children. */
function arrowField({ name, type }: AddedColumn): Part {
  const [number, table] = ARROW_TYPES[type];
  return { table: [{ text: name }, 1, number, table, null, { list: [] }] };
}

const referredAt = (bytes: Buffer, at: number): number => at + bytes.readUInt32LE(at);

/** The position of a table's field; 0 if the table lacks it. */
function fieldAt(bytes: Buffer, table: number, field: number): number {
  const offsets = table - bytes.readInt32LE(table);
  const slot = 4 + 2 * field;
  const offset = slot < bytes.readUInt16LE(offsets) ? bytes.readUInt16LE(offsets + slot) : 0;
  return offset === 0 ? 0 : table + offset;
}

/** The positions that a list refers to; none if the table lacks the list. */
function listAt(bytes: Buffer, at: number): number[] {
  if (at === 0) return [];
  const list = referredAt(bytes, at);
  const count = Math.min(bytes.readUInt32LE(list), bytes.length);
  return Array.from({ length: count }, (_, index) => referredAt(bytes, list + 4 + 4 * index));
}

function textAt(bytes: Buffer, at: number): string {
  if (at === 0) return '';
  const text = referredAt(bytes, at);
  return bytes.toString('utf8', text + 4, text + 4 + bytes.readUInt32LE(text));
}

/** A flatbuffer may have an identifier after its first word. With this one, the next word is the length of the part that Perilbook wrote. */
const OWN_KIND = Buffer.from('PBK1').readInt32LE(0);

function ownPart(bytes: Buffer): number {
  return bytes.readInt32LE(4) === OWN_KIND ? bytes.readUInt32LE(8) : 0;
}

/** Writes a table and all its parts before the old bytes. */
function writtenBefore(root: Part, old: Buffer): Buffer {
  const words = [0, OWN_KIND, 0];
  const toOld: { readonly at: number; readonly offset: number }[] = [];
  const refer = (at: number, part: Part) => {
    if ('old' in part) toOld.push({ at, offset: part.old });
    else words[at] = 4 * (write(part) - at);
  };
  const write = (part: Exclude<Part, { readonly old: number }>): number => {
    if ('text' in part) return writeText(words, part.text);
    if ('list' in part) {
      const start = words.push(part.list.length, ...part.list.map(() => 0)) - part.list.length - 1;
      for (const [index, item] of part.list.entries()) refer(start + 1 + index, item);
      return start;
    }
    const start = writeTable(words, part.table);
    const present = part.table.filter((field) => field !== null);
    for (const [index, field] of present.entries()) {
      if (typeof field === 'number') words[start + 1 + index] = field;
      else refer(start + 1 + index, field);
    }
    return start;
  };
  refer(0, root);
  // Numbers of 8 bytes in the old part stay aligned to 8 bytes.
  if (words.length % 2 === 1) words.push(0);
  const length = 4 * words.length;
  words[2] = length;
  for (const { at, offset } of toOld) words[at] = length + offset - 4 * at;
  return Buffer.concat([
    Buffer.from(Int32Array.from(words).buffer),
    old,
    Buffer.alloc(-old.length & 7),
  ]);
}

/** Writes the positions of a table's fields, and room for the fields. @returns the position of the table, in words */
function writeTable(words: number[], fields: readonly unknown[]): number {
  let present = 0;
  const offsets = fields.map((field) => (field === null ? 0 : 4 * ++present));
  const halves = [4 + 2 * fields.length, 4 + 4 * present, ...offsets, 0];
  const before = words.length;
  for (let half = 0; half + 1 < halves.length; half += 2)
    words.push(halves[half]! | (halves[half + 1]! << 16));
  const start = words.length;
  words.push(4 * (start - before), ...new Array<number>(present).fill(0));
  return start;
}

/** Writes the length of a text, the text, and a zero. @returns its position, in words */
function writeText(words: number[], text: string): number {
  const bytes = Buffer.from(text);
  const padded = Buffer.alloc((bytes.length + 4) & ~3);
  bytes.copy(padded);
  const start = words.push(bytes.length) - 1;
  for (let at = 0; at < padded.length; at += 4) words.push(padded.readInt32LE(at));
  return start;
}
