import type { Field } from '../../contract/answer.ts';
import {
  numberedTexts,
  type OutputPlaces,
  packedFinder,
  packedWidth,
} from '../../formats/packed/output-places.ts';
import { FieldPacker, skipFields, TAGS } from '../../formats/packed/packed-fields.ts';
import {
  lossCents,
  lossField,
  lossWidth,
  type PlaceLosses,
} from '../../formats/packed/place-losses.ts';
import type { ByteBuffer } from '../files/byte-buffer.ts';
import { isWritten, type TableColumn } from '../port.ts';
import { FieldEncoder, type FieldFormat } from './field-bytes.ts';

/** Adds the fields of a place to a buffer, and of a row with a value: each after a delimiter but the first, which has one where `leads`. */
export type AddPlace = (gathered: ByteBuffer, place: number, value?: number) => void;

const [ZERO, POINT, MINUS] = [48, 46, 45];
const { millionths: MILLIONTHS, small: SMALL, null: NULL, firstText: FIRST_TEXT } = TAGS;
const MILLION = 1e6;

/** A short text with its delimiter, in words. */
const TEXT_BYTES = 256;
/** Room for a field, and what is written beyond its end. */
const FIELD_BYTES = TEXT_BYTES + 8;
/** Of an amount below a thousand million. */
const MOST_CENTS = 1e11;
const DAY_MS = 86_400_000;
const DAY_LENGTH = '2026-03-10T'.length;

/** The digits of numbers below a thousand as words: four bytes are written at once. */
interface DigitWords {
  /** Three digits; after a decimal point; without leading zeros. */
  readonly three: Uint32Array;
  readonly pointed: Uint32Array;
  readonly whole: Uint32Array;
  /** How many zeros the three digits end with. */
  readonly zeros: Uint8Array;
}

const wordOf = (text: string): number =>
  [...text].reduce((sum, char, at) => sum + char.charCodeAt(0) * 2 ** (8 * at), 0);

let words: DigitWords | null = null;

function digitWords(): DigitWords {
  if (words !== null) return words;
  const numbers = Array.from({ length: 1000 }, (_, number) => String(number));
  const padded = numbers.map((text) => text.padStart(3, '0'));
  words = {
    three: Uint32Array.from(padded, wordOf),
    pointed: Uint32Array.from(padded, (text) => wordOf(`.${text}`)),
    whole: Uint32Array.from(numbers, wordOf),
    zeros: Uint8Array.from(padded, (text) => /0*$/.exec(text)![0].length),
  };
  return words;
}

