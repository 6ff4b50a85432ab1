import { PerilbookError } from '../../base/errors.ts';
import type { ValueType } from '../../formats/typed-value.ts';
import { type CellRange, parseRange } from '../../formats/xlsx/cell-range.ts';
import {
  cellText,
  cellType,
  isUncalculated,
  type SheetCellReader,
  sheetCellReader,
} from '../../formats/xlsx/cell-values.ts';
import {
  parseColumn,
  type RangeElement,
  type SheetCell,
  type SheetRow,
  sheetPieces,
} from '../../formats/xlsx/sheet-parser.ts';
import { readSheetTables } from '../../formats/xlsx/sheet-tables.ts';
import { openWorkbook, type Workbook } from '../../formats/xlsx/workbook.ts';
import type { InputFile } from '../files/input-file.ts';
import { ownWidth } from '../kept-columns.ts';
import { noLocationOf } from '../no-locations.ts';
import type { OpenOptions, Row, RowFile } from '../port.ts';
import { tablesNote } from './wider-tables.ts';
import { findRegion, type OpenSheet, writeSheet } from './write-sheet.ts';

/** How many rows at the top of a sheet may be titles. */
const ROWS_LOOKED_AT = 20;

/** Opens a sheet of an Excel workbook (.xlsx, .xlsm). */
export async function xlsxRowFile(input: InputFile, options: OpenOptions): Promise<RowFile> {
  const workbook = await openWorkbook(input, options.sheet);
  const cells = await sheetCellReader(workbook);
  const isUsed = isUsedCell(cells);
  const first = await firstRows(workbook, isUsed, options.headerLine ?? 0);
  const header = findHeader(input.name, workbook, first, options);
  const widths = first.map((row) => usedWidth(row, isUsed));
  const merges = mergedCells(workbook);
  const columns = header
    ? await namesIn(header, first, usedWidth(header, isUsed), cells, merges)
    : Array.from({ length: Math.max(...widths) }, (_, index) => String(index + 1));
  const headerLine = header?.line ?? null;
  const isRecord = (row: SheetRow) => row.line > (headerLine ?? 0) && row.cells.some(isUsed);
  const tables = await readSheetTables(workbook);
  /** It stands after the rows, and tells what the workbook does not name. */
  let filter: CellRange | null = null;
  const sheet: OpenSheet = {
    ...{ input, workbook, headerLine, columns, isUsed, isRecord },
    get tables() {
      return { ...tables, filter: tables.filter ?? filter };
    },
  };
  /** The number of columns of the widest record, after all were read; null before. */
  let widest: number | null = null;
  const read = async function* (
    wanted: readonly number[],
    needed = wanted.length,
  ): AsyncGenerator<readonly Row[]> {
    let number = 0;
    let width = columns.length;
    const own = ownWidth(columns);
    const neededColumns = new Set(wanted.slice(0, needed));
    const fillMerged = mergeFiller(needed, wanted, merges);
    const onRanges = ({ tag, refs }: RangeElement) => {
      if (tag.endsWith('autoFilter')) filter ??= parseRange(refs[0]!);
    };
    for await (const { rows } of sheetPieces(workbook, onRanges)) {
      const batch: Row[] = [];
      for (const row of rows) {
        if (!isRecord(row)) continue;
        width = Math.max(width, usedWidth(row, isUsed));
        const uncalculated = row.cells.filter(
          (cell) => cell.column < columns.length && isUncalculated(cell),
        );
        const formulas = uncalculated.map(({ column }) => column);
        const read = {
          number: ++number,
          line: row.line,
          ...(await fillMerged(row.line, readFields(row, wanted, cells))),
        };
        const needs = formulas.find((column) => neededColumns.has(column));
        if (needs !== undefined)
          batch.push({ ...read, problem: uncalculatedNote(columns[needs]!) });
        else {
          const noLocation = noLocationOf(read.fields, needed, () =>
            row.cells.filter(({ column }) => column < own).map((cell) => cellText(cell, cells)),
          );
          if (noLocation !== null) batch.push({ ...read, noLocation });
          else batch.push(formulas.length === 0 ? read : { ...read, formulas });
        }
      }
      if (batch.length > 0) yield batch;
    }
    widest = width;
  };
  const widestRecord = async () => {
    if (widest === null) for await (const _ of read([]));
    return widest!;
  };
  return {
    format: workbook.hasMacros ? 'xlsm' : 'xlsx',
    unit: 'row',
    hasTypes: true,
    columns,
    note: workbook.sheetCount > 1 ? sheetNote(workbook) : null,
    ownFormatNote: tablesNote(tables, sheet),
    ownFormatNoteOfEnd: () =>
      tables.filter === null ? tablesNote({ tables: [], filter }, sheet) : null,
    likelyHeader: (isHeader) =>
      first.find(
        (row) => row !== header && isHeader(formatCells(row, usedWidth(row, isUsed), cells)),
      )?.line ?? null,
    likelySheets: async (isHeader) => await likelySheets(input, workbook, isHeader),
    read,
    checkRoom: async (shape) => void findRegion(sheet, await widestRecord(), shape),
    write: async (request) => await writeSheet(sheet, await widestRecord(), request),
  };
}

