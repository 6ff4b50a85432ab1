import { SaxesParser } from 'saxes';
import type { CsvRecord } from './delimited-text.ts';
import { invalidFile } from './load-errors.ts';
import { memberBlocks, type ZipMember, zipMembers } from './zip-members.ts';

/** The sheet with the table in EPA's workbook of landfills; of other workbooks the first is read. */
const TABLE_SHEET = /database/i;

/** Built-in number formats for days (ECMA-376, 18.8.30), beside a workbook's own formats with days or years. */
const DAY_FORMATS = new Set([14, 15, 16, 17, 22]);
/** Day 0 of Excel's calendar, which has a 29 February 1900 that did not exist. */
const EXCEL_EPOCH = Date.UTC(1899, 11, 30);
const DAY_MS = 86_400_000;

/**
 * The rows of a sheet of an .xlsx workbook, as of a CSV; days as 2024-10-03, other numbers as stored. Shared strings
 * are in memory, the sheet is not.
 *
 * @throws PerilbookError SERVICE_DATA when it is no workbook or is damaged
 */
export function* sheetRecords(file: string): Generator<CsvRecord> {
  const members = zipMembers(file);
  const member = (name: string) => members.find((other) => other.name === name);
  const sheets: { readonly name: string; readonly id: string }[] = [];
  read(file, member('xl/workbook.xml'), (name, { name: sheet = '', 'r:id': id = '' }) => {
    if (name === 'sheet') sheets.push({ name: sheet, id });
  });
  const sheet = sheets.find(({ name }) => TABLE_SHEET.test(name)) ?? sheets[0];
  let target = '';
  read(file, member('xl/_rels/workbook.xml.rels'), (name, attributes) => {
    if (name === 'Relationship' && attributes.Id === sheet?.id) target = attributes.Target ?? '';
  });
  const found = member(target.startsWith('/') ? target.slice(1) : `xl/${target}`);
  if (found === undefined)
    throw invalidFile(file, 'it is not an Excel workbook', 'Save the sheet as CSV and load that.');
  const strings = sharedStrings(file, member('xl/sharedStrings.xml'));
  const rows = rowsReader(strings, dayStyles(file, member('xl/styles.xml')));
  for (const block of textOf(file, found)) {
    rows.write(block);
    yield* rows.takeReady();
  }
}

type OnTag = (name: string, attributes: Readonly<Record<string, string>>) => void;

function* textOf(file: string, member: ZipMember): Generator<string> {
  const decoder = new TextDecoder();
  for (const block of memberBlocks(file, member)) yield decoder.decode(block, { stream: true });
}

function read(file: string, member: ZipMember | undefined, onTag: OnTag, parser = new SaxesParser()): void {
  if (member === undefined) return;
  parser.on('opentag', ({ name, attributes }) => onTag(name.replace(/^.*:/, ''), attributes as Record<string, string>));
  for (const text of textOf(file, member)) parser.write(text);
}

function sharedStrings(file: string, member: ZipMember | undefined): string[] {
  const strings: string[] = [];
  let isText = false;
  const parser = new SaxesParser();
  parser.on('text', (text) => {
    if (isText) strings[strings.length - 1] += text;
  });
  parser.on('closetag', () => {
    isText = false;
  });
  const onTag: OnTag = (name) => {
    if (name === 'si') strings.push('');
    isText = name === 't';
  };
  read(file, member, onTag, parser);
  return strings;
}

/** The numbers of the styles that format numbers as days. */
function dayStyles(file: string, member: ZipMember | undefined): ReadonlySet<number> {
  const own = new Set<number>();
  const styles = new Set<number>();
  let isInCells = false;
  let count = 0;
  read(file, member, (name, attributes) => {
    if (name === 'numFmt' && /[dy]/i.test((attributes.formatCode ?? '').replace(/"[^"]*"|\[[^\]]*\]/g, ''))) {
      own.add(Number(attributes.numFmtId));
    }
    if (name === 'cellXfs' || name === 'cellStyles') isInCells = name === 'cellXfs';
    if (name !== 'xf' || !isInCells) return;
    const format = Number(attributes.numFmtId ?? 0);
    if (DAY_FORMATS.has(format) || own.has(format)) styles.add(count);
    count += 1;
  });
  return styles;
}

function rowsReader(strings: readonly string[], days: ReadonlySet<number>) {
  const parser = new SaxesParser();
  let ready: CsvRecord[] = [];
  let row: { line: number; cells: string[] } = { line: 0, cells: [] };
  let cell = { column: 0, type: 'n', style: 0, text: '' };
  let isText = false;

  parser.on('opentag', ({ name, attributes }) => {
    const local = name.replace(/^.*:/, '');
    const of = attributes as Record<string, string>;
    if (local === 'row') row = { line: Number(of.r ?? row.line + 1), cells: [] };
    if (local === 'c') {
      const column = of.r === undefined ? row.cells.length : columnOf(of.r);
      cell = { column, type: of.t ?? 'n', style: Number(of.s ?? 0), text: '' };
    }
    isText = local === 'v' || local === 't';
  });
  parser.on('text', (text) => {
    if (isText) cell.text += text;
  });
  parser.on('closetag', ({ name }) => {
    const local = name.replace(/^.*:/, '');
    isText = false;
    if (local === 'c') {
      while (row.cells.length < cell.column) row.cells.push('');
      row.cells[cell.column] = cellText();
    }
    if (local === 'row' && row.cells.some((value) => value !== '')) ready.push(row);
  });

  function cellText(): string {
    if (cell.type === 's') return strings[Number(cell.text)] ?? '';
    if (cell.type !== 'n' || cell.text === '' || !days.has(cell.style)) return cell.text;
    return new Date(EXCEL_EPOCH + Math.floor(Number(cell.text)) * DAY_MS).toISOString().slice(0, 10);
  }

  return {
    write: (text: string) => parser.write(text),
    takeReady(): CsvRecord[] {
      const taken = ready;
      ready = [];
      return taken;
    },
  };
}

/** AB12 is 27. */
function columnOf(reference: string): number {
  let column = 0;
  for (const letter of reference.replace(/\d+$/, '')) column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}
