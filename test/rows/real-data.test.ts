import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseLocation } from '../../src/geo/parse-location.ts';
import { isCovered } from '../../src/geo/us-coverage.ts';
import { findLocationColumns } from '../../src/rows/location-columns.ts';
import { openRowFile } from '../../src/rows/open-row-file.ts';
import type { Row } from '../../src/rows/port.ts';
import { noRealData, realFile } from '../real-data.ts';
import { ADDED, allRows, fillWith, temporaryFolder, writeRows } from './book-fixture.ts';

const folder = temporaryFolder();

async function surveyOf(name: string) {
  const book = await openRowFile(realFile(name));
  const { lat, lng } = findLocationColumns(book.columns);
  const rows = await allRows(book, [lat, lng]);
  const counts: Record<string, number> = {};
  for (const row of rows) {
    const finding = findingOf(row);
    counts[finding] = (counts[finding] ?? 0) + 1;
  }
  return { names: [book.columns[lat], book.columns[lng]], rows, counts };
}

function findingOf(row: Row): string {
  if (row.problem !== undefined) return 'problem';
  const parsed = parseLocation(row.fields[0]!, row.fields[1]!, isCovered);
  return parsed.ok ? 'ok' : parsed.finding;
}

/** Writes the file with one added field and takes that field away again: what is left must be the file. */
async function assertBytesComeBack(name: string, delimiter = ','): Promise<void> {
  const output = join(folder, 'out.csv');
  const book = await openRowFile(realFile(name));
  const request = { output, columns: [], dropFrom: null, added: ADDED.slice(0, 1) };
  await writeRows(book, { ...request, fill: fillWith(['¤MARK¤']) });
  const written = readFileSync(output, 'utf8').includes('¤MARK¤') ? '¤MARK¤' : '\xa4MARK\xa4';
  const encoding = readFileSync(output, 'utf8').includes('¤MARK¤') ? 'utf8' : 'latin1';
  const bare = readFileSync(output, encoding)
    .replace(`${delimiter}hazard_status`, '')
    .replaceAll(`${delimiter}${written}`, '');
  const original = readFileSync(realFile(name), encoding);
  if (bare === original) return;
  // Rows that lack fields were padded: then each line of the output begins with the line of the file.
  const [lines, originals] = [bare.split('\n'), original.split('\n')];
  assert.equal(lines.length, originals.length);
  for (const [i, line] of originals.entries()) {
    const rest = lines[i]!.trimEnd();
    assert.ok(rest.startsWith(line.trimEnd()), `line ${i + 1}`);
    assert.match(rest.slice(line.trimEnd().length), new RegExp(`^\\${delimiter}*$`));
  }
}

test('alternative fuel stations of Massachusetts: BOM, CRLF, accents', { skip: noRealData }, async () => {
  const { names, rows, counts } = await surveyOf('sites/alt_fuel_stations_MA.csv');
  assert.deepEqual(names, ['Latitude', 'Longitude']);
  assert.equal(rows.length, 4216);
  assert.deepEqual(counts, { ok: 4216 });
  await assertBytesComeBack('sites/alt_fuel_stations_MA.csv');
});

test('cooling centers of Los Angeles: windows-1252, names with spaces, longitude first', {
  skip: noRealData,
}, async () => {
  const { names, rows, counts } = await surveyOf('portfolios/LA_cooling_centers.csv');
  assert.deepEqual(names, ['LATITUDE', 'LONGITUDE']);
  assert.equal(rows.length, 190);
  assert.deepEqual(counts, { ok: 190 });
  await assertBytesComeBack('portfolios/LA_cooling_centers.csv');
});

test('an OED file of British places is all outside of the US', { skip: noRealData }, async () => {
  const { rows, counts } = await surveyOf('portfolios/property_location.csv');
  assert.equal(rows.length, 500);
  assert.deepEqual(counts, { outside_us: 500 });
  await assertBytesComeBack('portfolios/property_location.csv');
});

