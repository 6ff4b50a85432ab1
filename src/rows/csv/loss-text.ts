import { lossCents, lossField, type PlaceLosses } from '../../formats/packed/place-losses.ts';
import type { TableColumn } from '../port.ts';
import { digitWords } from './digit-words.ts';
import { FieldEncoder, type FieldFormat } from './field-bytes.ts';

/** What is written of rates, by their number, made when a row first needs it: threads share it. Places of one tract have the same. */
export interface RateTexts {
  /** Each one in words: the size of the text of the rates, this text, and the steps that write the amounts of a row. A step begins with
   * the fields before an amount, which are the same for all rows, and its delimiter: a word of its kind, their size and the first three
   * bytes of them, and words with the others. The rate of the amount follows, in two words: a row reads its memory in one run. Unwritten
   * pages take no memory. */
  readonly words: Uint32Array<SharedArrayBuffer>;
  /** How many words are taken. */
  readonly taken: Int32Array<SharedArrayBuffer>;
  /** Where each one begins, plus one; 0 for one that is not made. */
  readonly starts: Int32Array<SharedArrayBuffer>;
}

/** Most of a rate: 24 digits and signs, quotes, and the delimiter before it. */
const RATE_BYTES = 28;
const WORD_BYTES = 4;
/** A step with its rate takes three words, and one with other fields before it as many as these have bytes. */
const STEP_WORDS = 4;
/** In the first word of a step: the size, the kind, and the text. */
const SIZE_MASK = 63;
const KIND_SHIFT = 6;
const KIND_MASK = 3;
const TEXT_SHIFT = 8;
const TEXT_BYTES = 3;
/** A step writes the amount of a topic that has a rate above 0; the last one the sum of them, or nothing where no topic has a rate. */
const KINDS = { topic: 0, sum: 1, none: 2 } as const;

const mostWords = (topics: number): number =>
  1 + ((topics + 2) * RATE_BYTES) / WORD_BYTES + (topics + 1) * STEP_WORDS;

/** Room for the texts of all rates. */
export function roomForRates({ topics, rates }: PlaceLosses): RateTexts {
  const count = topics === 0 ? 1 : rates.length / topics;
  return {
    words: sharedWords(count * mostWords(topics)),
    taken: new Int32Array(new SharedArrayBuffer(WORD_BYTES)),
    starts: new Int32Array(new SharedArrayBuffer(WORD_BYTES * count)),
  };
}

const sharedWords = (count: number) => new Uint32Array(new SharedArrayBuffer(WORD_BYTES * count));

/** Writes the losses of a place, and of a row with a value, from byte `at` on. @returns where they end */
export type PutLosses = (view: DataView, place: number, value: number, at: number) => number;

/** Of an amount below a thousand million. */
const MOST_CENTS = 1e11;
/** Below ten dollars, as most are: such an amount has four characters at most. */
const FEW_CENTS = 1000;

interface LossTextSetup {
  readonly losses: PlaceLosses;
  readonly texts: RateTexts;
  readonly format: FieldFormat;
  /** The columns of losses. */
  readonly columns: readonly TableColumn[];
}

/** Makes what writes the fields of losses. What is the same for all rows of a place is copied; the amounts of a row are written digit by
 * digit. */
