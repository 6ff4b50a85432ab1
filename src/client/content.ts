import { resultOrNull } from '../base/errors.ts';
import type { Call } from '../contract/credits.ts';
import type { Redactor } from './redact.ts';

/** The largest body that is accepted, before and after decompression: several times the largest real one (an enterprise bundle has 5 to
 * 7 MB). */
export const MAX_BODY_BYTES: Readonly<Record<Call['kind'], number>> = {
  single: 16 * 1024 * 1024,
  standard: 16 * 1024 * 1024,
  enterprise: 32 * 1024 * 1024,
};

/** Most bytes that are kept of the body of any status but 200, and of a body that is not JSON: enough for every message. */
export const MAX_TEXT_BYTES = 64 * 1024;

/** The most objects, arrays and members of a JSON body. Each takes up to 190 bytes once parsed: 10 million `{}` in 30
 * MB took 1.2 GB and 5 s. A real bundle of 7 MB has about 500,000, and 1.1 million if it were only short coordinates. */
const MAX_JSON_PARTS = 2_000_000;

/** GeoJSON in a bundle is about 12 levels deep. Deeper bodies break recursive code. */
const MAX_JSON_DEPTH = 512;

/** What a body says, decoded and without a key. `unread`: JSON that is too large or too deep to parse. `isRepaired`: it was no JSON, but for
 * the numbers that none has, which are null. */
export type Content =
  | { readonly kind: 'json'; readonly value: unknown; readonly isRepaired?: true }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'unread'; readonly why: string };

/** Parses a body on the event loop: the largest bundle takes 28 ms, and the largest subscription that is sold buys one in two seconds.
 * Only this function removes keys from what a service answers. */
export function parseContent(body: Buffer, redactor: Redactor): Content {
  const excess = jsonLimitExceeded(body);
  if (excess !== null) return { kind: 'unread', why: excess };
  const text = body.toString().replace(/^\ufeff/, '');
  const parsed = parsedJson(text);
  if (parsed !== null) return { kind: 'json', value: redactor.json(parsed.value) };
  const repaired = parsedJson(withNulls(text));
  if (repaired !== null)
    return { kind: 'json', value: redactor.json(repaired.value), isRepaired: true };
  // Redacted before it is cut, so that no half of a key is left at the end.
  return { kind: 'text', text: redactor.text(text).slice(0, MAX_TEXT_BYTES) };
}

function parsedJson(text: string): { readonly value: unknown } | null {
  return resultOrNull(() => ({ value: JSON.parse(text) as unknown }));
}

/** Python writes such numbers into JSON, which has none. */
const NO_NUMBER = /(?<=[:[,]\s*)-?(?:NaN|Infinity)(?=\s*[,\]}])/g;

/** JSON with null in place of numbers that are none: one of them in a bundle made all of it unusable, which was paid again by each run. */
function withNulls(text: string): string {
  if (text.search(NO_NUMBER) < 0) return text;
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    const quote = text.indexOf('"', at);
    const begin = quote < 0 ? text.length : quote;
    const end = endOfText(text, begin);
    parts.push(text.slice(at, begin).replace(NO_NUMBER, 'null'), text.slice(begin, end));
    at = end;
  }
  return parts.join('');
}

/** Where a text of JSON ends that begins with a quote at `begin`. */
function endOfText(json: string, begin: number): number {
  for (let at = begin + 1; at < json.length; at++) {
    if (json[at] === '\\') at++;
    else if (json[at] === '"') return at + 1;
  }
  return json.length;
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];

/** What each byte of JSON begins or ends. A table is twice as fast as comparisons. */
const [TEXT, OPEN, CLOSE, MEMBER] = [1, 2, 3, 4];
const KINDS = new Uint8Array(256);
KINDS[QUOTE] = TEXT;
for (const letter of '[{') KINDS[letter.charCodeAt(0)] = OPEN;
for (const letter of ']}') KINDS[letter.charCodeAt(0)] = CLOSE;
KINDS[':'.charCodeAt(0)] = MEMBER;

/** Why a JSON body must not be parsed, or null when it may be. Takes a sixth of the time of parsing; invalid JSON is left to the parser. */
function jsonLimitExceeded(body: Uint8Array): string | null {
  const end = body.length;
  let parts = 0;
  let depth = 0;
  for (let at = 0; at < end; at++) {
    const kind = KINDS[body[at]!];
    if (kind === 0) continue;
    if (kind === TEXT) {
      for (at++; at < end && body[at] !== QUOTE; at++) if (body[at] === BACKSLASH) at++;
    } else if (kind === CLOSE) {
      depth--;
    } else {
      parts++;
      if (kind === OPEN && ++depth > MAX_JSON_DEPTH)
        return `it is nested more than ${MAX_JSON_DEPTH} deep`;
      if (parts > MAX_JSON_PARTS)
        return `it has more than ${MAX_JSON_PARTS / 1e6} million objects, lists and members`;
    }
  }
  return null;
}
