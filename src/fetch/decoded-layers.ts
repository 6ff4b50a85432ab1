/** A text with some of its encodings decoded, and the position of each of its characters in the original. */
export interface DecodedLayer {
  readonly text: string;
  /** Where each character begins and ends; null in the original itself. */
  readonly starts: readonly number[] | null;
  readonly ends: readonly number[] | null;
}

/** Nested encodings beyond this are not decoded: no real service nests more than five. */
const MOST_LAYERS = 6;

/** Everything below is done on folded text, so that letter case and the alphabet of base64 do not matter. */
function folded(text: string): string {
  // Not toLowerCase() of everything: it turns some characters into two, and positions would be wrong.
  return text
    .replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
    .replaceAll('-', '+')
    .replaceAll('_', '/');
}

/** Line ends of wrapped base64, zero bytes of UTF-16, invisible characters: a reader would not see them, and could read the key
 * around them. */
const INVISIBLE = /[\0-\x20\x7f-\xa0\xad\u061c\u180e\u200b-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]+/g;

/** Percent-encoding; escapes of JSON and JavaScript, and any other backslash alone; entities of HTML. */
const ESCAPE =
  /%([0-9a-f]{2})|\\+(?:u([0-9a-f]{4})|u\{0*([0-9a-f]{1,6})\}|x([0-9a-f]{2}))?|&(?:#0*(\d{1,7})|#x0*([0-9a-f]{1,6})|([a-z]{2,16}));?/g;

/** Separators between the bytes of a list of hexadecimal numbers. */
const BETWEEN_HEX = /0x|[:;,+]/g;

/** HTML's names of ASCII characters, each followed by its character. */
const NAMED_CHARACTERS =
  'excl! quot" num# dollar$ percnt% amp& lpar( rpar) ast* midast* plus+ comma, hyphen- period. sol/ colon: semi; lt< equals= gt> ' +
  "quest? commat@ lsqb[ lbrack[ bsol\\ rsqb] rbrack] hat^ lowbar_ underbar_ lcub{ lbrace{ verbar| vert| verticalline| apos' " +
  'rcub} rbrace} grave` diacriticalgrave`';

/** A Map: an object would also have `constructor`. */
const ENTITIES = new Map(NAMED_CHARACTERS.split(' ').map((one) => [one.slice(0, -1), one.slice(-1)]));

/** The folded text, then the same with one more layer of encoding decoded, until there is none left; at last without the separators
 * of hexadecimal bytes. */
export function layersOf(text: string): DecodedLayer[] {
  const layers: DecodedLayer[] = [{ text: folded(text), starts: null, ends: null }];
  const add = (pattern: RegExp, replace: Replace) => {
    const before = layers.at(-1)!;
    const after = rewritten(before, pattern, replace);
    if (after !== before) layers.push(after);
    return after !== before;
  };
  for (let depth = 0, more = true; more && depth < MOST_LAYERS; depth++) {
    const isShorter = add(INVISIBLE, nothing);
    more = add(ESCAPE, decoded) || isShorter;
  }
  add(BETWEEN_HEX, nothing);
  return layers;
}

/** The same texts without positions, in a tenth of the time: hardly any text contains a key. */
export function textsOf(text: string): string[] {
  const texts = [folded(text)];
  for (let depth = 0, before = ''; before !== texts.at(-1) && depth < MOST_LAYERS; depth++) {
    before = texts.at(-1)!;
    const seen = before.replace(INVISIBLE, '');
    texts.push(seen, seen.replace(ESCAPE, decoded));
  }
  return [...texts, texts.at(-1)!.replace(BETWEEN_HEX, '')];
}

/** A text in the forms in which layers contain it: folded, and with everything decoded that looks like an encoding. */
export function canonical(text: string): [folded: string, undone: string] {
  let undone = folded(text);
  for (let before = ''; before !== undone; ) {
    before = undone;
    undone = undone.replace(ESCAPE, decoded);
  }
  return [folded(text), undone];
}

/** The character that an escape stands for, folded; the escape itself where it stands for none. */
function decoded(sequence: string, ...groups: (string | undefined)[]): string {
  const [percent, u4, u, x, decimal, hex, name] = groups;
  if (name !== undefined) return folded(ENTITIES.get(name) ?? sequence);
  const digits = percent ?? u4 ?? u ?? x ?? hex;
  const code = digits !== undefined ? Number.parseInt(digits, 16) : Number(decimal ?? Number.NaN);
  // A backslash that escapes nothing.
  if (Number.isNaN(code)) return '';
  return code <= 0x10ffff ? folded(String.fromCodePoint(code)) : sequence;
}

type Replace = (match: string, ...groups: (string | undefined)[]) => string;

const nothing: Replace = () => '';

/** A layer with a pattern's matches replaced; the same layer where that changes nothing. */
function rewritten(layer: DecodedLayer, pattern: RegExp, replace: Replace): DecodedLayer {
  const { text } = layer;
  const startOf = (at: number) => layer.starts?.[at] ?? at;
  const endOf = (at: number) => layer.ends?.[at] ?? at + 1;
  const starts: number[] = [];
  const ends: number[] = [];
  let rest = '';
  let done = 0;
  const copy = (until: number) => {
    rest += text.slice(done, until);
    for (let at = done; at < until; at++) {
      starts.push(startOf(at));
      ends.push(endOf(at));
    }
  };
  for (const match of text.matchAll(pattern)) {
    const [whole, ...groups] = match;
    const by = replace(whole, ...groups);
    if (by === whole) continue;
    copy(match.index);
    done = match.index + whole.length;
    rest += by;
    for (let index = 0; index < by.length; index++) {
      starts.push(startOf(match.index));
      ends.push(endOf(done - 1));
    }
  }
  if (done === 0) return layer;
  copy(text.length);
  return { text: rest, starts, ends };
}
