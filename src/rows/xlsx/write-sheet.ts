import { PerilbookError } from '../../base/errors.ts';
import { counted } from '../../base/format-numbers.ts';
import type { Field } from '../../contract/answer.ts';
import type { Value } from '../../formats/typed-value.ts';
import { type CellRange, parseRange, rangeText } from '../../formats/xlsx/cell-range.ts';
import { cellXml } from '../../formats/xlsx/cell-values.ts';
import {
  columnLetters,
  MOST_COLUMNS,
  MOST_ROWS,
  parseColumn,
  type RangeElement,
  type SheetCell,
  type SheetRow,
  sheetPieces,
} from '../../formats/xlsx/sheet-parser.ts';
import type { NewColumns, SheetTables } from '../../formats/xlsx/sheet-tables.ts';
import type { Workbook } from '../../formats/xlsx/workbook.ts';
import { type ZipWriter, zipWriter } from '../../formats/zip/zip-writer.ts';
import type { ByteBuffer } from '../files/byte-buffer.ts';
import type { InputFile } from '../files/input-file.ts';
import { type WriteNewFile, writeRows } from '../files/row-output.ts';
import { rowFields } from '../placed-fields.ts';
import type { OutputShape, WriteRequest, WriteResult } from '../port.ts';
import { checkTables, type SheetColumns, widerFilter, widerParts } from './wider-tables.ts';

export interface OpenSheet extends SheetColumns {
  readonly input: InputFile;
  readonly workbook: Workbook;
  readonly tables: SheetTables;
  isUsed(cell: SheetCell): boolean;
  /** True for a row of data: after the header, and not empty. Rows that have only formats are not data. */
  isRecord(row: SheetRow): boolean;
}

/** Writes the workbook with the added cells in the XML of one sheet; all other parts and cells are copied unchanged. Libraries (exceljs,
 * SheetJS) drop what they do not know (charts, slicers, newer conditional formats), and hold all cells in memory. */
export async function writeSheet(
  sheet: OpenSheet,
  widest: number,
  request: WriteRequest,
): Promise<WriteResult> {
  const { input, workbook } = sheet;
  const region = findRegion(sheet, widest, request);
  const wider = await widerParts(workbook, sheet.tables, sheet, newColumns(sheet, region, request));
  return await writeRows(request, input.identity, async (gathered) => {
    let rows = 0;
    const zip = workbookWriter(gathered, request.output);
    const edited = editedSheet(sheet, region, request, (count) => {
      rows += count;
    });
    for (const entry of workbook.zip.entries) {
      const xml = wider.get(entry.fileName);
      if (entry === workbook.sheet) await zip.add(entry.fileName, edited, entry);
      else if (xml !== undefined) await zip.add(entry.fileName, [Buffer.from(xml)], entry);
      else await zip.copy(entry, workbook.zip.packed(entry));
    }
    await zip.finish();
    return rows;
  });
}

/** Writes the parts of a workbook into the bytes of an output. */
export function workbookWriter(gathered: ByteBuffer, file: string): ZipWriter {
  const write = async (bytes: Buffer) => {
    gathered.addBytes(bytes, 0, bytes.length);
    await gathered.flushIfFull();
  };
  return zipWriter(write, () => {
    const message = `${file} would be larger than a workbook can be (4 GiB)`;
    return new PerilbookError('OUTPUT_UNWRITABLE', message, 'Name the output .csv or .parquet.', {
      file,
    });
  });
}

/** The columns to replace, counted from 0. */
interface Region {
  readonly from: number;
  /** After the added ones, and after those of an earlier run. */
  readonly to: number;
  readonly letters: readonly string[];
}

