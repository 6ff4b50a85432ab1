import { PerilbookError } from '../../base/errors.ts';
import type { Answer } from '../../contract/answer.ts';

/*
 * The answers of a cell are stored in its row, one after the other:
 *
 *     2 bytes  the number of the topic's slug among the store's texts
 *     6 bytes  the time of the answer, in milliseconds since the epoch
 *     1 byte   how many fields there are
 *     4 bytes  how many bytes they take
 *     …        the fields, packed
 *
 * All little-endian. The measured layouts (`npm run bench -- layouts`: 100,000 cells of 18 natural topics, 54
 * fields, read cell by cell until the fields can be written; on a busy machine, so only the ratios count):
 * - one row per answer, its fields as JSON: 125 MB, 38,000 cells a second
 * - one row per cell, its answers as JSON: 139 MB, 33,000; here until version 4
 * - one row per cell, its answers packed, unpacked only for writing: 53 MB, 95,000; the present one
 * - one row per cell with the finished text of its added fields: 61 MB, 220,000. Rejected: it fits one choice of topics, one
 *   delimiter and one encoding, lacks the time of each answer, and writing formats each cell only once anyway
 */
export const HEADER_BYTES = 13;

/** The position of one answer in the bytes of its cell. */
export interface AnswerSpan {
  slug: number;
  asOf: number;
  width: number;
  /** Where its header begins, its fields begin, and it ends. */
  start: number;
  from: number;
  to: number;
}

/** An empty span, to be filled by `nextAnswer`. */
export function newAnswerSpan(): AnswerSpan {
  return { slug: 0, asOf: 0, width: 0, start: 0, from: 0, to: 0 };
}

/** Finds the answer after `span`, or the first if `span.to` is 0; false after the last one. @throws STORE_UNUSABLE */
export function nextAnswer(bytes: Buffer, span: AnswerSpan): boolean {
  const at = span.to;
  if (at === bytes.length) return false;
  // A truncated header is damage. Read as the end, it would drop a paid answer, which would be bought again.
  if (at + HEADER_BYTES > bytes.length) throw damagedCell();
  span.start = at;
  span.slug = uint16(bytes, at);
  span.asOf = uint32(bytes, at + 2) + uint16(bytes, at + 6) * 2 ** 32;
  span.width = bytes[at + 8]!;
  span.from = at + HEADER_BYTES;
  span.to = span.from + uint32(bytes, at + 9);
  if (span.to > bytes.length) throw damagedCell();
  return true;
}

/** The error for damaged bytes of a cell. */
export function damagedCell(): PerilbookError {
  return new PerilbookError(
    'STORE_UNUSABLE',
    'The store is damaged: the answers of a cell have changed since they were written',
    'Put back a copy of the store, or name another file with --store: its answers are then bought again.',
  );
}

/** Writes the header of an answer. @param size how many bytes its packed fields take */
export function writeHeader(bytes: Buffer, at: number, slug: number, { asOf, fields }: Answer, size: number): void {
  bytes.writeUInt16LE(slug, at);
  bytes.writeUIntLE(asOf, at + 2, 6);
  bytes.writeUInt8(fields.length, at + 8);
  bytes.writeUInt32LE(size, at + 9);
}

export function uint16(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8);
}

export function uint32(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
}
