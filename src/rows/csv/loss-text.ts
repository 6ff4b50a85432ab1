import { lossCents, lossField, type PlaceLosses } from '../../formats/packed/place-losses.ts';
import type { TableColumn } from '../port.ts';
import { digitWords } from './digit-words.ts';
import { FieldEncoder, type FieldFormat } from './field-bytes.ts';

/** What is written of rates, by their number, made when a row first needs it: threads share it. Places of one tract have the same. */
export interface RateTexts {
  /** A record for each one, in units of 8 bytes. The first unit has the size of the text of the rates, and how many steps write the amounts
   * of a row; the text follows. A step is what stands before an amount and is the same for all rows (7 bytes at most, then their number),
   * and the rate of the amount; NaN where the text goes on. After the steps comes what stands before the sum: a row reads its memory in
   * one run. Unwritten pages take no memory. */
  readonly memory: SharedArrayBuffer;
  /** How many units are taken. */
  readonly taken: Int32Array<SharedArrayBuffer>;
  /** Where each one begins, plus one; 0 for one that is not made. */
  readonly starts: Int32Array<SharedArrayBuffer>;
}

/** Most of a rate: 24 digits and signs, quotes, and the delimiter before it. */
const RATE_BYTES = 28;
const UNIT_BYTES = 8;
/** Texts are copied by units: as numbers of 64 bits, none of which is NaN, because delimiters and digits are ASCII. */
const WORDS_A_UNIT = 2;
/** The text of a step; the last byte of its unit has its size. */
const STEP_BYTES = 7;
const SIZE_SHIFT = 24;
/** Beside the number of steps: whether a sum follows. */
const HAS_SUM = 1;

/** Each field of a row begins with a delimiter, and may have a 0 after it, before the next step. */
const mostUnits = (topics: number): number =>
  Math.ceil(((topics + 2) * RATE_BYTES) / UNIT_BYTES) +
  2 * (topics + Math.ceil((2 * (topics + 1)) / STEP_BYTES)) +
  2;

/** Room for the texts of all rates. */
export function roomForRates({ topics, rates }: PlaceLosses): RateTexts {
  const count = topics === 0 ? 1 : rates.length / topics;
  return {
    memory: new SharedArrayBuffer(UNIT_BYTES * count * mostUnits(topics)),
    taken: new Int32Array(new SharedArrayBuffer(4)),
    starts: new Int32Array(new SharedArrayBuffer(4 * count)),
  };
}

/** Writes the losses of a place, and of a row with a value, from byte `at` on. The value is given by its row: a number with decimals that is
 * passed on makes an object. @returns where they end */
type PutLosses = (
  view: DataView,
  place: number,
  values: Float64Array | undefined,
  row: number,
  at: number,
) => number;

interface LossText {
  readonly put: PutLosses;
  /** Reads ahead what some places need, as `placeToucher`. */
  readonly touch: (places: ArrayLike<number>, from: number, to: number) => number;
}

/** What most records take. */
const BYTES_AHEAD = 448;
const LINE_WORDS = 16;

/** Of an amount below a thousand million. */
const MOST_CENTS = 1e11;
/** Below a thousand dollars, as most are. */
const FEW_CENTS = 100_000;

interface LossTextSetup {
  readonly losses: PlaceLosses;
  readonly texts: RateTexts;
  readonly format: FieldFormat;
  /** The columns of losses. */
  readonly columns: readonly TableColumn[];
}

/** The views of a memory of records. */
interface RateRecords {
  readonly bytes: Buffer;
  readonly words: Uint32Array;
  readonly numbers: Float64Array;
}

const recordsIn = (memory: SharedArrayBuffer): RateRecords => ({
  bytes: Buffer.from(memory),
  words: new Uint32Array(memory),
  numbers: new Float64Array(memory),
});

/** Makes what writes the fields of losses. What is the same for all rows of a place is copied; the amounts of a row are written digit by
 * digit. */
