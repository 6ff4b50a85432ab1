import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'csv-parse/sync';
import type { FeatureCollection, Polygon } from 'geojson';
import { columnStem } from '../../../src/columns/topic-columns.ts';
import { RATINGS_WITHOUT_SCORE, type Rating } from '../../../src/contract/topic-values.ts';
import { NRI_PREFIXES } from '../../../src/data/loaders/nri.ts';
import { perilbook } from '../../cli/command-line.ts';
import { MovedClock } from '../../moved-clock.ts';
import { noRealData, realFile } from '../../real-data.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { agencyMirror } from './agency-mirror.ts';
import { NRI_COUNTIES, nriLayer, serveNatural } from './natural-mirror.ts';

type Row = Readonly<Record<string, string>>;

const tableOf = (file: string): Row[] => parse(readFileSync(file), { columns: true, bom: true });

test("from an empty folder, two commands give each of Virginia's tracts the ratings of FEMA's table", {
  skip: noRealData,
}, async (t) => {
  const folder = temporaryFolder(t);
  const mirror = await agencyMirror(t);
  serveNatural(mirror);
  const places = placesInTracts();
  const lines = places.map(({ geoid, lng, lat }) => `${geoid},${lat.toFixed(5)},${lng.toFixed(5)}`);
  writeFileSync(join(folder, 'book.csv'), `tract,lat,lng\n${lines.join('\n')}\n`);
  const env = { XDG_DATA_HOME: join(folder, 'home') };
  const clock = new MovedClock('2026-06-01T00:00:00Z');
  const run = (...args: string[]) => perilbook(args, { folder, env, clock });

  const got = await run('data', 'get', 'natural', '--for', 'book.csv', '--yes', '--mirror', mirror.url);
  assert.equal(got.code, 0, got.stderr);
  const ran = await run('run', 'book.csv', '--topics', 'natural', '--precision', '5');
  assert.equal(ran.code, 0, ran.stderr);
  assert.match(ran.stderr, /\n {2}natural topics {2}nri +March 2023 +DC,MD,NC,VA,WV +FEMA National Risk Index\n/);

  const ratings = new Map(tableOf(realFile('nri/NRI_Table_Counties_Virginia.csv')).map((row) => [row.STCOFIPS, row]));
  const output = tableOf(join(folder, 'book.hazards.csv'));
  assert.equal(output.length, places.length);
  assert.ok(places.length > 50);
  for (const row of output) {
    assert.equal(row.hazard_status, 'ok', row.tract);
    assert.match(
      row.hazard_note!,
      /^local data: areas 2025, nri March 2023, records:earthquake to 2022-09-30 and 6 more datasets; rating of the county, not of the tract$/,
    );
    const county = ratings.get(row.tract!.slice(0, 5))!;
    for (const [topic, ...prefixes] of NRI_PREFIXES) {
      const prefix = prefixes.find((one) => `${one}_RISKR` in county)!;
      const rating = county[`${prefix}_RISKR`]! as Rating;
      const number = (name: string) =>
        RATINGS_WITHOUT_SCORE.has(rating) || county[`${prefix}_${name}`] === ''
          ? ''
          : Number(county[`${prefix}_${name}`]);
      const stem = columnStem(topic);
      const found = [row[`${stem}_rating`], row[`${stem}_score`], row[`${stem}_frequency`]].map((text, index) =>
        index === 0 || text === '' ? text : Number(text),
      );
      assert.deepEqual(found, [rating, number('RISKS'), number('AFREQ')], `${row.tract} ${topic}`);
    }
  }

  const { datasets } = JSON.parse((await run('data', '--json')).stdout) as { datasets: Record<string, unknown>[] };
  const states = ['DC', 'MD', 'NC', 'VA', 'WV'];
  assert.deepEqual(
    datasets.map(({ name, level, states }) => [name, level, states]),
    [
      // The mirror's file of all counties has those of Virginia only.
      ['areas', 'county', ['VA']],
      ['areas', 'tract', states],
      ['nri', 'county', states],
      ['nri', 'tract', states],
      ['records:earthquake', '', undefined],
      ['records:hail', '', undefined],
      ['records:hurricane', '', undefined],
      ['records:tornado', '', undefined],
      ['records:wildfire.current', '', undefined],
      ['records:wildfire.historical', '', states],
      ['records:wildfire.perimeters', '', states],
    ],
  );

  mirror.downloads();
  const updated = await run('data', 'update', '--mirror', mirror.url);
  assert.equal(updated.code, 0, updated.stderr);
  assert.equal(mirror.downloads(), 0);
  // Nothing was loaded, so nothing is looked up again.
  clock.move(3_600_000);
  assert.match((await run('plan', 'book.csv', '--precision', '5')).stdout, /\nAll answers are in the store\.\n/);

  mirror.layers.set(NRI_COUNTIES, nriLayer('nri/NRI_Table_Counties_Virginia.csv', 1_790_000_000_000));
  const again = JSON.parse((await run('data', 'update', '--mirror', mirror.url, '--json')).stdout) as {
    sources: { source: string; new_files: number }[];
  };
  const changed = again.sources.filter(({ new_files }) => new_files > 0).map(({ source }) => source);
  assert.deepEqual(changed, ['nri-counties']);
});

/** A place within each real tract: the middle of the widest stretch on the line at half its height. */
function placesInTracts(): { readonly geoid: string; readonly lat: number; readonly lng: number }[] {
  const text = readFileSync(realFile('boundaries/va_tracts_tiger.geojson'), 'utf8');
  const { features } = JSON.parse(text) as FeatureCollection<Polygon, Record<string, string>>;
  return features.map(({ geometry, properties }) => {
    const ring = geometry.coordinates[0]! as [number, number][];
    const lats = ring.map(([, lat]) => lat);
    const lat = (Math.min(...lats) + Math.max(...lats)) / 2;
    const crossings = ring
      .slice(1)
      .flatMap(([bx, by], index) => {
        const [ax, ay] = ring[index]!;
        return ay > lat === by > lat ? [] : [ax + ((lat - ay) / (by - ay)) * (bx - ax)];
      })
      .sort((a, b) => a - b);
    let [west, east] = [0, 0];
    for (let i = 0; i + 1 < crossings.length; i += 2) {
      if (crossings[i + 1]! - crossings[i]! > east - west) [west, east] = [crossings[i]!, crossings[i + 1]!];
    }
    return { geoid: properties.GEOID!, lat, lng: (west + east) / 2 };
  });
}
