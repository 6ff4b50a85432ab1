import { crc32 } from 'node:zlib';
import { PerilbookError } from '../../base/errors.ts';
import type { Answer } from '../../contract/answer.ts';
import { type FieldPacker, NULL, skipFields, type Texts } from './packed-fields.ts';
import type { WantedAnswer } from './port.ts';

/* The answers of a cell are stored in its row, one after the other:
 *
 *     2 bytes  the number of the topic's slug among the store's texts
 *     6 bytes  the time of the answer, in milliseconds since the epoch
 *     1 byte   how many fields there are, plus 128 where the service's statement on its data follows them
 *     4 bytes  how many bytes they take
 *     …        the fields, packed, and the statement
 *
 * All little-endian. Rejected (docs/developer/benchmarks.md, `npm run bench -- layouts`): a row an answer and JSON, which take twice the
 * space and time; the finished text of the added columns, which is twice as fast to read and fits one choice of topics, one delimiter
 * and one encoding. */
const HEADER_BYTES = 13;
const STATED = 128;

interface PackedAnswer {
  /** The number of the topic's slug. */
  readonly slug: number;
  readonly asOf: number;
  readonly width: number;
  readonly isStated: boolean;
  /** Where its header begins, its fields begin, and it ends. */
  readonly start: number;
  readonly from: number;
  readonly to: number;
}

/** The answers in the bytes of a cell. @throws STORE_UNUSABLE */
export function* answersIn(bytes: Buffer): Generator<PackedAnswer> {
  for (let start = 0; start !== bytes.length; ) {
    const from = start + HEADER_BYTES;
    // A truncated header is damage. Read as the end, it would drop a paid answer, which would be bought again.
    if (from > bytes.length) throw damagedCell();
    const to = from + uint32(bytes, start + 9);
    if (to > bytes.length) throw damagedCell();
    const count = bytes[start + 8]!;
    const [width, isStated] = [count % STATED, count >= STATED];
    yield {
      slug: uint16(bytes, start),
      asOf: uint48(bytes, start + 2),
      width,
      isStated,
      start,
      from,
      to,
    };
    start = to;
  }
}

/** The error for damaged bytes of a cell. */
export function damagedCell(): PerilbookError {
  return damagedStore('the answers of a place');
}

/** The answers of a cell as they are stored; each has fewer than 128 fields. @param packer its texts have a number for each topic */
export function packAnswers(
  answers: readonly Answer[],
  packer: FieldPacker,
  numberOf: Texts['numberOf'],
): Buffer {
  const newest = new Map(answers.map((answer) => [answer.topic, answer]));
  let packed: Buffer = Buffer.alloc(0);
  for (const answer of newest.values()) {
    const at = packed.length;
    const from = at + HEADER_BYTES;
    const fields = answer.stated === undefined ? answer.fields : [...answer.fields, answer.stated];
    packed = packer.pack(fields, from);
    packed.writeUInt16LE(Math.max(0, numberOf(answer.topic)), at);
    packed.writeUIntLE(answer.asOf, at + 2, 6);
    packed.writeUInt8(answer.fields.length + (answer.stated === undefined ? 0 : STATED), at + 8);
    packed.writeUInt32LE(packed.length - from, at + 9);
  }
  return Buffer.from(packed);
}

/** Stored answers with newer ones in their place. */
export function mergedAnswers(stored: Buffer, packed: Buffer): Buffer {
  const added = new Map([...answersIn(packed)].map((answer) => [answer.slug, answer]));
  const parts: Buffer[] = [];
  for (const { slug, asOf, start, to } of answersIn(stored)) {
    const newer = added.get(slug);
    if (newer && asOf <= newer.asOf) continue;
    added.delete(slug);
    parts.push(stored.subarray(start, to));
  }
  for (const { start, to } of added.values()) parts.push(packed.subarray(start, to));
  return Buffer.concat(parts);
}

/** The answers since `time`, and the number of older ones. */
export function answersSince(answers: Buffer, time: number): { kept: Buffer; dropped: number } {
  const all = [...answersIn(answers)];
  const kept = all.filter(({ asOf }) => asOf >= time);
  const bytes = Buffer.concat(kept.map(({ start, to }) => answers.subarray(start, to)));
  return { kept: bytes, dropped: all.length - kept.length };
}

interface SoughtAnswer extends WantedAnswer {
  /** The number of the topic's slug; -1 where the store has no answer to it. */
  readonly slug: number;
  /** An answer of another width is not read (`WidthOf`). */
  readonly width: number | null;
}