/** More sheets than people have: of the rest nothing is said. */
const MOST_SHEETS = 50;

async function likelySheets(
  input: InputFile,
  { otherSheets }: Workbook,
  isHeader: (fields: readonly string[]) => boolean,
): Promise<string[]> {
  const likely: string[] = [];
  for (const name of otherSheets.slice(0, MOST_SHEETS)) {
    const sheet = await openWorkbook(input, name);
    const cells = await sheetCellReader(sheet);
    const isUsed = isUsedCell(cells);
    const first = await firstRows(sheet, isUsed, 0);
    if (first.some((row) => isHeader(formatCells(row, usedWidth(row, isUsed), cells))))
      likely.push(name);
  }
  return likely;
}

const isUsedCell = (cells: SheetCellReader) => (cell: SheetCell) =>
  isUncalculated(cell) || (cell.text !== null && cell.text !== '' && cellText(cell, cells) !== '');

function uncalculatedNote(column: string): string {
  const what = `Column ${column} has a formula without a stored value`;
  return `${what}: open the workbook in Excel or LibreOffice, and save it.`;
}

function sheetNote({ sheetName, sheetNumber, sheetCount }: Workbook): string {
  return `Sheet "${sheetName}" is read, number ${sheetNumber} of ${sheetCount} (--sheet names another).`;
}

/** The first rows that are not empty, and at least those up to `line`. */
async function firstRows(
  workbook: Workbook,
  isUsed: OpenSheet['isUsed'],
  line: number,
): Promise<SheetRow[]> {
  const filled: SheetRow[] = [];
  for await (const { rows } of sheetPieces(workbook)) {
    for (const row of rows) {
      if (row.line > line && filled.length >= ROWS_LOOKED_AT) return filled;
      if (row.cells.some(isUsed)) filled.push(row);
    }
  }
  return filled;
}

function findHeader(
  file: string,
  { sheetName, otherSheets }: Workbook,
  first: readonly SheetRow[],
  { header, headerLine }: OpenOptions,
): SheetRow | null {
  const named = first.find(({ line }) => line === headerLine);
  if (headerLine !== undefined ? named === undefined : first.length === 0) {
    const what =
      headerLine === undefined
        ? 'is empty'
        : `has nothing in row ${headerLine}, which should name the columns`;
    const others = otherSheets.map((name) => `"${name}"`).join(', ');
    const ways = [
      ...(others === '' ? [] : [`Name another sheet: --sheet NAME, of ${others}.`]),
      ...(headerLine === undefined ? [] : ['Name another row: --header-line N.']),
    ];
    const hint = ways.join(' ') || 'Check that this is the right file.';
    throw new PerilbookError('INPUT_UNREADABLE', `Sheet "${sheetName}" of ${file} ${what}`, hint, {
      file,
    });
  }
  return header === false ? null : (named ?? first[0]!);
}

function usedWidth({ cells }: SheetRow, isUsed: OpenSheet['isUsed']): number {
  return (cells.findLast(isUsed)?.column ?? -1) + 1;
}

