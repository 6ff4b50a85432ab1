import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import exceljs from 'exceljs';
import { unzipSync, zipSync } from 'fflate';
import { PerilbookError } from '../../src/base/errors.ts';
import { openRowFile } from '../../src/rows/open/open-row-file.ts';
import type { OpenOptions } from '../../src/rows/port.ts';
import { LONG } from '../tier.ts';
import { ADDED, allRows, fillWith, temporaryFolder, writeRows } from './book-fixture.ts';
import {
  cellsOf,
  type FixtureOptions,
  type FixtureSheet,
  partsOf,
  workbook,
} from './xlsx-fixture.ts';

const folder = temporaryFolder();
const FILL = fillWith(['ok', 'a < b & "c"', 1.5]);

const AT = '2026-05-01T10:20:30.000Z';
const WITH_TIME = [...ADDED, { name: 'hazard_as_of', type: 'time' } as const];

const STRINGS = ['Name', 'Lat', 'Lng', 'Öst &amp; West', '=1+1', 'Note'].map(
  (text) => `<si><t>${text}</t></si>`,
);
STRINGS.push(
  '<si><r><t>bold</t></r><r><t xml:space="preserve"> text</t></r><rPh sb="0" eb="1"><t>no</t></rPh></si>',
);
const STYLES =
  '<numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd;@"/></numFmts>' +
  '<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>' +
  '<cellXfs><xf numFmtId="0"/><xf numFmtId="0" fontId="1"/><xf numFmtId="164"/><xf numFmtId="22"/></cellXfs>';

/** A sheet with what real ones have: titles, styles, dates, formulas, merged cells, blank and hidden rows. */
const PORTFOLIO: FixtureSheet = {
  name: 'Portfolio',
  before:
    '<dimension ref="A1:E9"/><cols><col min="1" max="1" width="31.5" customWidth="1"/></cols>',
  rows:
    '<row r="1" spans="1:5" ht="20" customHeight="1"><c r="A1" s="1" t="s"><v>0</v></c><c r="B1" s="1" t="s"><v>1</v></c>' +
    '<c r="C1" s="1" t="s"><v>2</v></c><c r="D1" s="1" t="inlineStr"><is><t>Built</t></is></c></row>' +
    '<row r="2" spans="1:5"><c r="A2" t="s"><v>3</v></c><c r="B2"><v>38.100000000000001</v></c><c r="C2"><f>-97-0.25</f><v>-97.25</v></c>' +
    '<c r="D2" s="2"><v>45292</v></c><c r="E2" s="2"/></row>' +
    '<row r="3"/><row r="4" s="2" customFormat="1"><c r="A4" s="2"/></row>' +
    '<row r="5" hidden="1"><c r="A5" t="s"><v>4</v></c><c r="B5" t="str"><v>38.5</v></c><c r="C5" t="s"><v>6</v></c><extLst><ext uri="x"/></extLst></row>' +
    '<row r="9"><c r="A9" t="b"><v>1</v></c><c r="B9" t="e"><v>#N/A</v></c><c r="D9" s="3"><v>45292.75</v></c></row>',
  after: '<autoFilter ref="A1:D9"/><mergeCells count="1"><mergeCell ref="A9:A10"/></mergeCells>',
};

const OTHER: FixtureSheet = { name: 'Other', rows: '<row r="1"><c r="A1"><v>1</v></c></row>' };

const made = (sheets = [PORTFOLIO, OTHER], options: FixtureOptions = {}) =>
  workbook(sheets, {
    strings: STRINGS,
    styles: STYLES,
    extra: { 'xl/media/a.png': Uint8Array.of(1, 2, 3) },
    ...options,
  });

/** The XML of a workbook's first sheet. */
const sheetOf = (file: string) => partsOf(readFileSync(file))['xl/worksheets/sheet1.xml']!;

async function open(content: Buffer, options?: OpenOptions) {
  const file = join(folder, 'in.xlsx');
  writeFileSync(file, content);
  return await openRowFile(file, options);
}