/** Makes a search for answers. It reads 18 answers in 0.4 µs, because it makes no object per answer (`answersIn` takes twice as long). */
export function answerFinder(sought: readonly SoughtAnswer[]) {
  const indexOf = new Int16Array(Math.max(0, ...sought.map(({ slug }) => slug)) + 1).fill(-1);
  for (const [index, { slug }] of sought.entries()) if (slug >= 0) indexOf[slug] = index;
  const widths = Int16Array.from(sought, ({ width }) => width ?? -1);
  const fieldCounts = Int16Array.from(sought, ({ fields }) => fields);
  const freshSince = Float64Array.from(sought, (answer) => answer.freshSince);
  const [froms, tos] = [new Int32Array(sought.length), new Int32Array(sought.length)];
  /** Where what the service states of its data begins; 0 where it states nothing. */
  const statedAt = new Int32Array(sought.length);
  /** The positions of each sought answer's wanted fields in the last searched cell, when the oldest of the answers was given, and whether one
   * begins with a null: that of a topic without data does. */
  const positions = { froms, tos, statedAt, size: 0, asOf: 0, hasNull: false, isStated: false };

  /** Whether a cell has all sought answers, none of them too old. @throws STORE_UNUSABLE */
  function hasAll(bytes: Uint8Array): boolean {
    const end = bytes.length;
    let count = 0;
    let size = 0;
    let oldest = Number.POSITIVE_INFINITY;
    let [hasNull, isStated] = [false, false];
    for (let at = 0; at !== end; ) {
      const from = at + HEADER_BYTES;
      if (from > end) throw damagedCell();
      const header = at;
      const to = from + uint32(bytes, header + 9);
      if (to > end) throw damagedCell();
      const slug = uint16(bytes, header);
      const index = slug < indexOf.length ? indexOf[slug]! : -1;
      at = to;
      if (index < 0) continue;
      const asOf = uint48(bytes, header + 2);
      const states = bytes[header + 8]! >= STATED;
      const width = bytes[header + 8]! % STATED;
      const fields = fieldCounts[index]!;
      if (
        asOf < freshSince[index]! ||
        width < fields ||
        (widths[index]! >= 0 && width !== widths[index]!)
      )
        return false;
      statedAt[index] = states ? statedIn(bytes, { from, to, width }) : 0;
      isStated ||= states;
      const last = endOfFields(bytes, { from, to, width, isStated: states }, fields);
      froms[index] = from;
      tos[index] = last;
      hasNull ||= last > from && bytes[from] === NULL;
      size += last - from;
      if (asOf < oldest) oldest = asOf;
      count++;
    }
    positions.size = size;
    positions.asOf = oldest;
    positions.hasNull = hasNull;
    positions.isStated = isStated;
    return count === sought.length;
  }

  return { hasAll, positions };
}

type FieldSpan = Pick<PackedAnswer, 'from' | 'to' | 'width'>;

/** Where the statement of an answer begins. @throws STORE_UNUSABLE unless the answer ends with it */
export function statedIn(bytes: Uint8Array, { from, to, width }: FieldSpan): number {
  const at = skipFields(bytes, from, width);
  if (skipFields(bytes, at, 1) !== to) throw damagedCell();
  return at;
}

/** Where the first `fields` fields of an answer end. @throws STORE_UNUSABLE unless all of them end where the answer or its statement does */
export function endOfFields(
  bytes: Uint8Array,
  { from, to, width, isStated }: FieldSpan & Pick<PackedAnswer, 'isStated'>,
  fields: number,
): number {
  const end = skipFields(bytes, from, fields);
  if (!(fields === width && !isStated ? end === to : end <= to)) throw damagedCell();
  return end;
}

function uint16(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8);
}

function uint32(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0
  );
}

function uint48(bytes: Uint8Array, at: number): number {
  return uint32(bytes, at) + uint16(bytes, at + 4) * 2 ** 32;
}

/** A stored row with the checksum of the rest of it; null where an earlier version wrote it. */
export interface Checked {
  readonly checksum: number | null;
}

/** The CRC-32 of a row's parts, as the signed number that takes four bytes in both databases. It finds a changed bit, not a forgery. The
 * key is a part: an answer that came under another place is found, too. */
export function checksumOf(
  key: readonly number[],
  ...parts: readonly (Buffer | string | null)[]
): number {
  // Numbers are mixed, not joined as text, which would take as long as the checksum of a cell.
  let mixed = 0;
  for (let at = 0; at < key.length; at++) mixed = (Math.imul(mixed, 31) + key[at]!) | 0;
  let sum = mixed >>> 0;
  for (const part of parts) if (part !== null) sum = crc32(part, sum);
  return sum | 0;
}

/** The error for stored answers that have changed since they were written. @param store its file or address, where it is known */
export function damagedStore(what: string, store = ''): PerilbookError {
  const message = `The store ${store === '' ? '' : `${store} `}is damaged: ${what} changed since it was written`;
  const hint =
    'Put back a copy of the store. Without one, perilbook cache prune --damaged deletes what is damaged, and the next plan prices it.';
  return new PerilbookError('STORE_UNUSABLE', message, hint);
}
