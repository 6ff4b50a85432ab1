import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'csv-parse/sync';
import { RATINGS } from '../../src/contract/topic-values.ts';
import { cellOf } from '../../src/geo/coordinates.ts';
import { LOCATION_NOTES, parseLocation, statusOfFinding } from '../../src/geo/parse-location.ts';
import { isCovered } from '../../src/geo/us-coverage.ts';
import { FastClock } from '../fast-clock.ts';
import { noRealData, realFile } from '../real-data.ts';
import { provideSampleData } from '../sample-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { type Ended, perilbook } from './command-line.ts';

const STATIONS = realFile('sites/alt_fuel_stations_MA.csv');

/** The records of a CSV as they stand in the file, each with its line end; line ends between quotes do not count. */
function recordsOf(bytes: Buffer): Buffer[] {
  const records: Buffer[] = [];
  let quoted = false;
  let start = 0;
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === 0x22) quoted = !quoted;
    else if (bytes[at] === 0x0a && !quoted) {
      records.push(bytes.subarray(start, at + 1));
      start = at + 1;
    }
  }
  if (start < bytes.length) records.push(bytes.subarray(start));
  return records;
}

const lineEndOf = (record: Buffer): string => /\r?\n$/.exec(record.toString('latin1'))?.[0] ?? '';

interface WrittenRow {
  readonly fields: Readonly<Record<string, string>>;
  readonly suffix: string;
}

/** Checks that every record came back byte for byte, with the same line end, and returns what was added to each. */
function assertComesBack(input: Buffer, output: Buffer): WrittenRow[] {
  const [before, after] = [recordsOf(input), recordsOf(output)];
  assert.equal(after.length, before.length);
  const suffixes = before.map((record, index) => {
    const end = lineEndOf(record);
    const written = after[index]!;
    const original = record.subarray(0, record.length - end.length);
    assert.ok(written.subarray(0, original.length).equals(original), `record ${index + 1} was changed`);
    assert.equal(lineEndOf(written), end === '' ? lineEndOf(written) : end, `line end of record ${index + 1}`);
    const suffix = written.subarray(original.length, written.length - lineEndOf(written).length).toString();
    assert.equal(suffix[0], ',', `record ${index + 1}`);
    return suffix;
  });
  // Read once more by a library that had no part in writing it.
  const rows = parse(output, { bom: true, columns: true }) as Record<string, string>[];
  assert.equal(rows.length, before.length - 1);
  return rows.map((fields, index) => ({ fields, suffix: suffixes[index + 1]! }));
}

/** What a row's status must be if everything that can be bought was bought. */
function trueStatus({ fields }: WrittenRow): { status: string; note: string; cell: string | null } {
  const place = parseLocation(fields.Latitude!, fields.Longitude!, isCovered);
  if (!place.ok) return { status: statusOfFinding(place.finding), note: LOCATION_NOTES[place.finding], cell: null };
  return { status: 'ok', note: '', cell: JSON.stringify(cellOf(place.location, 4)) };
}

function writeJob(folder: string, input: string, more: string): string {
  const lines = [
    `input: ${JSON.stringify(input)}`,
    `output: ${JSON.stringify(`${basename(input, '.csv')}.out.csv`)}`,
    'topics: wildfire',
    'store: store.db',
    ...(more.startsWith('service:') ? [] : ['service: sample']),
    'subscription: {credits_per_month: 1000000, credits_per_minute: 1000000}',
    more,
  ];
  writeFileSync(join(folder, 'job.yaml'), `${lines.join('\n')}\n`);
  return 'job.yaml';
}

const clock = () => new FastClock('2026-03-15T12:00:00Z', 20);

async function statsOf(folder: string, ended: Ended) {
  assert.doesNotMatch(ended.stderr, /this is a bug/);
  const stats = await perilbook(['cache', 'stats', '--json', '--store', 'store.db'], { folder });
  return JSON.parse(stats.stdout);
}

/** All of them. */
const ROWS = 4_216;

test('fuelling stations of Massachusetts come back byte for byte, each with a true status, each cell paid once', {
  skip: noRealData,
  timeout: 300_000,
}, async (t) => {
  const folder = temporaryFolder(t);
  provideSampleData(join(folder, 'store.db'));
  const input = Buffer.concat(recordsOf(readFileSync(STATIONS)).slice(0, ROWS + 1));
  writeFileSync(join(folder, 'stations.csv'), input);
  const job = writeJob(folder, 'stations.csv', 'budget: 5000');
  const ended = await perilbook(['run', job, '--json'], { folder, clock: clock() });
  assert.equal(ended.code, 0, ended.stderr);
  const summary = JSON.parse(ended.stdout);

  assert.deepEqual([...input.subarray(0, 3)], [0xef, 0xbb, 0xbf], 'the file has a BOM');
  const output = readFileSync(join(folder, 'stations.out.csv'));
  const rows = assertComesBack(input, output);
  assert.equal(rows.length, ROWS);
  assert.ok(output.includes('Montréal') || /[À-ÿ]/.test(output.toString()), 'accents are there to be kept');

  const cells = new Map<string, string>();
  const counts: Record<string, number> = {};
  for (const [index, row] of rows.entries()) {
    const expected = trueStatus(row);
    const { hazard_status, hazard_note, hazard_as_of, wildfire_rating } = row.fields;
    counts[expected.status] = (counts[expected.status] ?? 0) + 1;
    assert.equal(hazard_status, expected.status, `row ${index + 1}`);
    assert.equal(hazard_note, expected.cell === null ? expected.note : 'sample data');
    if (expected.cell === null) {
      assert.deepEqual([hazard_as_of, wildfire_rating], ['', '']);
      continue;
    }
    assert.ok(RATINGS.includes(wildfire_rating as never), `row ${index + 1}: ${wildfire_rating}`);
    assert.match(hazard_as_of!, /^2026-03-15T\d\d:\d\d:\d\d\.\d{3}Z$/);
    const known = cells.get(expected.cell);
    if (known === undefined) cells.set(expected.cell, row.suffix);
    else assert.equal(row.suffix, known, `row ${index + 1}: another answer for the same cell`);
  }
  assert.ok(cells.size > ROWS / 5 && cells.size < ROWS, 'many stations, some of them share a cell');
  for (const [status, rowsOf] of Object.entries(summary.status)) assert.equal(rowsOf, counts[status] ?? 0, status);
  assert.deepEqual([summary.cells, summary.credits, summary.credits_spent], [cells.size, cells.size, cells.size]);
  const stats = await statsOf(folder, ended);
  assert.deepEqual(stats.credits, { charged: cells.size, unknown: 0, in_flight: 0 });

  const again = await perilbook(['run', job, '--json'], { folder, clock: clock() });
  assert.deepEqual([again.code, JSON.parse(again.stdout).credits_spent], [0, 0]);
  assert.ok(readFileSync(join(folder, 'stations.out.csv')).equals(output), 'the same bytes again');
});