test('cells are read as they are shown: numbers, shared and inline texts, dates, formulas by their value', async () => {
  const book = await open(made());
  assert.equal(book.format, 'xlsx');
  assert.deepEqual(book.columns, ['Name', 'Lat', 'Lng', 'Built']);
  assert.equal(book.note, 'Sheet "Portfolio" is read, number 1 of 2 (--sheet names another).');
  assert.deepEqual(await allRows(book, [0, 1, 2, 3]), [
    { number: 1, line: 2, fields: ['Öst & West', '38.1', '-97.25', '2024-01-01'] },
    { number: 2, line: 5, fields: ['=1+1', '38.5', 'bold text', ''] },
    { number: 3, line: 9, fields: ['TRUE', '#N/A', '', '2024-01-01T18:00:00'] },
  ]);
  // Workbooks of old Macs count days from 1904.
  const mac = await open(made([PORTFOLIO], { workbookPr: '<workbookPr date1904="1"/>' }));
  const built = (await allRows(mac, [3])).map(({ fields: [day] }) => day);
  assert.deepEqual(built, ['2028-01-02', '', '2028-01-02T18:00:00']);
});

test('the sheet gets the added columns, and everything else stays byte for byte', async () => {
  const content = made();
  const output = join(folder, 'out.xlsx');
  const book = await open(content);
  const { rows } = await writeRows(book, { output, fill: FILL });
  assert.equal(rows, 3);
  const [before, after] = [partsOf(content), partsOf(readFileSync(output))];
  const name = 'xl/worksheets/sheet1.xml';
  const added = (line: number) =>
    `<c r="E${line}" t="inlineStr"><is><t xml:space="preserve">ok</t></is></c><c r="F${line}" t="inlineStr"><is><t xml:space="preserve">a &lt; b &amp; "c"</t></is></c><c r="G${line}"><v>1.5</v></c>`;
  const header = (letter: string, text: string) =>
    `<c r="${letter}1" s="1" t="inlineStr"><is><t xml:space="preserve">${text}</t></is></c>`;
  const expected = before[name]!.replace('A1:E9', 'A1:G9')
    .replace('<autoFilter ref="A1:D9"/>', '<autoFilter ref="A1:G9"/>')
    .replaceAll(' spans="1:5"', '')
    .replace(
      'Built</t></is></c>',
      `$&${header('E', 'hazard_status')}${header('F', 'hazard_note')}${header('G', 'hail_score')}`,
    )
    // A format of an empty cell is the user's: it stays.
    .replace('<c r="E2" s="2"/>', added(2).replace('"E2"', '"E2" s="2"'))
    .replace('<v>6</v></c>', `$&${added(5)}`)
    .replace('45292.75</v></c>', `$&${added(9)}`);
  assert.equal(after[name], expected);
  assert.deepEqual({ ...after, [name]: '' }, { ...before, [name]: '' });
  assert.deepEqual(Object.keys(after), Object.keys(before));
});

test('an enriched workbook is refreshed in its place', async () => {
  const [first, second] = [join(folder, 'first.xlsx'), join(folder, 'second.xlsx')];
  const request = { added: WITH_TIME, fill: fillWith(['ok', 'a < b & "c"', 1.5, AT]) };
  await writeRows(await open(made()), { ...request, output: first });
  const again = await openRowFile(first);
  assert.deepEqual(again.columns.slice(4), [
    'hazard_status',
    'hazard_note',
    'hail_score',
    'hazard_as_of',
  ]);
  const failed = fillWith(['failed', null, null, null]);
  await writeRows(again, { ...request, output: second, dropFrom: 4, fill: failed });
  const { E1, E2, F2, G2, H2, I2 } = cellsOf(sheetOf(second));
  assert.deepEqual(
    [E1, E2, F2, G2, H2, I2],
    ['hazard_status', 'failed', ...new Array(4).fill(undefined)],
  );
  // Writing the same again changes nothing.
  await writeRows(again, { ...request, output: second, dropFrom: 4 });
  assert.deepEqual(partsOf(readFileSync(second)), partsOf(readFileSync(first)));
});

