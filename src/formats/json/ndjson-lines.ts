import { type ByteSource, type ReadWindow, readWindow } from '../bytes/byte-source.ts';

/** Some neighbouring lines. Valid until the next batch is asked for. */
export interface LineBatch {
  readonly bytes: Buffer;
  /** Where each line begins and ends, without its line end. */
  readonly lines: readonly { readonly from: number; readonly to: number }[];
  /** The number of the first line. */
  readonly firstLine: number;
  /** The bytes of the batch, line ends included. */
  readonly from: number;
  readonly to: number;
}

const WINDOW_BYTES = 1024 * 1024;
const LINES_A_BATCH = 4096;
const LONGEST_LINE = 64 * 1024 * 1024;
const NEW_LINE = 10;

/** Streams the lines of a file, without a byte order mark. Memory is bounded by the window, which grows only for a longer line. */
export async function* lineBatches(source: ByteSource, signal?: AbortSignal): AsyncGenerator<LineBatch> {
  await using pass = await source.startPass();
  const window = readWindow(pass, Buffer.allocUnsafe(WINDOW_BYTES));
  let firstLine = 1;
  while (!window.atEnd || window.from < window.to) {
    signal?.throwIfAborted();
    if (window.to - window.from > LONGEST_LINE) {
      const hint = 'Perilbook reads JSON with one object a line, an array of objects, or a GeoJSON FeatureCollection.';
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
  while (at < to && lines.length < LINES_A_BATCH) {
    const lineEnd = bytes.indexOf(NEW_LINE, at);
    const end = lineEnd >= 0 && lineEnd < to ? lineEnd : -1;
    if (end < 0 && !atEnd) break;
    lines.push({ from: at, to: end < 0 ? to : end });
    at = end < 0 ? to : end + 1;
  }
  return { bytes, lines, firstLine, from, to: at };
}
