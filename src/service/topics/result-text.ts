import type { KeptFeature } from '../data/feature-tiles.ts';

/**
 * A topic's result as the JSON of its two members, in parts: texts, and features whose bytes are ready. They are put
 * together once, in the body: to parse and write again the features of a 6 MB bundle would take longer than to find them.
 */
export interface ResultText {
  readonly value: string;
  readonly details: readonly TextPart[];
}

/** Text, or the ready members of a JSON array. */
export type TextPart = string | readonly KeptFeature[];

/** The parts of a JSON array of ready features. */
export function arrayText(members: readonly KeptFeature[]): TextPart[] {
  return ['[', members, ']'];
}

/** The parts of a GeoJSON FeatureCollection of ready features. */
export function collectionText(features: readonly KeptFeature[]): TextPart[] {
  return ['{"type":"FeatureCollection","features":', ...arrayText(features), '}'];
}

const COMMA = 0x2c;

/** Puts parts together: as a text when there are no features, else as its bytes, each copied once. */
export function joinedText(parts: readonly TextPart[]): string | Buffer {
  const ready: (Buffer | readonly KeptFeature[])[] = [];
  let text = '';
  for (const part of parts) {
    if (typeof part === 'string') text += part;
    else if (part.length > 0) {
      // The texts between features become bytes together: a bundle has a hundred of them, most of a few letters.
      ready.push(Buffer.from(text), part);
      text = '';
    }
  }
  return ready.length === 0 ? text : joinedBytes([...ready, Buffer.from(text)]);
}

function joinedBytes(parts: readonly (Buffer | readonly KeptFeature[])[]): Buffer {
  const body = Buffer.allocUnsafe(parts.reduce((sum, part) => sum + lengthOf(part), 0));
  let at = 0;
  for (const part of parts) {
    if (Buffer.isBuffer(part)) {
      body.set(part, at);
      at += part.length;
      continue;
    }
    for (let index = 0; index < part.length; index++) {
      const { bytes } = (part as readonly KeptFeature[])[index]!;
      if (index > 0) body[at++] = COMMA;
      body.set(bytes, at);
      at += bytes.length;
    }
  }
  return body;
}

function lengthOf(part: Buffer | readonly KeptFeature[]): number {
  if (Buffer.isBuffer(part)) return part.length;
  return (part as readonly KeptFeature[]).reduce((sum, { bytes }) => sum + bytes.length, Math.max(0, part.length - 1));
}