test('a column that stays behind the new ones keeps its cells', async () => {
  const output = join(folder, 'moved.xlsx');
  const added = [...ADDED, { name: 'Built', type: 'text', keeps: 3 } as const];
  await writeRows(await open(made()), {
    output,
    added,
    dropFrom: 3,
    fill: fillWith(['ok', null, 1.5, 'as text']),
  });
  const { D2, G1, G2, G5, G9 } = cellsOf(sheetOf(output));
  assert.deepEqual([D2, G1, G2, G5, G9], ['ok', 'Built', 45292, undefined, 45292.75]);
});

test('new columns never stand on cells that have no column name', async () => {
  const stray = {
    ...PORTFOLIO,
    // A filter beside such cells is refused.
    after: PORTFOLIO.after!.replace(/<autoFilter[^>]*>/, ''),
    rows: PORTFOLIO.rows.replace('<c r="D9" s="3"', '<c r="D9"><v>1</v></c><c r="H9" s="3"'),
  };
  const output = join(folder, 'out.xlsx');
  await writeRows(await open(made([stray])), { output, fill: FILL });
  const cells = cellsOf(sheetOf(output));
  assert.deepEqual([cells.H9, cells.I1, cells.I9], [45292.75, 'hazard_status', 'ok']);
});

test('a sheet is chosen by name or number; hidden ones are passed over; titles are known by their line', async () => {
  const titled: FixtureSheet = {
    name: 'Titled',
    rows: '<row r="1"><c r="A1" t="str"><v>Portfolio 2024</v></c></row><row r="4"><c r="A4" t="s"><v>1</v></c><c r="B4" t="s"><v>2</v></c></row><row><c><v>38</v></c><c><v>-97</v></c></row>',
  };
  const content = made([{ ...OTHER, hidden: true }, PORTFOLIO, titled]);
  assert.equal((await open(content)).columns[0], 'Name');
  assert.deepEqual((await open(content, { sheet: '1' })).columns, ['1']);
  const guessed = await open(content, { sheet: 'titled' });
  assert.deepEqual(guessed.columns, ['Portfolio 2024']);
  assert.equal(
    guessed.likelyHeader?.((fields) => fields.includes('Lat')),
    4,
  );
  const book = await open(content, { sheet: 'Titled', headerLine: 4 });
  assert.deepEqual(book.columns, ['Lat', 'Lng']);
  // A row and a cell without a reference stand behind the ones before them.
  assert.deepEqual(await allRows(book, [0, 1]), [{ number: 1, line: 5, fields: ['38', '-97'] }]);
  const output = join(folder, 'out.xlsx');
  await writeRows(book, { output, fill: FILL });
  const cells = cellsOf(partsOf(readFileSync(output))['xl/worksheets/sheet3.xml']!, [
    '',
    'Lat',
    'Lng',
  ]);
  assert.deepEqual([cells.B1, cells.C4, cells.C5], [undefined, 'hazard_status', 'ok']);
  await assert.rejects(
    open(content, { sheet: 'Portfoliio' }),
    /no sheet "Portfoliio"; did you mean Portfolio\?/,
  );
  await assert.rejects(open(content, { headerLine: 7 }), /has nothing in row 7/);
});

test('tags with a prefix, other quotes, comments and CDATA are read and written', async () => {
  const rows =
    "<x:row r='1'><x:c r='A1' t='str'><x:v><![CDATA[<lat>]]></x:v></x:c><!-- <row r='7'/> --></x:row><x:row r='2'><x:c r='A2'><x:v>1</x:v></x:c></x:row >";
  const zip = made([{ name: 'S', rows }]);
  const parts = partsOf(zip);
  assert.ok(parts['xl/worksheets/sheet1.xml']);
  const content = workbook([], {
    strings: STRINGS,
    extra: {
      'xl/workbook.xml': Buffer.from(parts['xl/workbook.xml']!, 'latin1'),
      'xl/_rels/workbook.xml.rels': Buffer.from(parts['xl/_rels/workbook.xml.rels']!, 'latin1'),
      'xl/worksheets/sheet1.xml': Buffer.from(
        `<x:worksheet xmlns:x="m"><x:sheetData>${rows}</x:sheetData></x:worksheet>`,
      ),
    },
  });
  const book = await open(content);
  assert.deepEqual(book.columns, ['<lat>']);
  const output = join(folder, 'out.xlsx');
  await writeRows(book, { output, added: ADDED.slice(2), fill: fillWith([2]) });
  const sheet = sheetOf(output);
  assert.ok(
    sheet.includes(
      '</x:c><x:c r="B1" t="inlineStr"><x:is><x:t xml:space="preserve">hail_score</x:t></x:is></x:c>',
    ),
    sheet,
  );
  assert.ok(sheet.includes('<x:c r="B2"><x:v>2</x:v></x:c></x:row >'), sheet);
});

