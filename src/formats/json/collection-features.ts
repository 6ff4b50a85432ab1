import { decodeText } from '../bytes/decode-text.ts';
import { endOfValue } from './json-members.ts';

/** A feature of a collection as it is written. */
export interface FeatureText {
  readonly json: string;
  /** The line on which it begins, from 1. */
  readonly line: number;
}

/** The text around the features of a collection. */
export interface CollectionText {
  /** Up to the bracket that opens the list of features; in a file without such a list, everything that was read. Set before the first
   * feature. */
  head: string;
  /** From the bracket that closes the list; '' if the file ends before it. */
  tail: string;
  hasFeatures: boolean;
}

/** The most bytes before the features: a file of another kind is not searched to its end. */
const LONGEST_HEAD = 1 << 24;
const [OPEN_OBJECT, CLOSE_LIST, LF] = [0x7b, 0x5d, 0x0a];

/**
 * The features of a GeoJSON FeatureCollection, block by block: the file is never in memory as a whole. They are not parsed.
 *
 * @param around gets the text around the features
 */
export async function* collectionFeatures(
  blocks: AsyncIterable<Buffer>,
  around: CollectionText,
): AsyncGenerator<readonly FeatureText[], void, void> {
  let bytes: Buffer = Buffer.alloc(0);
  let line = 1;
  let isBehind = false;
  for await (const block of blocks) {
    bytes = bytes.length === 0 ? block : Buffer.concat([bytes, block]);
    if (isBehind) continue;
    let at = 0;
    if (!around.hasFeatures) {
      const start = /"features"\s*:\s*\[/.exec(bytes.toString('latin1'));
      if (start === null && bytes.length > LONGEST_HEAD) break;
      if (start === null) continue;
      at = start.index + start[0].length;
      around.hasFeatures = true;
      around.head = decodeText(bytes, 0, at, 'utf-8');
      line += lineEndsIn(bytes, 0, at);
    }
    const features: FeatureText[] = [];
    for (;;) {
      const next = bytes.subarray(at).findIndex((byte) => byte === OPEN_OBJECT || byte === CLOSE_LIST);
      isBehind = next >= 0 && bytes[at + next] === CLOSE_LIST;
      const from = at + next;
      const to = next < 0 || isBehind ? -1 : endOfValue(bytes, from);
      if (to < 0) {
        if (isBehind) at = from;
        break;
      }
      line += lineEndsIn(bytes, at, from);
      features.push({ json: decodeText(bytes, from, to, 'utf-8'), line });
      line += lineEndsIn(bytes, from, to);
      at = to;
    }
    bytes = bytes.subarray(at);
    if (features.length > 0) yield features;
  }
  const rest = decodeText(bytes, 0, bytes.length, 'utf-8');
  if (!around.hasFeatures) around.head = rest;
  else if (isBehind) around.tail = rest;
}

function lineEndsIn(bytes: Buffer, from: number, to: number): number {
  let count = 0;
  for (let at = bytes.indexOf(LF, from); at >= 0 && at < to; at = bytes.indexOf(LF, at + 1)) count += 1;
  return count;
}
