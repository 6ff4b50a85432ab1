import { lossCents, lossField, type PlaceLosses } from '../../formats/packed/place-losses.ts';
import type { TableColumn } from '../port.ts';
import { digitWords } from './digit-words.ts';
import { FieldEncoder, type FieldFormat } from './field-bytes.ts';

/** The texts of rates by their number, made when a row first needs them: threads share them. Places of one tract have the same. */
export interface RateTexts {
  /** Each text with its size before it, in words. Unwritten pages take no memory. */
  readonly words: Uint32Array<SharedArrayBuffer>;
  /** How many words are taken. */
  readonly taken: Int32Array<SharedArrayBuffer>;
  /** Where each text begins, plus one; 0 for one that is not made. */
  readonly starts: Int32Array<SharedArrayBuffer>;
}

/** Of a rate with its delimiter. */
const RATE_BYTES = 24;
const WORD_BYTES = 4;

/** Room for the texts of all rates. */
export function roomForRates({ topics, rates }: PlaceLosses): RateTexts {
  const count = topics === 0 ? 1 : rates.length / topics;
  const bytes = count * (WORD_BYTES + (topics + 2) * RATE_BYTES);
  return {
    words: new Uint32Array(new SharedArrayBuffer(bytes)),
    taken: new Int32Array(new SharedArrayBuffer(WORD_BYTES)),
    starts: new Int32Array(new SharedArrayBuffer(WORD_BYTES * count)),
  };
}

/** Writes the losses of a place, and of a row with a value, from byte `at` on. @returns where they end */
export type PutLosses = (view: DataView, place: number, value: number, at: number) => number;

/** Of an amount below a thousand million. */
const MOST_CENTS = 1e11;
/** Below a thousand dollars, as most are. */
const FEW_CENTS = 1e5;

interface LossTextSetup {
  readonly losses: PlaceLosses;
  readonly texts: RateTexts;
  readonly format: FieldFormat;
  /** The columns of losses. */
  readonly columns: readonly TableColumn[];
}

/** Makes what writes the fields of losses: the rates of a place are copied, the amounts of a row are written digit by digit. */
export function lossText({ losses, texts, format, columns }: LossTextSetup): PutLosses {
  const { topics, rates, numberOf, hasAmounts } = losses;
  const { words, taken, starts } = texts;
  const { three, pointed, whole } = digitWords();
  const delimiter = format.delimiter.charCodeAt(0);
  const hasPoint = format.decimal !== 'comma';
  /** In an array, because a number with decimals that is passed on makes an object. */
  const amounts = new Float64Array(topics + 1);
  let encoded: Buffer = Buffer.alloc(0);
  const encoderOf = (of: readonly TableColumn[]) =>
    new FieldEncoder(format, of, true, (bytes, length) => {
      encoded = bytes.subarray(0, length);
    });
  const ofRates = encoderOf(columns.slice(0, topics + 2));
  const ofAmount = encoderOf(columns.slice(topics + 2, topics + 3));

  function copyEncoded(view: DataView, at: number): number {
    for (let byte = 0; byte < encoded.length; byte++) view.setUint8(at + byte, encoded[byte]!);
    return at + encoded.length;
  }

  /** Encodes the rates of a number, for all threads. @returns where they are; -1 without room */
  function makeRates(number: number): number {
    for (let field = 0; field < topics + 2; field++)
      ofRates.put(lossField(losses, number, field, Number.NaN));
    ofRates.endPlace();
    const size = 1 + Math.ceil(encoded.length / WORD_BYTES);
    const start = Atomics.add(taken, 0, size);
    if (start + size > words.length) return -1;
    words[start] = encoded.length;
    Buffer.from(words.buffer, (start + 1) * WORD_BYTES, encoded.length).set(encoded);
    Atomics.store(starts, number, start + 1);
    return start;
  }

  function putRates(view: DataView, number: number, at: number): number {
    const known = Atomics.load(starts, number) - 1;
    const start = known < 0 ? makeRates(number) : known;
    if (start < 0) return copyEncoded(view, at);
    const size = words[start]!;
    for (let word = 0; word << 2 < size; word++)
      view.setUint32(at + (word << 2), words[start + 1 + word]!, true);
    return at + size;
  }

  /** A number below a thousand. */
  function putWhole(view: DataView, number: number, at: number): number {
    view.setUint32(at, whole[number]!, true);
    return at + (number < 10 ? 1 : number < 100 ? 2 : 3);
  }

  /** An amount as `String` writes it: without zeros at the end. */
  function putCents(view: DataView, index: number, at: number): number {
    const cents = amounts[index]!;
    if (!(cents >= 0 && cents < MOST_CENTS && hasPoint)) {
      ofAmount.put(cents / 100);
      ofAmount.endPlace();
      return copyEncoded(view, at);
    }
    view.setUint8(at, delimiter);
    const dollars = (cents / 100) | 0;
    const rest = cents - dollars * 100;
    const thousands = (dollars / 1000) | 0;
    let to = at + 1;
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

  /** All amounts of a row. */
  function putAmounts(view: DataView, begin: number): number {
    let at = begin;
    for (let index = 0; index <= topics; index++) {
      const amount = amounts[index]!;
      if (Number.isNaN(amount)) {
        view.setUint8(at++, delimiter);
        continue;
      }
      if (!(amount >= 0 && amount < FEW_CENTS && hasPoint)) {
        at = putCents(view, index, at);
        continue;
      }
      const cents = amount | 0;
      const dollars = (cents / 100) | 0;
      const rest = cents - dollars * 100;
      view.setUint8(at, delimiter);
      view.setUint32(at + 1, whole[dollars]!, true);
      at += dollars < 10 ? 2 : dollars < 100 ? 3 : 4;
      if (rest === 0) continue;
      view.setUint32(at, pointed[rest * 10]!, true);
      at += rest % 10 === 0 ? 2 : 3;
    }
    return at;
  }

  return (view, place, value, at) => {
    const number = numberOf[place]!;
    const to = putRates(view, number, at);
    if (!hasAmounts) return to;
    let sum = 0;
    let count = 0;
    for (let topic = 0; topic < topics; topic++) {
      const cents = lossCents(rates[number * topics + topic]!, value);
      amounts[topic] = cents;
      if (Number.isNaN(cents)) continue;
      sum += cents;
      count++;
    }
    amounts[topics] = count === 0 ? Number.NaN : sum;
    return putAmounts(view, to);
  };
}
