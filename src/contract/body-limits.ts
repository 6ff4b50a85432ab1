/** An enterprise bundle is 5 to 7 MB; several times that is still an answer, more is not. Applies before and after
 * decompression. */
export const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** The most objects, arrays and members of a JSON body. Each takes up to 190 bytes once parsed: 10 million `{}` in 30
 * MB took 1.2 GB and 5 s. A real bundle of 7 MB has about 500,000, and 1.1 million if it were only short coordinates. */
export const MAX_JSON_PARTS = 2_000_000;

/** GeoJSON in a bundle is about 12 levels deep. Deeper bodies break recursive code. */
export const MAX_JSON_DEPTH = 512;

const [QUOTE, BACKSLASH] = [0x22, 0x5c];

/** What each byte of JSON begins or ends; a table is twice as fast as comparisons. */
const [TEXT, OPEN, CLOSE, MEMBER] = [1, 2, 3, 4];
const KINDS = new Uint8Array(256);
KINDS[QUOTE] = TEXT;
for (const [letters, kind] of [
  ['[{', OPEN],
  [']}', CLOSE],
  [':', MEMBER],
] as const) {
  for (const letter of letters) KINDS[letter.charCodeAt(0)] = kind;
}

/** Why a JSON body must not be parsed, or null when it may be. Takes a sixth of the time of parsing; invalid JSON is
 * left to the parser. */
export function jsonLimitExceeded(body: Uint8Array): string | null {
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
      if (kind === OPEN && ++depth > MAX_JSON_DEPTH) return `it is nested more than ${MAX_JSON_DEPTH} deep`;
      if (parts > MAX_JSON_PARTS) return `it has more than ${MAX_JSON_PARTS / 1e6} million objects, lists and members`;
    }
  }
  return null;
}
