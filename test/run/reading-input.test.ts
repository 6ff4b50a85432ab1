import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openRowFile } from '../../src/rows/open-row-file.ts';
import { prepare } from '../../src/run/prepare.ts';
import { run } from '../../src/run/run-job.ts';
import type { JobFile } from '../../src/run/settings/job-file.ts';
import { workbook } from '../rows/xlsx-fixture.ts';
import { column, type Harness, openHarness } from './harness.ts';

async function enrich(harness: Harness, content: string | Buffer, settings: JobFile = {}) {
  const input = (settings.input as string | undefined) ?? 'given.csv';
  writeFileSync(join(harness.folder, input), content);
  const { summary } = await harness.run({ topics: ['hail'], input, ...settings });
  return { summary, text: readFileSync(join(harness.folder, settings.output ?? 'output.csv'), 'utf8') };
}

test('title lines above the header are suggested, come back as they were, and rows keep their line numbers', async (t) => {
  const harness = await openHarness(t);
  const titles = '\ufeffPortfolio "2024"\r\n\r\nprepared by Ann, Bob; and others\r\n';
  const table = 'id;lat;lng\r\n1;40.1;-99.9\r\n2;n/a;\r\n';
  await assert.rejects(enrich(harness, titles + table), {
    code: 'INPUT_COLUMNS',
    hint: /^Line 4 looks like the column names: add --header-line 4 /,
  });
  const { summary, text } = await enrich(harness, titles + table, { header_line: 4 });
  assert.ok(text.startsWith(`${titles}id;lat;lng;hazard_status;`), text);
  assert.match(text, /\r\n1;40\.1;-99\.9;ok;/);
  assert.deepEqual(
    summary.findings.map(({ first_line }) => first_line),
    [6],
  );
  await assert.rejects(enrich(harness, titles + table, { header_line: 2 }), /has nothing on line 2/);
  await assert.rejects(enrich(harness, titles + table, { header_line: 9 }), /has no line 9/);
  await assert.rejects(enrich(harness, '{"lat":40.1,"lng":-99.9}\n', { header_line: 2 }), /is NDJSON, which has none/);
  await assert.rejects(enrich(harness, table, { sheet: '2' }), /is no Excel workbook/);
});

test('titles in an Excel sheet are suggested and stay', async (t) => {
  const harness = await openHarness(t);
  const row = (line: number, ...texts: (string | number)[]) =>
    `<row r="${line}">${texts.map((text, i) => `<c r="${'ABC'[i]}${line}" t="${typeof text === 'number' ? 'n' : 'str'}"><v>${text}</v></c>`).join('')}</row>`;
  const rows = row(1, 'Portfolio') + row(3, 'id', 'lat', 'lng') + row(4, 1, 40.1, -99.9) + row(6, 2, 'n/a', -99);
  const content = workbook([{ name: 'S', rows }]);
  const files = { input: 'in.xlsx', output: 'out.xlsx' };
  await assert.rejects(enrich(harness, content, files), { hint: /^Line 3 looks like the column names/ });
  const { summary } = await enrich(harness, content, { ...files, header_line: 3 });
  assert.deepEqual(
    summary.findings.map(({ first_line }) => first_line),
    [6],
  );
  assert.deepEqual(summary.columns, { lat: 'lat', lng: 'lng', tract: null, county: null, value: [] });
  const book = await openRowFile(join(harness.folder, 'out.xlsx'), { headerLine: 3 });
  assert.equal(book.columns[3], 'hazard_status');
});

test('where another sheet of a workbook has the locations, the sheet that was read and the others are named', async (t) => {
  const harness = await openHarness(t);
  const cells = (...texts: string[]) =>
    `<row r="1">${texts.map((text, i) => `<c r="${'AB'[i]}1" t="str"><v>${text}</v></c>`).join('')}</row>`;
  const sheets = [
    { name: 'Notes', rows: cells('Read me') },
    { name: 'Locations', rows: cells('lat', 'lng') },
  ];
  await assert.rejects(enrich(harness, workbook(sheets), { input: 'in.xlsx', output: 'out.xlsx' }), {
    code: 'INPUT_COLUMNS',
    hint: /--lng COLUMN.* Sheet "Notes" is read, number 1 of 2 \(--sheet names another\)\.$/,
  });
});

const DEGREES = 'id,lat,lng\n1,"40°06\'00""N","99°54\'00""W"\n2,40.1N,W 99.9\n3,"40,1",−99.9\n4,40.1,-99.9\n5,foo,1\n';

