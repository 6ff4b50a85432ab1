import { crc32 } from 'node:zlib';
import type { PerilbookError } from '../../base/errors.ts';
import type { Answer } from '../../contract/answer.ts';
import { damagedStore } from '../../formats/packed/damaged-store.ts';
import { type FieldPacker, skipFields, type Texts } from '../../formats/packed/packed-fields.ts';
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

/** What the header of an answer says: one object for all answers that are read in turn. */
type AnswerHeader = { -readonly [Name in keyof PackedAnswer]: PackedAnswer[Name] };

const newHeader = (): AnswerHeader => ({
  slug: 0,
  asOf: 0,
  width: 0,
  isStated: false,
  start: 0,
  from: 0,
  to: 0,
});

/** Reads the header at a position of a cell's bytes. @throws STORE_UNUSABLE */
function readHeader(bytes: Uint8Array, start: number, end: number, header: AnswerHeader): void {
  const from = start + HEADER_BYTES;
  // A truncated header is damage. Read as the end, it would drop a paid answer, which would be bought again.
  if (from > end) throw damagedCell();
  const to = from + uint32(bytes, start + 9);
  if (to > end) throw damagedCell();
  const count = bytes[start + 8]!;
  header.slug = uint16(bytes, start);
  header.asOf = uint48(bytes, start + 2);
  header.width = count % STATED;
  header.isStated = count >= STATED;
  header.start = start;
  header.from = from;
  header.to = to;
}

/** The answers in the bytes of a cell. @throws STORE_UNUSABLE */
export function* answersIn(bytes: Buffer): Generator<PackedAnswer> {
  for (let start = 0; start !== bytes.length; ) {
    const header = newHeader();
    readHeader(bytes, start, bytes.length, header);
    yield header;
    start = header.to;
  }
}

/** The error for damaged bytes of a cell. */
export function damagedCell(): PerilbookError {
  return damagedStore('the answers of a place');
}

/** Packs the answers of a cell from a position on, as they are stored; each has fewer than 128 fields. Of two to one topic the later counts.
 * @param packer its texts have a number for each topic
 * @returns where they end in its bytes */
export function packAnswers(
  answers: readonly Answer[],
  packer: FieldPacker,
  numberOf: Texts['numberOf'],
  start: number,
): number {
  let at = start;
  for (let index = 0; index < answers.length; index++) {
    const { topic, asOf, fields, stated } = answers[index]!;
    if (hasLater(answers, topic, index)) continue;
    const from = at + HEADER_BYTES;
    let end = packer.append(fields, from);
    if (stated !== undefined) end = packer.append([stated], end);
    const { bytes } = packer;
    bytes.writeUInt16LE(Math.max(0, numberOf(topic)), at);
    bytes.writeUIntLE(asOf, at + 2, 6);
    bytes.writeUInt8(fields.length + (stated === undefined ? 0 : STATED), at + 8);
    bytes.writeUInt32LE(end - from, at + 9);
    at = end;
  }
  return at;
}

function hasLater(answers: readonly Answer[], topic: Answer['topic'], index: number): boolean {
  for (let later = index + 1; later < answers.length; later++)
    if (answers[later]!.topic === topic) return true;
  return false;
}

/** Calls that overlap settle in any order, and none takes so long: a stored answer that is so much newer than that of a call was dated by a
 * clock that was ahead. Kept, it would be stale, and be bought again in each run. */
const OUT_OF_ORDER_MS = 86_400_000;

/** Stored answers with newer ones in their place. */
export function mergedAnswers(stored: Buffer, packed: Buffer): Buffer {
  const added = new Map([...answersIn(packed)].map((answer) => [answer.slug, answer]));
  const parts: Buffer[] = [];
  for (const { slug, asOf, start, to } of answersIn(stored)) {
    const newer = added.get(slug);
    if (newer && (asOf <= newer.asOf || asOf > newer.asOf + OUT_OF_ORDER_MS)) continue;
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

/** An answer to find in cells. */
export interface SoughtAnswer extends WantedAnswer {
  /** The number of the topic's slug; -1 where the store has no answer to it. */
  readonly slug: number;
  /** An answer of another width is not read (`WidthOf`). */
  readonly width: number | null;
}

/** What a cell has of a sought answer. `short`: fewer fields than are wanted, which a version with other columns wrote. */
export const FOUND = { none: 0, fresh: 1, stale: 2, short: 3 } as const;

/** What the last searched cell has of each sought answer. All but `states` is valid where there is an answer. */
export interface FoundAnswers {
  /** One of `FOUND`. */
  readonly states: Uint8Array;
  readonly asOf: Float64Array;
  /** Where its wanted fields begin and end, and how many fields it has in all. */
  readonly froms: Int32Array;
  readonly tos: Int32Array;
  readonly widths: Uint8Array;
  /** Where what the service states of its data begins; 0 where it states nothing. */
  readonly statedAt: Int32Array;
}

/** Makes a search for answers in a range of bytes. It makes no object per answer: 18 answers take 0.4 µs.
 * @throws STORE_UNUSABLE */
export function answerFinder(
  sought: readonly SoughtAnswer[],
): (bytes: Uint8Array, start: number, end: number) => FoundAnswers {
  const indexOf = new Int16Array(Math.max(0, ...sought.map(({ slug }) => slug)) + 1).fill(-1);
  for (const [index, { slug }] of sought.entries()) if (slug >= 0) indexOf[slug] = index;
  const wantedWidths = Int16Array.from(sought, ({ width }) => width ?? -1);
  const fieldCounts = Int16Array.from(sought, ({ fields }) => fields);
  const freshSince = Float64Array.from(sought, (answer) => answer.freshSince);
  const freshUntil = Float64Array.from(sought, (answer) => answer.freshUntil ?? Infinity);
  const count = sought.length;
  const found: FoundAnswers = {
    states: new Uint8Array(count),
    asOf: new Float64Array(count),
    froms: new Int32Array(count),
    tos: new Int32Array(count),
    widths: new Uint8Array(count),
    statedAt: new Int32Array(count),
  };
  const header = newHeader();

  function note(bytes: Uint8Array, index: number): void {
    const { asOf, width, from, isStated } = header;
    const wanted = wantedWidths[index]!;
    if (wanted >= 0 && width !== wanted) return;
    const isShort = width < fieldCounts[index]!;
    const isFresh = asOf >= freshSince[index]! && asOf <= freshUntil[index]!;
    const state = isFresh ? FOUND.fresh : FOUND.stale;
    found.states[index] = isShort ? FOUND.short : state;
    found.asOf[index] = asOf;
    found.widths[index] = width;
    found.froms[index] = from;
    found.tos[index] = isShort ? from : endOfFields(bytes, header, fieldCounts[index]!);
    found.statedAt[index] = isStated ? statedIn(bytes, header) : 0;
  }

  return (bytes, start, end) => {
    found.states.fill(FOUND.none);
    for (let at = start; at !== end; at = header.to) {
      readHeader(bytes, at, end, header);
      const index = header.slug < indexOf.length ? indexOf[header.slug]! : -1;
      if (index >= 0) note(bytes, index);
    }
    return found;
  };
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