/** Makes what writes the fields of places as text, from their packed form: ratings and numbers by words, other fields by `FieldEncoder`. */
export function placedText(
  places: OutputPlaces,
  format: FieldFormat,
  added: readonly TableColumn[],
  leads: boolean,
): AddPlace {
  const { kinds, kindOf, times, losses, empty } = places;
  const width = packedWidth(places);
  const find = packedFinder(places);
  const unpacker = new FieldPacker(numberedTexts(places));
  const { three, pointed, whole, zeros } = digitWords();
  const delimiter = format.delimiter.charCodeAt(0);
  const hasPoint = format.decimal !== 'comma';
  const kindWidth = kinds[0]?.length ?? 0;
  const firstPacked = kindWidth + (times === null ? 0 : 1);
  /** One field of a column with a delimiter before it, valid until the next. */
  const encoders = [added.find(isWritten), added.find((column) => !isWritten(column))].map(
    (column) => {
      if (column === undefined) return null;
      const one = { bytes: Buffer.alloc(0) as Buffer };
      const encoder = new FieldEncoder(format, [column], true, (bytes, length) => {
        one.bytes = bytes.subarray(0, length);
      });
      return { one, encoder };
    },
  );
  const encode = (field: Field, column: number): Buffer => {
    const { one, encoder } = encoders[isWritten(added[column]!) ? 0 : 1]!;
    encoder.put(field);
    encoder.endPlace();
    return one.bytes;
  };
  const kindBytes = kinds.map((fields) =>
    Buffer.concat(fields.map((field, column) => Buffer.from(encode(field, column)))),
  );
  const most = Math.max(0, ...kindBytes.map(({ length }) => length)) + (width + 2) * FIELD_BYTES;
  const lossBytes = losses === null ? 0 : lossWidth(losses) * FIELD_BYTES;
  const firstLoss = firstPacked + width;
  const rateText = losses === null ? null : rateTexts(losses, format, added.slice(firstLoss));
  /** 1 for each packed field of a column of Perilbook's: a text of another one is written as it is. */
  const isOwnColumn = Uint8Array.from({ length: width }, (_, field) =>
    isWritten(added[firstPacked + field]!) ? 1 : 0,
  );
  const texts = shortTexts(places, encoders[0] === null ? null : (text) => encode(text, 0), added);
  // A time is text without quotes, unless the delimiter is in it.
  const isTimePlain = !'0123456789-:.TZ'.includes(format.delimiter);
  const day = { number: Number.NaN, bytes: Buffer.alloc(DAY_LENGTH) };

  let target: Buffer | null = null;
  let view = new DataView(new ArrayBuffer(0));
  let bytes: Buffer = Buffer.alloc(0);

  function useBuffer(gathered: ByteBuffer): void {
    bytes = gathered.bytes;
    if (bytes === target) return;
    target = bytes;
    view = new DataView(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length);
  }

  function putTime(time: number, at: number): number {
    bytes[at] = delimiter;
    if (Number.isNaN(time)) return at + 1;
    if (!isTimePlain) return at + encode(new Date(time).toISOString(), kindWidth).copy(bytes, at);
    const number = Math.floor(time / DAY_MS);
    if (number !== day.number) {
      day.number = number;
      day.bytes.write(new Date(time).toISOString(), 0, DAY_LENGTH, 'latin1');
    }
    let to = at + 1 + day.bytes.copy(bytes, at + 1);
    const ms = time - number * DAY_MS;
    const seconds = Math.floor(ms / 1000);
    const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
    for (let part = 0; part < 3; part++) {
      bytes[to++] = ZERO + Math.floor(clock[part]! / 10);
      bytes[to++] = ZERO + (clock[part]! % 10);
      bytes[to++] = part < 2 ? 58 : POINT;
    }
    view.setUint32(to, three[ms % 1000]!, true);
    bytes[to + 3] = 90;
    return to + 4;
  }

  function putMillionths(given: number, at: number): number {
    let to = at;
    let millionths = given;
    bytes[to++] = delimiter;
    if (millionths < 0) {
      bytes[to++] = MINUS;
      millionths = -millionths;
    }
    // The quotient of 32 bits is exact in a double.
    const full = Math.floor(millionths / MILLION);
    const rest = millionths - full * MILLION;
    if (full < 1000) {
      view.setUint32(to, whole[full]!, true);
      to += full < 10 ? 1 : full < 100 ? 2 : 3;
    } else {
      // Below 2,148: 31 bits of millionths.
      bytes[to++] = ZERO + ((full / 1000) | 0);
      view.setUint32(to, three[full % 1000]!, true);
      to += 3;
    }
    if (rest === 0) return to;
    const high = (rest / 1000) | 0;
    const low = rest - high * 1000;
    view.setUint32(to, pointed[high]!, true);
    if (low === 0) return to + 4 - zeros[high]!;
    view.setUint32(to + 4, three[low]!, true);
    return to + 7 - zeros[low]!;
  }

  /** A number below a thousand. */
  function putWhole(number: number, at: number): number {
    view.setUint32(at, whole[number]!, true);
    return at + (number < 10 ? 1 : number < 100 ? 2 : 3);
  }

  /** An amount as `String` writes it: without zeros at the end. */
  function putCents(cents: number, column: number, at: number): number {
    if (!(cents >= 0 && cents < MOST_CENTS && hasPoint))
      return at + encode(Number.isNaN(cents) ? null : cents / 100, column).copy(bytes, at);
    bytes[at] = delimiter;
    const dollars = (cents / 100) | 0;
    const rest = cents - dollars * 100;
    const thousands = (dollars / 1000) | 0;
    let to = at + 1;
    if (thousands === 0) to = putWhole(dollars, to);
    else {
      const millions = (thousands / 1000) | 0;
      if (millions === 0) to = putWhole(thousands, to);
      else {
        to = putWhole(millions, to);
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

  function putLosses(place: number, value: number, at: number): number {
    const { topics, rates, numberOf, hasAmounts } = losses!;
    const number = numberOf[place]!;
    let to = at + rateText!(number).copy(bytes, at);
    if (!hasAmounts) return to;
    let [sum, count] = [0, 0];
    for (let topic = 0; topic < topics; topic++) {
      const cents = lossCents(rates[number * topics + topic]!, value);
      if (Number.isNaN(cents)) {
        bytes[to++] = delimiter;
        continue;
      }
      to = putCents(cents, firstLoss, to);
      sum += cents;
      count++;
    }
    return putCents(count === 0 ? Number.NaN : sum, firstLoss, to);
  }

  return (gathered, place, value = Number.NaN) => {
    gathered.makeRoom(most + lossBytes);
    useBuffer(gathered);
    const begin = gathered.used;
    let to = begin + kindBytes[kindOf[place]!]!.copy(bytes, begin);
    if (times !== null) to = putTime(times[place]!, to);
    const { bytes: packed, from } = find(place);
    let at = from;
    for (let field = 0; field < width; field++) {
      const tag = packed[at]!;
      const size = isOwnColumn[field] === 1 ? texts.sizes[tag]! : 0;
      if (size > 0) {
        const first = (tag * TEXT_BYTES) >> 2;
        for (let word = 0; word << 2 < size; word++)
          view.setUint32(to + (word << 2), texts.words[first + word]!, true);
        to += size;
        at++;
      } else if (tag === MILLIONTHS && hasPoint) {
        to = putMillionths(packed.readInt32LE(at + 1), to);
        at += 5;
      } else if (tag === SMALL) {
        const value = packed[at + 1]!;
        bytes[to] = delimiter;
        view.setUint32(to + 1, whole[value]!, true);
        to += value < 10 ? 2 : value < 100 ? 3 : 4;
        at += 2;
      } else if (tag === NULL) {
        bytes[to++] = delimiter;
        at++;
      } else {
        const other = encode(unpacker.unpack(packed, at, 1)[0]!, firstPacked + field);
        gathered.used = to;
        gathered.makeRoom(other.length + most + lossBytes);
        useBuffer(gathered);
        to += other.copy(bytes, to);
        at = skipFields(packed, at, 1);
      }
    }
    if (losses !== null) to = putLosses(place, value, to);
    for (let left = empty; left > 0; left--) bytes[to++] = delimiter;
    if (!leads) {
      bytes.copyWithin(begin, begin + 1, to);
      to--;
    }
    gathered.used = to;
  };
}

/** Makes the texts of rates by their number, each with a delimiter before it: the places of a tract have the same. */
function rateTexts(
  losses: PlaceLosses,
  format: FieldFormat,
  added: readonly TableColumn[],
): (number: number) => Buffer {
  const count = losses.topics + 2;
  let text = Buffer.alloc(0);
  const encoder = new FieldEncoder(format, added.slice(0, count), true, (bytes, length) => {
    text = Buffer.from(bytes.subarray(0, length));
  });
  const texts: Buffer[] = [];
  return (number) => {
    if (texts[number] === undefined) {
      for (let field = 0; field < count; field++)
        encoder.put(lossField(losses, number, field, Number.NaN));
      encoder.endPlace();
      texts[number] = text;
    }
    return texts[number];
  };
}

/** The texts with tags of their own, as columns of Perilbook's have them, with the delimiter before them, and how long they are: 0 for
 * others. */
function shortTexts(
  { texts }: OutputPlaces,
  encode: ((text: string) => Buffer) | null,
  added: readonly TableColumn[],
): { readonly words: Uint32Array; readonly sizes: Uint8Array } {
  const words = new Uint32Array((256 * TEXT_BYTES) >> 2);
  const sizes = new Uint8Array(256);
  if (encode === null || !added.some(isWritten)) return { words, sizes };
  for (let tag: number = FIRST_TEXT; tag < 256 && tag - FIRST_TEXT < texts.length; tag++) {
    const text = texts[tag - FIRST_TEXT];
    const bytes = text == null ? null : encode(text);
    if (bytes === null || bytes.length >= TEXT_BYTES) continue;
    sizes[tag] = bytes.length;
    Buffer.from(words.buffer, tag * TEXT_BYTES, TEXT_BYTES).set(bytes);
  }
  return { words, sizes };
}