/** Refuses more rows, beside that of the names, or more columns than a sheet can have. @throws OUTPUT_UNWRITABLE */
export function checkSheetRoom(file: string, rows: number, columns: number): void {
  if (rows < MOST_ROWS && columns <= MOST_COLUMNS) return;
  const what = rows < MOST_ROWS ? counted(columns, 'column') : counted(rows, 'row');
  const hint = 'Name the output .csv or .parquet.';
  throw new PerilbookError('OUTPUT_UNWRITABLE', `A sheet of Excel has no room for ${what}`, hint, {
    file,
  });
}

/** @throws OUTPUT_UNWRITABLE, INPUT_COLUMNS where the added columns have no room */
export function findRegion(
  sheet: OpenSheet,
  widest: number,
  { output, dropFrom, added, kept = [] }: Omit<OutputShape, 'rows'>,
): Region {
  const { input, columns } = sheet;
  const from = dropFrom ?? Math.max(columns.length, widest);
  const end = from + added.length + kept.length;
  checkSheetRoom(output, 0, end);
  if (dropFrom !== null && widest > columns.length && end > columns.length) {
    const column = columnLetters(columns.length);
    const message = `The new columns would replace cells without a column name, from column ${column} of ${input.name} on`;
    const hint = 'Give them a name in the header row, or move them.';
    throw new PerilbookError('INPUT_COLUMNS', message, hint, { file: input.name, column });
  }
  checkTables(sheet.tables, sheet, newColumns(sheet, { from }, { added }), input.name);
  const letters = added.map((_, index) => columnLetters(from + index));
  return { from, to: dropFrom === null ? end : Math.max(end, columns.length), letters };
}

function newColumns(
  { columns }: OpenSheet,
  { from }: Pick<Region, 'from'>,
  { added }: Pick<WriteRequest, 'added'>,
): NewColumns {
  return { from, names: added.map(({ name }) => name), before: columns };
}

async function* editedSheet(
  sheet: OpenSheet,
  region: Region,
  request: WriteRequest,
  onRows: (count: number) => void,
) {
  /** The text that was read and not yet passed on, and the position of its first character. */
  let held = '';
  let start = 0;
  const nextFields = rowFields(request);
  const end = region.from + request.added.length;
  const ranges: RangeElement[] = [];
  const isEdited = new Uint8Array(MOST_ROWS + 1);
  const slice = (from: number, to: number) => held.slice(from - start, to - start);
  const pieces = sheetPieces(sheet.workbook, (element) => ranges.push(element));
  for await (const { text, rows, openFrom } of pieces) {
    request.signal?.throwIfAborted();
    held += text;
    const out: string[] = [];
    let passed = start;
    const passTo = (to: number) => {
      out.push(slice(passed, to));
      passed = to;
    };
    // `dimension` comes before the rows of a piece, the merged ranges after them.
    const passRanges = (isBefore: (from: number) => boolean) => {
      while (ranges.length > 0 && isBefore(ranges[0]!.from)) {
        const { tag, refs, from, to } = ranges.shift()!;
        passTo(from);
        const xml = slice(from, to);
        if (tag.endsWith('mergeCells')) out.push(mergesXml(tag, refs, xml, region, isEdited));
        else if (tag.endsWith('autoFilter'))
          out.push(widerFilter(xml, refs[0]!, sheet, newColumns(sheet, region, request)));
        else out.push(widerRange(xml, refs[0]!, end));
        passed = to;
      }
    };
    const firstRow = rows[0]?.from ?? Number.POSITIVE_INFINITY;
    passRanges((from) => from < firstRow);
    const count = rows.filter(sheet.isRecord).length;
    const added = count === 0 ? [] : await nextFields(count);
    let record = 0;
    for (const row of rows) {
      const isRecord = sheet.isRecord(row);
      if (!isRecord && row.line !== sheet.headerLine) continue;
      passTo(row.from);
      const fields = isRecord ? added[record++]! : request.added.map(({ name }) => name);
      out.push(editedRow(row, slice, region, request, fields, headerStyle(sheet, row, region)));
      passed = row.to;
      isEdited[row.line] = 1;
    }
    passRanges(() => true);
    onRows(count);
    // An incomplete tag may be the beginning of a row.
    const lastTag = held.lastIndexOf('<');
    passTo(openFrom ?? Math.max(passed, start + (lastTag < 0 ? held.length : lastTag)));
    held = slice(passed, start + held.length);
    start = passed;
    yield Buffer.from(out.join(''));
  }
  yield Buffer.from(held);
}

