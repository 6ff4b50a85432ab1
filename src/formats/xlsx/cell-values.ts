import { grouped } from '../../base/format-numbers.ts';
import type { ByteSource } from '../bytes/byte-source.ts';
import type { Batches, TableRecord } from '../csv/parsed-records.ts';
import {
  fieldOf,
  parseMilliseconds,
  type TypedText,
  type Value,
  type ValueType,
} from '../typed-value.ts';
import { localName, partParser } from './part-parser.ts';
import { MOST_ROWS, type SheetCell, sheetPieces } from './sheet-parser.ts';
import { openWorkbook, parsePart, readElements, type Workbook } from './workbook.ts';

/** What the cells of a workbook name by number. */
export interface SheetCellReader {
  readonly strings: SharedStrings;
  /** By the number of the style; null for plain numbers. */
  readonly formats: readonly (NumberFormat | null)[];
  /** Day 0 is in 1904, not in 1900. */
  readonly counts1904: boolean;
}

/** Reads what the cells of a workbook name by number: shared texts and formats. */
export async function sheetCellReader(workbook: Workbook): Promise<SheetCellReader> {
  return {
    strings: await readSharedStrings(workbook),
    formats: await readNumberFormats(workbook),
    counts1904: workbook.counts1904,
  };
}

/** A formula without a stored result. It is not an empty cell: only the text of a formula may be empty. */
export function isUncalculated({ hasFormula, type, text }: SheetCell): boolean {
  return hasFormula && (text === null || (text === '' && type !== 'str'));
}

