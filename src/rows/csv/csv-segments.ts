import { assertSameFile, type InputFile, isPlainFile } from '../files/input-file.ts';
import type { ReadSegment, Row, RowSegments, Segment } from '../port.ts';
import type { Dialect } from './dialect.ts';
import { readDegrees } from './read-degrees.ts';
import { csvBatches } from './record-batches.ts';

/** A thread takes 0.15 s to start, which is the scan of 16 MB. */
const LARGE_BYTES = 32 * 1024 * 1024;
/** With the fields of 18 topics that is 2.5 MB of output. */
const SEGMENT_BYTES = 512 * 1024;

/**
 * The file in pieces of half a mebibyte. Whether a byte lies inside a quoted field can only be known from the bytes before it, so each
 * piece begins with a guess: the first line in it. The guess is right where the piece before ends there; the caller reads it again
 * from the right place where it is not. Rejected: to count quotes first, which is a pass of its own, and wrong for stray quotes.
 */
export function csvSegments(
  input: InputFile,
  dialect: Dialect,
  segmentBytes = SEGMENT_BYTES,
): { readonly inSegments?: RowSegments } {
  if (!isPlainFile(input)) return {};
  const { header, firstLine } = dialect;
  const segments: Segment[] = [];
  for (let from = header.next; from < input.size; from += segmentBytes) {
    const isFirst = from === header.next;
    const to = Math.min(input.size, from + segmentBytes);
    segments.push({ from, to, isGuess: !isFirst, line: isFirst ? firstLine : 0 });
  }
  const read = (segment: Segment, columns: readonly number[], needed: number | undefined) =>
    rowsOfSegment(input, dialect, segment, columns, needed);
  const isLarge = input.size >= LARGE_BYTES;
  const degrees: RowSegments['readDegrees'] = (segment, lat, lng) => readDegrees(input, dialect, segment, lat, lng);
  return { inSegments: { segments, isLarge, read, readDegrees: degrees, assertSame: () => assertSameFile(input) } };
}

async function* rowsOfSegment(
  input: InputFile,
  dialect: Dialect,
  segment: Segment,
  columns: readonly number[],
  needed: number | undefined,
): AsyncGenerator<readonly Row[], ReadSegment> {
  const batches = csvBatches(input, dialect, { columns, needed, dropFrom: null, segment });
  for (;;) {
    const { done, value } = await batches.next();
    if (done) return value;
    if (value.rows.length > 0) yield value.rows;
  }
}
