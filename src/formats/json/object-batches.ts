import { resultOrNull } from '../../base/errors.ts';
import { type ByteSource, type ReadWindow, readWindow } from '../bytes/byte-source.ts';
import { endOfValue, NotJson, orNotJson, skipSpace } from './json-members.ts';

/** Some neighbouring lines, or objects as such. Valid until the next batch is asked for. */
export interface LineBatch {
  readonly bytes: Buffer;
  /** Where each line begins and ends, without its line end. */
  readonly lines: readonly { readonly from: number; readonly to: number }[];
  readonly firstLine: number;
  /** The bytes of the batch, line ends included. */
  readonly from: number;
  readonly to: number;
}

const WINDOW_BYTES = 1024 * 1024;
const OBJECTS_A_BATCH = 4096;
const LONGEST_OBJECT = 64 * 1024 * 1024;
const [NEW_LINE, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT] = [0x0a, 0x2c, 0x5b, 0x5d, 0x7b];
/** A byte order mark in UTF-8. */
export const MARK: Buffer = Buffer.from([0xef, 0xbb, 0xbf]);

/** Streams the lines of a file, without a byte order mark. Memory is bounded by the window, which grows only for a longer line. */
export async function* lineBatches(
  source: ByteSource,
  signal?: AbortSignal,
): AsyncGenerator<LineBatch> {
  await using pass = await source.startPass();
  const window = readWindow(pass, Buffer.allocUnsafe(WINDOW_BYTES));
  let firstLine = 1;
  while (!window.atEnd || window.from < window.to) {
    signal?.throwIfAborted();
    if (window.to - window.from > LONGEST_OBJECT) {
      const hint =
        'Perilbook reads JSON with one object a line, an array of objects, or a GeoJSON FeatureCollection.';
      throw source.refused(`has a line ${firstLine} without an end`, hint);
    }
    await window.refill();
    for (;;) {
      const batch = takeLines(window, firstLine);
      if (batch.lines.length === 0) break;
      yield batch;
      window.from = batch.to;
      firstLine += batch.lines.length;
    }
  }
  await pass.assertSame();
}

function takeLines({ bytes, from, to, atEnd }: ReadWindow, firstLine: number): LineBatch {
  const lines: { from: number; to: number }[] = [];
  let at = from;
  while (at < to && lines.length < OBJECTS_A_BATCH) {
    const lineEnd = bytes.indexOf(NEW_LINE, at);
    const end = lineEnd >= 0 && lineEnd < to ? lineEnd : -1;
    if (end < 0 && !atEnd) break;
    lines.push({ from: at, to: end < 0 ? to : end });
    at = end < 0 ? to : end + 1;
  }
  return { bytes, lines, firstLine, from, to: at };
}

/** Where objects stand in a file, other than one a line. `array`: within brackets, from `[` on; there may be more around it. `sequence`:
 * one after the other, from the first on. */
export interface ObjectsAt {
  readonly kind: 'array' | 'sequence';
  readonly from: number;
}

/** The first byte that is no space, after a byte order mark. */
export function firstByte(head: Buffer): number {
  return skipSpace(head, head.subarray(0, MARK.length).equals(MARK) ? MARK.length : 0);
}

/** Where a JSON array of objects begins: at its bracket; -1 if the bytes are something else. A byte order mark may come first. */
export function startOfArray(head: Buffer): number {
  const at = firstByte(head);
  return isListOfObjects(head, at) ? at : -1;
}

/** Whether a list at a position begins with an object; an empty list does not. */
export function isListOfObjects(bytes: Buffer, at: number): boolean {
  return bytes[at] === OPEN_LIST && bytes[skipSpace(bytes, at + 1)] === OPEN_OBJECT;
}

interface FoundElements {
  readonly found: readonly { readonly from: number; readonly to: number }[];
  /** After the last element and its comma, or after the closing bracket. */
  readonly to: number;
  readonly isClosed: boolean;
}

/** Finds at most `most` elements that end in these bytes, which begin after the bracket or an element. `to` is after the last element
 * and its comma, or after the closing bracket. @throws NotJson */