test('toxic releases in California: a header of 110 names over rows of 109 fields', { skip: noRealData }, async () => {
  const { rows, counts } = await surveyOf('sites/TRI_2017_CA.csv');
  assert.equal(rows.length, 3685);
  assert.deepEqual(counts, { ok: 3685 });
  await assertBytesComeBack('sites/TRI_2017_CA.csv');
});

test('superfund sites: a second header row and a footer are rows without a location', {
  skip: noRealData,
}, async () => {
  const { rows, counts } = await surveyOf('sites/superfund_npl.csv');
  assert.equal(rows.length, 1342);
  assert.equal(
    rows.length,
    Object.values(counts).reduce((a, b) => a + b),
  );
  assert.ok(counts.ok! >= 1330, JSON.stringify(counts));
  assert.ok(counts.empty! >= 1, JSON.stringify(counts));
  await assertBytesComeBack('sites/superfund_npl.csv');
});

test('nuclear plants: latitude and longitude come before X and Y', { skip: noRealData }, async () => {
  const { names, counts } = await surveyOf('sites/nuclear_power_plants.csv');
  assert.deepEqual(names, ['Latitude', 'Longitude']);
  assert.deepEqual(counts, { ok: 55 });
});

test('hail reports: the first of two pairs is taken', { skip: noRealData }, async () => {
  const { names, rows } = await surveyOf('storms/2020_hail.csv');
  assert.deepEqual(names, ['slat', 'slon']);
  assert.equal(rows.length, 7670);
  await assertBytesComeBack('storms/2020_hail.csv');
});

test('calls to NYC 311 are the same rows with commas, tabs and semicolons', { skip: noRealData }, async () => {
  const texts = [];
  for (const [name, delimiter] of [
    ['csv/NYC311-5.csv', ','],
    ['csv/NYC311-5.tsv', '\t'],
    ['csv/NYC311-5.ssv', ';'],
  ] as const) {
    const { names, rows, counts } = await surveyOf(name);
    assert.deepEqual(names, ['Latitude', 'Longitude']);
    assert.deepEqual(counts, { ok: 4, empty: 1 });
    texts.push(rows.map((row) => row.fields));
    await assertBytesComeBack(name, delimiter);
  }
  assert.deepEqual(texts[1], texts[0]);
  assert.deepEqual(texts[2], texts[0]);
});

test('hurricane tracks fed by mistake are called by their name', { skip: noRealData }, async () => {
  const book = await openRowFile(realFile('storms/hurdat2_2014_2018.txt'));
  assert.throws(() => findLocationColumns(book.columns), {
    code: 'INPUT_COLUMNS',
    hint: /HURDAT2 file of storm tracks/,
  });
});

test('the error for tornado files without a header asks for column numbers', { skip: noRealData }, async () => {
  const book = await openRowFile(realFile('storms/2011_torn.csv'));
  assert.throws(() => findLocationColumns(book.columns), { code: 'INPUT_COLUMNS', hint: /looks like data/ });
});

test('csv-spectrum is read as its JSON says', { skip: noRealData }, async (t) => {
  for (const file of readdirSync(realFile('csv/csvs'))) {
    await t.test(file, async () => {
      const book = await openRowFile(realFile(`csv/csvs/${file}`));
      const rows = await allRows(book, [...book.columns.keys()]);
      const objects = rows.map((row) => Object.fromEntries(book.columns.map((name, i) => [name, row.fields[i]])));
      const json = JSON.parse(readFileSync(realFile(`csv/json/${file.replace('.csv', '.json')}`), 'utf8'));
      const expected = [json].flat();
      // In this copy the telephone number was changed in the JSON and not in the CSV.
      if (file === 'location_coordinates.csv') expected[0]['Contact Phone Number'] = '2095257564';
      assert.deepEqual(objects, expected);
      await assertBytesComeBack(`csv/csvs/${file}`);
    });
  }
});