test('macros stay in a macro workbook; other formats of sheets are refused in words', async () => {
  const macros = { contentType: 'application/vnd.ms-excel.sheet.macroEnabled.main+xml' };
  assert.equal((await open(made([PORTFOLIO], macros))).format, 'xlsm');
  const container = Buffer.alloc(4096);
  container.write('\xd0\xcf\x11\xe0', 0, 'latin1');
  await assert.rejects(open(container), /an old Excel workbook \(\.xls\)/);
  container.write('EncryptedPackage', 1024, 'utf16le');
  await assert.rejects(open(container), /an Excel workbook with a password/);
  const binary = partsOf(made());
  binary['_rels/.rels'] = binary['_rels/.rels']!.replace('workbook.xml', 'workbook.bin');
  const extra = Object.fromEntries(
    Object.entries(binary).map(([name, text]) => [name, Buffer.from(text, 'latin1')]),
  );
  await assert.rejects(
    open(workbook([], { extra: { ...extra, 'xl/workbook.bin': Buffer.of(1) } })),
    /\(\.xlsb\)/,
  );
  const ods = { 'content.xml': Buffer.of(1), 'META-INF/manifest.xml': Buffer.of(1) };
  await assert.rejects(open(workbook([], { extra: ods })), /\(\.ods\)/);
});

test('parts that are cut off, changed or longer than declared are refused, and never a bug', async () => {
  const whole = made();
  const refuses = async (content: Buffer) => {
    try {
      await allRows(await open(content), [0, 1]);
      return false;
    } catch (error) {
      assert.ok(
        error instanceof PerilbookError && error.code === 'INPUT_UNREADABLE',
        String(error),
      );
      return true;
    }
  };
  for (const at of [40, 200, whole.length - 30])
    assert.ok(await refuses(whole.subarray(0, at)), `cut at ${at}`);
  let refused = 0;
  for (let at = 4; at < whole.length; at += 97) {
    const changed = Buffer.from(whole);
    changed[at]! ^= 0x55;
    if (await refuses(changed)) refused++;
  }
  assert.ok(refused > 8, `${refused} refused`);
  // A part that is declared small and unpacks to more.
  const bomb = Buffer.from(
    made([{ ...OTHER, rows: `<row r="1"><c r="A1"><v>${'1'.repeat(1_000_000)}</v></c></row>` }]),
  );
  const directory = bomb.lastIndexOf('xl/worksheets/sheet1.xml') - 46;
  bomb.writeUInt32LE(1000, directory + 24);
  await assert.rejects(async () => allRows(await open(bomb), [0]), /longer than its header states/);
});

/** 300 tags in one another, each closed. */
const NESTED = '<a>'.repeat(300) + '</a>'.repeat(300);

const PLACE_ROWS =
  '<row r="1"><c r="A1" t="s"><v>0</v></c></row><row r="2"><c r="A2"><v>1</v></c></row>';

test('a part whose tags are nested without end is refused: a small file does not fill the memory', async () => {
  const sheet = { name: 'S', rows: PLACE_ROWS };
  const plain = { strings: ['<si><t>x</t></si>'] };
  assert.deepEqual((await open(workbook([sheet], plain))).columns, ['x']);
  for (const [part, content] of [
    ['the sheet "S"', workbook([{ ...sheet, rows: NESTED + PLACE_ROWS }], plain)],
    ['its part xl/sharedStrings.xml', workbook([sheet], { strings: [...plain.strings, NESTED] })],
    ['its part xl/styles.xml', workbook([sheet], { ...plain, styles: NESTED })],
    ['its part xl/workbook.xml', workbook([sheet], { ...plain, workbookPr: NESTED })],
  ] as const)
    await assert.rejects(
      async () => open(content),
      new RegExp(`${part} cannot be read \\(its tags are nested too deeply\\)`),
      part,
    );
});

