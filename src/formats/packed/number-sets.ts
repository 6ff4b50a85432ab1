import { bug } from '../../base/errors.ts';
import { skipFields, TAGS } from './packed-fields.ts';

/** Sets of numbers that many places share, as those of a tract do: equal ones are kept once, and have one number. Plain data, to which
 * threads add at once. */
export interface NumberSets {
  /** Which fields of an answer are kept, by their position. */
  readonly fields: readonly number[];
  /** The sets by number; NaN for null. Unwritten pages take no memory. */
  readonly numbers: Float64Array<SharedArrayBuffer>;
  /** A hash table: numbers of sets; 0 is empty. Its length is a power of two. */
  readonly slots: Int32Array<SharedArrayBuffer>;
  /** How many numbers are taken. */
  readonly taken: Int32Array<SharedArrayBuffer>;
}

/** The number of what is not known. */
export const NO_SET = 0;
/** The number of answers whose first field is 0: it says how many numbers there are. */
export const EMPTY_SET = 1;
const FIRST_SET = 2;

/** The US has 85,000 tracts. */
const MOST_SETS = 2 ** 18;
/** A thread that finds its set added by another keeps the number for its next one, and may end before. */
const SPARE_SETS = 1024;

/** Room for the sets of some places. */
export function makeNumberSets(fields: readonly number[], places: number): NumberSets {
  const most = Math.min(MOST_SETS, places) + SPARE_SETS;
  const shared = (bytes: number) => new SharedArrayBuffer(bytes);
  const sets: NumberSets = {
    fields,
    numbers: new Float64Array(shared(8 * fields.length * most)),
    slots: new Int32Array(shared(4 * 2 ** Math.ceil(Math.log2(2 * most)))),
    taken: new Int32Array(shared(4)),
  };
  sets.numbers.fill(Number.NaN, 0, FIRST_SET * fields.length);
  sets.taken[0] = FIRST_SET;
  return sets;
}

/** All sets that are there, one after the other. */
export function takenSets({ fields, numbers, taken }: NumberSets): NumberSets['numbers'] {
  return numbers.subarray(0, Atomics.load(taken, 0) * fields.length);
}

/** Makes what gives packed fields the number of their set, which is added if it is new.
 * @param count how many fields there are */
export function setNumberer(
  { fields, numbers, slots, taken }: NumberSets,
  count: number,
): (bytes: Uint8Array, view: DataView, from: number) => number {
  const width = fields.length;
  const most = numbers.length / Math.max(1, width);
  const mask = slots.length - 1;
  const positionOf = Int32Array.from({ length: count }, (_, field) => fields.indexOf(field));
  const own = new Float64Array(width);
  /** Bits, because NaN equals no number. */
  const ownBits = new Int32Array(own.buffer);
  const bits = new Int32Array(numbers.buffer);
  /** A number that is taken, and not used yet. */
  let spare = NO_SET;

  function readNumbers(bytes: Uint8Array, view: DataView, from: number): void {
    let at = from;
    for (let field = 0; field < count; field++) {
      const tag = bytes[at]!;
      let number = Number.NaN;
      if (tag === TAGS.double) number = view.getFloat64(at + 1, true);
      else if (tag === TAGS.small) number = bytes[at + 1]!;
      else if (tag === TAGS.millionths) number = view.getInt32(at + 1, true) / 1e6;
      else if (tag === TAGS.whole) number = view.getInt32(at + 1, true);
      const position = positionOf[field]!;
      if (position >= 0) own[position] = number;
      at = skipFields(bytes, at, 1);
    }
  }

  function hash(): number {
    let mixed = 0;
    for (let at = 0; at < ownBits.length; at++) {
      mixed = Math.imul(mixed ^ Math.imul(ownBits[at]!, 0x9e3779b1), 0x85ebca6b);
      mixed ^= mixed >>> 15;
    }
    return mixed;
  }

  function isOwn(number: number): boolean {
    const from = number * ownBits.length;
    for (let at = 0; at < ownBits.length; at++) if (bits[from + at] !== ownBits[at]) return false;
    return true;
  }

  function keepOwn(): void {
    if (spare === NO_SET) spare = Atomics.add(taken, 0, 1);
    if (spare >= most) throw bug(`Places have more than ${most} different sets of numbers`);
    numbers.set(own, spare * width);
  }

  return (bytes, view, from) => {
    if (width === 0 || (bytes[from] === TAGS.small && bytes[from + 1] === 0)) return EMPTY_SET;
    readNumbers(bytes, view, from);
    let slot = hash() & mask;
    for (;;) {
      let held = Atomics.load(slots, slot);
      if (held === 0) {
        // Written before its number is: who finds the number finds the set.
        keepOwn();
        held = Atomics.compareExchange(slots, slot, 0, spare);
        if (held === 0) {
          held = spare;
          spare = NO_SET;
          return held;
        }
      }
      if (isOwn(held)) return held;
      slot = (slot + 1) & mask;
    }
  };
}
