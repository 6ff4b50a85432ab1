import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openRowFile } from '../../src/rows/open-row-file.ts';
import { prepare } from '../../src/run/prepare.ts';
import { run } from '../../src/run/run-job.ts';
import { workbook } from '../rows/xlsx-fixture.ts';
import { openHarness } from './harness.ts';

/* Inputs and outputs that are no texts; those that are stand in `cases`. */

const sheetRow = (line: number, ...texts: (string | number)[]) =>
  `<row r="${line}">${texts.map((text, i) => `<c r="${'ABC'[i]}${line}" t="${typeof text === 'number' ? 'n' : 'str'}"><v>${text}</v></c>`).join('')}</row>`;

test('titles in an Excel sheet are suggested and stay', async (t) => {
  const harness = await openHarness(t);
  const rows = sheetRow(1, 'Portfolio') + sheetRow(3, 'id', 'lat', 'lng') + sheetRow(4, 1, 40.1, -99.9);
  writeFileSync(join(harness.folder, 'in.xlsx'), workbook([{ name: 'S', rows: rows + sheetRow(6, 2, 'n/a', -99) }]));
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
    { name: 'Locations', rows: sheetRow(1, 'lat', 'lng') },
  ];
  writeFileSync(join(harness.folder, 'in.xlsx'), workbook(sheets));
  await assert.rejects(harness.run({ topics: ['hail'], input: 'in.xlsx', output: 'out.xlsx' }), {
    code: 'INPUT_COLUMNS',
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
        rows: rows.join('') + sheetRow(4, 40.3, -99.9).replace('</row>', cell(4)).replace('D4', `${column}4`),
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
      const { hazard_as_of: _, ...same } = row;
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
