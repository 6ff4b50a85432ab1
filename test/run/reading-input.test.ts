import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkNewTable } from '../../src/rows/open/new-table.ts';
import { openRowFile } from '../../src/rows/open/open-row-file.ts';
import { prepare } from '../../src/run/prepare.ts';
import { run } from '../../src/run/run-job.ts';
import { valueOfUnits } from '../../src/run/scan/value.ts';
import { fillWith, writeRows } from '../rows/book-fixture.ts';
import { workbook } from '../rows/xlsx-fixture.ts';
import { openHarness, places } from './harness.ts';

/* Inputs and outputs that are no texts; those that are stand in `cases`. */

const sheetRow = (line: number, ...texts: (string | number)[]) =>
  `<row r="${line}">${texts.map((text, i) => `<c r="${'ABC'[i]}${line}" t="${typeof text === 'number' ? 'n' : 'str'}"><v>${text}</v></c>`).join('')}</row>`;

test('titles in an Excel sheet are suggested and stay', async (t) => {
  const harness = await openHarness(t);
  const rows =
    sheetRow(1, 'Portfolio') + sheetRow(3, 'id', 'lat', 'lng') + sheetRow(4, 1, 40.1, -99.9);
  writeFileSync(
    join(harness.folder, 'in.xlsx'),
    workbook([{ name: 'S', rows: rows + sheetRow(6, 2, 'n/a', -99) }]),
  );
  const job = { topics: ['hail'], input: 'in.xlsx', output: 'out.xlsx' };
  await assert.rejects(harness.run(job), { hint: /^Line 3 looks like the column names/ });
  const { summary } = await harness.run({ ...job, header_line: 3 });
  assert.deepEqual([summary.findings.length, summary.findings[0]!.first_line], [1, 6]);
  assert.deepEqual(summary.columns, { lat: 'lat', lng: 'lng', value: [] });
  const book = await openRowFile(join(harness.folder, 'out.xlsx'), { headerLine: 3 });
  assert.equal(book.columns[3], 'hazard_status');
});

