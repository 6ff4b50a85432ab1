import type { LocationFinding } from './parse-location.ts';
import type { FormReading } from './place-order.ts';

/* Places as codes: geohash, ISO 6709. */

const GEOHASH = '0123456789bcdefghjkmnpqrstuvwxyz';
/** Of 8 letters the sides are 38 m and 19 m; of fewer, one point says too little. */
const FEWEST_LETTERS = 8;

/** The middle of a geohash; null for a word of the same letters: a code has digits and letters. */
export function pointOfGeohash(code: string): FormReading {
  if (!/\d/.test(code) || !/[a-z]/.test(code)) return null;
  if (code.length < FEWEST_LETTERS) return 'area_code';
  const spans = { lng: [-180, 180] as [number, number], lat: [-90, 90] as [number, number] };
  let isLng = true;
  for (const letter of code) {
    const value = GEOHASH.indexOf(letter);
    for (let bit = 16; bit >= 1; bit /= 2) {
      const span = isLng ? spans.lng : spans.lat;
      span[value & bit ? 0 : 1] = (span[0] + span[1]) / 2;
      isLng = !isLng;
    }
  }
  const middle = ([from, to]: readonly [number, number]) => ((from + to) / 2).toFixed(6);
  return { lat: middle(spans.lat), lng: middle(spans.lng) };
}

/** The degrees of ISO 6709: `+254627.5` is 25 degrees, 46 minutes and 27.5 seconds. @param digits of the degrees */
export function sexagesimalDegrees(text: string, digits: 2 | 3): string {
  const [, sign, whole = '', fraction = ''] = /^([+-])(\d+)(\.\d+)?$/.exec(text)!;
  const parts = [whole.slice(0, digits), ...(whole.slice(digits).match(/\d\d/g) ?? [])];
  const last = Number(`${parts.at(-1)}${fraction}`);
  const numbers = [...parts.slice(0, -1).map(Number), last];
  const degrees = numbers.reduce((sum, part, at) => sum + part / 60 ** at, 0);
  return `${sign === '-' ? '-' : ''}${degrees.toFixed(7)}`;
}

/** Codes of an area, which need a converter: plus codes, MGRS, UTM with its zone, H3, three words. */
const AREA_CODES: readonly RegExp[] = [
  /^[23456789CFGHJMPQRVWX]{4,8}\+[23456789CFGHJMPQRVWX]{0,3}(?:\s.*)?$/,
  /^\d{1,2}\s?[C-HJ-NP-X]\s?[A-HJ-NP-Z]{2}\s?\d{2,5}\s?\d{2,5}$/,
  /^\d{1,2}\s?[C-HJ-NP-X]\s\d{6}(?:\.\d+)?\s\d{6,7}(?:\.\d+)?$/,
  /^8[0-9a-f]{14}$/,
  /^\/{3}\p{L}+\.\p{L}+\.\p{L}+$/u,
];

/** The finding for a code that names an area (plus codes and the like) in place of a point; null for another text. */
export function areaCodeFinding(text: string): LocationFinding | null {
  return AREA_CODES.some((code) => code.test(text)) ? 'area_code' : null;
}