export function lossText({ losses, texts, format, columns }: LossTextSetup): PutLosses {
  const { topics, rates, numberOf, hasAmounts } = losses;
  const { taken, starts } = texts;
  const { three, pointed, whole } = digitWords();
  const small = smallAmounts();
  const hasPoint = format.decimal !== 'comma';
  let encoded: Buffer = Buffer.alloc(0);
  const encoderOf = (of: readonly TableColumn[], leads: boolean) =>
    new FieldEncoder(format, of, leads, (bytes, length) => {
      encoded = bytes.subarray(0, length);
    });
  const ofRates = encoderOf(columns.slice(0, topics + 2), true);
  const ofAmount = encoderOf(columns.slice(topics + 2, topics + 3), false);
  const made = sharedWords(mostWords(topics));
  const madeBytes = Buffer.from(made.buffer);
  /** Where the words of the last number are, and a view of them: of all, or of one for which there is no room. */
  let words = texts.words;
  let numbers = new DataView(words.buffer);
  const [allNumbers, madeNumbers] = [numbers, new DataView(made.buffer)];
  /** In an array, because a number with decimals that is passed on makes an object. */
  const amount = new Float64Array(1);

  /** Makes the step that comes next. @returns the words after it */
  function makeStep(at: number, kind: number, before: string): number {
    const bytes = WORD_BYTES * at;
    madeBytes.write(before, bytes + 1, 'latin1');
    madeBytes[bytes] = (kind << KIND_SHIFT) | before.length;
    return at + Math.ceil((1 + before.length) / WORD_BYTES);
  }

  function makeSteps(number: number, from: number): number {
    const { delimiter } = format;
    let [at, before, hasRate] = [from, '', false];
    for (let topic = 0; topic < topics; topic++) {
      const rate = rates[number * topics + topic]!;
      before += delimiter;
      if (Number.isNaN(rate)) continue;
      hasRate = true;
      if (rate === 0) before += '0';
      else {
        at = makeStep(at, KINDS.topic, before);
        madeNumbers.setFloat64(WORD_BYTES * at, rate, true);
        at += 2;
        before = '';
      }
    }
    return makeStep(at, hasRate ? KINDS.sum : KINDS.none, before + delimiter);
  }

  /** Makes the words of a number, for all threads. @returns where they are in `words` */
  function makeWords(number: number): number {
    for (let field = 0; field < topics + 2; field++)
      ofRates.put(lossField(losses, number, field, Number.NaN));
    ofRates.endPlace();
    made[0] = encoded.copy(madeBytes, WORD_BYTES);
    const steps = 1 + Math.ceil(encoded.length / WORD_BYTES);
    const size = hasAmounts ? makeSteps(number, steps) : steps;
    const start = Atomics.add(taken, 0, size);
    if (start + size > words.length) {
      words = made;
      numbers = madeNumbers;
      return 0;
    }
    for (let word = 0; word < size; word++) words[start + word] = made[word]!;
    Atomics.store(starts, number, start + 1);
    return start;
  }

  /** A number below a thousand. */
  function putWhole(view: DataView, number: number, at: number): number {
    view.setUint32(at, whole[number]!, true);
    return at + (number < 10 ? 1 : number < 100 ? 2 : 3);
  }

  /** An amount as `String` writes it: without zeros at the end. */
  function putAmount(view: DataView, at: number): number {
    const cents = amount[0]!;
    if (!(cents >= 0 && cents < MOST_CENTS && hasPoint)) return encodeAmount(view, at);
    const dollars = (cents / 100) | 0;
    const rest = cents - dollars * 100;
    const thousands = (dollars / 1000) | 0;
    let to = at;
    if (thousands === 0) to = putWhole(view, dollars, to);
    else {
      const millions = (thousands / 1000) | 0;
      if (millions === 0) to = putWhole(view, thousands, to);
      else {
        to = putWhole(view, millions, to);
        view.setUint32(to, three[thousands - millions * 1000]!, true);
        to += 3;
      }
      view.setUint32(to, three[dollars - thousands * 1000]!, true);
      to += 3;
    }
    if (rest === 0) return to;
    view.setUint32(to, pointed[rest * 10]!, true);
    return to + (rest % 10 === 0 ? 2 : 3);
  }

  function encodeAmount(view: DataView, at: number): number {
    const cents = amount[0]!;
    ofAmount.put(Number.isNaN(cents) ? null : cents / 100);
    ofAmount.endPlace();
    for (let byte = 0; byte < encoded.length; byte++) view.setUint8(at + byte, encoded[byte]!);
    return at + encoded.length;
  }

  /** All amounts of a row, by the steps from a word on. */
  function putAmounts(view: DataView, value: number, step: number, begin: number): number {
    const { words: digits, sizes } = small;
    let from = step;
    let at = begin;
    let sum = 0;
    for (;;) {
      const head = words[from++]!;
      const size = head & SIZE_MASK;
      const kind = (head >>> KIND_SHIFT) & KIND_MASK;
      view.setUint32(at, head >>> TEXT_SHIFT, true);
      for (let byte = TEXT_BYTES; byte < size; byte += WORD_BYTES)
        view.setUint32(at + byte, words[from++]!, true);
      at += size;
      if (kind === KINDS.none) return at;
      let cents = sum;
      if (kind === KINDS.topic) {
        cents = lossCents(numbers.getFloat64(WORD_BYTES * from, true), value);
        from += 2;
      }
      if (cents >= 0 && cents < FEW_CENTS && hasPoint) {
        view.setUint32(at, digits[cents | 0]!, true);
        at += sizes[cents | 0]!;
      } else {
        amount[0] = cents;
        at = putAmount(view, at);
      }
      if (kind === KINDS.sum) return at;
      sum += cents;
    }
  }

  const delimiter = format.delimiter.charCodeAt(0);
  function putNulls(view: DataView, begin: number): number {
    let at = begin;
    while (at <= begin + topics) view.setUint8(at++, delimiter);
    return at;
  }

  return (view, place, value, at) => {
    const number = numberOf[place]!;
    words = texts.words;
    numbers = allNumbers;
    const known = Atomics.load(starts, number) - 1;
    const start = known < 0 ? makeWords(number) : known;
    const size = words[start]!;
    let from = start + 1;
    for (let byte = 0; byte < size; byte += WORD_BYTES)
      view.setUint32(at + byte, words[from++]!, true);
    if (!hasAmounts) return at + size;
    return Number.isNaN(value)
      ? putNulls(view, at + size)
      : putAmounts(view, value, from, at + size);
  };
}

/** The texts of amounts below ten dollars, by their cents, in a word each. */
interface SmallAmounts {
  readonly words: Uint32Array;
  readonly sizes: Uint8Array;
}

let amounts: SmallAmounts | null = null;

/** The table, which is made once. */
function smallAmounts(): SmallAmounts {
  if (amounts !== null) return amounts;
  const bytes = Buffer.alloc(WORD_BYTES * FEW_CENTS);
  const sizes = Uint8Array.from({ length: FEW_CENTS }, (_, cents) =>
    bytes.write(String(cents / 100), WORD_BYTES * cents, 'latin1'),
  );
  amounts = { words: new Uint32Array(bytes.buffer, bytes.byteOffset, FEW_CENTS), sizes };
  return amounts;
}