/** The text of a cell as a CSV file would have it: a number with a point, a date in ISO 8601; '' for an empty one. */
export function cellText(
  { type, text, style }: SheetCell,
  { strings, formats, counts1904 }: SheetCellReader,
): string {
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

/** The type of a cell's text. Numbers shown with leading zeros are codes, and times of day are texts. */
export function cellType(
  { type, style }: SheetCell,
  text: string,
  { formats }: SheetCellReader,
): ValueType {
  if (type === 'b') return 'boolean';
  if (type !== 'n' || formats[style]?.kind === 'zeros') return 'text';
  if (/^\d{4}-\d\d-\d\d/.test(text)) return text.includes('T') ? 'timestamp' : 'date';
  return Number.isNaN(Number(text)) ? 'text' : 'number';
}

function numberText(text: string, format: NumberFormat | null, counts1904: boolean): string {
  const number = Number(text);
  if (Number.isNaN(number)) return text;
  if (format?.kind === 'zeros')
    return Number.isInteger(number) ? padNumber(number, format.digits) : String(number);
  // 38.1 is often stored as 38.100000000000001.
  return (format && dateText(number, format.kind, counts1904)) ?? String(number);
}

function padNumber(number: number, digits: number): string {
  return (number < 0 ? '-' : '') + String(Math.abs(number)).padStart(digits, '0');
}

/** Characters that XML cannot hold are written as `_x0007_` (ECMA-376 part 1, 22.9.2.19). */
function unescaped(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(/_x([0-9a-f]{4})_/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** The styles of a new workbook for dates; other cells have style 0. */
const DATE_STYLES = { date: 1, timestamp: 2 } as const;

/** A new cell; nothing for an empty value. @param tag the prefix of the sheet's tags, with its colon */
export function cellXml(reference: string, value: Value, tag = '', style = 0): string {
  if (value === null || value === '') return '';
  const typed =
    typeof value === 'object' && value.type in DATE_STYLES ? dateCell(value.text) : null;
  if (typed !== null)
    return cellXml(reference, typed, tag, DATE_STYLES[(value as TypedText).type as 'date']);
  const styled = style === 0 ? '' : ` s="${style}"`;
  if (typeof value === 'number' && Number.isFinite(value)) {
    return `<${tag}c r="${reference}"${styled}><${tag}v>${value}</${tag}v></${tag}c>`;
  }
  if (typeof value === 'boolean') {
    return `<${tag}c r="${reference}"${styled} t="b"><${tag}v>${Number(value)}</${tag}v></${tag}c>`;
  }
  const text = escaped(cutText(String(fieldOf(value))));
  return `<${tag}c r="${reference}"${styled} t="inlineStr"><${tag}is><${tag}t xml:space="preserve">${text}</${tag}t></${tag}is></${tag}c>`;
}

/** No cell holds more (Excel, Specifications and limits): Excel would call the workbook damaged. */
const LONGEST_TEXT = 32_767;

/** Cuts a text that is too long for a cell, and says so in it. */
function cutText(text: string): string {
  if (text.length <= LONGEST_TEXT) return text;
  const word = `… [cut: ${grouped(text.length)} letters]`;
  // A surrogate pair is not cut in two.
  return text.slice(0, LONGEST_TEXT - word.length).replace(/[\ud800-\udbff]$/, '') + word;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

// biome-ignore lint/suspicious/noControlCharactersInRegex: XML cannot hold them
const NOT_IN_XML = /[\0-\x08\x0b-\x1f\ufffe\uffff]/g;

function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/_(?=x[0-9a-f]{4}_)/gi, '_x005F_')
    .replace(
      NOT_IN_XML,
      (letter) => `_x${letter.charCodeAt(0).toString(16).padStart(4, '0').toUpperCase()}_`,
    )
    .replace(/[&<>]/g, (letter) => ENTITIES[letter]!);
}

/** A text as an attribute of XML. */
export const attributeXml = (text: string): string => escaped(text).replaceAll('"', '&quot;');

/** How a style shows numbers, if not as plain numbers. `zeros`: with leading zeros, `digits` digits in all. */
type NumberFormat = { readonly kind: TimeKind } | { readonly kind: 'zeros'; digits: number };
type TimeKind = 'date' | 'time' | 'date and time' | 'duration';

async function readNumberFormats({
  zip,
  styles,
}: Workbook): Promise<readonly (NumberFormat | null)[]> {
  const elements = await readElements(zip, styles);
  const codes = new Map<number, string>();
  const formats: (NumberFormat | null)[] = [];
  let isOfCells = false;
  for (const { name, attributes } of elements) {
    if (name === 'numFmt') codes.set(Number(attributes.numFmtId), attributes.formatCode ?? '');
    // `xf` also occurs in cellStyleXfs, which cells do not use.
    else if (name === 'cellXfs') isOfCells = true;
    else if (name === 'cellStyles' || name === 'dxfs') isOfCells = false;
    else if (name === 'xf' && isOfCells) {
      const id = Number(attributes.numFmtId ?? 0);
      formats.push(codes.has(id) ? formatOfCode(codes.get(id)!) : builtIn(id));
    }
  }
  return formats;
}

/** The built-in formats (ECMA-376 part 1, 18.8.30). */
function builtIn(id: number): NumberFormat | null {
  if (id === 46) return { kind: 'duration' };
  if ((id >= 14 && id <= 17) || (id >= 27 && id <= 31) || (id >= 50 && id <= 58) || id === 36)
    return { kind: 'date' };
  if ((id >= 18 && id <= 21) || (id >= 32 && id <= 35) || (id >= 45 && id <= 47))
    return { kind: 'time' };
  return id === 22 ? { kind: 'date and time' } : null;
}

/** What a format code such as `yyyy\-mm\-dd` or `00000` shows; only its first section counts. */
function formatOfCode(code: string): NumberFormat | null {
  const letters = code
    .replace(/"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, '')
    .split(';')[0]!
    .toLowerCase();
  if (/^0{2,}$/.test(letters)) return { kind: 'zeros', digits: letters.length };
  if (/general|[0#?]\.?e[+-]/.test(letters)) return null;
  const hasTime = /[hs]|\[m+\]/.test(letters);
  const hasDate = /[yd]/.test(letters) || (/m/.test(letters) && !hasTime);
  if (hasDate) return { kind: hasTime ? 'date and time' : 'date' };
  // [h]:mm:ss counts on above a day, [mm]:ss above an hour.
  if (/\[(?:h+|m+|s+)\]/.test(letters)) return { kind: 'duration' };
  return hasTime ? { kind: 'time' } : null;
}

const DAY_MS = 86_400_000;

/** A date as a workbook's number of days; null before March 1900 or after 9999, where it stays a text. */
function dateCell(text: string): number | null {
  const days = (parseMilliseconds(text) - Date.UTC(1899, 11, 30)) / DAY_MS;
  return days >= 61 && days < 2_958_466 ? days : null;
}

/** A number of days as ISO 8601 text. Excel counts a day 60 of 1900 (29 February), which did not exist. */
function dateText(days: number, kind: TimeKind, counts1904: boolean): string | null {
  if (kind === 'duration') return durationText(days);
  const start = counts1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, days < 60 ? 31 : 30);
  const at = new Date(Math.round((start + days * DAY_MS) / 1_000) * 1_000);
  if (Number.isNaN(at.getTime()) || at.getUTCFullYear() > 9999 || days < 0) return null;
  const [day, time] = at.toISOString().slice(0, 19).split('T') as [string, string];
  if (kind === 'time' && days < 1) return time;
  return kind === 'date' && time === '00:00:00' ? day : `${day}T${time}`;
}

/** A number of days as hours, minutes and seconds, like a time of day: 255:10:10 for ten days and 15 hours. */
function durationText(days: number): string {
  const seconds = Math.round(Math.abs(days) * 86_400);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return (
    (days < 0 && seconds > 0 ? '-' : '') +
    parts.map((part) => String(part).padStart(2, '0')).join(':')
  );
}

type SharedStrings = (index: number) => string | undefined;

/** The most memory for shared texts. They are kept as one UTF-8 buffer: 4 million texts of 30 letters take 150 MB. */
const MOST_BYTES = 1024 * 1024 * 1024;

/** The most shared texts, for where each begins takes memory too: 105 million empty ones, in a file of 600 kB, took 1.9 GB. A full sheet
 * has 32 columns of texts that differ, with these. */
const MOST_TEXTS = 32 * MOST_ROWS;

async function readSharedStrings({
  source,
  zip,
  sharedStrings: entry,
}: Workbook): Promise<SharedStrings> {
  if (!entry) return () => undefined;
  let bytes = Buffer.allocUnsafe(Math.min(1024 * 1024, entry.uncompressedSize + 1024));
  /** Where each text begins, and where the last one ends. */
  const offsets = [0];
  const tooMuch = (what: string) =>
    source.refused(`has more than ${what}`, 'Save the sheet as CSV and give Perilbook that file.');
  const keep = (text: string): void => {
    const used = offsets.at(-1)!;
    const most = used + text.length * 3;
    if (offsets.length > MOST_TEXTS) throw tooMuch(`${grouped(MOST_TEXTS)} shared texts`);
    if (most > bytes.length) {
      if (used > MOST_BYTES) throw tooMuch(`${MOST_BYTES / 1024 / 1024} MiB of texts`);
      bytes = Buffer.concat([bytes.subarray(0, used)], Math.max(bytes.length * 2, most));
    }
    offsets.push(used + bytes.write(text, used, 'utf8'));
  };
  let text = '';
  let isText = false;
  let phonetic = 0;
  const parser = partParser({
    opens(name) {
      const local = localName(name);
      if (local === 'si') text = '';
      else if (local === 'rPh') phonetic++;
      else if (local === 't') isText = phonetic === 0;
    },
    says(part) {
      if (isText) text += part;
    },
    closes(name) {
      const local = localName(name);
      if (local === 'si') keep(text);
      else if (local === 'rPh') phonetic--;
      else if (local === 't') isText = false;
    },
  });
  await parsePart(zip, entry, parser);
  return (index) =>
    index >= 0 && index < offsets.length - 1
      ? bytes.toString('utf8', offsets[index], offsets[index + 1])
      : undefined;
}

/** The sheets whose names match a pattern, in their order; if none does, the first visible one. Each with its rows that are not empty, as
 * records of a CSV file. Shared texts are in memory, a sheet is not. */
export async function* matchingSheets(
  source: ByteSource,
  wanted: RegExp,
): AsyncGenerator<Batches<TableRecord>> {
  const first = await openWorkbook(source, wanted);
  yield sheetRecords(first);
  if (!wanted.test(first.sheetName)) return;
  for (const name of first.otherSheets)
    if (wanted.test(name)) yield sheetRecords(await openWorkbook(source, name));
}

async function* sheetRecords(workbook: Workbook): Batches<TableRecord> {
  const reader = await sheetCellReader(workbook);
  for await (const { rows } of sheetPieces(workbook)) {
    const records = rows.map(({ line, cells }) => {
      const texts: string[] = Array((cells.at(-1)?.column ?? -1) + 1).fill('');
      for (const cell of cells) texts[cell.column] = cellText(cell, reader);
      return { line, cells: texts };
    });
    const used = records.filter(({ cells }) => cells.some((text) => text !== ''));
    if (used.length > 0) yield used;
  }
}
