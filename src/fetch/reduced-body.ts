import type { Call } from '../contract/credits.ts';
import type { Location } from '../geo/coordinates.ts';
import { NearestSearch, shapeOf } from '../geo/nearest.ts';
import { mayBeNearest } from './geometry-reach.ts';
import { InvalidJson, JsonScanner } from './json-scanner.ts';

const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT, COMMA, BACKSLASH] = [0x5b, 0x5d, 0x7b, 0x7d, 0x2c, 0x5c];

/** The names of the members that lead to `details`; null stands for any. */
type MemberPath = readonly (Buffer | null)[];
const memberPath = (...names: (string | null)[]): MemberPath =>
  names.map((name) => (name === null ? null : Buffer.from(name)));
const SINGLE = memberPath('data', 'result', 'details');
const BUNDLE = memberPath('data', 'topics', null, 'details');
const [FEATURES, GEOMETRY] = [Buffer.from('features'), Buffer.from('geometry')];

/**
 * The JSON of an answer without the records of its `details`: in each list stands `0` for a record, so that the lists keep their
 * lengths, and of `features` stay those geometries that may be the nearest to the location. All that is read for columns is
 * the same as in the whole body, which takes five times as long to parse. Null where the body is not JSON or exceeds the limits
 * of `body-limits.ts`: then it must be parsed whole, which says why.
 */
export function reducedBody(call: Call, location: Location, body: Buffer): string | null {
  try {
    return new Reduction(location, body).reduce(call.kind === 'single' ? SINGLE : BUNDLE);
  } catch (error) {
    if (error instanceof InvalidJson) return null;
    throw error;
  }
}

class Reduction {
  readonly #location: Location;
  readonly #body: Buffer;
  readonly #scanner: JsonScanner;
  #text = '';
  /** Up to here the body is in the text, or replaced in it. */
  #done = 0;

  constructor(location: Location, body: Buffer) {
    this.#location = location;
    this.#body = body;
    this.#scanner = new JsonScanner(body);
  }

  reduce(path: MemberPath): string {
    const hasByteOrderMark = this.#body[0] === 0xef && this.#body[1] === 0xbb && this.#body[2] === 0xbf;
    this.#done = hasByteOrderMark ? 3 : 0;
    const end = this.#scanner.space(this.#descend(this.#scanner.space(this.#done), path, 0));
    if (end !== this.#body.length) throw new InvalidJson();
    return this.#text + this.#body.toString('utf8', this.#done, end);
  }

  /** Follows a path down to the details. A name that is given twice is followed twice, since the last one counts. */
  #descend(from: number, path: MemberPath, depth: number): number {
    if (depth === path.length) return this.#details(from, depth);
    const wanted = path[depth]!;
    return this.#object(from, depth, (name, value) =>
      wanted === null || this.#isName(name, wanted)
        ? this.#descend(value, path, depth + 1)
        : this.#scanner.value(value, depth + 1),
    );
  }

  #details(from: number, depth: number): number {
    if (this.#body[from] !== OPEN_OBJECT) return this.#recordsOf(from, depth);
    return this.#object(from, depth, (name, value) =>
      this.#body[value] === OPEN_LIST && this.#isName(name, FEATURES)
        ? this.#features(value, depth + 1)
        : this.#recordsOf(value, depth + 1),
    );
  }

  /** Of a list its length, of an object that it is one; any other value as it is. */
  #recordsOf(from: number, depth: number): number {
    const first = this.#body[from];
    if (first === OPEN_OBJECT) {
      const end = this.#scanner.value(from, depth);
      this.#replace(from, end, '{}');
      return end;
    }
    if (first !== OPEN_LIST) return this.#scanner.value(from, depth);
    let count = 0;
    const end = this.#list(from, depth, (item) => {
      count++;
      return this.#scanner.value(item, depth + 1);
    });
    this.#replace(from, end, count === 0 ? '[]' : `[0${',0'.repeat(count - 1)}]`);
    return end;
  }

  #features(from: number, depth: number): number {
    const nearest = new NearestSearch(this.#location);
    let items = '';
    const end = this.#list(from, depth, (item) => {
      let [geometry, geometryEnd] = [-1, -1];
      const itemEnd = this.#object(item, depth + 1, (name, value) => {
        const valueEnd = this.#scanner.value(value, depth + 2);
        if (this.#isName(name, GEOMETRY)) [geometry, geometryEnd] = [value, valueEnd];
        return valueEnd;
      });
      const kept = this.#body[geometry] === OPEN_OBJECT ? this.#geometry(geometry, geometryEnd, nearest) : null;
      items += kept === null ? '0,' : `{"geometry":${kept}},`;
      return itemEnd;
    });
    this.#replace(from, end, `[${items.slice(0, -1)}]`);
    return end;
  }

  /** The text of a geometry that is at least as near as all before it; null for one that is farther away. */
  #geometry(from: number, end: number, nearest: NearestSearch): string | null {
    if (!mayBeNearest(this.#body, from, end, nearest)) return null;
    const text = this.#body.toString('utf8', from, end);
    nearest.measure(shapeOf(JSON.parse(text)));
    return text;
  }

  /** An object, whose members are given to `member` by the positions of name and value; or any other value, as it is. */
  #object(from: number, depth: number, member: (name: number, value: number) => number): number {
    const scanner = this.#scanner;
    if (this.#body[from] !== OPEN_OBJECT) return scanner.value(from, depth);
    scanner.open(depth + 1);
    let at = scanner.space(from + 1);
    if (this.#body[at] === CLOSE_OBJECT) return at + 1;
    for (;;) {
      at = scanner.space(member(at, scanner.name(at)));
      if (this.#body[at] === CLOSE_OBJECT) return at + 1;
      if (this.#body[at] !== COMMA) throw new InvalidJson();
      at = scanner.space(at + 1);
    }
  }

  #list(from: number, depth: number, item: (from: number) => number): number {
    const scanner = this.#scanner;
    scanner.open(depth + 1);
    let at = scanner.space(from + 1);
    if (this.#body[at] === CLOSE_LIST) return at + 1;
    for (;;) {
      at = scanner.space(item(at));
      if (this.#body[at] === CLOSE_LIST) return at + 1;
      if (this.#body[at] !== COMMA) throw new InvalidJson();
      at = scanner.space(at + 1);
    }
  }

  /** Whether the string at a position, which was checked, is this name; escapes may spell it. */
  #isName(from: number, name: Buffer): boolean {
    const body = this.#body;
    for (let index = 0; index < name.length; index++) {
      const byte = body[from + 1 + index];
      if (byte === BACKSLASH)
        return JSON.parse(body.toString('utf8', from, this.#scanner.string(from))) === name.toString();
      if (byte !== name[index]) return false;
    }
    return body[from + 1 + name.length] === 0x22;
  }

  #replace(from: number, end: number, by: string): void {
    this.#text += this.#body.toString('utf8', this.#done, from) + by;
    this.#done = end;
  }
}
