import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parquetReadObjects } from 'hyparquet';
import type { JobFile } from '../../src/job/job-file.ts';
import { askedDuckdb, quoted } from '../rows/duckdb-child.ts';
import { madeParquet } from '../rows/parquet-fixture.ts';
import { type Harness, openHarness } from './harness.ts';

async function geoOf(file: string) {
  const { rows } = await askedDuckdb(
    `SELECT decode(value) FROM parquet_kv_metadata(${quoted(file)}) WHERE decode(key) = 'geo'`,
  );
  assert.ok(rows.length <= 1);
  return rows.length === 0 ? null : JSON.parse(String(rows[0]![0]));
}

/** The point column as an independent reader of GeoParquet gives it: GeoJSON. */
async function pointsOf(file: string): Promise<unknown[]> {
  const rows = await parquetReadObjects({ file: new Uint8Array(readFileSync(file)).buffer });
  return rows.map((row) => row.hazard_geometry ?? null);
}

const point = (lng: number, lat: number) => ({ type: 'Point', coordinates: [lng, lat] });
const ROWS = 'lat,lng\n40.05001,-99.95\nx,-99.95\n40.25,-99.75\n40.05,-99.95\n95,-99.75\n';
const POINTS = [point(-99.95, 40.05001), null, point(-99.75, 40.25), point(-99.95, 40.05), null];

/** A harness with the text as its input. */
async function open(t: TestContext, text: string): Promise<Harness> {
  const harness = await openHarness(t);
  writeFileSync(join(harness.folder, 'input.csv'), text);
  return harness;
}

async function enriched(harness: Harness, settings: JobFile) {
  const ended = await harness.run({ topics: ['drought'], ...settings });
  return { ...ended, file: join(harness.folder, settings.output!) };
}

test('a CSV becomes GeoParquet: a point for each row, null where there is no location, and valid metadata', async (t) => {
  const harness = await open(t, ROWS);
  const { file } = await enriched(harness, { output: 'out.parquet', geoparquet: true });
  const columns = { hazard_geometry: { encoding: 'WKB', geometry_types: ['Point'] } };
  assert.deepEqual(await geoOf(file), {
    version: '1.1.0',
    primary_column: 'hazard_geometry',
    columns,
  });
  assert.deepEqual(await pointsOf(file), POINTS);
  const { names, types, rows } = await askedDuckdb(`SELECT * FROM ${quoted(file)}`);
  assert.equal(types.at(-1), "GEOMETRY('OGC:CRS84')");
  assert.deepEqual(
    [names.slice(0, 3), names.at(-1)],
    [['lat', 'lng', 'hazard_status'], 'hazard_geometry'],
  );
  assert.equal(rows[0]![0], '40.05001', 'the columns of the input stay as they are');
  const { rows: physical } = await askedDuckdb(
    `SELECT type, num_children FROM parquet_schema(${quoted(file)}) WHERE name = 'hazard_geometry'`,
  );
  assert.equal(physical[0]![0], 'BYTE_ARRAY');
});

test('an output is enriched again: the points stay where they are asked for, and go with their metadata where not', async (t) => {
  const harness = await open(t, ROWS);
  await enriched(harness, { output: 'a.parquet', geoparquet: true });
  const job: JobFile = { input: 'a.parquet', output: 'b.parquet', topics: ['hail'] };
  const again = await enriched(harness, { ...job, geoparquet: true });
  const findings = again.summary.findings.map(({ finding }) => finding).sort();
  assert.deepEqual(findings, ['not_a_number', 'out_of_range']);
  assert.deepEqual(await pointsOf(again.file), POINTS);
  assert.equal((await geoOf(again.file)).primary_column, 'hazard_geometry');
  const { names } = await askedDuckdb(`SELECT * FROM ${quoted(again.file)}`);
  assert.equal(names.filter((name) => name.startsWith('hazard_geometry')).length, 1);
  assert.ok(names.includes('drought_rating') && names.includes('hail_rating'));
  const plain = await enriched(harness, {
    input: 'b.parquet',
    output: 'c.parquet',
    topics: ['hail'],
  });
  assert.equal(await geoOf(plain.file), null);
  assert.ok(
    !(await askedDuckdb(`SELECT * FROM ${quoted(plain.file)}`)).names.includes('hazard_geometry'),
  );
  assert.equal(harness.charged(), 4);
});

