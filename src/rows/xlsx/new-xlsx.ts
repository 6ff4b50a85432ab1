import type { Value } from '../../formats/typed-value.ts';
import { cellXml } from '../../formats/xlsx/cell-values.ts';
import { columnLetters } from '../../formats/xlsx/sheet-parser.ts';
import { type WriteNewFile, writeRows } from '../files/row-output.ts';
import { workbookWriter } from './write-sheet.ts';

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
