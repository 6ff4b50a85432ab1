import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parse } from 'csv-parse/sync';
import type { Feature, Polygon } from 'geojson';
import { openDataDatabase } from '../../src/data/tables/data-database.ts';
import { SEARCH_RADII } from '../../src/data/topics/search-radii.ts';
import { distanceMeters } from '../../src/geo/distance.ts';
import { outlineHolds, outlineOf, packArea } from '../../src/geo/outline.ts';
import { between, randomOf } from '../../src/sample/random.ts';
import { openAccounts, sqliteAccounts } from '../../src/service/accounts/open-accounts.ts';
import { startService } from '../../src/service/http/start-service.ts';
import { FastClock } from '../fast-clock.ts';
import { noRealData, realFile } from '../real-data.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { LONG } from '../tier.ts';
import { type Ended, perilbook } from './command-line.ts';

const LOADS: readonly (readonly [loader: string, file: string])[] = [
  ['areas', 'boundaries/va_tracts_tiger.geojson'],
  ['nri', 'nri/NRI_Table_Counties_Virginia.csv'],
  ['superfund', 'sites/superfund_npl.csv'],
  ['nuclear-reactors', 'sites/nuclear_power_plants.csv'],
  ['hail', 'storms/2020_hail.csv'],
  ['tornado', 'storms/2011_torn.csv'],
  ['hurdat2', 'storms/hurdat2_2014_2018.txt'],
  ['earthquakes', 'quakes/earthquakes.geojson'],
  ['air-quality', 'air/annual_aqi_by_county_2024.csv'],
];

/** Topics with ratings in FEMA's table, by its prefixes. */
const RATED = {
  riverine_flood: 'RFLD',
  hail: 'HAIL',
  tornado: 'TRND',
  hurricane: 'HRCN',
  earthquake: 'ERQK',
  drought: 'DRGT',
  volcano: 'VLCN',
} as const;
const LOADED = 'riverineFlood,hail,tornado,hurricane,earthquake,drought,volcano,superfund,nuclearReactors';

const ROWS = 60;

interface BookRow {
  readonly county: string;
  readonly lat: number;
  readonly lng: number;
}

/** Places in the tracts, of so many decimals as a cell keeps, so that the cell of each lies where the row does. */
function placesInTracts(): BookRow[] {
  const { features } = JSON.parse(readFileSync(realFile('boundaries/va_tracts_tiger.geojson'), 'utf8')) as {
    features: Feature<Polygon, { GEOID: string }>[];
  };
  const random = randomOf(11, 'areas');
  return Array.from({ length: ROWS }, (_, index) => {
    const { geometry, properties } = features[index % features.length]!;
    const outline = outlineOf(packArea(geometry));
    const ring = geometry.coordinates[0]!;
    const [lngs, lats] = [ring.map(([lng]) => lng!), ring.map(([, lat]) => lat!)];
    for (;;) {
      const lat = Number(between(random, Math.min(...lats), Math.max(...lats)).toFixed(4));
      const lng = Number(between(random, Math.min(...lngs), Math.max(...lngs)).toFixed(4));
      if (outlineHolds(outline, { lat, lng })) return { county: properties.GEOID.slice(0, 5), lat, lng };
    }
  });
}

function tableOf(file: string): Record<string, string>[] {
  return parse(readFileSync(file), { columns: true, bom: true });
}

async function said(args: readonly string[], folder: string, clock: FastClock): Promise<Ended> {
  const ended = await perilbook(args, { folder, clock });
  assert.equal(ended.code, 0, `${args.join(' ')}: ${ended.stderr}`);
  return ended;
}

/** A service over the real files, all by the command line; returns its address, after `book.csv` and a key are there. */
async function serveRealData(t: TestContext, folder: string, clock: FastClock): Promise<string> {
  for (const [loader, file] of LOADS) {
    const { stderr } = await said(['data', 'load', loader, realFile(file), '--db', 'data.db'], folder, clock);
    assert.match(stderr, /^Loaded /m);
  }
  await said(
    ['service', 'account', 'create', '--account', 'book', '--subscription', 'professional', '--db', 'data.db'],
    folder,
    clock,
  );
  const { stdout } = await said(
    ['service', 'key', 'create', '--account', 'book', '--scopes', 'all', '--db', 'data.db'],
    folder,
    clock,
  );
  writeFileSync(join(folder, 'key'), stdout);
  const database = openDataDatabase(join(folder, 'data.db'));
  const accounts = openAccounts(join(folder, 'data-accounts.db'));
  const service = await startService({ data: database, accounts: sqliteAccounts(accounts, clock), port: 0 });
  t.after(async () => {
    await service.close();
    accounts.close();
    database.close();
  });
  return service.url;
}