export function elementsIn(
  bytes: Buffer,
  start: number,
  kind: ObjectsAt['kind'],
  most = Number.POSITIVE_INFINITY,
): FoundElements {
  const found: { from: number; to: number }[] = [];
  let to = start;
  while (found.length < most) {
    const from = skipSpace(bytes, to);
    if (kind === 'array' && bytes[from] === CLOSE_LIST)
      return { found, to: from + 1, isClosed: true };
    const end = from < bytes.length ? endOfValue(bytes, from) : -1;
    if (kind === 'sequence' && end >= 0) {
      if (bytes[from] !== OPEN_OBJECT) throw new NotJson();
      found.push({ from, to: end });
      to = end;
      continue;
    }
    const next = end < 0 ? -1 : skipSpace(bytes, end);
    // The number, or the array, may continue in the next bytes.
    if (next < 0 || next >= bytes.length) break;
    if (bytes[next] !== COMMA && bytes[next] !== CLOSE_LIST) throw new NotJson();
    found.push({ from, to: end });
    to = bytes[next] === COMMA ? next + 1 : next;
  }
  return { found, to, isClosed: false };
}

/** Streams objects as batches of "lines", numbered like the objects. The batches include the bytes between and around them, so a copy
 * keeps them. Memory is bounded by the window, which grows only for a longer object. */
export async function* elementBatches(
  source: ByteSource,
  { kind, from }: ObjectsAt,
  signal?: AbortSignal,
): AsyncGenerator<LineBatch> {
  await using pass = await source.startPass();
  const window = readWindow(pass, Buffer.allocUnsafe(WINDOW_BYTES));
  await window.refill();
  let firstLine = 1;
  let start = kind === 'array' ? from + 1 : from;
  const before = held(window).toString('utf8', 0, from);
  const thing = kind === 'array' ? 'a JSON array' : 'JSON objects';
  for (let isClosed = false; !isClosed; ) {
    signal?.throwIfAborted();
    const elements = orNotJson(
      () => elementsIn(held(window), start, kind, OBJECTS_A_BATCH),
      () => {
        const what = `is ${thing} that cannot be read after element ${firstLine - 1}`;
        return source.refused(what, 'Check the commas and brackets there.');
      },
    );
    isClosed = elements.isClosed;
    if (!isClosed && elements.found.length === 0) {
      if (window.atEnd) {
        if (kind === 'sequence' && skipSpace(held(window), start) === window.to) break;
        throw source.refused(
          `is ${thing} that is not closed`,
          'It may have been cut off: get the file again.',
        );
      }
      if (window.to - window.from > LONGEST_OBJECT) {
        throw source.refused(
          `has an element ${firstLine} without an end`,
          'Perilbook reads a JSON array of objects.',
        );
      }
      start -= window.from;
      await window.refill();
      continue;
    }
    yield {
      bytes: window.bytes,
      lines: elements.found,
      firstLine,
      from: window.from,
      to: elements.to,
    };
    firstLine += elements.found.length;
    window.from = elements.to;
    start = elements.to;
  }
  yield* restOf(source, window, firstLine, kind === 'array' ? before : '');
  await pass.assertSame();
}

const held = ({ bytes, to }: ReadWindow): Buffer => bytes.subarray(0, to);

/** The longest text around an array of objects. */
const LONGEST_REST = 16 * 1024 * 1024;

/** What follows the array: white space, or what closes the objects that it is in. */
async function* restOf(
  source: ByteSource,
  window: ReadWindow,
  firstLine: number,
  before: string,
): AsyncGenerator<LineBatch> {
  let rest = '';
  for (;;) {
    const { from, to } = window;
    rest += window.bytes.toString('latin1', from, to);
    if (to > from) yield { bytes: window.bytes, lines: [], firstLine, from, to };
    window.from = to;
    if (window.atEnd || rest.length > LONGEST_REST) break;
    await window.refill();
  }
  const around = `${before.replace(/^\ufeff/, '')}[]${rest}`;
  if (window.atEnd && resultOrNull(() => JSON.parse(around)) !== null) return;
  const what = before.includes('{') ? 'is JSON that is damaged or cut off' : 'has more';
  throw source.refused(
    `${what} after its JSON array`,
    'Leave one array of objects in it, or get the file again.',
  );
}