test(
  'more shared texts than a full sheet could need are refused: a small file does not fill the memory',
  LONG,
  async () => {
    const strings = ['<si/>'.repeat(32 * 1_048_576 + 1)];
    await assert.rejects(
      async () => open(workbook([{ name: 'S', rows: PLACE_ROWS }], { strings })),
      {
        code: 'INPUT_UNREADABLE',
        message: /has more than 33,554,432 shared texts$/,
      },
    );
  },
);

test('a row or cell without a reference is named by its place where it is refused', async () => {
  const rows = (last: string) => `<row r="1048576"><c r="XFD1048576"><v>1</v></c>${last}</row>`;
  await assert.rejects(
    async () => open(made([{ name: 'S', rows: `${rows('')}<row/>` }])),
    /row 1048577 is/,
  );
  await assert.rejects(async () => open(made([{ name: 'S', rows: rows('<c/>') }])), /cell XFE is/);
});

test('texts of a CSV are texts of a workbook, with all their characters, and are read back', async () => {
  const [csv, excel] = [join(folder, 'b.csv'), join(folder, 'b.xlsx')];
  writeFileSync(
    csv,
    `zip,lat,${'x'.repeat(80)},"e\r\nd"\n01234,38.50,"<&\u0001_x0041_","c\r\nd\re\nf"\n`,
  );
  await writeRows(await openRowFile(csv), { output: excel, fill: FILL, numbers: new Set([1]) });
  const { A2, B2, C2, D1, D2, E2, G2 } = cellsOf(sheetOf(excel));
  assert.deepEqual(
    [A2, B2, C2, E2, G2],
    ['01234', 38.5, '&lt;&amp;_x0001__x005F_x0041_', 'ok', 1.5],
  );
  // Line ends in a cell are line feeds.
  assert.deepEqual([D1, D2], ['e\nd', 'c\nd\ne\nf']);
  const [row] = await allRows(await openRowFile(excel), [0, 1, 2]);
  assert.deepEqual(row!.fields, ['01234', '38.5', '<&\u0001_x0041_']);
});

test('a text that is longer than a cell may be is cut with a word, and every row comes back', async () => {
  const [csv, output] = [join(folder, 'long.csv'), join(folder, 'long.xlsx')];
  const long = `${'a'.repeat(32_740)}${'🏠'.repeat(4_000)}`;
  writeFileSync(csv, `name,lat\n${long},38\nshort,39\n`);
  const fill = fillWith(['ok', 'n'.repeat(40_000), 1.5]);
  const request = { added: ADDED, fill };
  for (const from of [csv, join(folder, 'short.xlsx')]) {
    if (from !== csv) writeFileSync(from, made());
    assert.ok((await writeRows(await openRowFile(from), { ...request, output })).rows >= 2);
    const again = await openRowFile(output);
    const [name, note] = (await allRows(again, [0, again.columns.indexOf('hazard_note')]))[0]!
      .fields as [string, string];
    assert.match(note, /^n+… \[cut: 40,000 letters\]$/);
    assert.equal(note.length, 32_767);
    if (from !== csv) continue;
    assert.match(name, /^a+🏠*… \[cut: 40,740 letters\]$/u);
    assert.ok(name.length === 32_767 || name.length === 32_766);
  }
  // What stands in a workbook stays as it is, also where Excel would not have written it.
  const inside = made([
    {
      name: 'Long',
      rows: `<row r="1"><c r="A1" t="str"><v>lat</v></c></row><row r="2"><c r="A2" t="str"><v>${long}</v></c></row>`,
    },
  ]);
  await writeRows(await open(inside), { ...request, output });
  assert.equal((await allRows(await openRowFile(output), [0]))[0]!.fields[0], long);
});

