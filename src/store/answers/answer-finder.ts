import { damagedCell, HEADER_BYTES, uint16, uint32 } from './packed-answers.ts';
import { skipFields } from './packed-fields.ts';
import type { WantedAnswer } from './port.ts';

/** An answer to find in the bytes of cells. */
interface SoughtAnswer extends WantedAnswer {
  /** The number of the topic's slug; -1 where the store has no answer to it. */
  readonly slug: number;
  /** An answer of another width is not read (`WidthOf`). */
  readonly width: number | null;
}

/** The positions of each sought answer's wanted fields, in the last searched cell. */
interface AnswerPositions {
  readonly froms: Int32Array;
  readonly tos: Int32Array;
  /** How many bytes they are together. */
  size: number;
  /** When the oldest of the answers was given. */
  asOf: number;
}

/** Makes a search for answers. It reads 18 answers in 0.4 µs, because it makes no object per answer (`nextAnswer` took twice as long). */
export function answerFinder(sought: readonly SoughtAnswer[]) {
  const indexOf = new Int16Array(Math.max(0, ...sought.map(({ slug }) => slug)) + 1).fill(-1);
  for (const [index, { slug }] of sought.entries()) if (slug >= 0) indexOf[slug] = index;
  const widths = Int16Array.from(sought, ({ width }) => width ?? -1);
  const fieldCounts = Int16Array.from(sought, ({ fields }) => fields);
  const freshSince = Float64Array.from(sought, (answer) => answer.freshSince);
  const [froms, tos] = [new Int32Array(sought.length), new Int32Array(sought.length)];
  const positions: AnswerPositions = { froms, tos, size: 0, asOf: 0 };

  /** Whether a cell has all sought answers, none of them too old. @throws STORE_UNUSABLE */
  function hasAll(bytes: Uint8Array): boolean {
    const end = bytes.length;
    let count = 0;
    let size = 0;
    let oldest = Number.POSITIVE_INFINITY;
    for (let at = 0; at !== end; ) {
      const from = at + HEADER_BYTES;
      // A truncated header is damage. Read as the end, it would drop a paid answer, which would be bought again.
      if (from > end) throw damagedCell();
      const header = at;
      const to = from + uint32(bytes, header + 9);
      if (to > end) throw damagedCell();
      const slug = uint16(bytes, header);
      const index = slug < indexOf.length ? indexOf[slug]! : -1;
      at = to;
      if (index < 0) continue;
      const asOf = uint32(bytes, header + 2) + uint16(bytes, header + 6) * 2 ** 32;
      const width = bytes[header + 8]!;
      const fields = fieldCounts[index]!;
      if (asOf < freshSince[index]! || width < fields || (widths[index]! >= 0 && width !== widths[index]!))
        return false;
      const last = endOfFields(bytes, { from, to, width }, fields);
      froms[index] = from;
      tos[index] = last;
      size += last - from;
      if (asOf < oldest) oldest = asOf;
      count++;
    }
    positions.size = size;
    positions.asOf = oldest;
    return count === sought.length;
  }

  return { hasAll, positions };
}

/** Where the first `fields` fields of an answer end. @throws STORE_UNUSABLE unless all of them end where the answer does */
export function endOfFields(
  bytes: Uint8Array,
  { from, to, width }: { readonly from: number; readonly to: number; readonly width: number },
  fields: number,
): number {
  const end = skipFields(bytes, from, fields);
  if (!(fields === width ? end === to : end <= to)) throw damagedCell();
  return end;
}
