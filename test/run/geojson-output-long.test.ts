import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JobFile } from '../../src/job/job-file.ts';
import { madeParquet } from '../rows/parquet-fixture.ts';
import { type Harness, openHarness } from './harness.ts';

const ROWS = ['1,40.05001,-99.95,Café,250000', '2,x,-99.95,"a ""b""",', '3,40.25,-99.75,,12.5', '4,95,-99.75,,7'];

interface Feature {
  readonly type: string;
  readonly geometry: { readonly type: string; readonly coordinates: readonly number[] } | null;
  readonly properties: Readonly<Record<string, unknown>>;
}

const featuresOf = (file: string): Feature[] => JSON.parse(readFileSync(file, 'utf8')).features;
const pointsOf = (file: string) => featuresOf(file).map(({ geometry }) => geometry?.coordinates ?? null);

async function enriched(harness: Harness, settings: JobFile) {
  const ended = await harness.run({ topics: ['drought'], ...settings });
  return { ...ended, file: join(harness.folder, settings.output!) };
}

test('Parquet and NDJSON become GeoJSON with their values', async (t) => {
  const harness = await openHarness(t);
  const path = (name: string) => join(harness.folder, name);
  await madeParquet(
    `select 40.25::double as lat, -99.75::double as lng, true as sold, [1, 2] as list, date '2024-02-29' as day`,
    path('in.parquet'),
  );
  writeFileSync(path('in.ndjson'), '{"lat":40.25,"lng":-99.75,"sold":true,"list":[1,2],"day":"2024-02-29"}\n');
  for (const input of ['in.parquet', 'in.ndjson']) {
    const { file } = await enriched(harness, { input, output: `${input}.geojson` });
    const { sold, list, day } = featuresOf(file)[0]!.properties;
    assert.deepEqual([sold, list, day], [true, [1, 2], '2024-02-29'], input);
    assert.deepEqual(pointsOf(file), [[-99.75, 40.25]]);
  }
});

test('points of GeoParquet are the geometry of features, and their coordinates are properties', async (t) => {
  const harness = await openHarness(t);
  const input = 'input.csv';
  writeFileSync(join(harness.folder, input), `id,lat,lng,name,price\n${ROWS.join('\n')}\n`);
  await enriched(harness, { input, output: 'points.parquet', geoparquet: true });
  const points = join(harness.folder, 'points.parquet');
  await madeParquet(
    `select id, hazard_geometry as geometry from read_parquet('${points}')`,
    join(harness.folder, 'in.parquet'),
  );
  const { file } = await enriched(harness, { input: 'in.parquet', output: 'out.geojson' });
  assert.deepEqual(pointsOf(file), [[-99.95, 40.05], null, [-99.75, 40.25], null]);
  const [{ properties }] = featuresOf(file) as [Feature];
  assert.deepEqual(Object.entries(properties).slice(0, 3), [
    ['id', 1],
    ['geometry.latitude', 40.05],
    ['geometry.longitude', -99.95],
  ]);
});

const noGdal = spawnSync('ogrinfo', ['--version']).status === 0 ? false : 'GDAL is not installed';

test('GDAL reads the features with their types', { skip: noGdal }, async (t) => {
  const harness = await openHarness(t);
  writeFileSync(join(harness.folder, 'input.csv'), `id,lat,lng,name,price\n${ROWS.join('\n')}\n`);
  const { file } = await enriched(harness, { output: 'out.geojson' });
  const read = execFileSync('ogrinfo', ['-ro', '-al', file], { encoding: 'utf8' });
  assert.match(
    read,
    /Geometry: Point\nFeature Count: 4\nExtent: \(-99\.950000, 40\.050000\) - \(-99\.750000, 40\.250000\)/,
  );
  assert.match(read, /GEOGCRS\["WGS 84"/);
  for (const field of ['id: Integer', 'lat: String', 'price: Real', 'hazard_status: String', 'drought_score: Real']) {
    assert.ok(read.includes(`\n${field} (`), `${field}\n${read}`);
  }
  assert.match(read, /POINT \(-99\.95 40\.05\)/);
});
