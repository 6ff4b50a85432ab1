import type { Field } from '../../contract/answer.ts';
import { dateText, type NumberFormat } from './number-formats.ts';
import type { SharedStrings } from './shared-strings.ts';
import type { SheetCell } from './sheet-parser.ts';

/** What the values of a sheet's cells are read with. */
export interface CellReader {
  readonly strings: SharedStrings;
  readonly formats: readonly (NumberFormat | null)[];
  readonly counts1904: boolean;
}

/** The text of a cell as a CSV file would have it: a number with a point, a date in ISO 8601; '' for an empty one. */
export function cellText({ type, text, style }: SheetCell, { strings, formats, counts1904 }: CellReader): string {
  if (text === null || text === '') return '';
  switch (type) {
    case 's':
      return unescaped(strings(Number(text)) ?? '');
    case 'inlineStr':
    case 'str':
      return unescaped(text);
    case 'b':
      return text.trim() === '1' ? 'TRUE' : 'FALSE';
    case 'n':
      return numberText(text, formats[style] ?? null, counts1904);
    default:
      return text;
  }
}

function numberText(text: string, format: NumberFormat | null, counts1904: boolean): string {
  const number = Number(text);
  if (Number.isNaN(number)) return text;
  if (format?.kind === 'zeros') return Number.isInteger(number) ? padded(number, format.digits) : String(number);
  // 38.1 is often kept as 38.100000000000001.
  return (format && dateText(number, format.kind, counts1904)) ?? String(number);
}

function padded(number: number, digits: number): string {
  return (number < 0 ? '-' : '') + String(Math.abs(number)).padStart(digits, '0');
}

/** Letters that XML cannot hold stand as `_x0007_` (ECMA-376 part 1, 22.9.2.19). */
function unescaped(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(/_x([0-9a-f]{4})_/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

/** A new cell; nothing for an empty field. @param tag the prefix of the sheet's tags, with its colon */
export function cellXml(reference: string, field: Field, tag = '', style = 0): string {
  if (field === null || field === '') return '';
  const styled = style === 0 ? '' : ` s="${style}"`;
  if (typeof field === 'number' && Number.isFinite(field)) {
    return `<${tag}c r="${reference}"${styled}><${tag}v>${field}</${tag}v></${tag}c>`;
  }
  const text = escaped(String(field));
  return `<${tag}c r="${reference}"${styled} t="inlineStr"><${tag}is><${tag}t xml:space="preserve">${text}</${tag}t></${tag}is></${tag}c>`;
}

/** No cell holds more (Excel, Specifications and limits). */
export const LONGEST_TEXT = 32_767;

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

// biome-ignore lint/suspicious/noControlCharactersInRegex: XML cannot hold them
const NOT_IN_XML = /[\0-\x08\x0b-\x1f\ufffe\uffff]/g;

function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/_(?=x[0-9a-f]{4}_)/gi, '_x005F_')
    .replace(NOT_IN_XML, (letter) => `_x${letter.charCodeAt(0).toString(16).padStart(4, '0').toUpperCase()}_`)
    .replace(/[&<>]/g, (letter) => ENTITIES[letter]!);
}
