import type { Field } from '../../contract/answer.ts';
import {
  numberedTexts,
  type OutputPlaces,
  packedFinder,
  packedWidth,
} from '../../formats/packed/output-places.ts';
import { FieldPacker, skipFields, TAGS } from '../../formats/packed/packed-fields.ts';
import { lossWidth } from '../../formats/packed/place-losses.ts';
import { placeToucher } from '../../formats/packed/place-table.ts';
import type { ByteBuffer } from '../files/byte-buffer.ts';
import { isWritten, type TableColumn } from '../port.ts';
import { digitWords, wordText } from './digit-words.ts';
import { FieldEncoder, type FieldFormat } from './field-bytes.ts';
import { lossText, type RateTexts, roomForRates } from './loss-text.ts';

/** Adds the fields of a place to a buffer, and of a row with a value: each after a delimiter but the first, which has one where `leads`.
 * @param values of some rows; left out: they have none
 * @param row the index of this one */
type AddPlace = (gathered: ByteBuffer, place: number, values?: Float64Array, row?: number) => void;

/** Writes the fields of places as text. */
export interface PlacedText {
  readonly add: AddPlace;
  /** Called before each row, by its index: at some of them reads ahead what it and the next ones need, whose places are anywhere in memory. */
  readonly readAhead: (places: ArrayLike<number>, row: number) => void;
}

/** What their places need fits the processor's cache. */
const ROWS_AHEAD = 32;

/** Of the packed fields of a place; 18 natural topics take as much. */
const BYTES_AHEAD = 256;

const [ZERO, POINT, MINUS, COLON, LETTER_Z] = [48, 46, 45, 58, 90];
const { millionths: MILLIONTHS, small: SMALL, null: NULL, firstText: FIRST_TEXT } = TAGS;
const MILLION = 1e6;

/** A short text with its delimiter, in words. */
const TEXT_BYTES = 256;
/** Room for a field, and what is written beyond its end. */
const FIELD_BYTES = TEXT_BYTES + 8;
const DAY_MS = 86_400_000;
const DAY_LENGTH = '2026-03-10T'.length;
/** A delimiter and a time. */
const TIME_BYTES = 1 + '2026-03-10T12:00:00.000Z'.length;

/** Makes what writes the fields of places as text, from their packed form: ratings and numbers by words, other fields by `FieldEncoder`.
 * @param rateTexts those of the places' loss rates; threads that write one output share them */
