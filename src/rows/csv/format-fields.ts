import type { Field } from '../../contract/answer.ts';
import { encodeText, type TextEncoding } from '../files/text-encoding.ts';

/** How fields are written in a CSV file. */
export interface FieldFormat {
  readonly delimiter: string;
  readonly encoding: TextEncoding;
  /** True for a field that is Perilbook's and not the user's own, by its index: its text must not run as a formula in a
   * spreadsheet. */
  readonly isAdded: (index: number) => boolean;
}

/** Spreadsheets run a text that begins like this, wherever it came from; the wide forms too, where such are typed. */
const BEGINS_FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** Needs no quotes, is no formula, and is the same in every encoding: most texts of answers. */
const PLAIN = /^\w[\w .:-]*$/;

/** An apostrophe is how spreadsheets themselves mark a text as one. A text that is a number stays one. */
function harmless(text: string): string {
  return BEGINS_FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
}

/** Makes a function that formats fields as a part of a record, quoted where RFC 4180 asks for it: a string of one character
 * a byte. */
export function fieldFormatter({ delimiter, encoding, isAdded }: FieldFormat): (fields: readonly Field[]) => string {
  const needsQuotes = (text: string) =>
    text.includes(delimiter) || text.includes('"') || text.includes('\n') || text.includes('\r');
  const formatted = (field: Field, index: number): string => {
    if (field === null) return '';
    if (typeof field === 'number') return String(field);
    if (PLAIN.test(field) && !field.includes(delimiter)) return field;
    const text = isAdded(index) ? harmless(field) : field;
    return encodeText(needsQuotes(text) ? `"${text.replaceAll('"', '""')}"` : text, encoding);
  };
  return (fields) => {
    let record = '';
    for (let index = 0; index < fields.length; index++) {
      if (index > 0) record += delimiter;
      record += formatted(fields[index]!, index);
    }
    return record;
  };
}
