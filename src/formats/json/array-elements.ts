import { type ByteSource, type ReadWindow, readWindow } from '../bytes/byte-source.ts';
import { endOfValue, NotJson, orNotJson, skipSpace } from './json-members.ts';
import type { LineBatch } from './ndjson-lines.ts';

const WINDOW_BYTES = 1024 * 1024;
const ELEMENTS_A_BATCH = 4096;
const LONGEST_ELEMENT = 64 * 1024 * 1024;
const [COMMA, OPEN_LIST, CLOSE_LIST] = [0x2c, 0x5b, 0x5d];
const MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Where a JSON array of objects begins: at its bracket; -1 if the bytes are something else. A byte order mark may come first. */
export function startOfArray(head: Buffer): number {
  const at = skipSpace(head, head.subarray(0, 3).equals(MARK) ? 3 : 0);
  if (head[at] !== OPEN_LIST) return -1;
  return head[skipSpace(head, at + 1)] === 0x7b ? at : -1;
}

/** Finds at most `most` elements that end in these bytes, which begin at the bracket or after an element. `to` is after the last element
 * and its comma, or after the closing bracket. @throws NotJson */
export function elementsIn(bytes: Buffer, start: number, most = Number.POSITIVE_INFINITY) {
  const found: { from: number; to: number }[] = [];
  let to = start;
  while (found.length < most) {
    const from = skipSpace(bytes, to);
    if (bytes[from] === CLOSE_LIST) return { found, to: from + 1, isClosed: true };
    const end = from < bytes.length ? endOfValue(bytes, from) : -1;
    const next = end < 0 ? -1 : skipSpace(bytes, end);
    // The number, or the array, may continue in the next bytes.
    if (next < 0 || next >= bytes.length) break;
    if (bytes[next] !== COMMA && bytes[next] !== CLOSE_LIST) throw new NotJson();
    found.push({ from, to: end });
    to = bytes[next] === COMMA ? next + 1 : next;
  }
  return { found, to, isClosed: false };
}

/** Streams the elements of a JSON array as batches of "lines", numbered like the elements. The batches include the bytes between
 * elements, so a copy keeps them. Memory is bounded by the window, which grows only for a longer element. */
export async function* elementBatches(source: ByteSource, signal?: AbortSignal): AsyncGenerator<LineBatch> {
  await using pass = await source.startPass();
  const window = readWindow(pass, Buffer.allocUnsafe(WINDOW_BYTES));
  await window.refill();
  let firstLine = 1;
  let start = startOfArray(held(window)) + 1;
  for (let isClosed = false; !isClosed; ) {
    signal?.throwIfAborted();
    const elements = orNotJson(
      () => elementsIn(held(window), start, ELEMENTS_A_BATCH),
      () => {
        const what = `is a JSON array that cannot be read after element ${firstLine - 1}`;
        return source.refused(what, 'Check the commas and brackets there.');
      },
    );
    isClosed = elements.isClosed;
    if (!isClosed && elements.found.length === 0) {
      if (window.atEnd)
        throw source.refused('is a JSON array that is not closed', 'It may have been cut off: get the file again.');
      if (window.to - window.from > LONGEST_ELEMENT) {
        throw source.refused(`has an element ${firstLine} without an end`, 'Perilbook reads a JSON array of objects.');
      }
      start -= window.from;
      await window.refill();
      continue;
    }
    yield { bytes: window.bytes, lines: elements.found, firstLine, from: window.from, to: elements.to };
    firstLine += elements.found.length;
    window.from = elements.to;
    start = elements.to;
  }
  yield* restOf(source, window, firstLine);
  await pass.assertSame();
}

const held = ({ bytes, to }: ReadWindow): Buffer => bytes.subarray(0, to);

/** What follows the array: only white space. */
async function* restOf(source: ByteSource, window: ReadWindow, firstLine: number): AsyncGenerator<LineBatch> {
  for (;;) {
    const { from, to } = window;
    if (skipSpace(held(window), from) < to)
      throw source.refused('has more after its JSON array', 'Leave one array of objects in it.');
    if (to > from) yield { bytes: window.bytes, lines: [], firstLine, from, to };
    window.from = to;
    if (window.atEnd) return;
    await window.refill();
  }
}
