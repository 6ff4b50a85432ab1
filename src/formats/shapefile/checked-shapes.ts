import type { PerilbookError } from '../../base/errors.ts';
import type { Chunks, MakeContentError } from '../bytes/byte-source.ts';

export interface ShapefileHeader {
  /** The length of the .shp, in bytes. */
  readonly length: number;
  readonly type: number;
  /** The rows of the table: one for each shape. */
  readonly rows: number;
  /** The length of the table's header, in bytes. */
  readonly tableHeader: number;
  /** The length of a row, in bytes. */
  readonly rowBytes: number;
}

export const HEADER_BYTES = 100;

/** The number and the length of a shape, and its type. */
const SHAPE_HEADER_BYTES = 12;

/** Four million points. A shape is in memory as a whole, at ten times its size. */
const LONGEST_SHAPE = 64 * 1024 * 1024;

/** The bytes of a .shp, shape by shape, up to the last row of the table. The `shapefile` package takes a length as it is stated, and
 * searches for the next shape, four bytes at a time, where one has a wrong type: 1.5 GB of zeros ended the process for lack of memory.
 * So each shape is checked before the package gets it. All chunks are read, because a zip verifies its checksum at the end.
 * @throws PerilbookError for a shape that is longer than the rest or of another type, or more shapes than rows */
export async function* checkedShapes(
  chunks: AsyncIterable<Buffer>,
  { length, type, rows }: ShapefileHeader,
  refused: MakeContentError,
): Chunks {
  const source = chunks[Symbol.asyncIterator]();
  const take = taker(source);
  yield await take(HEADER_BYTES);
  let left = length - HEADER_BYTES;
  for (let number = 1; left >= SHAPE_HEADER_BYTES; number++) {
    const head = await take(SHAPE_HEADER_BYTES);
    const content = head.length < SHAPE_HEADER_BYTES ? 0 : 2 * head.readInt32BE(4);
    const rest = content - 4;
    left -= SHAPE_HEADER_BYTES;
    const isShape = rest >= 0 && rest <= left && [0, type].includes(head.readInt32LE(8));
    // What follows the last row is no shape, or one too many.
    if (number > rows && !(isShape && head.readInt32BE(0) === number)) break;
    if (number > rows)
      throw refused(`has more shapes than the ${rows} rows in its table`, 'Download it again.');
    if (!isShape || rest > LONGEST_SHAPE) throw damaged(number, refused);
    const body = await take(rest);
    if (!hasOrderedParts(type, head, body)) throw damaged(number, refused);
    left -= rest;
    yield Buffer.concat([head, body]);
  }
  while (!(await source.next()).done);
}

/** The error for a shape that is none. */
export function damaged(
  number: number,
  refused: MakeContentError,
  cause?: unknown,
): PerilbookError {
  return refused(`is damaged: its shape ${number} cannot be read`, 'Download it again.', cause);
}

/** Makes a function that takes the next bytes; fewer at the end. */
function taker(source: AsyncIterator<Buffer, unknown>): (count: number) => Promise<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  return async (count) => {
    const read = [rest];
    for (let size = rest.length; size < count; ) {
      const { done, value } = await source.next();
      if (done) break;
      read.push(value);
      size += value.length;
    }
    const all = read.length === 1 ? rest : Buffer.concat(read);
    rest = all.subarray(count);
    return all.subarray(0, count);
  };
}

/** Lines and polygons, with and without heights and measures. */
const TYPES_WITH_PARTS = [3, 5, 13, 15, 23, 25];

/** Whether the parts of a line or polygon begin in order. The package copies the points of each: parts that overlap would be more than
 * the memory holds. `body` begins after the type: the box of 32 bytes, the numbers of parts and points, the first point of each part. */
function hasOrderedParts(type: number, head: Buffer, body: Buffer): boolean {
  if (!TYPES_WITH_PARTS.includes(type) || head.readInt32LE(8) === 0) return true;
  if (body.length < 40) return false;
  const [parts, points] = [body.readInt32LE(32), body.readInt32LE(36)];
  if (parts < 0 || points < 0 || 40 + 4 * parts + 16 * points > body.length) return false;
  let last = 0;
  for (let at = 40; at < 40 + 4 * parts; at += 4) {
    const first = body.readInt32LE(at);
    if (first < last || first > points) return false;
    last = first;
  }
  return true;
}