export function placedText(
  places: OutputPlaces,
  format: FieldFormat,
  added: readonly TableColumn[],
  leads: boolean,
  rateTexts: RateTexts | null = places.losses && roomForRates(places.losses),
): PlacedText {
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
  const kindTexts = kinds.map((fields) =>
    wordText(Buffer.concat(fields.map((field, column) => Buffer.from(encode(field, column))))),
  );
  const longestKind = kindTexts.reduce((longest, { size }) => Math.max(longest, size), 0);
  const most = longestKind + (width + 2) * FIELD_BYTES;
  const lossBytes = losses === null ? 0 : lossWidth(losses) * FIELD_BYTES;
  const lossTexts =
    losses === null || rateTexts === null
      ? null
      : lossText({ losses, texts: rateTexts, format, columns: added.slice(firstPacked + width) });
  /** 1 for each packed field of a column of Perilbook's: a text of another one is written as it is. */
  const isOwnColumn = Uint8Array.from({ length: width }, (_, field) =>
    isWritten(added[firstPacked + field]!) ? 1 : 0,
  );
  const texts = shortTexts(places, encoders[0] === null ? null : (text) => encode(text, 0), added);
  // A time is text without quotes, unless the delimiter is in it.
  const isTimePlain = !'0123456789-:.TZ'.includes(format.delimiter);
  const time = { number: Number.NaN, day: Number.NaN, text: Buffer.alloc((TIME_BYTES + 3) & ~3) };
  const timeWords = new Uint32Array(time.text.buffer, time.text.byteOffset, time.text.length >> 2);
  time.text[0] = delimiter;

  let target: Buffer | null = null;
  let view = new DataView(new ArrayBuffer(0));
  let bytes: Buffer = Buffer.alloc(0);

  function useBuffer(gathered: ByteBuffer): void {
    bytes = gathered.bytes;
    if (bytes === target) return;
    target = bytes;
    view = new DataView(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length);
  }

  /** Makes the text of a time in `time`. */
  function formatTime(number: number): void {
    const { text } = time;
    time.number = number;
    const day = Math.floor(number / DAY_MS);
    if (day !== time.day) {
      time.day = day;
      text.write(new Date(number).toISOString(), 1, DAY_LENGTH, 'latin1');
    }
    const ms = number - day * DAY_MS;
    const seconds = (ms / 1000) | 0;
    const minutes = (seconds / 60) | 0;
    const hours = (minutes / 60) | 0;
    const millis = ms - seconds * 1000;
    putTwo(text, 1 + DAY_LENGTH, hours, COLON);
    putTwo(text, 4 + DAY_LENGTH, minutes - hours * 60, COLON);
    putTwo(text, 7 + DAY_LENGTH, seconds - minutes * 60, POINT);
    text.writeUInt32LE(three[millis]!, 10 + DAY_LENGTH);
    text[13 + DAY_LENGTH] = LETTER_Z;
  }

  function putTime(place: number, at: number): number {
    const number = times![place]!;
    if (Number.isNaN(number)) {
      bytes[at] = delimiter;
      return at + 1;
    }
    if (!isTimePlain) return at + encode(new Date(number).toISOString(), kindWidth).copy(bytes, at);
    if (number !== time.number) formatTime(number);
    for (let word = 0; word < timeWords.length; word++)
      view.setUint32(at + (word << 2), timeWords[word]!, true);
    return at + TIME_BYTES;
  }

  function putMillionths(given: number, at: number): number {
    let to = at;
    bytes[to++] = delimiter;
    if (given < 0) bytes[to++] = MINUS;
    // Unsigned 32 bits: their division by a constant is a multiplication.
    const millionths = (given < 0 ? -given : given) >>> 0;
    const full = (millionths / MILLION) >>> 0;
    const rest = (millionths - full * MILLION) | 0;
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

  const touchers = places.tables.map(({ table }) => placeToucher(table, BYTES_AHEAD));
  if (lossTexts !== null) touchers.push(lossTexts.touch);
  /** Of what was read ahead. */
  let sum = 0;
  function readAhead(numbers: ArrayLike<number>, row: number): void {
    if (row % ROWS_AHEAD !== 0) return;
    const to = Math.min(row + ROWS_AHEAD, numbers.length);
    for (const touch of touchers) sum = (sum + touch(numbers, row, to)) | 0;
  }

  const add: AddPlace = (gathered, place, values, row = 0) => {
    gathered.makeRoom(most + lossBytes);
    useBuffer(gathered);
    const begin = gathered.used;
    const { words: kindWords, size: kindSize } = kindTexts[kindOf[place]!]!;
    for (let word = 0; word << 2 < kindSize; word++)
      view.setUint32(begin + (word << 2), kindWords[word]!, true);
    let to = begin + kindSize;
    if (times !== null) to = putTime(place, to);
    const { bytes: packed, view: numbers, from } = find(place);
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
        to = putMillionths(numbers.getInt32(at + 1, true), to);
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
    if (lossTexts !== null) to = lossTexts.put(view, place, values, row, to);
    for (let left = empty; left > 0; left--) bytes[to++] = delimiter;
    if (!leads) {
      bytes.copyWithin(begin, begin + 1, to);
      to--;
    }
    gathered.used = to;
  };
  return { add, readAhead };
}

/** Writes two digits and what follows them. */
function putTwo(text: Buffer, at: number, number: number, follower: number): void {
  const tens = (number / 10) | 0;
  text[at] = ZERO + tens;
  text[at + 1] = ZERO + number - tens * 10;
  text[at + 2] = follower;
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
