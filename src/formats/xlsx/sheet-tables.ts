import type { ZipEntry } from '../zip/zip-reader.ts';
import { type CellRange, parseRange, rangeText } from './cell-range.ts';
import { attributeXml } from './cell-values.ts';
import { type Attributes, localName, partParser } from './part-parser.ts';
import { readElements, readRelations, readText, type Workbook } from './workbook.ts';

/** A table of a sheet (a ListObject of Excel): sorting and filtering moves its rows, and no cell beside it. */
export interface SheetTable {
  readonly entry: ZipEntry;
  readonly name: string;
  readonly range: CellRange;
  /** How many rows of the range have the names of its columns: 0 or 1. */
  readonly headerRows: number;
  readonly totalsRows: number;
  /** Its columns are bound to a query or to XML. */
  readonly isBound: boolean;
}

/** What moves the rows of a sheet within a range of columns. */
export interface SheetTables {
  readonly tables: readonly SheetTable[];
  /** The range of the sheet's own filter, as the workbook names it; null for none. */
  readonly filter: CellRange | null;
}

/** Reads the tables of the sheet, and the range of its filter. */
export async function readSheetTables(workbook: Workbook): Promise<SheetTables> {
  const { zip, sheet, main } = workbook;
  const tables: SheetTable[] = [];
  for (const { type, target } of await readRelations(zip, sheet.fileName)) {
    const entry = type.endsWith('/table') ? zip.find(target) : undefined;
    const elements = await readElements(zip, entry);
    const { attributes } = elements.find(({ name }) => name === 'table') ?? {};
    const range = parseRange(attributes?.ref ?? '');
    if (!entry || !attributes || range === null) continue;
    tables.push({
      entry,
      name: attributes.displayName ?? attributes.name ?? '',
      range,
      headerRows: Number(attributes.headerRowCount ?? 1),
      totalsRows: Number(attributes.totalsRowCount ?? 0),
      isBound: (attributes.tableType ?? 'worksheet') !== 'worksheet',
    });
  }
  const named = filterName(await readText(zip, main), workbook);
  return { tables, filter: named && parseRange(named.text.slice(named.text.lastIndexOf('!') + 1)) };
}

/** A part of a text in place of which another stands. No two overlap. */
interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

function edited(text: string, edits: readonly Edit[]): string {
  let at = 0;
  const parts: string[] = [];
  for (const edit of edits.toSorted((a, b) => a.from - b.from)) {
    parts.push(text.slice(at, edit.from), edit.text);
    at = edit.to;
  }
  return [...parts, text.slice(at)].join('');
}

/** An element of a part, with its positions in the part's text. */
interface PartElement {
  /** As written, with its prefix. */
  readonly tag: string;
  readonly attributes: Attributes;
  readonly from: number;
  /** After the opening tag. */
  readonly tagTo: number;
  to: number;
}

/** All elements of a part's text, in the order of their beginnings. */
function elementsOf(text: string): PartElement[] {
  const elements: PartElement[] = [];
  const open: PartElement[] = [];
  let from = 0;
  const parser = partParser({
    begins(name) {
      from = parser.position - name.length - 2;
    },
    opens(tag, attributes) {
      const element = { tag, attributes, from, tagTo: parser.position, to: parser.position };
      elements.push(element);
      open.push(element);
    },
    closes() {
      open.pop()!.to = parser.position;
    },
  });
  parser.read(text);
  parser.end();
  return elements;
}

/** New columns of a range, from one on: what was there is replaced. */
export interface NewColumns {
  /** The number of the first one in the sheet, from 0. */
  readonly from: number;
  readonly names: readonly string[];
  /** The names of all columns before. */
  readonly before: readonly string[];
}

/** The range with its new columns. */
function widened(range: CellRange, { from, names }: NewColumns): CellRange {
  return { ...range, to: from + names.length };
}

/** The XML of a table with new columns. */
export async function tableXml(
  { zip }: Workbook,
  { entry, range }: SheetTable,
  added: NewColumns,
): Promise<string> {
  const text = await readText(zip, entry);
  const elements = elementsOf(text);
  const edits = rangeEdits(text, elements, range, added);
  const named = (local: string) => elements.filter(({ tag }) => localName(tag) === local);
  const columns = named('tableColumn');
  const kept = added.from - range.from;
  for (const { from, tagTo } of named('tableColumns')) {
    const count = `$1"${kept + added.names.length}"`;
    const tag = text.slice(from, tagTo).replace(/(\scount=)(?:"\d*"|'\d*')/, count);
    edits.push({ from, to: tagTo, text: tag });
  }
  const last = columns[kept - 1]!;
  let id = Math.max(...columns.map(({ attributes }) => Number(attributes.id)));
  const made = added.names.map((name, index) => {
    const old = columns[kept + index];
    if (old?.attributes.name === name) return text.slice(old.from, old.to);
    return `<${last.tag} id="${++id}" name="${attributeXml(name)}"/>`;
  });
  edits.push({ from: last.to, to: columns.at(-1)!.to, text: made.join('') });
  return edited(text, edits);
}

/** The XML of a filter of a sheet with new columns. */
export function filterXml(text: string, range: CellRange, added: NewColumns): string {
  return edited(text, rangeEdits(text, elementsOf(text), range, added));
}

/** The edits that give a table and a filter their new range, without what the filter says of columns that are replaced by others. */
function rangeEdits(
  text: string,
  elements: readonly PartElement[],
  range: CellRange,
  added: NewColumns,
): Edit[] {
  const { from: first, names, before } = added;
  const wider = widened(range, added);
  const isReplaced = (column: number) =>
    column >= first && before[column] !== names[column - first];
  return elements.flatMap(({ tag, attributes, from, tagTo, to }): Edit[] => {
    const local = localName(tag);
    if (local === 'table' || local === 'autoFilter') {
      const ref = `$1"${rangeText(wider)}"`;
      const opening = text.slice(from, tagTo).replace(/(\sref=)(?:"[^"]*"|'[^']*')/, ref);
      return [{ from, to: tagTo, text: opening }];
    }
    const isLost =
      (local === 'filterColumn' && isReplaced(range.from + Number(attributes.colId))) ||
      (local === 'sortState' && wider.to < range.to);
    return isLost ? [{ from, to, text: '' }] : [];
  });
}

/** The XML of the workbook with another range of the sheet's filter; null where it does not name the filter. */
export async function filterNameXml(
  workbook: Workbook,
  range: CellRange,
  added: NewColumns,
): Promise<string | null> {
  const text = await readText(workbook.zip, workbook.main);
  const named = filterName(text, workbook);
  if (named === null) return null;
  const of = named.text.slice(0, named.text.lastIndexOf('!') + 1);
  const absolute = rangeText(widened(range, added)).replace(/([A-Z]+)(\d+)/g, '$$$1$$$2');
  return edited(text, [{ ...named, text: of + absolute }]);
}

/** Where the hidden name of the sheet's filter has its range; null where there is none. */
function filterName(text: string, { sheetNumber }: Workbook): Edit | null {
  for (const { tag, attributes, tagTo, to } of elementsOf(text)) {
    const isOfFilter =
      localName(tag) === 'definedName' &&
      attributes.name === '_xlnm._FilterDatabase' &&
      Number(attributes.localSheetId) === sheetNumber - 1;
    if (!isOfFilter) continue;
    const end = text.lastIndexOf('</', to - 1);
    return { from: tagTo, to: end, text: text.slice(tagTo, end) };
  }
  return null;
}
