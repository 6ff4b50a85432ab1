import type { Field } from '../../contract/answer.ts';

/* Fields as bytes, one tag per field: 18 natural topics take some 300 bytes a cell, where an array of strings and
 * boxed numbers takes about 900 and JSON 1,400. Unpacked fields equal the packed ones bit for bit. Store files contain the
 * tags, so a tag never gets another meaning. */
export const TAGS = {
  null: 0,
  double: 1,
  whole: 2,
  millionths: 3,
  small: 4,
  time: 5,
  knownText: 6,
  ownText: 7,
  /** From here on tags are the first texts themselves: ratings and statuses take one byte. */
  firstText: 8,
} as const;
const NULL = TAGS.null;
const DOUBLE = TAGS.double;
const WHOLE = TAGS.whole;
const MILLIONTHS = TAGS.millionths;
const SMALL = TAGS.small;
const TIME = TAGS.time;
const KNOWN_TEXT = TAGS.knownText;
const OWN_TEXT = TAGS.ownText;
const FIRST_TEXT = TAGS.firstText;
const SHORT_TEXTS = 256 - FIRST_TEXT;

/** Most bytes of a number, a time, a numbered text, or the head of a text in full. */
const MOST_BYTES = 9;

const MILLION = 1e6;
const DAY_MS = 86_400_000;
const ISO_LENGTH = '2026-03-10T12:00:00.000Z'.length;

/** Bytes of a field with each tag, the tag included; 0 for a text in full, whose length follows. */
const SIZES = new Uint8Array(256).fill(1);
SIZES.set([1, 9, 5, 5, 2, 7, 5, 0]);

const double = new Float64Array(1);
const doubleBytes = new Uint8Array(double.buffer);

/** Notes and place names may all differ: texts beyond this number are stored in each cell. */
export const MOST_TEXTS = 4096;
const LONGEST_TEXT = 200;

/** Texts by number, the same for packing and unpacking. */
export interface Texts {
  /** The number of a text; -1 if it has none and is stored in full. */
  numberOf(text: string): number;
  textOf(number: number): string;
}

/** Whether a text may get a number. The texts of a database are UTF-8, which has no lone surrogates. */
export function isSharedText(text: string): boolean {
  return text.length <= LONGEST_TEXT && text.isWellFormed() && !text.includes('\0');
}

/** Packs and unpacks the fields of many rows; repeated texts are stored as numbers. */
export class FieldPacker {
  readonly #texts: Texts;
  #bytes = Buffer.allocUnsafe(4096);
  #day = Number.NaN;
  #dayText = '';
  /** Cached, because the answers of a bundle have one time, and answers of one night are stored together. */
  #lastText = '';
  #lastTime: number | null = null;

  constructor(texts: Texts) {
    this.#texts = texts;
  }

  /** Packs fields from byte `from` on, after those of earlier calls. Returns the bytes up to the end of the fields, valid until the next call. */
  pack(fields: readonly Field[], from = 0): Buffer {
    const end = this.append(fields, from);
    return this.#bytes.subarray(0, end);
  }

