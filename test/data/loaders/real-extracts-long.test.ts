import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'csv-parse/sync';
import { loadFiles } from '../../../src/data/loaders/load-files.ts';
import { createAreaFinder } from '../../../src/data/tables/area-finder.ts';
import { noRealData, realFile } from '../../real-data.ts';
import { pathTo, setUp } from '../../service/small-data.ts';
import { featuresOf, loading, reasons as reasonsOf } from './loading.ts';

const skip = existsSync(realFile('agencies')) ? noRealData : 'no extracts are here';

/** The files of a pattern such as `tracts_{11,44}.geojson`. */
function filesOf(pattern: string): string[] {
  const [, before = pattern, choices = '', after = ''] = /^(.*)\{(.*)\}(.*)$/.exec(pattern) ?? [];
  return choices.split(',').map((choice) => realFile(`agencies/${before}${choice}${after}`));
}

function rowsOf(pattern: string): Record<string, string>[] {
  return filesOf(pattern).flatMap((file): Record<string, string>[] =>
    parse(readFileSync(file), { columns: true, bom: true }),
  );
}

/** Extracts of agencies' files from public repositories, and what was counted in them by other means. */
const EXTRACTS: readonly (readonly [loader: string, files: string, counts: readonly number[], states?: string])[] = [
  ['lmop', 'lmop/lmopdata{ct,de,ma,md,nj,ny}.csv', [355, 316, 201], 'CT,DE,MA,MD,NJ,NY'],
  ['wildfire-incidents', 'wfigs_current.csv', [3, 1, 1]],
  ['wildfire-history', 'wfigs_current.csv', [3, 2, 2]],
  ['superfund', 'npl_sites_with_status_1row.csv', [1, 1, 1], 'MD'],
  ['counties', 'boundaries/geojson-counties-fips.json.gz', [3221, 3221, 3221]],
  ['counties', 'boundaries/nc.shp', [100, 100, 100]],
  ['areas', 'boundaries/tl_2023_44_tract.shp', [250, 250, 250]],
  ['areas', 'boundaries/tracts_{11,44,78}.geojson', [455, 455, 455]],
];

for (const [loader, pattern, counts, states] of EXTRACTS) {
  test(`${loader}: agencies/${pattern}`, { skip }, async (t) => {
    const { load } = loading(t);
    const result = await load(loader, filesOf(pattern));
    assert.deepEqual([result.rows, result.loaded, result.records], counts);
    assert.equal(result.states?.join(), states);
  });
}

const COUNTIES = 'boundaries/geojson-counties-fips.json.gz';

interface Place {
  readonly lat: number;
  readonly lng: number;
}

/** Kilometres on a sphere (haversine): within 0.6 % of the ellipsoid. */
function kilometers(a: Place, b: Place): number {
  const rad = Math.PI / 180;
  const square = (angle: number) => Math.sin((angle * rad) / 2) ** 2;
  const h = square(b.lat - a.lat) + Math.cos(a.lat * rad) * Math.cos(b.lat * rad) * square(b.lng - a.lng);
  return 2 * 6371 * Math.asin(Math.sqrt(h));
}

test('the Superfund site is answered at its degrees, not at its metres', { skip }, async (t) => {
  const { database, clock, get } = await setUp(t, { deliveries: [] });
  await loadFiles(database, 'counties', filesOf(COUNTIES), {}, clock);
  await loadFiles(database, 'superfund', filesOf('npl_sites_with_status_1row.csv'), {}, clock);
  const at = async (lat: number, lng: number) =>
    (await get(pathTo('/v1/superfund/risk', { lat, lng }))).body.data.result;
  const near = await at(39.2, -76.7);
  assert.deepEqual([near.value, near.details.features[0].properties['Site EPA ID']], [1, 'MDD064882889']);
  // 0.036389° of latitude and 0.001669° of longitude away.
  assert.ok(Math.abs(near.details.features[0].properties.distance_m - 4_043) < 25);
  assert.equal((await at(39.27, -76.7)).value, 0, '11.8 km away');
});

test('of the incidents, those that burn and those of the past lie at X and Y', { skip }, async (t) => {
  const rows = new Map(rowsOf('wfigs_current.csv').map((row) => [row.IncidentName!, row]));
  for (const [loader, kind, names, reasons] of [
    ['wildfire-incidents', 'current', ['WF AUDUBON'], ['a prescribed fire', 'the fire is out']],
    ['wildfire-history', 'historical', ['WF AUDUBON', 'OK Maud Hunter Camp'], ['a prescribed fire']],
  ] as const) {
    const { database, load } = loading(t);
    const result = await load(loader, filesOf('wfigs_current.csv'));
    assert.deepEqual(reasonsOf(result), reasons);
    const features = featuresOf(database, `records_wildfire_${kind}`);
    assert.deepEqual(
      features.map(({ properties }) => properties.IncidentName),
      names,
    );
    for (const { geometry, properties } of features) {
      const row = rows.get(properties.IncidentName)!;
      assert.ok(kilometers({ lng: geometry.coordinates[0], lat: geometry.coordinates[1] }, placeIn(row)) < 0.001);
    }
  }
});

const placeIn = (row: Record<string, string>) => ({ lat: Number(row.Y), lng: Number(row.X) });

test('the Census Bureau’s internal point of each tract lies in it', { skip }, async (t) => {
  for (const [pattern, tracts] of [
    ['boundaries/tracts_{11,44,78}.geojson', filesOf('boundaries/tracts_{11,44,78}.geojson').flatMap(tractsOfGeojson)],
    ['boundaries/tl_2023_44_tract.shp', rowsOfDbf(realFile('agencies/boundaries/tl_2023_44_tract.dbf'))],
  ] as const) {
    const { database, load } = loading(t);
    await load('areas', filesOf(pattern));
    const find = createAreaFinder(database);
    assert.ok(tracts.length >= 250);
    for (const { GEOID, INTPTLAT, INTPTLON } of tracts) {
      assert.equal(find({ lat: Number(INTPTLAT), lng: Number(INTPTLON) })?.geoid, GEOID);
    }
  }
});

function tractsOfGeojson(file: string): Record<string, string>[] {
  const { features } = JSON.parse(readFileSync(file, 'utf8')) as { features: { properties: Record<string, string> }[] };
  return features.map(({ properties }) => properties);
}

/** A dBASE table, read by its specification: 32 bytes of header, 32 for each field, then rows of fixed width. */
function rowsOfDbf(file: string): Record<string, string>[] {
  const bytes = readFileSync(file);
  const [rows, start, width] = [bytes.readUInt32LE(4), bytes.readUInt16LE(8), bytes.readUInt16LE(10)];
  const fields = Array.from({ length: Math.floor((start - 33) / 32) }, (_, index) => {
    const at = 32 * (index + 1);
    return { name: bytes.toString('latin1', at, at + 11).replace(/\0.*$/s, ''), length: bytes[at + 16]! };
  });
  return Array.from({ length: rows }, (_, index) => {
    let at = start + index * width + 1;
    const values = fields.map(({ name, length }) => {
      at += length;
      return [name, bytes.toString('latin1', at - length, at).trim()];
    });
    return Object.fromEntries(values) as Record<string, string>;
  });
}

test('FEMA’s summary table, which has no hazards, is refused', { skip }, async (t) => {
  const { load } = loading(t);
  for (const force of [false, true]) {
    await assert.rejects(load('nri', filesOf('NRI_summary_counties_Nov2021.csv'), { force }), {
      code: 'SERVICE_DATA',
      message: /it has no ratings, scores and frequencies of hazards/,
    });
  }
});