/** New column names get the style of the last name before them. */
function headerStyle(
  { headerLine }: OpenSheet,
  { line, cells }: SheetRow,
  { from }: Region,
): number {
  if (line !== headerLine) return 0;
  return cells.findLast(({ column }) => column < from)?.style ?? 0;
}

/** A row with the cells of the region replaced. The format of a replaced cell stays: it is the user's. */
function editedRow(
  row: SheetRow,
  slice: (from: number, to: number) => string,
  { from, to, letters }: Region,
  { added }: WriteRequest,
  fields: readonly Field[],
  newStyle: number,
): string {
  const { cells } = row;
  const prefix = row.tag.slice(0, -'row'.length);
  const old = new Map<number, SheetCell>();
  for (const cell of cells) if (cell.column >= from && cell.column < to) old.set(cell.column, cell);
  const first = cells.find(({ column }) => column >= from);
  const after = cells.find(({ column }) => column >= to);
  const end = cells.at(-1)!.to;
  const parts = [withoutSpan(slice(row.from, row.tagTo)), slice(row.tagTo, first?.from ?? end)];
  for (const [index, { keeps }] of added.entries()) {
    const reference = `${letters[index]}${row.line}`;
    const kept = keeps === undefined ? undefined : cells.find(({ column }) => column === keeps);
    if (kept) parts.push(moved(slice(kept.from, kept.to), reference));
    else if (keeps === undefined) {
      parts.push(
        cellXml(reference, fields[index]!, prefix, old.get(from + index)?.style ?? newStyle),
      );
    }
  }
  parts.push(slice(after?.from ?? end, row.to));
  return parts.join('');
}