test('a formula without a stored value is not an empty cell', async () => {
  const rows =
    '<row r="1"><c r="A1" t="str"><v>lat</v></c><c r="B1" t="str"><v>lng</v></c><c r="C1" t="str"><v>name</v></c></row>' +
    '<row r="2"><c r="A2"><v>38</v></c><c r="B2"><f>-97-0.25</f></c></row>' +
    '<row r="3"><c r="A3"><f t="shared" si="0"/><v/></c><c r="B3"><f>1</f><v></v></c></row>' +
    '<row r="4"><c r="A4"><v>38</v></c><c r="B4" t="str"><f>""</f><v></v></c></row>' +
    '<row r="5"><c r="A5"><v>38</v></c><c r="B5"><v>-97</v></c><c r="C5"><f>A5</f></c><c r="D5"><f>B5</f></c></row>';
  const book = await open(made([{ name: 'S', rows }]));
  const problem = (name: string) =>
    `Column ${name} has a formula without a stored value: open the workbook in Excel or LibreOffice, and save it.`;
  assert.deepEqual(await allRows(book, [0, 1, 2], 2), [
    { number: 1, line: 2, fields: ['38', '', ''], problem: problem('lng') },
    { number: 2, line: 3, fields: ['', '', ''], problem: problem('lat') },
    { number: 3, line: 4, fields: ['38', '', ''] },
    { number: 4, line: 5, fields: ['38', '-97', ''], formulas: [2] },
  ]);
  // New columns do not replace a formula beside the table.
  const output = join(folder, 'out.xlsx');
  await writeRows(book, { output, fill: FILL });
  const sheet = sheetOf(output);
  assert.ok(sheet.includes('<c r="D5"><f>B5</f></c><c r="E5"'), sheet);
});

test('a new workbook and one in place open in another reader; a time is a text in both', async () => {
  const csv = join(folder, 'time.csv');
  writeFileSync(csv, 'name,lat\na,38\n');
  const excel = join(folder, 'time.xlsx');
  const fonts = '$&<fonts count="2"><font/><font><b/></font></fonts>';
  writeFileSync(excel, made(undefined, { styles: STYLES.replace('</numFmts>', fonts) }));
  for (const from of [csv, excel]) {
    const output = join(folder, 'time-out.xlsx');
    const fill = fillWith(['ok', null, 1.5, AT]);
    await writeRows(await openRowFile(from), { output, added: WITH_TIME, fill });
    // exceljs is stricter than read-excel-file.
    const read = new exceljs.Workbook();
    await read.xlsx.readFile(output);
    const column = (await openRowFile(output)).columns.indexOf('hazard_as_of');
    const value = read.worksheets[0]!.getRow(2).getCell(column + 1).value;
    assert.deepEqual(value, AT, from);
    if (from === excel) continue;
    // openpyxl refuses a fill without a pattern.
    const styles = partsOf(readFileSync(output))['xl/styles.xml']!;
    assert.doesNotMatch(styles, /<fill\/>/);
    assert.match(styles, /<cellStyle name="Normal" xfId="0" builtinId="0"\/>/);
  }
});

const INLINE: readonly (readonly [what: string, cell: string, text: string])[] = [
  ['inline before a value', '<c r="A2" t="inlineStr"><is><t>Oak</t></is><v>12</v></c>', 'Oak'],
  ['inline after a value', '<c r="A2" t="inlineStr"><v>7</v><is><t>Elm</t></is></c>', 'Elm'],
  [
    'rich inline beside a value',
    '<c r="A2" t="inlineStr"><is><r><t>O</t></r><r><t>ak</t></r></is><v>1</v></c>',
    'Oak',
  ],
  ['an empty inline text beside a value', '<c r="A2" t="inlineStr"><is><t/></is><v>1</v></c>', ''],
  ['inline of CDATA', '<c r="A2" t="inlineStr"><is><t><![CDATA[A & B]]></t></is></c>', 'A & B'],
  ['inline without the value of its kind', '<c r="A2" t="inlineStr"><v>7</v></c>', '7'],
  ['inline without a type', '<c r="A2"><is><t>Oak</t></is></c>', 'Oak'],
  ['a number beside inline', '<c r="A2"><v>38.5</v><is><t>Oak</t></is></c>', '38.5'],
  ['a shared text beside inline', '<c r="A2" t="s"><is><t>Oak</t></is><v>1</v></c>', 'Lat'],
  [
    'a formula text beside inline',
    '<c r="A2" t="str"><f>B1</f><v>x</v><is><t>Oak</t></is></c>',
    'x',
  ],
];

