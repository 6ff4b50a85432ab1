import { MAX_JSON_DEPTH, MAX_JSON_PARTS } from '../contract/body-limits.ts';

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const [MINUS, PLUS, POINT, ZERO, NINE, SPACE] = [0x2d, 0x2b, 0x2e, 0x30, 0x39, 0x20];

const tableOf = (letters: string): Uint8Array => {
  const table = new Uint8Array(256);
  for (const letter of letters) table[letter.charCodeAt(0)] = 1;
  return table;
};
const IS_SPACE = tableOf(' \t\n\r');
const IS_HEX = tableOf('0123456789abcdefABCDEF');
const IS_ESCAPED = tableOf('"\\/bfnrt');
/** The bytes that a string may hold without an escape. Invalid UTF-8 is among them: a decoder replaces it. */
const IS_PLAIN = new Uint8Array(256).fill(1).fill(0, 0, SPACE);
IS_PLAIN[QUOTE] = 0;
IS_PLAIN[BACKSLASH] = 0;

const LITERALS = ['true', 'false', 'null'].map((text) => Buffer.from(text));

/**
 * Checks JSON byte by byte and makes no values: four to eight times as fast as JSON.parse, whose objects must also be collected. It
 * accepts what `JSON.parse(body.toString())` accepts, up to the limits of `body-limits.ts`. Every method takes the position at
 * which a part begins, returns the position behind it, and throws where the JSON is invalid.
 */
export class JsonScanner {
  readonly #bytes: Uint8Array;
  /** Of each open container: 1 for an object, 0 for a list. */
  readonly #isObject = new Uint8Array(MAX_JSON_DEPTH + 1);
  #parts = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Checks a value that lies in `depth` containers. */
  value(from: number, depth: number): number {
    const bytes = this.#bytes;
    const isObject = this.#isObject;
    let open = depth;
    let at = this.space(from);
    for (;;) {
      const first = bytes[at]!;
      if (first === QUOTE) at = this.string(at);
      else if (first === OPEN_OBJECT || first === OPEN_LIST) {
        this.open(open + 1);
        at = this.space(at + 1);
        if (bytes[at] !== (first === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_LIST)) {
          isObject[++open] = first === OPEN_OBJECT ? 1 : 0;
          if (first === OPEN_OBJECT) at = this.name(at);
          continue;
        }
        at++;
      } else if (first === MINUS || (first >= ZERO && first <= NINE)) at = this.#number(at);
      else at = this.#literal(at);
      // A value has ended: so do the containers that close here.
      for (;;) {
        if (open === depth) return at;
        if (IS_SPACE[bytes[at]!] === 1) at = this.space(at);
        const next = bytes[at];
        if (next === COMMA) {
          at = this.space(at + 1);
          if (isObject[open] === 1) at = this.name(at);
          break;
        }
        if (next !== (isObject[open] === 1 ? CLOSE_OBJECT : CLOSE_LIST)) throw new InvalidJson();
        open--;
        at++;
      }
    }
  }

  /** Counts a container that is opened as the `depth`th. */
  open(depth: number): void {
    this.#count();
    if (depth > MAX_JSON_DEPTH) throw new InvalidJson();
  }

  /** A member's name and its colon; returns where the value begins. */
  name(from: number): number {
    if (this.#bytes[from] !== QUOTE) throw new InvalidJson();
    const colon = this.space(this.string(from));
    if (this.#bytes[colon] !== COLON) throw new InvalidJson();
    this.#count();
    return this.space(colon + 1);
  }

  /** A string, from its first quote. */
  string(from: number): number {
    const bytes = this.#bytes;
    let at = from + 1;
    for (;;) {
      while (IS_PLAIN[bytes[at]!] === 1) at++;
      if (bytes[at] === QUOTE) return at + 1;
      if (bytes[at] !== BACKSLASH) throw new InvalidJson();
      const escaped = bytes[at + 1]!;
      if (IS_ESCAPED[escaped] === 1) at += 2;
      else if (escaped === 0x75 && [2, 3, 4, 5].every((digit) => IS_HEX[bytes[at + digit]!] === 1)) at += 6;
      else throw new InvalidJson();
    }
  }

  space(from: number): number {
    let at = from;
    while (IS_SPACE[this.#bytes[at]!] === 1) at++;
    return at;
  }

  #count(): void {
    if (++this.#parts > MAX_JSON_PARTS) throw new InvalidJson();
  }

  #number(from: number): number {
    const bytes = this.#bytes;
    let at = bytes[from] === MINUS ? from + 1 : from;
    at = bytes[at] === ZERO ? at + 1 : this.#digits(at);
    if (bytes[at] === POINT) at = this.#digits(at + 1);
    if (bytes[at] === 0x65 || bytes[at] === 0x45) {
      at++;
      at = this.#digits(bytes[at] === PLUS || bytes[at] === MINUS ? at + 1 : at);
    }
    return at;
  }

  #digits(from: number): number {
    const bytes = this.#bytes;
    let at = from;
    while (bytes[at]! >= ZERO && bytes[at]! <= NINE) at++;
    if (at === from) throw new InvalidJson();
    return at;
  }

  #literal(from: number): number {
    const literal = LITERALS.find((text) => text.every((letter, index) => this.#bytes[from + index] === letter));
    if (literal === undefined) throw new InvalidJson();
    return from + literal.length;
  }
}

/** The text is not JSON, or exceeds a limit. It has no message: the parser, which reads such a body next, says what is wrong. */
export class InvalidJson extends Error {}