export function lossText({ losses, texts, format, columns }: LossTextSetup): LossText {
  const { topics, rates, numberOf, hasAmounts } = losses;
  const { taken, starts } = texts;
  const { three, whole } = digitWords();
  const { cents: centWords, centSizes, wholeSizes } = amountParts();
  const hasPoint = format.decimal !== 'comma';
  const delimiter = format.delimiter.charCodeAt(0);
  let encoded: Buffer = Buffer.alloc(0);
  const encoderOf = (of: readonly TableColumn[], leads: boolean) =>
    new FieldEncoder(format, of, leads, (bytes, length) => {
      encoded = bytes.subarray(0, length);
    });
  const ofRates = encoderOf(columns.slice(0, topics + 2), true);
  const ofAmount = encoderOf(columns.slice(topics + 2, topics + 3), false);
  const shared = recordsIn(texts.memory);
  /** Of one for which there is no room. */
  const made = recordsIn(new SharedArrayBuffer(UNIT_BYTES * mostUnits(topics)));
  /** Where those begin that this thread knows, plus one. */
  const known = new Int32Array(starts.length);
  const amount = new Float64Array(1);

  /** Where the next step is made, the size of its text so far, and how many there are. */
  const step = { unit: 0, size: 0, count: 0 };

  function endStep(rate: number): void {
    made.bytes[UNIT_BYTES * step.unit + STEP_BYTES] = step.size;
    made.numbers[step.unit + 1] = rate;
    step.unit += 2;
    step.size = 0;
    step.count++;
  }

  function addToStep(byte: number): void {
    if (step.size === STEP_BYTES) endStep(Number.NaN);
    made.bytes[UNIT_BYTES * step.unit + step.size++] = byte;
  }

  /** Makes the steps of the amounts, and what stands before their sum. */
  function makeSteps(number: number): void {
    for (let topic = 0; topic < topics; topic++) {
      const rate = rates[number * topics + topic]!;
      addToStep(delimiter);
      if (rate === 0) addToStep(ZERO);
      else if (!Number.isNaN(rate)) endStep(rate);
    }
    addToStep(delimiter);
    made.bytes[UNIT_BYTES * step.unit + STEP_BYTES] = step.size;
    step.unit++;
  }

  /** Makes the record of a number, for all threads. @returns where it is, plus one; 0: in `made` */
  function makeRecord(number: number): number {
    for (let field = 0; field < topics + 2; field++)
      ofRates.put(lossField(losses, number, field, Number.NaN));
    ofRates.endPlace();
    const { bytes, words, numbers } = made;
    words[0] = encoded.copy(bytes, UNIT_BYTES);
    step.unit = 1 + Math.ceil(encoded.length / UNIT_BYTES);
    // A rate of the record before, behind the text in its last unit, could make a NaN of it.
    bytes.fill(0, UNIT_BYTES + encoded.length, UNIT_BYTES * step.unit);
    step.size = 0;
    step.count = 0;
    if (hasAmounts) makeSteps(number);
    const end = step.unit;
    const rate = lossField(losses, number, topics, Number.NaN);
    words[1] = 2 * step.count + (rate === null ? 0 : HAS_SUM);
    const room = shared.numbers.length;
    if (Atomics.load(taken, 0) > room) return 0;
    const start = Atomics.add(taken, 0, end);
    if (start + end > room) return 0;
    // Some dozens: a view and a call to `set` cost more.
    for (let unit = 0; unit < end; unit++) shared.numbers[start + unit] = numbers[unit]!;
    Atomics.store(starts, number, start + 1);
    return start + 1;
  }

  /** Where the record of a number is, plus one; 0: in `made`. */
  function findRecord(number: number): number {
    const start = Atomics.load(starts, number) || makeRecord(number);
    known[number] = start;
    return start;
  }

  /** A number below a thousand. */
  function putWhole(view: DataView, number: number, at: number): number {
    view.setUint32(at, whole[number]!, true);
    return at + wholeSizes[number]!;
  }

  /** What stands after whole dollars. */
  function putRest(view: DataView, cents: number, at: number): number {
    view.setUint32(at, centWords[cents]!, true);
    return at + centSizes[cents]!;
  }

  /** The amount as `String` writes it: without zeros at the end. */
  function putAmount(view: DataView, at: number): number {
    const cents = amount[0]!;
    if (!(cents >= 0 && cents < MOST_CENTS && hasPoint)) return encodeAmount(view, at);
    const dollars = (cents / 100) | 0;
    const rest = cents - dollars * 100;
    const thousands = (dollars / 1000) | 0;
    const millions = (thousands / 1000) | 0;
    let to = at;
    if (millions === 0) to = putWhole(view, thousands, to);
    else {
      to = putWhole(view, millions, to);
      view.setUint32(to, three[thousands - millions * 1000]!, true);
      to += 3;
    }
    view.setUint32(to, three[dollars - thousands * 1000]!, true);
    return putRest(view, rest, to + 3);
  }

  function encodeAmount(view: DataView, at: number): number {
    const cents = amount[0]!;
    ofAmount.put(Number.isNaN(cents) ? null : cents / 100);
    ofAmount.endPlace();
    for (let byte = 0; byte < encoded.length; byte++) view.setUint8(at + byte, encoded[byte]!);
    return at + encoded.length;
  }

  function putCents(view: DataView, cents: number, at: number): number {
    if (cents >= 0 && cents < FEW_CENTS && hasPoint) {
      const all = cents | 0;
      const dollars = (all / 100) | 0;
      return putRest(view, all - dollars * 100, putWhole(view, dollars, at));
    }
    amount[0] = cents;
    return putAmount(view, at);
  }

  /** The text of a step. */
  function putStep(words: Uint32Array, unit: number, view: DataView, at: number): number {
    const rest = words[unit * WORDS_A_UNIT + 1]!;
    view.setUint32(at, words[unit * WORDS_A_UNIT]!, true);
    view.setUint32(at + 4, rest, true);
    return at + (rest >>> SIZE_SHIFT);
  }

  /** All fields of a record. @param value of the row; NaN: its amounts are unknown */
  function putRecord(
    { words, numbers }: RateRecords,
    start: number,
    view: DataView,
    value: number,
    begin: number,
  ): number {
    const size = words[start * WORDS_A_UNIT]!;
    const head = words[start * WORDS_A_UNIT + 1]!;
    let unit = start + 1;
    for (let byte = 0; byte < size; byte += UNIT_BYTES)
      view.setFloat64(begin + byte, numbers[unit++]!, true);
    let at = begin + size;
    if (!hasAmounts) return at;
    if (Number.isNaN(value)) return putNulls(view, at);
    let sum = 0;
    for (let left = head >>> 1; left > 0; left--) {
      at = putStep(words, unit, view, at);
      const rate = numbers[unit + 1]!;
      unit += 2;
      if (Number.isNaN(rate)) continue;
      const cents = lossCents(rate, value);
      at = putCents(view, cents, at);
      sum += cents;
    }
    at = putStep(words, unit, view, at);
    return (head & HAS_SUM) === 0 ? at : putCents(view, sum, at);
  }

  function putNulls(view: DataView, begin: number): number {
    let at = begin;
    while (at <= begin + topics) view.setUint8(at++, delimiter);
    return at;
  }

  return {
    put(view, place, values, row, at) {
      const number = numberOf[place]!;
      const value = values === undefined ? Number.NaN : values[row]!;
      const start = known[number]! || findRecord(number);
      return start === 0
        ? putRecord(made, 0, view, value, at)
        : putRecord(shared, start - 1, view, value, at);
    },
    touch(places, from, to) {
      const { words } = shared;
      let sum = 0;
      for (let index = from; index < to; index++) {
        const first = (known[numberOf[places[index]!]!]! - 1) * WORDS_A_UNIT;
        const end = first + BYTES_AHEAD / 4;
        if (first < 0 || end > words.length) continue;
        for (let at = first; at < end; at += LINE_WORDS) sum += words[at]!;
      }
      return sum;
    },
  };
}

const ZERO = 48;

/** The parts of amounts below a thousand dollars. */
interface AmountParts {
  /** By cents: what stands after whole dollars, in a word each, and its size. */
  readonly cents: Uint32Array;
  readonly centSizes: Uint8Array;
  /** By whole dollars: how many digits they have. */
  readonly wholeSizes: Uint8Array;
}

let parts: AmountParts | null = null;

/** The tables, which are made once. */
function amountParts(): AmountParts {
  if (parts !== null) return parts;
  const bytes = Buffer.alloc(4 * 100);
  const centSizes = Uint8Array.from({ length: 100 }, (_, cents) =>
    bytes.write(String(cents / 100).slice(1), 4 * cents, 'latin1'),
  );
  parts = {
    cents: new Uint32Array(bytes.buffer, bytes.byteOffset, 100),
    centSizes,
    wholeSizes: Uint8Array.from({ length: 1000 }, (_, dollars) => String(dollars).length),
  };
  return parts;
}