test('where another sheet of a workbook has the locations, the sheet that was read and the others are named', async (t) => {
  const harness = await openHarness(t);
  const sheets = [
    { name: 'Notes', rows: sheetRow(1, 'Read me') },
    { name: 'Owners', rows: sheetRow(1, 'id', 'owner') },
    { name: 'The locations', rows: sheetRow(1, 'Portfolio') + sheetRow(3, 'lat', 'lng') },
    { name: 'Old', rows: sheetRow(1, 'lat', 'lng') },
  ];
  writeFileSync(join(harness.folder, 'in.xlsx'), workbook(sheets));
  await assert.rejects(harness.run({ topics: ['hail'], input: 'in.xlsx', output: 'out.xlsx' }), {
    code: 'INPUT_COLUMNS',
    hint: /^"The locations", "Old" have columns that look like a location: add --sheet ['"]The locations['"] \(sheet: "The locations" in the job file\)\.$/,
  });
  writeFileSync(join(harness.folder, 'in.xlsx'), workbook(sheets.slice(0, 2)));
  await assert.rejects(harness.run({ topics: ['hail'], input: 'in.xlsx', output: 'out.xlsx' }), {
    hint: /--lng COLUMN.* Sheet "Notes" is read, number 1 of 2 \(--sheet names another\)\.$/,
  });
});

test('formulas without stored values: a value that counts as 0, and a field that another format loses, are told', async (t) => {
  const harness = await openHarness(t);
  const cell = (line: number) => `<c r="D${line}"><f>1+1</f></c></row>`;
  const rows = [
    sheetRow(1, 'lat', 'lng', 'tiv').replace('</row>', '<c r="D1" t="str"><v>name</v></c></row>'),
    sheetRow(2, 40.1, -99.9, 5),
    sheetRow(3, 40.2, -99.9),
  ];
  const withFormulas = (column: string) =>
    workbook([
      {
        name: 'S',
        rows:
          rows.join('') +
          sheetRow(4, 40.3, -99.9).replace('</row>', cell(4)).replace('D4', `${column}4`),
      },
    ]);
  const found = async (column: string, output: string) => {
    writeFileSync(join(harness.folder, 'in.xlsx'), withFormulas(column));
    const { findings } = await harness.plan({ topics: ['hail'], input: 'in.xlsx', output });
    return findings.filter(({ finding }) => finding === 'formula_not_calculated');
  };
  const note = (column: string) =>
    `A formula without a stored value is read as empty, for example in column ${column}. Open the workbook in Excel or LibreOffice, and save it.`;
  const finding = { finding: 'formula_not_calculated', rows: 1, first_line: 4 };
  assert.deepEqual(await found('C', 'out.xlsx'), [{ ...finding, note: note('tiv') }]);
  assert.deepEqual(await found('D', 'out.csv'), [{ ...finding, note: note('name') }]);
  assert.deepEqual(await found('D', 'out.xlsx'), []);
});

test('where the sheet that is read has no location, the others that have one are named', async (t) => {
  const harness = await openHarness(t);
  const sheets = [
    { name: 'Notes', rows: sheetRow(1, 'author', 'text') + sheetRow(2, 'a', 'b') },
    { name: 'All sites', rows: sheetRow(1, 'lat', 'lng') + sheetRow(2, 40.1, -99.9) },
    { name: 'Other', rows: sheetRow(1, 'x') },
  ];
  writeFileSync(join(harness.folder, 'in.xlsx'), workbook(sheets));
  await assert.rejects(harness.plan({ topics: ['hail'], input: 'in.xlsx' }), {
    code: 'INPUT_COLUMNS',
    hint: /^"All sites" has columns that look like a location: add --sheet 'All sites' /,
  });
});

test('rows with a finding between others are read and written in a thread as one by one', async (t) => {
  const harness = await openHarness(t);
  const [good, other] = [[40.1, -99.9] as const, [40.2, -99.9] as const];
  harness.writeInput([
    ['x', -99],
    good,
    [0, 0],
    other,
    [51.5, -0.1],
    [51.6, -0.2],
    good,
    ['', ''],
    other,
  ]);
  const inFolder = (name: string) => join(harness.folder, name);
  await writeRows(await openRowFile(inFolder('input.csv')), {
    ...{ output: inFolder('input.parquet'), added: [], fill: fillWith([]) },
  });
  for (const [input, ending] of [
    ['input.csv', 'csv'],
    ['input.parquet', 'parquet'],
    // With the columns of the run before, which are replaced.
    ['0.csv', 'again.csv'],
  ] as const) {
    const read = async (rowThreads: number) => {
      const job = { input, output: `${rowThreads}.${ending}` };
      const { summary } = await harness.run({ topics: ['hail'], ...job }, { rowThreads });
      const { rows, cells, findings } = summary;
      return { rows, cells, findings, written: readFileSync(inFolder(job.output), 'latin1') };
    };
    const one = await read(0);
    assert.deepEqual([one.rows, one.cells, one.findings.length], [9, 2, 4]);
    assert.deepEqual(await read(1), one);
  }
});

test('the parts of findings and the amounts of losses are known of rows that a thread has scanned', async (t) => {
  const harness = await openHarness(t);
  mkdirSync(join(harness.folder, 'parts'));
  const write = (name: string, rows: string) =>
    writeFileSync(join(harness.folder, name), `BuildingTIV,ContentsTIV,lat,lng\n${rows}`);
  write('parts/a.csv', '100.5,7,40.1,-99.9\n200.25,7,40.2,-99.9\n');
  write('parts/b.csv', '300,7,40.2,-99.9\n400,7,x,-99\n');
  const settings = { topics: ['hail'], input: 'parts', output: 'out', losses: true };
  for (const rowThreads of [0, 1]) {
    using prepared = await prepare(await harness.open(settings, { rowThreads }));
    const { findings } = prepared.summary;
    assert.deepEqual(
      findings.map(({ part, first_line, rows }) => ({ part, first_line, rows })),
      [{ part: 'b.csv', first_line: 3, rows: 1 }],
    );
    const { lossValues, cells } = prepared.plan.scan;
    const amounts = lossValues!.numbersFrom(0)(3);
    assert.deepEqual([...amounts], [100.5, 200.25, 300]);
    const ofPlaces = [0, 1].map((cell) => valueOfUnits(cells.lossValue(cell), cells.decimals));
    assert.deepEqual(ofPlaces, [100.5, 500.25]);
  }
});

test('a plan refuses columns that a sheet of Excel has no room for', async (t) => {
  const harness = await openHarness(t);
  const write = (name: string, content: string | Buffer) =>
    writeFileSync(join(harness.folder, name), content);
  const refused = async (input: string, output: string, error: object, topics = ['hail']) =>
    await assert.rejects(harness.plan({ topics, input, output }), error);
  const noRoom = { code: 'OUTPUT_UNWRITABLE', message: /^A sheet of Excel has no room for / };

  const fits = async (input: string) =>
    await harness.plan({ topics: ['hail'], input, output: 'fits.xlsx' });
  // Seven columns are added.
  const wide = (width: number) => `lat,lng${',x'.repeat(width - 2)}\n40.1,-99.9\n`;
  write('fits-few.csv', wide(2));
  write('fits.csv', wide(2 ** 14 - 7));
  await fits('fits.csv');
  write('wide.csv', wide(2 ** 14 - 6));
  await refused('wide.csv', 'wide.xlsx', noRoom);
  // The three of radon stay beside them.
  await harness.run({ topics: ['radon'], input: 'fits-few.csv', output: 'radon.csv' });
  const [header, row] = readFileSync(join(harness.folder, 'radon.csv'), 'utf8').split('\n');
  const kept = (width: number) => {
    const more = width - 2;
    return `${header!.replace('lat,lng', `lat,lng${',x'.repeat(more)}`)}\n${row!.replace('40.1,-99.9', `40.1,-99.9${','.repeat(more)}`)}\n`;
  };
  write('fits-kept.csv', kept(2 ** 14 - 7 - 3));
  write('wide-kept.csv', kept(2 ** 14 - 6 - 3));
  await fits('fits-kept.csv');
  await refused('wide-kept.csv', 'wide.xlsx', noRoom);
  // Beyond the mebibyte that is read first.
  const lines = `{"lat":40.1,"lng":-99.9,"note":"${'x'.repeat(2 ** 16)}"}\n`.repeat(17);
  write(
    'wide.ndjson',
    lines + JSON.stringify(Object.fromEntries(Array.from({ length: 2 ** 14 }, (_, i) => [i, 0]))),
  );
  await refused('wide.ndjson', 'wide.xlsx', noRoom);

  const named = sheetRow(1, 'lat', 'lng');
  const sheet = (rows: string) => workbook([{ name: 'S', rows }]);
  const farCell = sheet(
    named + sheetRow(2, 40.1, -99.9).replace('</row>', '<c r="XFD2"><v>1</v></c></row>'),
  );
  write('far.xlsx', farCell);
  await refused('far.xlsx', 'out.xlsx', noRoom);
  mkdirSync(join(harness.folder, 'parts'));
  write('parts/1.xlsx', sheet(named + sheetRow(2, 40.1, -99.9)));
  write('parts/2.xlsx', farCell);
  await refused('parts', 'outputs', noRoom);

  await harness.run({ topics: ['hail'], input: 'parts/1.xlsx', output: 'earlier.xlsx' });
  const book = await openRowFile(join(harness.folder, 'earlier.xlsx'));
  const names = book.columns.map(
    (name, i) => `<c r="${String.fromCharCode(65 + i)}1" t="str"><v>${name}</v></c>`,
  );
  const stray = sheetRow(2, 40.1, -99.9).replace('</row>', '<c r="Z2"><v>1</v></c></row>');
  write('stray.xlsx', sheet(`<row r="1">${names.join('')}</row>${stray}`));
  const onStray = { code: 'INPUT_COLUMNS', message: /would replace cells without a column name/ };
  await refused('stray.xlsx', 'out.xlsx', onStray, ['hail', 'radon']);
});

test('rows that a new sheet of Excel has no room for are refused', async (t) => {
  const { folder, writeInput } = await openHarness(t);
  writeInput(places(1));
  const opened = await openRowFile(join(folder, 'input.csv'));
  const checked = (rows: number) =>
    checkNewTable(opened, 'xlsx', { output: 'many.xlsx', rows, added: [], dropFrom: null });
  await checked(2 ** 20 - 1);
  await assert.rejects(checked(2 ** 20), {
    code: 'OUTPUT_UNWRITABLE',
    message: 'A sheet of Excel has no room for 1,048,576 rows',
    context: { file: 'many.xlsx' },
  });
});

for (const format of ['ndjson', 'parquet', 'xlsx']) {
  test(`columns of earlier topics stay in ${format}`, async (t) => {
    const harness = await openHarness(t);
    harness.writeInput([
      [40.1, -99.9],
      [40.2, -99.8],
      ['n/a', 1],
    ]);
    const [one, two] = [`one.${format}`, `two.${format}`];
    await harness.run({ topics: ['hail', 'radon'], output: one });
    await harness.run({ topics: ['wildfire'], input: one, output: two });
    const rowsOf = async (name: string) => {
      const book = await openRowFile(join(harness.folder, name));
      const rows: Record<string, string>[] = [];
      for await (const batch of book.read([...book.columns.keys()])) {
        for (const { fields } of batch)
          rows.push(Object.fromEntries(fields.map((text, i) => [book.columns[i]!, text])));
      }
      return { columns: book.columns, rows };
    };
    const [before, after] = [await rowsOf(one), await rowsOf(two)];
    assert.deepEqual(after.columns.slice(0, before.columns.length), before.columns);
    for (const [i, row] of before.rows.entries()) {
      const { hazard_as_of: _, hazard_note: __, ...same } = row;
      assert.deepEqual({ ...after.rows[i], ...same }, after.rows[i]);
      assert.equal(after.rows[i]!.wildfire_rating === '', i === 2);
    }
  });
}

test('a run leaves the rows of a prepared job readable; disposing of the job closes them', async (t) => {
  const harness = await openHarness(t);
  harness.writeInput([[40.1, -99.9]]);
  const prepared = await prepare(await harness.open({ topics: ['hail'] }));
  const { places, cells } = prepared.plan.scan;
  await run(prepared);
  assert.deepEqual([...places.placesFrom(cells.size)(1)], [0]);
  prepared[Symbol.dispose]();
  assert.throws(() => places.placesFrom(cells.size)(1), { code: 'INPUT_UNREADABLE' });
});