function runArgs(url: string, topics: string): string[] {
  const from = ['--base-url', url, '--api-key-file', 'key', '--store', 'store.db'];
  return ['run', 'book.csv', '-o', 'out.csv', '--topics', topics, ...from, '--budget', '5000', '--json'];
}

test('a book of Virginia is enriched by the main job from the agencies’ own files', {
  skip: noRealData || LONG.skip,
  timeout: 300_000,
}, async (t) => {
  const folder = temporaryFolder(t);
  const clock = new FastClock('2026-03-15T12:00:00Z', 20);
  const url = await serveRealData(t, folder, clock);
  const places = placesInTracts();
  const lines = places.map(({ lat, lng }, index) => `${index + 1},${lat},${lng}`);
  writeFileSync(join(folder, 'book.csv'), `id,lat,lng\n${lines.join('\n')}\n`);

  const listed = await said(['data', '--db', 'data.db'], folder, clock);
  assert.match(listed.stdout, /National Risk Index .* not endorsed by FEMA/);
  const data = JSON.parse((await said(['data', '--json', '--db', 'data.db'], folder, clock)).stdout);
  assert.equal(data.datasets.length, LOADS.length);
  assert.equal(data.sample, false);

  const bought = JSON.parse((await said(runArgs(url, LOADED), folder, clock)).stdout);
  assert.deepEqual([bought.credits_spent, bought.status.ok], [ROWS * LOADED.split(',').length, ROWS]);
  const rows = tableOf(join(folder, 'out.csv'));
  const counties = new Map(tableOf(realFile('nri/NRI_Table_Counties_Virginia.csv')).map((row) => [row.STCOFIPS!, row]));
  assert.equal(rows.length, ROWS);
  const plants = tableOf(realFile('sites/nuclear_power_plants.csv'));
  for (const [index, row] of rows.entries()) {
    const { county, lat, lng } = places[index]!;
    assert.deepEqual([row.hazard_status, row.hazard_note], ['ok', ''], `row ${index + 1}`);
    for (const [column, prefix] of Object.entries(RATED)) {
      const source = counties.get(county)!;
      const numberOf = (text: string) => (text === '' ? '' : Number(text));
      const found = [
        row[`${column}_rating`],
        ...['score', 'frequency'].map((part) => numberOf(row[`${column}_${part}`]!)),
      ];
      const expected = [
        source[`${prefix}_RISKR`],
        numberOf(source[`${prefix}_RISKS`]!),
        numberOf(source[`${prefix}_AFREQ`]!),
      ];
      assert.deepEqual(found, expected, `row ${index + 1}, ${county}, ${column}`);
    }
    const near = plants.filter(
      ({ Latitude, Longitude }) =>
        distanceMeters({ lat, lng }, { lat: Number(Latitude), lng: Number(Longitude) }) <= SEARCH_RADII.nuclearReactors,
    );
    assert.equal(row.nuclear_reactors_count, String(near.length), `row ${index + 1}`);
  }
  assert.ok(rows.some((row) => row.nuclear_reactors_count !== '0'));
  assert.ok(rows.some((row) => row.hail_reports !== '0'));

  // Nobody loaded radon: what there is stands in the row, the row says that it is not all, and nothing is paid. A dozen
  // rows, because a run soon leaves a topic alone that fails everywhere, and what it has not tried is deferred.
  const few = 12;
  writeFileSync(join(folder, 'book.csv'), `id,lat,lng\n${lines.slice(0, few).join('\n')}\n`);
  const partial = await perilbook(runArgs(url, `${LOADED},radon`), { folder, clock });
  assert.equal(partial.code, 3, partial.stderr);
  const { credits_spent: spent, status } = JSON.parse(partial.stdout);
  assert.deepEqual([spent, status.partial], [0, few]);
  for (const [index, row] of tableOf(join(folder, 'out.csv')).entries()) {
    assert.match(row.hazard_note!, /radon/);
    assert.deepEqual([row.radon_zone, row.drought_rating], ['', rows[index]!.drought_rating]);
  }
});
