import { decodeText } from '../bytes/decode-text.ts';
import { endOfValue } from './json-members.ts';

export interface FeatureText {
  readonly json: string;
  /** The line on which it begins, from 1. */
  readonly line: number;
}

/** The text around the features of a collection. */
export interface CollectionText {
  /** Up to the bracket that opens the list of features; without such a list, all that was read. Set before the first feature. */
  head: string;
  /** From the bracket that closes the list; '' if the file ends before it. */
  tail: string;
  hasFeatures: boolean;
}

/** The most bytes before the features: a file of another kind is not searched to its end. */
const LONGEST_HEAD = 1 << 24;
const [OPEN_OBJECT, CLOSE_LIST, LF] = [0x7b, 0x5d, 0x0a];

/** The features of a GeoJSON FeatureCollection, block by block: the file is never in memory as a whole. They are not parsed.
 * @param around gets the text around the features */
export async function* collectionFeatures(
  blocks: AsyncIterable<Buffer>,
  around: CollectionText,
): AsyncGenerator<readonly FeatureText[], void, void> {
  let bytes: Buffer = Buffer.alloc(0);
  let line = 1;
  let isBehind = false;
  for await (const block of joinBlocks(blocks, () => bytes.length)) {
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
      const next = bytes
        .subarray(at)
        .findIndex((byte) => byte === OPEN_OBJECT || byte === CLOSE_LIST);
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

/** Joins blocks until they are as long as the bytes that wait for the end of a feature. Each search begins at the start of the feature:
 * because the bytes double between searches, a long feature takes linear time. */
async function* joinBlocks(
  blocks: AsyncIterable<Buffer>,
  waiting: () => number,
): AsyncGenerator<Buffer, void, void> {
  let joined: Buffer[] = [];
  let length = 0;
  for await (const block of blocks) {
    joined.push(block);
    length += block.length;
    if (length < waiting()) continue;
    yield Buffer.concat(joined);
    joined = [];
    length = 0;
  }
  if (length > 0) yield Buffer.concat(joined);
}

function lineEndsIn(bytes: Buffer, from: number, to: number): number {
  const part = bytes.subarray(from, to);
  let count = 0;
  for (let at = part.indexOf(LF); at >= 0; at = part.indexOf(LF, at + 1)) count += 1;
  return count;
}