  /** As `pack`, without an object for the bytes. @returns where the fields end in `bytes` */
  append(fields: readonly Field[], from: number): number {
    this.#grow(from);
    let at = from;
    for (const field of fields) {
      if (at + MOST_BYTES > this.#bytes.length) this.#grow(at + MOST_BYTES);
      if (field === null) this.#bytes[at++] = NULL;
      else if (typeof field === 'number') at = writeNumber(this.#bytes, at, field);
      else at = this.#writeText(at, field);
    }
    return at;
  }

  /** Appends bytes that were packed before. @returns where they end */
  appendPacked(packed: Uint8Array, from: number): number {
    this.#grow(from + packed.length);
    this.#bytes.set(packed, from);
    return from + packed.length;
  }

  /** What was packed, valid until the next call. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  /** Unpacks the fields at a position. */
  unpack(bytes: Buffer, from: number, width: number): Field[] {
    const texts = this.#texts;
    const fields: Field[] = [];
    let at = from;
    for (let i = 0; i < width; i++) {
      const tag = bytes[at++]!;
      if (tag >= FIRST_TEXT) fields.push(texts.textOf(tag - FIRST_TEXT));
      else if (tag === MILLIONTHS) {
        fields.push(int32(bytes, at) / MILLION);
        at += 4;
      } else if (tag === DOUBLE) {
        for (let b = 0; b < 8; b++) doubleBytes[b] = bytes[at + b]!;
        fields.push(double[0]!);
        at += 8;
      } else if (tag === NULL) fields.push(null);
      else if (tag === SMALL) fields.push(bytes[at++]!);
      else if (tag === WHOLE) {
        fields.push(int32(bytes, at));
        at += 4;
      } else if (tag === TIME) {
        fields.push(this.#timeText(bytes.readUIntLE(at, 6)));
        at += 6;
      } else if (tag === KNOWN_TEXT) {
        fields.push(texts.textOf(int32(bytes, at)));
        at += 4;
      } else {
        const length = int32(bytes, at) * 2;
        at += 4;
        fields.push(bytes.toString('utf16le', at, at + length));
        at += length;
      }
    }
    return fields;
  }

  #writeText(from: number, text: string): number {
    let at = from;
    const time = text === this.#lastText ? this.#lastTime : parseTime(text);
    [this.#lastText, this.#lastTime] = [text, time];
    if (time !== null) {
      this.#bytes[at] = TIME;
      return this.#bytes.writeUIntLE(time, at + 1, 6);
    }
    const number = this.#texts.numberOf(text);
    if (number >= 0 && number < SHORT_TEXTS) {
      this.#bytes[at++] = FIRST_TEXT + number;
      return at;
    }
    if (number >= 0) {
      this.#bytes[at] = KNOWN_TEXT;
      return this.#bytes.writeInt32LE(number, at + 1);
    }
    // UTF-16, because an answer may hold half of a surrogate pair, which UTF-8 cannot.
    this.#grow(at + MOST_BYTES + text.length * 2);
    this.#bytes[at] = OWN_TEXT;
    at = this.#bytes.writeInt32LE(text.length, at + 1);
    return at + this.#bytes.write(text, at, 'utf16le');
  }

  /** Caches the text of the day: most answers of a store come from few days, and a Date costs as much as all other fields. */
  #timeText(time: number): string {
    const day = Math.floor(time / DAY_MS);
    if (day !== this.#day) {
      this.#day = day;
      this.#dayText = new Date(time).toISOString().slice(0, 11);
    }
    const ms = time - day * DAY_MS;
    const two = (value: number) => (value < 10 ? `0${value}` : `${value}`);
    const [hour, minute, second] = [
      Math.floor(ms / 3_600_000),
      Math.floor(ms / 60_000) % 60,
      Math.floor(ms / 1000) % 60,
    ];
    return `${this.#dayText}${two(hour)}:${two(minute)}:${two(second)}.${String(ms % 1000).padStart(3, '0')}Z`;
  }

  #grow(needed: number): void {
    if (needed <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(needed * 2);
    this.#bytes.copy(grown);
    this.#bytes = grown;
  }
}

/** Packs fields that a run has made: their texts have no numbers. */
export const OWN_TEXTS: FieldPacker = new FieldPacker({ numberOf: () => -1, textOf: () => '' });

/** The end of the fields at a position; after the end of the bytes if they are damaged. */
export function skipFields(bytes: Uint8Array, from: number, width: number): number {
  let at = from;
  for (let i = 0; i < width; i++) {
    const size = SIZES[bytes[at]!]!;
    // A damaged length may be below 0. Read as unsigned, it ends after the cell and not before it.
    at += size > 0 ? size : 5 + (int32(bytes, at + 1) >>> 0) * 2;
  }
  return at;
}

function writeNumber(bytes: Buffer, from: number, value: number): number {
  const whole = value | 0;
  if (whole === value && (value !== 0 || 1 / value > 0)) {
    if (value >= 0 && value < 256) {
      bytes[from] = SMALL;
      bytes[from + 1] = value;
      return from + 2;
    }
    bytes[from] = WHOLE;
    return bytes.writeInt32LE(value, from + 1);
  }
  const millionths = Math.round(value * MILLION);
  if ((millionths | 0) === millionths && millionths !== 0 && millionths / MILLION === value) {
    bytes[from] = MILLIONTHS;
    return bytes.writeInt32LE(millionths, from + 1);
  }
  bytes[from] = DOUBLE;
  double[0] = value;
  for (let b = 0; b < 8; b++) bytes[from + 1 + b] = doubleBytes[b]!;
  return from + 9;
}

function int32(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}

/** The time of a text, if formatting the time gives the same text again. */
function parseTime(text: string): number | null {
  if (text.length !== ISO_LENGTH || text[ISO_LENGTH - 1] !== 'Z') return null;
  const time = Date.parse(text);
  return time >= 0 && new Date(time).toISOString() === text ? time : null;
}