/** `spans="1:20"` gives the first and the last column of a row; readers do without. */
const withoutSpan = (tag: string): string => tag.replace(/\sspans=(?:"[^"]*"|'[^']*')/, '');

function moved(cell: string, reference: string): string {
  return cell.replace(/^(<[^\s>/]+\s[^>]*?\br=)(?:"[^"]*"|'[^']*')/, `$1"${reference}"`);
}

/** `<dimension ref="A1:T200"/>` with the new last column. */
function widerRange(xml: string, ref: string, columns: number): string {
  const [, first, letters, line] = /^([A-Z]+\d+)(?::([A-Z]+)(\d+))?$/.exec(ref) ?? [];
  if (first === undefined || letters === undefined) return xml;
  const last = Math.max(parseColumn(letters), columns - 1);
  return xml.replace(ref, `${first}:${columnLetters(last)}${line}`);
}

/** The list of merged ranges without those over new cells. Excel repairs a workbook with an empty list. */
function mergesXml(
  tag: string,
  refs: readonly string[],
  xml: string,
  region: Region,
  isEdited: Uint8Array<ArrayBuffer>,
): string {
  const parted = refs.flatMap((ref) => partedRanges(ref, region, isEdited));
  if (parted.length === refs.length && parted.every((ref, at) => ref === refs[at])) return xml;
  const items = parted.map((ref) => `<${tag.slice(0, -1)} ref="${ref}"/>`).join('');
  return items === '' ? '' : `<${tag} count="${parted.length}">${items}</${tag}>`;
}

/** What is left of a merged range around new cells: readers show only the first cell of a range, so a new one within it would be lost.
 * Each part that is left is merged; a part of one cell is not.
 * @param region the columns of new cells
 * @param isEdited 1 for each row that has new cells */
export function partedRanges(
  ref: string,
  region: Pick<CellRange, 'from' | 'to'>,
  isEdited: Uint8Array<ArrayBuffer>,
): string[] {
  const range = parseRange(ref);
  if (range === null || range.to <= region.from || range.from >= region.to) return [ref];
  const edited = isEdited.subarray(range.top, range.bottom + 1);
  if (!edited.includes(1)) return [ref];
  const [top, bottom] = [range.top + edited.indexOf(1), range.top + edited.lastIndexOf(1)];
  const parts: readonly CellRange[] = [
    { ...range, bottom: top - 1 },
    { ...range, top, bottom, to: region.from },
    { ...range, top, bottom, from: region.to },
    { ...range, top: bottom + 1 },
  ];
  return parts
    .filter(
      ({ from, to, top, bottom }) =>
        to > from && bottom >= top && (to - from) * (bottom - top + 1) > 1,
    )
    .map(rangeText);
}

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const DOCUMENT = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

const cellFormat = (numFmtId: number): string =>
  `<xf numFmtId="${numFmtId}" fontId="0" fillId="0" borderId="0" xfId="0"${numFmtId === 0 ? '' : ' applyNumberFormat="1"'}/>`;

/** The parts of every workbook beside its sheet. */
const PARTS: Readonly<Record<string, string>> = {
  '[Content_Types].xml': `<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${TYPE}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${TYPE}.styles+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${TYPE}.worksheet+xml"/></Types>`,
  '_rels/.rels': `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${DOCUMENT}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  'xl/workbook.xml': `<workbook xmlns="${MAIN}" xmlns:r="${DOCUMENT}"><sheets><sheet name="Locations" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${DOCUMENT}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${DOCUMENT}/styles" Target="styles.xml"/></Relationships>`,
  // openpyxl, and so pandas and polars, refuse a fill without a pattern; Excel requires the named style.
  'xl/styles.xml': `<styleSheet xmlns="${MAIN}"><numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts><fonts count="1"><font><sz val="11"/><name val="Calibri"/><family val="2"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="3">${[0, 164, 165].map(cellFormat).join('')}</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`,
};

/** Writes a table as a new workbook with one sheet. Texts stay texts, so that no leading zero is lost and nothing runs as a formula. */
export const writeNewXlsx: WriteNewFile = async ({ columns, batches }, target, source) => {
  const names = columns.map(({ name }) => name);
  return await writeRows(target, source?.identity ?? null, async (gathered) => {
    const result = { rows: 0 };
    const zip = workbookWriter(gathered, target.output);
    for (const [name, xml] of Object.entries(PARTS)) await zip.add(name, [Buffer.from(HEAD + xml)]);
    await zip.add('xl/worksheets/sheet1.xml', sheetXml(batches(), names, result));
    await zip.finish();
    return result.rows;
  });
};

async function* sheetXml(
  batches: AsyncIterable<readonly (readonly Value[])[]>,
  names: readonly string[],
  result: { rows: number },
): AsyncGenerator<Buffer, void, void> {
  const letters = names.map((_, column) => columnLetters(column));
  const rowXml = (line: number, values: readonly Value[]): string =>
    `<row r="${line}">${values.map((value, column) => cellXml(`${letters[column]}${line}`, withLineFeeds(value))).join('')}</row>`;
  yield Buffer.from(`${HEAD}<worksheet xmlns="${MAIN}"><sheetData>${rowXml(1, names)}`);
  for await (const batch of batches) {
    const lines = batch.map((fields, index) => rowXml(result.rows + index + 2, fields));
    result.rows += batch.length;
    yield Buffer.from(lines.join(''));
  }
  yield Buffer.from('</sheetData></worksheet>');
}

/** Excel's line break in a cell. A carriage return would be written as `_x000D_`, which openpyxl and pandas show. */
const withLineFeeds = (value: Value): Value =>
  typeof value === 'string' && value.includes('\r') ? value.replace(/\r\n?/g, '\n') : value;
