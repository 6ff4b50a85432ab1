/** The digits of numbers below a thousand as words: four bytes are written at once. */
export interface DigitWords {
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

/** The tables, which are made once. */
export function digitWords(): DigitWords {
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

/** A text as words, for writing four bytes at once: the bytes after its end are overwritten. */
export interface WordText {
  readonly words: Uint32Array;
  readonly size: number;
}

/** The words of a text. */
export function wordText(text: Buffer): WordText {
  const padded = new Uint8Array((text.length + 3) & ~3);
  padded.set(text);
  return { words: new Uint32Array(padded.buffer), size: text.length };
}