function formatCells(row: SheetRow, width: number, cells: SheetCellReader): string[] {
  const all = Array.from({ length: width }, (_, column) => column);
  return readFields(row, all, cells).fields.map((text) => text.trim());
}

interface SheetFields {
  readonly fields: string[];
  readonly types: ValueType[];
}

function readFields(
  { cells }: SheetRow,
  wanted: readonly number[],
  reader: SheetCellReader,
): SheetFields {
  const byColumn: (SheetCell | undefined)[] = [];
  for (const cell of cells) byColumn[cell.column] = cell;
  const fields: string[] = [];
  const types: ValueType[] = [];
  for (const column of wanted) {
    const cell = byColumn[column];
    const text = cell === undefined ? '' : cellText(cell, reader);
    fields.push(text);
    types.push(cell === undefined ? 'text' : cellType(cell, text, reader));
  }
  return { fields, types };
}

/** A range of merged cells; its text is in the first one. */
interface MergedCells {
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

type MergedOfSheet = () => Promise<readonly MergedCells[]>;

/** Makes a function that reads the merged cells of a sheet once. They stand after the rows, so this is a pass of its own: only a blank cell
 * of a name or of a location asks for it. */
function mergedCells(workbook: Workbook): MergedOfSheet {
  let merged: Promise<readonly MergedCells[]> | null = null;
  const readAll = async () => {
    const ranges: MergedCells[] = [];
    const pieces = sheetPieces(workbook, ({ tag, refs }) => {
      if (!tag.endsWith('mergeCells')) return;
      for (const ref of refs) {
        const [from = '', to = from] = ref.split(':');
        const lineOf = (cell: string) => Number(/^\D*(\d+)$/.exec(cell)?.[1]);
        ranges.push({
          top: lineOf(from),
          bottom: lineOf(to),
          left: parseColumn(from),
          right: parseColumn(to),
        });
      }
    });
    for await (const _ of pieces);
    return ranges;
  };
  return () => {
    merged ??= readAll();
    return merged;
  };
}

/** The names of the columns. A name that is merged down from a row above stands in the first cell of its range. */
async function namesIn(
  header: SheetRow,
  first: readonly SheetRow[],
  width: number,
  cells: SheetCellReader,
  merged: MergedOfSheet,
): Promise<string[]> {
  const above = first.filter(({ line }) => line < header.line);
  const widest = Math.max(width, ...above.map((row) => (row.cells.at(-1)?.column ?? -1) + 1));
  const names = formatCells(header, widest, cells);
  if (above.length > 0 && names.includes('')) {
    const ranges = await merged();
    for (const [column, name] of names.entries()) {
      const range = ranges.find(
        ({ top, bottom, left, right }) =>
          left === column && right === column && top < header.line && bottom >= header.line,
      );
      const row = name === '' && range && above.find(({ line }) => line === range.top);
      if (row) names[column] = formatCells(row, column + 1, cells)[column]!;
    }
  }
  return names.slice(0, Math.max(width, names.findLastIndex((name) => name !== '') + 1));
}

/** Makes a function that fills the blank fields of a location with what is merged over its rows: a building of several rows. */
function mergeFiller(
  needed: number,
  wanted: readonly number[],
  merged: MergedOfSheet,
): (line: number, read: SheetFields) => Promise<SheetFields> {
  const above: { readonly line: number; readonly text: string; readonly type: ValueType }[] = [];
  return async (line, read) => {
    let { fields, types } = read;
    for (let at = 0; at < needed; at++) {
      const text = fields[at]!;
      if (text !== '') {
        above[at] = { line, text, type: types[at]! };
        continue;
      }
      const last = above[at];
      if (last === undefined) continue;
      const column = wanted[at]!;
      const isMerged = (await merged()).some(
        ({ top, bottom, left, right }) =>
          left === column && right === column && top === last.line && bottom >= line,
      );
      if (!isMerged) continue;
      fields = fields.with(at, last.text);
      types = types.with(at, last.type);
    }
    return { fields, types };
  };
}
