import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { parse } from 'csv-parse/sync';
import { perilbook } from '../../cli/command-line.ts';
import { MovedClock } from '../../moved-clock.ts';
import { noRealData, realFile } from '../../real-data.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { agencyMirror } from './agency-mirror.ts';
import { NRI_COUNTIES, nriLayer, serveNatural } from './natural-mirror.ts';

test('data get natural --for FILE fills an empty folder from real rows, and data update downloads nothing', {
  skip: noRealData,
}, async (t) => {
  const folder = temporaryFolder(t);
  const mirror = await agencyMirror(t);
  serveNatural(mirror);
  writeFileSync(join(folder, 'book.csv'), 'id,lat,lng\n1,38.3,-78.44\n2,38.03,-78.48\n');
  const options = {
    folder,
    env: { XDG_DATA_HOME: join(folder, 'home') },
    clock: new MovedClock('2026-06-01T00:00:00Z'),
  };
  const run = (...args: string[]) => perilbook(['data', ...args, '--mirror', mirror.url], options);

  const got = await run('get', 'natural', '--for', 'book.csv', '--yes');
  assert.equal(got.code, 0, got.stderr);
  assert.match(got.stderr, /States: MD, VA, WV\n/);
  assert.ok(mirror.downloads() > 15);

  const file = join(folder, 'home/perilbook/data.db');
  const database = new Database(file, { readonly: true });
  t.after(() => database.close());
  const rows: Record<string, string>[] = parse(readFileSync(realFile('nri/NRI_Table_Counties_Virginia.csv')), {
    columns: true,
    bom: true,
  });
  const rating = database.prepare<[string, string], { rating: string; score: number; frequency: number }>(
    'SELECT rating, score, frequency FROM ratings_county WHERE geoid = ? AND topic = ?',
  );
  for (const row of rows) {
    const found = rating.get(row.STCOFIPS!, 'hail')!;
    assert.deepEqual(found, {
      rating: row.HAIL_RISKR,
      score: Number(row.HAIL_RISKS),
      frequency: Number(row.HAIL_AFREQ),
    });
  }
  const described = JSON.parse((await perilbook(['data', '--json'], options)).stdout);
  assert.deepEqual(
    described.datasets.map(({ name, level, states }: Record<string, unknown>) => [name, level, states]),
    [
      // The mirror's file of all counties has those of Virginia only.
      ['areas', 'county', ['VA']],
      ['areas', 'tract', ['MD', 'VA', 'WV']],
      ['nri', 'county', ['MD', 'VA', 'WV']],
      ['nri', 'tract', ['MD', 'VA', 'WV']],
      ['records:earthquake', '', undefined],
      ['records:hail', '', undefined],
      ['records:hurricane', '', undefined],
      ['records:tornado', '', undefined],
      ['records:wildfire.current', '', undefined],
      ['records:wildfire.historical', '', ['MD', 'VA', 'WV']],
      ['records:wildfire.perimeters', '', ['MD', 'VA', 'WV']],
    ],
  );

  const quakes = described.datasets.find(({ name }: { name: string }) => name === 'records:earthquake');
  // The newest event, and not the day of the download.
  assert.equal(quakes.vintage, 'to 2022-09-30');
  mirror.downloads();
  const updated = await run('update');
  assert.equal(updated.code, 0, updated.stderr);
  assert.equal(mirror.downloads(), 0);

  mirror.layers.set(NRI_COUNTIES, nriLayer('nri/NRI_Table_Counties_Virginia.csv', 1_790_000_000_000));
  const again = await run('update', '--json');
  const changed = JSON.parse(again.stdout).sources.filter((one: { new_files: number }) => one.new_files > 0);
  assert.deepEqual(
    changed.map((one: { source: string }) => one.source),
    ['nri-counties'],
  );
});