test('a cell with an inline text and a value has the one of its type', async () => {
  for (const [what, cell, text] of INLINE) {
    const rows = `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row><row r="2">${cell}<c r="B2"><v>1</v></c></row>`;
    const [row] = await allRows(await open(made([{ name: 'S', rows }])), [0, 1]);
    assert.deepEqual(row!.fields, [text, '1'], what);
  }
});

test('a cell whose shared text is not there is empty', async () => {
  const strings = ['<si><t>name</t></si>', '<si><t>lat</t></si>'];
  const shared = (cell: string, index: number) => `<c r="${cell}" t="s"><v>${index}</v></c>`;
  const rows = `<row r="1">${shared('A1', 0)}${shared('B1', 1)}</row><row r="2">${shared('A2', 2)}${shared('B2', 1)}</row><row r="3">${shared('A3', -1)}${shared('B3', 0)}</row>`;
  const read = await allRows(await open(workbook([{ name: 'S', rows }], { strings })), [0, 1]);
  assert.deepEqual(
    read.map(({ fields }) => fields),
    [
      ['', 'lat'],
      ['', 'name'],
    ],
  );
});

test('shared texts in CDATA are read, also in part', async () => {
  const strings = [
    '<si><t><![CDATA[A & B]]></t></si>',
    '<si><r><t>x</t></r><r><t><![CDATA[<y>]]></t></r></si>',
  ];
  const rows = '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>';
  assert.deepEqual((await open(workbook([{ name: 'S', rows }], { strings }))).columns, [
    'A & B',
    'x<y>',
  ]);
});

/** The parts of a workbook in another encoding. */
function encoded(content: Buffer, declared: string, encode: (text: string) => Buffer): Buffer {
  const parts = Object.entries(unzipSync(content)).map(([name, bytes]) => {
    const text = Buffer.from(bytes).toString('utf8').replace('encoding="UTF-8"', declared);
    return [name, name.endsWith('.png') ? bytes : Uint8Array.from(encode(text))];
  });
  return Buffer.from(zipSync(Object.fromEntries(parts)));
}

