import type { NearestSearch } from '../geo/nearest.ts';

const [SPACE, OPEN_LIST, COMMA, MINUS, POINT, ZERO, NINE] = [0x20, 0x5b, 0x2c, 0x2d, 0x2e, 0x30, 0x39];
const [EXPONENT, LARGE_EXPONENT] = [0x65, 0x45];

/** Up to here a number without its point is exact, and so is its quotient by a power of ten, but for one rounding. */
const MOST_EXACT = 2 ** 53;
const POWERS_OF_TEN = Array.from({ length: 23 }, (_, power) => 10 ** power);

/**
 * False where no point of a geometry can be as near as the nearest that the search has seen. It reads the box around the positions
 * from the bytes, which must be valid JSON, in a tenth of the time that parsing and measuring take. The box may be too large, never
 * too small: every list that begins with two numbers counts as a position, wherever it stands.
 */
export function mayBeNearest(json: Buffer, from: number, end: number, search: NearestSearch): boolean {
  let [west, east, south, north] = [Infinity, -Infinity, Infinity, -Infinity];
  const reader = new NumberReader(json, from);
  while (reader.at < end) {
    if (json[reader.at++] !== OPEN_LIST) continue;
    const lng = reader.read();
    if (Number.isNaN(lng) || json[reader.at] !== COMMA) continue;
    reader.at++;
    const lat = reader.read();
    if (Number.isNaN(lat)) continue;
    if (lng < west) west = lng;
    if (lng > east) east = lng;
    if (lat < south) south = lat;
    if (lat > north) north = lat;
  }
  return search.mayReach(west, east, south, north);
}

class NumberReader {
  readonly #json: Buffer;
  at: number;

  constructor(json: Buffer, at: number) {
    this.#json = json;
    this.at = at;
  }

  /** The number that begins here or behind spaces, with the spaces after it; NaN where there is none. */
  read(): number {
    const json = this.#json;
    let at = this.#space(this.at);
    const from = at;
    const isNegative = json[at] === MINUS;
    if (isNegative) at++;
    let [digits, decimals, count] = [0, -1, 0];
    for (; ; at++) {
      const byte = json[at]!;
      if (byte >= ZERO && byte <= NINE) {
        digits = digits * 10 + byte - ZERO;
        count++;
        if (decimals >= 0) decimals++;
      } else if (byte === POINT) decimals = 0;
      else break;
    }
    this.at = at;
    if (count === 0) return Number.NaN;
    const hasExponent = json[at] === EXPONENT || json[at] === LARGE_EXPONENT;
    if (hasExponent || digits > MOST_EXACT || decimals >= POWERS_OF_TEN.length) return this.#readAny(from);
    this.at = this.#space(at);
    return (isNegative ? -digits : digits) / POWERS_OF_TEN[Math.max(0, decimals)]!;
  }

  /** A number in any spelling. */
  #readAny(from: number): number {
    let at = from;
    while (/[-+.\deE]/.test(String.fromCharCode(this.#json[at]!))) at++;
    this.at = this.#space(at);
    return Number(this.#json.toString('latin1', from, at));
  }

  #space(from: number): number {
    let at = from;
    while (this.#json[at]! <= SPACE) at++;
    return at;
  }
}
