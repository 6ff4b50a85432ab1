import type { TopicResult, ZoneValue } from '../../contract/topic-values.ts';
import type { NearFeature } from '../tables/layer-search.ts';

/** A topic's result as the JSON of its two members, in parts: texts, and features as ready bytes. They are joined once, in the body:
 * parsing and serializing the features of a 6 MB bundle takes longer than finding them. */
export interface ResultText {
  readonly value: string;
  readonly details: readonly TextPart[];
  /** What is stated of the data behind it, as a further member with its comma; '' for nothing. */
  readonly stated: string;
}

/** Why a topic has no result. `unavailable`: its data is not loaded, not for this state, or too old; the operator can fix that.
 * `no_data`: the data is loaded, and the publisher has nothing on this place. */
export type MissingReason = 'unavailable' | 'no_data';

/** Whether a result is the reason why there is none. */
export function isMissing(result: ResultText | MissingReason): result is MissingReason {
  return typeof result === 'string';
}

/** The parts of a result's JSON. */
export function resultText({ value, details, stated }: ResultText): TextPart[] {
  return [`{"value":${value},"details":`, ...details, `${stated}}`];
}

/** Text, or features that are members of a JSON array. */
export type TextPart = string | readonly NearFeature[];

/** The parts of a JSON array of features. */
export function arrayText(members: readonly NearFeature[]): TextPart[] {
  return ['[', members, ']'];
}

/** The parts of a GeoJSON FeatureCollection, with the radius of the search (RFC 7946, 6.1: a foreign member). */
export function collectionText(features: readonly NearFeature[], radius: number): TextPart[] {
  return [
    `{"type":"FeatureCollection","radius_m":${radius},"features":`,
    ...arrayText(features),
    '}',
  ];
}

const COMMA = 0x2c;
const BRACE = 0x7d;
const ZERO = 0x30;

/** Joins parts: to text when there is only text, else to bytes, each copied once. */
export function joinedText(parts: readonly TextPart[]): string | Buffer {
  const ready: (Buffer | readonly NearFeature[])[] = [];
  let text = '';
  for (const part of parts) {
    if (typeof part === 'string') text += part;
    else if (part.length > 0) {
      // The texts between features are encoded together: a bundle has a hundred, most of a few letters.
      if (text !== '') ready.push(Buffer.from(text));
      ready.push(part);
      text = '';
    }
  }
  return ready.length === 0 ? text : joinedBytes([...ready, Buffer.from(text)]);
}

function joinedBytes(parts: readonly (Buffer | readonly NearFeature[])[]): Buffer {
  const body = Buffer.allocUnsafe(parts.reduce((sum, part) => sum + countBytes(part), 0));
  let at = 0;
  for (const part of parts) {
    if (Buffer.isBuffer(part)) {
      body.set(part, at);
      at += part.length;
      continue;
    }
    for (let index = 0; index < part.length; index++) {
      const { feature, meters } = (part as readonly NearFeature[])[index]!;
      if (index > 0) body[at++] = COMMA;
      body.set(feature.bytes, at);
      at = writeWhole(body, Math.round(meters), at + feature.bytes.length);
      body[at++] = BRACE;
      body[at++] = BRACE;
    }
  }
  return body;
}

function countBytes(part: Buffer | readonly NearFeature[]): number {
  if (Buffer.isBuffer(part)) return part.length;
  return (part as readonly NearFeature[]).reduce(
    (sum, { feature, meters }) =>
      sum + feature.bytes.length + digitsOf(Math.round(meters)) + '}}'.length,
    Math.max(0, part.length - 1),
  );
}

function digitsOf(whole: number): number {
  let digits = 1;
  for (let rest = whole; rest >= 10; rest = Math.floor(rest / 10)) digits += 1;
  return digits;
}

/** Writes a whole number in digits and returns where it ends: a string for each of 12,000 features would take longer. */
function writeWhole(body: Buffer, whole: number, start: number): number {
  const end = start + digitsOf(whole);
  let rest = whole;
  for (let at = end - 1; at >= start; at--) {
    body[at] = ZERO + (rest % 10);
    rest = Math.floor(rest / 10);
  }
  return end;
}

/** A topic's value, and its JSON, made when first needed. */
export class TopicValue {
  readonly value: TopicResult['value'];
  #json: string | undefined;

  constructor(value: TopicResult['value']) {
    this.value = value;
  }

  /** What is to be known of its figures. */
  get remarks(): readonly string[] {
    return typeof this.value === 'object' && 'remarks' in this.value
      ? ((this.value as ZoneValue).remarks ?? [])
      : [];
  }

  get json(): string {
    this.#json ??= JSON.stringify(this.value);
    return this.#json;
  }
}
