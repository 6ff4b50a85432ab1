import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { detectCompression } from '../../src/formats/bytes/unpack.ts';
import { parseLocation } from '../../src/geo/parse-location.ts';
import { isCovered } from '../../src/geo/us-coverage.ts';
import type { NamedColumns } from '../../src/rows/location/named-columns.ts';
import { openRowFile } from '../../src/rows/open/open-row-file.ts';
import type { OpenOptions, Row } from '../../src/rows/port.ts';
import { noRealData, realFile } from '../real-data.ts';
import { ADDED, allRows, fillWith, temporaryFolder, writeRows } from './book-fixture.ts';
import { locationByNames } from './location-of.ts';

const folder = temporaryFolder();

interface Case {
  readonly kind: string;
  readonly file: string;
  /** What becomes of it: the rows by finding, or the hint of its refusal. */
  readonly outcome: Readonly<Record<string, number>> | RegExp;
  readonly options?: OpenOptions;
  readonly columns?: NamedColumns;
}

const NYC = { ok: 4, empty: 1 };
const EARLY_TORNADOES = { ok: 3512, null_island: 3, outside_us: 2 };
const byNumber = { options: { header: false }, columns: { lat: '16', lng: '17' } };

const CASES: readonly Case[] = [
  { kind: 'comma', file: 'csv/NYC311-5.csv', outcome: NYC },
  { kind: 'comma', file: 'storms/2020_hail.csv', outcome: { ok: 7670 } },
  { kind: 'comma', file: 'sites/nuclear_power_plants.csv', outcome: { ok: 55 } },
  { kind: 'tab', file: 'csv/NYC311-5.tsv', outcome: NYC },
  { kind: 'semicolon', file: 'csv/NYC311-5.ssv', outcome: NYC },
  { kind: 'gzip', file: 'csv/NYC311-5.csv.gz', outcome: NYC },
  { kind: 'gzip, tab', file: 'csv/NYC311-5.tsv.gz', outcome: NYC },
  { kind: 'zstd', file: 'csv/NYC311-5.csv.zst', outcome: NYC },
  { kind: 'byte order mark, CRLF', file: 'sites/alt_fuel_stations_MA.csv', outcome: { ok: 4216 } },
  { kind: 'windows-1252, CRLF', file: 'portfolios/LA_cooling_centers.csv', outcome: { ok: 190 } },
  {
    kind: 'outside the US',
    file: 'portfolios/property_location.csv',
    outcome: { outside_us: 500 },
  },
  { kind: 'fewer fields than names', file: 'sites/TRI_2017_CA.csv', outcome: { ok: 3685 } },
  {
    kind: 'more fields than names',
    file: 'storms/2014_torn.csv',
    outcome: { ok: 905, null_island: 1 },
  },
  {
    kind: 'two header rows, footer',
    file: 'sites/superfund_npl.csv',
    outcome: { ok: 1340, empty: 2 },
  },
  {
    kind: 'no header',
    file: 'storms/2011_torn.csv',
    outcome: { ok: 1765, null_island: 10 },
    ...byNumber,
  },
  { kind: 'no header', file: 'storms/2005-2007_torn.csv', outcome: EARLY_TORNADOES, ...byNumber },
  {
    kind: 'no header, not said',
    file: 'storms/2011_torn.csv',
    outcome: /^The first line looks like data: --no-header --lat 16 --lng 17/,
  },
  {
    kind: 'no table of points',
    file: 'storms/hurdat2_2014_2018.txt',
    outcome: /Name the latitude/,
  },
  { kind: 'no locations', file: 'portfolios/OEDInputFields.csv', outcome: /Name the latitude/ },
  { kind: 'no locations', file: 'air/annual_aqi_by_county_2023.csv', outcome: /Name the latitude/ },
  { kind: 'not CSV', file: 'README.md', outcome: /Name the latitude/ },
];

/** What becomes of a file: its rows by finding, or the hint of the refusal. */
async function outcomeOf({
  file,
  options,
  columns,
}: Case): Promise<Record<string, number> | string> {
  try {
    const book = await openRowFile(realFile(file), options);
    const { lat, lng } = locationByNames(book.columns, columns);
    const counts: Record<string, number> = {};
    for (const row of await allRows(book, [lat, lng])) {
      const finding = findingOf(row);
      counts[finding] = (counts[finding] ?? 0) + 1;
    }
    await assertBytesComeBack(file, options);
    return counts;
  } catch (error) {
    if (error instanceof Error && 'hint' in error) return String(error.hint);
    throw error;
  }
}

function findingOf(row: Row): string {
  if (row.problem !== undefined) return 'unreadable';
  const parsed = parseLocation(row.fields[0]!, row.fields[1]!, isCovered);
  return parsed.ok ? 'ok' : parsed.finding;
}

/** Writes the file with one mark a row; the output without the marks must be the file, but for the empty fields that stand
 * for those that a row lacks. */
async function assertBytesComeBack(file: string, options?: OpenOptions): Promise<void> {
  const output = join(folder, 'out.plain');
  const book = await openRowFile(realFile(file), options);
  await writeRows(book, { output, added: ADDED.slice(0, 1), fill: fillWith(['#MARK#']) });
  const packed = readFileSync(realFile(file));
  const unpack = { gzip: gunzipSync, zstd: zstdDecompressSync, none: (bytes: Buffer) => bytes };
  const original = unpack[detectCompression(packed) ?? 'none'](packed).toString('latin1');
  const bare = readFileSync(output, 'latin1')
    .replace(/([,;\t])hazard_status(?=\r?\n)/, '')
    .replaceAll(/([,;\t])#MARK#/g, '');
  if (bare === original) return;
  const [lines, originals] = [bare.split('\n'), original.split('\n')];
  assert.equal(lines.length, originals.length);
  for (const [i, line] of originals.entries()) {
    const rest = lines[i]!.trimEnd();
    assert.ok(rest.startsWith(line.trimEnd()), `${file} line ${i + 1}`);
    assert.match(rest.slice(line.trimEnd().length), /^[,;\t]*$/);
  }
}

test('real files, by kind: what becomes of their rows', { skip: noRealData }, async (t) => {
  const lines: string[] = [];
  for (const known of CASES) {
    const outcome = await outcomeOf(known);
    const said =
      typeof outcome === 'string'
        ? `refused: ${outcome}`
        : JSON.stringify(outcome).replaceAll('"', '');
    lines.push(`${known.kind.padEnd(24)} ${known.file.padEnd(36)} ${said}`);
    if (known.outcome instanceof RegExp) assert.match(String(outcome), known.outcome);
    else assert.deepEqual(outcome, known.outcome, `${known.file}: ${said}`);
  }
  for (const line of lines.sort()) t.diagnostic(line);
});

test('csv-spectrum is read as its JSON says', { skip: noRealData }, async () => {
  for (const file of readdirSync(realFile('csv/csvs'))) {
    const book = await openRowFile(realFile(`csv/csvs/${file}`));
    const rows = await allRows(book, [...book.columns.keys()]);
    const objects = rows.map((row) =>
      Object.fromEntries(book.columns.map((name, i) => [name, row.fields[i]])),
    );
    const json = JSON.parse(
      readFileSync(realFile(`csv/json/${file.replace('.csv', '.json')}`), 'utf8'),
    );
    const expected = [json].flat();
    // In this copy the telephone number was changed in the JSON and not in the CSV.
    if (file === 'location_coordinates.csv') expected[0]['Contact Phone Number'] = '2095257564';
    assert.deepEqual(objects, expected, file);
    await assertBytesComeBack(`csv/csvs/${file}`);
  }
});
