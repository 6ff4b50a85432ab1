import type { Field } from '../contract/answer.ts';
import { PerilbookError } from '../errors.ts';
import { encodeText, type TextEncoding } from './text-encoding.ts';

/** How added fields are written in a file. */
export interface SuffixStyle {
  /** One byte. */
  readonly delimiter: string;
  readonly encoding: TextEncoding;
  /** How many fields each row gets. */
  readonly width: number;
}

/** Suffixes that are remembered in each of two generations: enough for the neighbours in a file, some 20 MB at most. */
const REMEMBERED = 8192;

/** Texts whose written form is remembered: ratings and units are few, names and notes are not kept beyond this. */
const TEXTS_REMEMBERED = 1000;

/** Makes the added fields of a row into one character a byte, joined by the delimiter, quoted where RFC 4180 asks for it.
 * What it made of a shared array is remembered, by two generations of a Map instead of a WeakMap: a weak entry for each of
 * a million distinct rows costs the collector more than it saves, and a single Map would keep them all. */
export function suffixWriter(style: SuffixStyle): (fields: readonly Field[]) => string {
  const textOf = rememberingTexts(style);
  let young = new Map<readonly Field[], string>();
  let old = new Map<readonly Field[], string>();
  return (fields) => {
    const known = young.get(fields);
    if (known !== undefined) return known;
    const text = old.get(fields) ?? joined(fields, style, textOf);
    if (young.size >= REMEMBERED) {
      old = young;
      young = new Map();
    }
    young.set(fields, text);
    return text;
  };
}

/** `join` writes numbers and nulls by itself, and gives one flat string: adding piece by piece took twice the time and,
 * remembered, ten times the memory. */
function joined(fields: readonly Field[], { delimiter, width }: SuffixStyle, textOf: (text: string) => string): string {
  if (fields.length !== width) {
    throw new PerilbookError(
      'BUG',
      `A row was given ${fields.length} fields for ${width} columns`,
      'Please report this.',
    );
  }
  return fields.map((field) => (typeof field === 'string' ? textOf(field) : field)).join(delimiter);
}

function rememberingTexts({ delimiter, encoding }: SuffixStyle): (text: string) => string {
  const written = new Map<string, string>();
  return (text) => {
    const known = written.get(text);
    if (known !== undefined) return known;
    const needsQuotes = text.includes(delimiter) || /["\r\n]/.test(text);
    const form = encodeText(needsQuotes ? `"${text.replaceAll('"', '""')}"` : text, encoding);
    if (written.size < TEXTS_REMEMBERED) written.set(text, form);
    return form;
  };
}
