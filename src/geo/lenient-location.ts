import { LONGEST_NUMBER } from '../base/decimal-number.ts';
import { INVISIBLE } from '../base/printable.ts';
import type { Location } from './coordinates.ts';
import { checkLocation, type ParsedLocation } from './parse-location.ts';
import type { PlaceOrder } from './place-order.ts';

/* Reads coordinates as people and other programs write them, for `coordinates: lenient`: degrees, minutes and seconds, compass letters,
 * decimal commas, typographic signs. An ambiguous text is not read. */

type Axis = 'lat' | 'lng';

const DEGREES = '(?:°|º|˚|\\ufffd|d(?:eg(?:rees?)?)?\\.?)';
const MINUTES = "(?:'|m(?:in\\.?)?)";
const SECONDS = '(?:"|s(?:ec\\.?)?)';
const WHOLE = '\\d{1,3}';
const NUMBER = '\\d+(?:[.,]\\d*)?|[.,]\\d+';

/** Degrees; degrees and minutes; degrees, minutes and seconds: each with its sign or a separator. The last part may have decimals. */
const FORMS: readonly RegExp[] = [
  new RegExp(`^(${NUMBER})\\s*${DEGREES}?$`, 'i'),
  new RegExp(`^(${WHOLE})\\s*(?:${DEGREES}\\s*|[\\s:-]\\s*)(${NUMBER})\\s*${MINUTES}?$`, 'i'),
  new RegExp(
    `^(${WHOLE})\\s*(?:${DEGREES}\\s*|[\\s:-]\\s*)(\\d{1,2})\\s*(?:${MINUTES}\\s*|[\\s:-]\\s*)(${NUMBER})\\s*${SECONDS}?$`,
    'i',
  ),
];
const EXPONENT = /^(?:\d+(?:\.\d+)?|\.\d+)e[+-]?\d+$/i;

/** Reads the two texts of a row, with the same checks as `parseLocation`. */
export function parseLenient(
  latText: string,
  lngText: string,
  isUs: (location: Location) => boolean,
): ParsedLocation | null {
  const lat = parseDegrees(latText, 'lat');
  const lng = parseDegrees(lngText, 'lng');
  return lat === null || lng === null ? null : checkLocation({ lat, lng }, isUs);
}

/** The degrees of a text, or null. A compass letter of the other axis, or one beside a sign, is a contradiction. */
export function parseDegrees(text: string, axis: Axis): number | null {
  if (text.length > LONGEST_NUMBER && text.trim().length > LONGEST_NUMBER) return null;
  // `15s` after letters for degrees and minutes is seconds, not south.
  const plain = plainSigns(text).replace(/(\d\s*m(?:in\.?)?\s*[\d.,]+\s*)s$/i, '$1"');
  const parts = /^([NSEW]?)\s*([+-]?)\s*(.*?)\s*([NSEW]?)$/is.exec(plain)!;
  const [, before = '', sign = '', middle = '', after = ''] = parts;
  const letter = (before || after).toUpperCase();
  if ((before && after) || (letter && sign)) return null;
  if (letter && !(axis === 'lat' ? 'NS' : 'EW').includes(letter)) return null;
  const size = parseSize(middle);
  if (size === null) return null;
  return sign === '-' || letter === 'S' || letter === 'W' ? -size : size;
}

function parseSize(text: string): number | null {
  if (EXPONENT.test(text)) return Number(text);
  for (const form of FORMS) {
    const parts = form
      .exec(text)
      ?.slice(1)
      .map((part) => Number(part.replace(',', '.')));
    if (parts === undefined) continue;
    const [degrees, minutes = 0, seconds = 0] = parts;
    if (minutes >= 60 || seconds >= 60) return null;
    return degrees! + minutes / 60 + seconds / 3_600;
  }
  return null;
}

/** One kind of minus and of quotes, without the signs of a spreadsheet's texts (`'39.7`, `="39.7"`) and characters of no width. */
function plainSigns(text: string): string {
  return text
    .replace(INVISIBLE, '')
    .replace(/^\s*="(.*)"\s*$/, '$1')
    .replace(/^\s*['’](?=\s*[-+\d])/, '')
    .replace(/[\u2010-\u2015\u2212\ufe63\uff0d]/g, '-')
    .replace(/''|[\u201c\u201d\u201e\u2033\u02ba\u3003]|\u2032\u2032|\u2019\u2019/g, '"')
    .replace(/[\u2018\u2019\u201a\u201b\u2032\u02b9\u00b4`]/g, "'")
    .trim();
}

/** The two texts of a value with both, each in any notation. Null unless there is exactly one way to cut it into readable halves. */
export function splitLenientPair(
  text: string,
  order: PlaceOrder = 'lat,lng',
): readonly [lat: string, lng: string] | null {
  if (text.length > 2 * LONGEST_NUMBER) return null;
  const plain = text.trim();
  const inside = /^[([].*[)\]]$/s.test(plain) ? plain.slice(1, -1).trim() : plain;
  const isLatFirst = order === 'lat,lng';
  const [one, other] = isLatFirst ? (['lat', 'lng'] as const) : (['lng', 'lat'] as const);
  const pairs: (readonly [string, string])[] = [];
  for (const { index, 0: separator } of inside.matchAll(/\s*[,;/|]\s*|\s+/g)) {
    const halves = [inside.slice(0, index), inside.slice(index + separator.length)] as const;
    const isOther = !(canBe(halves[0], one) && canBe(halves[1], other));
    // Letters tell which is which: `97.2W, 38.5N`.
    if (isOther && !(canBe(halves[0], other) && canBe(halves[1], one))) continue;
    pairs.push(isOther === isLatFirst ? [halves[1], halves[0]] : halves);
  }
  return pairs.length === 1 ? pairs[0]! : null;
}

function canBe(text: string, axis: Axis): boolean {
  const degrees = parseDegrees(text, axis);
  return degrees !== null && Math.abs(degrees) <= (axis === 'lat' ? 90 : 180);
}