test('only a Parquet output can have points; a name that is taken is refused', async (t) => {
  const harness = await open(t, 'lat,lng\n40.25,-99.75\n');
  const refusal = { code: 'OUTPUT_UNWRITABLE', message: /GeoParquet needs a Parquet output/ };
  await assert.rejects(enriched(harness, { output: 'out.csv', geoparquet: true }), refusal);
  writeFileSync(join(harness.folder, 'input.csv'), 'lat,lng,Hazard_Geometry\n40.25,-99.75,x\n');
  await assert.rejects(enriched(harness, { output: 'out.parquet', geoparquet: true }), {
    code: 'INPUT_COLUMNS',
  });
  assert.equal(harness.charged(), 0);
});

test('a column of polygons is named, with the options that name other columns', async (t) => {
  const harness = await openHarness(t);
  const geo =
    '{"version":"1.1.0","primary_column":"geometry","columns":{"geometry":{"encoding":"WKB","geometry_types":["Polygon","MultiPolygon"]}}}';
  const write = (columns: string) =>
    askedDuckdb(
      `COPY (SELECT ${columns}, '\\x01\\x03\\x00\\x00\\x00'::BLOB AS geometry) TO ${quoted(join(harness.folder, 'lots.parquet'))} (FORMAT parquet, KV_METADATA {geo: ${quoted(geo)}})`,
    );
  await write("'a' AS id");
  await assert.rejects(enriched(harness, { input: 'lots.parquet', output: 'out.parquet' }), {
    code: 'INPUT_COLUMNS',
    hint: 'Column geometry holds polygons and multipolygons, not points. Name two columns of degrees: --lat COLUMN --lng COLUMN.',
  });
  const named = { input: 'lots.parquet', output: 'out.parquet', location: { column: 'geometry' } };
  await assert.rejects(enriched(harness, named), {
    message:
      'Column geometry holds polygons and multipolygons, not points. The columns are: id, geometry',
    hint: 'Name two columns of degrees: --lat COLUMN --lng COLUMN, or a column of points: --location COLUMN.',
  });
  await write('40.25 AS lat, -99.75 AS lng');
  const { summary } = await enriched(harness, { input: 'lots.parquet', output: 'out.parquet' });
  assert.equal(summary.located, 1);
});

const NAMED = `id,lat,lng,name,price\n1,40.05001,-99.95,Café,250000\n2,x,-99.95,,\n3,40.25,-99.75,,12.5\n4,95,-99.75,,7\n`;

test('points of GeoParquet are the geometry of features, and their coordinates are properties', async (t) => {
  const harness = await open(t, NAMED);
  await enriched(harness, { input: 'input.csv', output: 'points.parquet', geoparquet: true });
  const query = `select id, hazard_geometry as geometry from read_parquet('${join(harness.folder, 'points.parquet')}')`;
  await madeParquet(query, join(harness.folder, 'in.parquet'));
  const { file } = await enriched(harness, { input: 'in.parquet', output: 'out.geojson' });
  const { features } = JSON.parse(readFileSync(file, 'utf8'));
  const points = features.map(({ geometry }: { geometry: unknown }) => geometry);
  assert.deepEqual(points, [point(-99.95, 40.05001), null, point(-99.75, 40.25), null]);
  assert.deepEqual(Object.entries(features[0].properties).slice(0, 3), [
    ['id', 1],
    ['geometry.latitude', 40.05001],
    ['geometry.longitude', -99.95],
  ]);
});

const noGdal = spawnSync('ogrinfo', ['--version']).status === 0 ? false : 'GDAL is not installed';

test('GDAL reads the features with their types', { skip: noGdal }, async (t) => {
  const harness = await open(t, NAMED);
  const { file } = await enriched(harness, { output: 'out.geojson' });
  const read = execFileSync('ogrinfo', ['-ro', '-al', file], { encoding: 'utf8' });
  assert.match(
    read,
    /Geometry: Point\nFeature Count: 4\nExtent: \(-99\.950000, 40\.050000\) - \(-99\.750000, 40\.250000\)/,
  );
  assert.match(read, /GEOGCRS\["WGS 84"/);
  for (const field of [
    'id: Integer',
    'lat: String',
    'price: Real',
    'hazard_status: String',
    'drought_score: Real',
  ]) {
    assert.ok(read.includes(`\n${field} (`), `${field}\n${read}`);
  }
  assert.match(read, /POINT \(-99\.95 40\.05\)/);
});