const ENCODINGS: readonly (readonly [declared: string, encode: (text: string) => Buffer])[] = [
  ['encoding="UTF-16"', (text) => Buffer.from(`\ufeff${text}`, 'utf16le')],
  ['encoding="UTF-16"', (text) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
  ['encoding="utf-16"', (text) => Buffer.from(text, 'utf16le')],
  ['encoding="utf-16"', (text) => Buffer.from(text)],
  ["encoding='ISO-8859-1'", (text) => Buffer.from(text, 'latin1')],
  ['encoding="x-unknown"', (text) => Buffer.from(text)],
  ['', (text) => Buffer.from(`\ufeff${text}`)],
];

test('the parts of a workbook may have any encoding, and an edited one is UTF-8', async () => {
  for (const [declared, encode] of ENCODINGS) {
    const book = await open(encoded(made(), declared, encode));
    assert.deepEqual((await allRows(book, [0, 1]))[0]!.fields, ['Öst & West', '38.1'], declared);
    const output = join(folder, 'encoded.xlsx');
    await writeRows(book, { output, fill: fillWith(['Öl', '', 1]), added: WITH_TIME.slice(0, 3) });
    assert.deepEqual((await openRowFile(output)).columns.slice(-3), [
      'hazard_status',
      'hazard_note',
      'hail_score',
    ]);
    const [row] = await allRows(await openRowFile(output), [0, 4]);
    assert.deepEqual(row!.fields, ['Öst & West', 'Öl'], declared);
  }
});

test('durations count on above a day; times of day stay', async () => {
  const codes = ['[h]:mm:ss', '[h]:mm', '[mm]:ss', '[ss]', 'h:mm:ss', '[$-409][hh]:mm;@'];
  const numFmts = codes
    .map((code, i) => `<numFmt numFmtId="${170 + i}" formatCode="${code}"/>`)
    .join('');
  const xfs = [0, ...codes.map((_, i) => 170 + i), 46]
    .map((id) => `<xf numFmtId="${id}"/>`)
    .join('');
  const styles = `<numFmts>${numFmts}</numFmts><cellXfs>${xfs}</cellXfs>`;
  const textOf = async (style: number, value: number) => {
    const rows = `<row r="1"><c r="A1" t="s"><v>0</v></c></row><row r="2"><c r="A2" s="${style}"><v>${value}</v></c></row>`;
    return (await allRows(await open(made([{ name: 'S', rows }], { styles })), [0]))[0]!.fields[0];
  };
  for (const style of [1, 2, 3, 4, 6, 7])
    assert.equal(await textOf(style, 10.632060185), '255:10:10', String(style));
  assert.deepEqual(
    [await textOf(1, 0.5), await textOf(1, -0.0625), await textOf(5, 0.5)],
    ['12:00:00', '-01:30:00', '12:00:00'],
  );
});

const MERGES: readonly (readonly [ref: string, ...left: readonly string[]])[] = [
  // The table is B2:C4 with its header in row 2; the new columns are D to F, and row 6 is a note below.
  ['B1:F1', 'B1:F1'],
  ['C2:D2'],
  ['B2:E2', 'B2:C2'],
  ['C2:H2', 'G2:H2'],
  ['D2:F4'],
  ['B1:E2', 'B1:E1', 'B2:C2'],
  ['D1:E4', 'D1:E1'],
  ['C3:D4', 'C3:C4'],
  ['D3:D5'],
  ['C4:F7', 'C5:F7'],
  ['G2:H4', 'G2:H4'],
  ['B3:B4', 'B3:B4'],
  ['D6:F6', 'D6:F6'],
  ['$C$2:$F$2'],
];

test('a merged range that covers new cells is parted, and others stay', async () => {
  const cell = (at: string, value: number) => `<c r="${at}"><v>${value}</v></c>`;
  const rows =
    `<row r="1"><c r="B1" t="inlineStr"><is><t>Title</t></is></c></row><row r="2"><c r="B2" t="s"><v>1</v></c><c r="C2" t="s"><v>2</v></c></row>` +
    `<row r="3">${cell('B3', 30)}${cell('C3', -90)}</row><row r="4">${cell('B4', 31)}${cell('C4', -91)}</row>`;
  for (const [ref, ...left] of MERGES) {
    const after = `<mergeCells count="1"><mergeCell ref="${ref}"/></mergeCells><pageMargins left="1"/>`;
    const book = await open(made([{ name: 'S', rows, after }]), { headerLine: 2 });
    const output = join(folder, 'merged.xlsx');
    await writeRows(book, { output, fill: FILL });
    const sheet = sheetOf(output);
    assert.deepEqual(
      [...sheet.matchAll(/<mergeCell ref="(.*?)"/g)].map(([, found]) => found),
      left,
      ref,
    );
    assert.match(
      sheet,
      left.length === 0
        ? /<\/sheetData><pageMargins/
        : new RegExp(`<mergeCells count="${left.length}">`),
      ref,
    );
  }
});

test('an empty sheet names the others', async () => {
  const empty: FixtureSheet = { name: 'Chart', rows: '<row r="1"><c r="A1" s="1"/></row>' };
  const file = { code: 'INPUT_UNREADABLE', message: /Sheet "Chart" .* is empty/ };
  await assert.rejects(open(made([empty, PORTFOLIO, OTHER])), {
    ...file,
    hint: 'Name another sheet: --sheet NAME, of "Portfolio", "Other".',
  });
  await assert.rejects(open(made([empty])), {
    ...file,
    hint: 'Check that this is the right file.',
  });
});
