import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'csv-parse/sync';
import { sampleInputs, writeSampleInputs } from '../../sample-data/make.ts';
import { cellOf } from '../../src/geo/coordinates.ts';
import { readLand } from '../../src/sample/land.ts';

const FOLDER = join(import.meta.dirname, '../../sample-data');
const inputs = sampleInputs();
const land = readLand();

function rowsOf(name: string): Record<string, string>[] {
  return parse(inputs.get(name)!, { columns: true, bom: true });
}

function cellKey(lat: string, lng: string): string {
  const { lat7, lng7 } = cellOf({ lat: Number(lat), lng: Number(lng) }, 4);
  return `${lat7}/${lng7}`;
}

test('the committed inputs are what the generator writes, byte for byte', (t) => {
  t.mock.method(console, 'log', () => {});
  const folder = mkdtempSync(join(tmpdir(), 'perilbook-inputs-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeSampleInputs(folder);
  for (const name of inputs.keys()) {
    assert.ok(readFileSync(join(folder, name)).equals(readFileSync(join(FOLDER, name))), name);
  }
});

test('the sample portfolio has 113 valid rows in 65 cells and seven faulty rows', () => {
  const rows = rowsOf('portfolio-oed.csv');
  const good = rows.filter((row) => row.LocNumber!.startsWith('L'));
  assert.deepEqual([rows.length, good.length], [120, 113]);
  const cells = new Set(good.map((row) => cellKey(row.Latitude!, row.Longitude!)));
  const written = new Set(good.map((row) => `${row.Latitude}/${row.Longitude}`));
  assert.equal(cells.size, 65);
  assert.ok(written.size > cells.size + 5, 'some rows differ only beyond the fourth decimal');
  for (const row of good) {
    const county = land.countyAt({ lat: Number(row.Latitude), lng: Number(row.Longitude) });
    assert.equal(county?.state, row.AreaCode, row.LocNumber);
    assert.ok(row.LocName!.length <= 20, 'the longest name that the form allows');
  }
});

test('the faulty rows are each faulty in their own way', () => {
  const faulty = rowsOf('portfolio-oed.csv').filter((row) => row.LocNumber!.startsWith('F'));
  const [none, swapped, signLost, nowhere, canada, dms, words] = faulty.map((row) => [
    row.Latitude!,
    row.Longitude!,
  ]) as [string, string][];
  assert.deepEqual(none, ['', '']);
  assert.ok(Number(swapped![0]) < -60 && Number(swapped![1]) > 18);
  assert.ok(Number(signLost![1]) > 60);
  assert.deepEqual(nowhere, ['0', '0']);
  assert.equal(land.countyAt({ lat: Number(canada![0]), lng: Number(canada![1]) }), null);
  assert.deepEqual(dms, [`29°45'37"N`, `95°22'11"W`]);
  assert.deepEqual(words, ['n/a', 'n/a']);
});
