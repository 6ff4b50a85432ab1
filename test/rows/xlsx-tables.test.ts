import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { strToU8, zipSync } from 'fflate';
import { openRowFile } from '../../src/rows/open/open-row-file.ts';
import type { AddedColumn } from '../../src/rows/port.ts';
import { ADDED, fillWith, temporaryFolder, writeRows } from './book-fixture.ts';
import { partsOf, workbook } from './xlsx-fixture.ts';

/* Excel sorts and filters a table as a whole, and no cell beside it. */

const folder = temporaryFolder();
const FILL = fillWith(['ok', null, 1.5]);
const MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const SHEET = 'xl/worksheets/sheet1.xml';
const TABLE = 'xl/tables/table1.xml';
const BOOK = 'xl/workbook.xml';

const HEAD = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n`;
const NAMES =
  '<c r="A1" t="str"><v>id</v></c><c r="B1" t="str"><v>lat</v></c><c r="C1" t="str"><v>lng</v></c>';
const row = (line: number, more = '') =>
  `<row r="${line}"><c r="A${line}"><v>${line}</v></c><c r="B${line}"><v>40</v></c><c r="C${line}"><v>-100</v></c>${more}</row>`;

/** The XML of a table over the three columns, as Excel writes it. */
const table = (ref = 'A1:C3', attributes = '', columns = COLUMNS) =>
  `${HEAD}<table ${MAIN} id="1" name="Sites" displayName="Sites" ref="${ref}"${attributes}><autoFilter ref="${ref}"><filterColumn colId="0"><filters><filter val="2"/></filters></filterColumn></autoFilter><tableColumns count="3">${columns}</tableColumns><tableStyleInfo name="TableStyleMedium2" showRowStripes="1"/></table>`;
const COLUMNS =
  '<tableColumn id="1" name="id"/><tableColumn id="7" name="lat"><calculatedColumnFormula>1+1</calculatedColumnFormula></tableColumn><tableColumn id="3" name="lng"/>';

interface Made {
  readonly rows?: string;
  readonly tableXml?: string | null;
  /** After the rows. */
  readonly after?: string;
  readonly definedNames?: string;
}

function made({
  rows = `<row r="1">${NAMES}</row>${row(2)}${row(3)}`,
  tableXml = table(),
  after = '',
  definedNames = '',
}: Made = {}) {
  const relations = `${HEAD}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="${RELATIONS}/table" Target="../tables/table1.xml"/></Relationships>`;
  return workbook([{ name: 'Sites', rows, after }], {
    workbookPr: definedNames,
    extra:
      tableXml === null
        ? {}
        : { [TABLE]: strToU8(tableXml), 'xl/worksheets/_rels/sheet1.xml.rels': strToU8(relations) },
  });
}

async function open(content: Buffer) {
  const file = join(folder, 'in.xlsx');
  writeFileSync(file, content);
  return await openRowFile(file);
}

async function written(
  content: Buffer,
  request: { added?: readonly AddedColumn[]; dropFrom?: number } = {},
): Promise<Record<string, string>> {
  const output = join(folder, 'out.xlsx');
  const width = (request.added ?? ADDED).length;
  const fill = fillWith(['ok', null, 1.5, 2.5, 3.5].slice(0, width));
  await writeRows(await open(content), { output, fill, ...request });
  return partsOf(readFileSync(output));
}

const added = (id: number, ...names: string[]) =>
  names.map((name, index) => `<tableColumn id="${id + index}" name="${name}"/>`).join('');

test('a table that ends where the new columns begin has them too, and nothing else of it changes', async () => {
  const content = made();
  const parts = await written(content);
  const before = partsOf(content);
  assert.equal(
    parts[TABLE],
    before[TABLE]!.replaceAll('A1:C3', 'A1:F3')
      .replace('count="3"', 'count="6"')
      .replace(COLUMNS, `${COLUMNS}${added(8, 'hazard_status', 'hazard_note', 'hail_score')}`),
  );
  const others = { [TABLE]: '', [SHEET]: '' };
  assert.deepEqual({ ...parts, ...others }, { ...before, ...others });
  assert.equal((await open(content)).ownFormatNote, null);
});

test('a name with letters that XML escapes is that of its column, and rows below a table are no hindrance', async () => {
  const content = made({ rows: `<row r="1">${NAMES}</row>${row(2)}${row(3)}${row(4)}` });
  const parts = await written(content, { added: [{ name: 'a<"b"&', type: 'text' }] });
  assert.match(parts[TABLE]!, /ref="A1:D3".*<tableColumn id="8" name="a&lt;&quot;b&quot;&amp;"\/>/);
});

test('a table that was widened gets the columns of the next run in place of the earlier ones', async () => {
  const first = join(folder, 'first.xlsx');
  await writeRows(await open(made()), { output: first, fill: FILL, added: WITH_TIME });
  const again = readFileSync(first);
  const book = await open(again);
  assert.equal(book.ownFormatNote, null);
  // Others, more and fewer; a filter on a column that is gone goes with it.
  const wind: AddedColumn = { name: 'wind_score', type: 'number' };
  const more = await written(again, { added: [...WITH_TIME, wind], dropFrom: 3 });
  assert.match(
    more[TABLE]!,
    /<table [^>]*ref="A1:G3".*<autoFilter ref="A1:G3">.*count="7".*name="hazard_as_of"\/><tableColumn id="11" name="wind_score"\/><\/tableColumns>/,
  );
  const fewer = await written(again, { added: WITH_TIME.slice(0, 1), dropFrom: 3 });
  assert.match(
    fewer[TABLE]!,
    /<table [^>]*ref="A1:D3".*count="4".*name="hazard_status"\/><\/tableColumns>/,
  );
  const filtered = withPart(again, TABLE, (xml) =>
    xml.replace('</filterColumn>', '$&<filterColumn colId="4"/><filterColumn colId="3"/>'),
  );
  const renamed = await written(filtered, { added: [WITH_TIME[0]!, wind], dropFrom: 3 });
  assert.deepEqual(renamed[TABLE]!.match(/colId="\d"/g), ['colId="0"', 'colId="3"']);
  const replaced = await written(filtered, { added: [wind], dropFrom: 3 });
  assert.deepEqual(replaced[TABLE]!.match(/colId="\d"/g), ['colId="0"']);
  // An order of rows goes with a column of its range.
  const sorted = withPart(again, TABLE, (xml) =>
    xml.replace('</autoFilter>', '$&<sortState ref="A2:F3"/>'),
  );
  assert.match((await written(sorted, { added: WITH_TIME, dropFrom: 3 }))[TABLE]!, /sortState/);
  const narrower = await written(sorted, { added: [wind], dropFrom: 3 });
  assert.doesNotMatch(narrower[TABLE]!, /sortState/);
});

test('the filter of a sheet is widened, with the hidden name that Excel keeps of it', async () => {
  const after =
    '<autoFilter ref="A1:C3"><filterColumn colId="1"><customFilters/></filterColumn></autoFilter>';
  const name = (range: string) =>
    `<definedNames><definedName name="Area">Sites!$A$1:$C$3</definedName><definedName name="_xlnm._FilterDatabase" localSheetId="0" hidden="1">Sites!${range}</definedName></definedNames>`;
  const content = made({ tableXml: null, after, definedNames: name('$A$1:$C$3') });
  const parts = await written(content);
  const before = partsOf(content);
  assert.equal(parts[BOOK], before[BOOK]!.replace(name('$A$1:$C$3'), name('$A$1:$F$3')));
  assert.ok(parts[SHEET]!.endsWith(`${after.replace('C3', 'F3')}</worksheet>`));
  // Of a filter without that name the range is widened, too: the file tells it after its rows.
  const plain = await written(made({ tableXml: null, after }));
  assert.ok(plain[SHEET]!.endsWith(`${after.replace('C3', 'F3')}</worksheet>`));
});

test('a filter that cannot be widened is told, also one that the workbook does not name', async () => {
  const words =
    /^The filter \(A1:B3\) cannot take the new columns: other columns stand right of it/;
  const after = '<autoFilter ref="A1:B3"/>';
  const name =
    '<definedNames><definedName name="_xlnm._FilterDatabase" localSheetId="0" hidden="1">Sites!$A$1:$B$3</definedName></definedNames>';
  for (const isNamed of [true, false]) {
    const content = made({ tableXml: null, after, ...(isNamed && { definedNames: name }) });
    const book = await open(content);
    for await (const _ of book.read([]));
    const [atOnce, atEnd] = [book.ownFormatNote ?? '', book.ownFormatNoteOfEnd!() ?? ''];
    assert.match(isNamed ? atOnce : atEnd, words);
    assert.equal(isNamed ? atEnd : atOnce, '');
    const before = partsOf(content);
    const parts = await written(content);
    assert.deepEqual([parts[BOOK], parts[SHEET]!.includes(after)], [before[BOOK], true]);
  }
  const rows = `<row r="1">${NAMES}</row>${row(2, '<c r="D2"><v>5</v></c>')}${row(3)}`;
  const apart = await open(made({ tableXml: null, rows, after: '<autoFilter ref="A1:C3"/>' }));
  await assert.rejects(
    async () =>
      await apart.checkRoom!({ output: 'out.xlsx', rows: 2, dropFrom: null, added: ADDED }),
    { message: /^The filter \(A1:C3\) of .* cannot take the new columns: cells without a column/ },
  );
});

for (const [why, content, words] of [
  [
    'totals',
    made({ tableXml: table('A1:C3', ' totalsRowCount="1"') }),
    /it ends with a row of totals/,
  ],
  [
    'a query',
    made({ tableXml: table('A1:C3', ' tableType="queryTable"') }),
    /its columns are bound to a query/,
  ],
  [
    'no names',
    made({ tableXml: table('A2:C3', ' headerRowCount="0"') }),
    /it has no row of column names/,
  ],
  [
    'another row',
    made({ tableXml: table('A2:C3') }),
    /its column names are not in the row that is read/,
  ],
  ['columns at its left', made({ tableXml: table('B1:C3') }), /other columns stand left of it/],
  ['columns at its right', made({ tableXml: table('A1:B3') }), /other columns stand right of it/],
] as const) {
  test(`a table that cannot be widened stays as it is, and the user is told why: ${why}`, async () => {
    const book = await open(content);
    assert.match(book.ownFormatNote ?? '', words);
    assert.match(
      book.ownFormatNote ?? '',
      /^Table "Sites" \([ABC\d:]+\) cannot take the new columns: .* Do not sort by it in Excel/,
    );
    assert.equal((await written(content))[TABLE], partsOf(content)[TABLE]);
  });
}

test('a table that ends above the rows is of no concern', async () => {
  const content = made({
    rows: `<row r="1"><c r="A1"><v>1</v></c></row><row r="2"><c r="A2"><v>2</v></c></row><row r="3">${NAMES.replaceAll(/([ABC])1/g, '$13')}</row>${row(4)}`,
    tableXml: table('A1:A2'),
  });
  const file = join(folder, 'titled.xlsx');
  writeFileSync(file, content);
  assert.equal((await openRowFile(file, { headerLine: 3 })).ownFormatNote, null);
});

test('new columns that cells without a name keep from their table are refused', async () => {
  const content = made({
    rows: `<row r="1">${NAMES}</row>${row(2, '<c r="D2"><v>5</v></c>')}${row(3)}`,
  });
  const book = await open(content);
  assert.equal(book.ownFormatNote, null);
  for await (const _ of book.read([]));
  await assert.rejects(
    async () =>
      await book.checkRoom!({ output: 'out.xlsx', rows: 2, dropFrom: null, added: ADDED }),
    {
      code: 'INPUT_COLUMNS',
      message:
        /^Table "Sites" \(A1:C3\) of .* cannot take the new columns: cells without a column name/,
    },
  );
});

/** As Perilbook adds them. */
const WITH_TIME: readonly AddedColumn[] = [
  { name: 'hazard_status', type: 'text' },
  { name: 'hazard_note', type: 'text' },
  { name: 'hazard_as_of', type: 'time' },
];

function withPart(content: Buffer, name: string, change: (xml: string) => string): Buffer {
  const parts = Object.entries(partsOf(content)).map(([part, text]) => [
    part,
    Buffer.from(part === name ? change(text) : text, 'latin1'),
  ]);
  return Buffer.from(zipSync(Object.fromEntries(parts)));
}