test('strict reading says where the lenient one would do; the lenient one counts what it read', async (t) => {
  const harness = await openHarness(t);
  const strict = await enrich(harness, DEGREES);
  assert.deepEqual(column(strict.text.replaceAll(/"[^"]*(?:""[^"]*)*"/g, 'x'), 'hazard_status').slice(3), [
    'ok',
    'invalid',
  ]);
  assert.match(
    strict.text,
    /degrees, minutes and seconds: decimal degrees are needed\. --coordinates lenient would read it\./,
  );
  assert.match(strict.text, /5,foo,1,invalid,Latitude or longitude is not a number\.,/);
  assert.equal(harness.charged(), 1);
  const { summary } = await enrich(harness, DEGREES, { coordinates: 'lenient' });
  assert.deepEqual([summary.located, summary.invalid, summary.cells, summary.read_leniently], [4, 1, 1, 3]);
  assert.deepEqual(
    summary.findings.map(({ finding, rows, first_line }) => [finding, rows, first_line]),
    [
      ['read_leniently', 3, 2],
      ['not_a_number', 1, 6],
    ],
  );
  // All four are the same place, which is bought already.
  assert.equal(harness.charged(), 1);
});

test('one column may hold latitude and longitude', async (t) => {
  const harness = await openHarness(t);
  const both = 'id,Location\n1,"(40.1, -99.9)"\n2,POINT(-99.9 40.1)\n3,"40,1; -99,9"\n4,\n';
  await assert.rejects(enrich(harness, both), { hint: /--location Location/ });
  const { summary, text } = await enrich(harness, both, { location: { column: 'location' } });
  assert.deepEqual([summary.located, summary.cells, summary.invalid], [2, 1, 2]);
  assert.match(text, /4,,invalid,Latitude or longitude is empty\./);
  const lenient = await enrich(harness, both, { location: { column: 'location' }, coordinates: 'lenient' });
  assert.deepEqual([lenient.summary.located, lenient.summary.read_leniently], [3, 1]);
});

test('in formats with types location, value and columns of plain numbers are numbers; codes stay texts', async (t) => {
  const harness = await openHarness(t);
  const rows = 'zip,lat,lng,tiv,note\n06037,40.10,-99.9,1000,1\n68901,40.2,-99.8,,2\n';
  const settings: JobFile = { order_by: { column: 'tiv' }, output: 'typed.ndjson' };
  const { text } = await enrich(harness, rows, settings);
  assert.match(text, /^\{"zip":"06037","lat":40\.1,"lng":-99\.9,"tiv":1000,"note":1,/);
  assert.match(text, /\n\{"zip":"68901","lat":40\.2,"lng":-99\.8,"tiv":null,/);
  const mixed = await enrich(harness, `${rows}1,n/a,-99.8,$5,3\n`, settings);
  assert.match(mixed.text, /^\{"zip":"06037","lat":"40\.10","lng":-99\.9,"tiv":"1000",/);
  await enrich(harness, rows, { ...settings, output: 'typed.parquet' });
  const { parquetMetadataAsync, parquetReadObjects, asyncBufferFromFile } = await import('hyparquet');
  const file = await asyncBufferFromFile(join(harness.folder, 'typed.parquet'));
  const types = Object.fromEntries((await parquetMetadataAsync(file)).schema.map(({ name, type }) => [name, type]));
  assert.deepEqual(
    [types.zip, types.lat, types.lng, types.tiv, types.note],
    ['BYTE_ARRAY', 'DOUBLE', 'DOUBLE', 'DOUBLE', 'INT64'],
  );
  const [first, second] = await parquetReadObjects({ file });
  assert.deepEqual([first!.lat, first!.tiv, second!.tiv], [40.1, 1000, null]);
  const asTexts = await enrich(harness, rows, { ...settings, types: 'text' });
  assert.match(asTexts.text, /^\{"zip":"06037","lat":40\.1,"lng":-99\.9,"tiv":1000,"note":"1",/);
});

test('a file with decimal commas gets new columns with decimal commas, and is read again', async (t) => {
  const harness = await openHarness(t);
  const numbersOf = (text: string, delimiter: string) => {
    const [header, ...lines] = text.trimEnd().split('\n');
    const at = header!.split(delimiter).indexOf('hail_score');
    return lines.map((line) => line.split(delimiter)[at]);
  };
  const rows = 'id;lat;lng;tiv\n1;40,1;-99,9;12,5\n2;40,3;-99,7;7\n';
  const settings: JobFile = { coordinates: 'lenient' };
  const { text } = await enrich(harness, rows, settings);
  const scores = numbersOf(text, ';');
  assert.ok(
    scores.every((score) => /^\d+,\d+$/.test(score!)),
    text,
  );
  const charged = harness.charged();
  const again = await enrich(harness, text, { ...settings, input: 'again.csv' });
  assert.equal(again.text, text);
  assert.equal(harness.charged(), charged);
  // A column of another topic stays as it is.
  const more = await enrich(harness, text, { ...settings, input: 'again.csv', topics: ['drought'] });
  assert.deepEqual(numbersOf(more.text, ';'), scores);
  const points = scores.map((score) => score!.replace(',', '.'));
  const named = await enrich(harness, rows, { ...settings, decimal: 'point' });
  assert.deepEqual(numbersOf(named.text, ';'), points);
  const tabs = await enrich(harness, rows, { ...settings, output: 'out.tsv' });
  assert.deepEqual(numbersOf(tabs.text, '\t'), scores);
  const quoted = await enrich(harness, 'id,lat,lng\n1,"40,1","-99,9"\n', settings);
  assert.ok(quoted.text.includes(`"${scores[0]}"`), quoted.text);
  // One coordinate with a point, and the file is one of decimal points.
  const mixed = await enrich(harness, `${rows}3;40.1;-99.9;1\n`, settings);
  assert.deepEqual(numbersOf(mixed.text, ';').slice(0, 2), points);
  const plain = await enrich(harness, 'id;lat;lng\n1;40.1;-99.9\n', { decimal: 'comma' });
  assert.deepEqual(numbersOf(plain.text, ';'), scores.slice(0, 1));
});

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
