import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { PerilbookError } from '../../src/base/errors.ts';
import { firstRows } from '../../src/rows/location/file-head.ts';
import { openRowFile } from '../../src/rows/open/open-row-file.ts';
import { openDuckdb } from '../duckdb.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { locationInFile } from './location-of.ts';

/** The columns of a file of which the names or the values are a place, or what is said where there is none. */
async function placesIn(t: TestContext, name: string, text: string | Buffer): Promise<string> {
  const file = join(temporaryFolder(t), name);
  writeFileSync(file, text);
  const rowFile = await openRowFile(file);
  try {
    const { lat, lng } = await locationInFile(rowFile);
    return lat === lng ? rowFile.columns[lat]! : `${rowFile.columns[lat]} ${rowFile.columns[lng]}`;
  } catch (error) {
    assert.ok(error instanceof PerilbookError && error.code === 'INPUT_COLUMNS', String(error));
    return error.hint ?? '';
  }
}

/** A table with one column beside an id. */
const column = (name: string, ...values: string[]) =>
  `id,${name}\n${values.map((value, i) => `${i},"${value.replaceAll('"', '""')}"\n`).join('')}`;

test('a column with a usual name is taken as the location where its values are places in the US', async (t) => {
  const places = [
    '39.7392, -104.9903',
    '-104.9903, 39.7392',
    'POINT (-104.9903 39.7392)',
    'SRID=4326;POINT(-104.9903 39.7392)',
    'MULTIPOINT ((-104.9903 39.7392))',
    '{"type":"Point","coordinates":[-104.9903,39.7392]}',
    "{'latitude': '39.7392', 'longitude': '-104.9903'}",
    '0101000020E6100000A835CD3B4E3F5AC0A245B6F3FDDE4340',
    '100 MAIN ST\nDENVER, CO 80202\n(39.7392, -104.9903)',
    '39°44\'21.1"N 104°59\'25.1"W',
  ];
  for (const place of places) {
    for (const name of [
      'Location 1',
      'the_geom',
      'WKT',
      'lat_lng',
      'Geocoded Column',
      'Location Coordinates',
      'wkb_geometry',
    ])
      assert.equal(await placesIn(t, 'in.csv', column(name, place, '', place)), name, place);
    assert.equal(await placesIn(t, 'in.csv', column('where', place)), 'where', place);
  }
  assert.equal(await placesIn(t, 'in.csv', column('location', '48.85, 2.35')), 'location');
  // Its rows say that the outline is too large.
  const outline = 'POLYGON((1 2, 3 4, 5 6, 1 2))';
  assert.equal(await placesIn(t, 'in.csv', column('location', outline)), 'location');
  for (const other of ['Denver', '12, 34', '']) {
    assert.match(
      await placesIn(t, 'in.csv', column('location', other)),
      /^Name the latitude and/,
      other,
    );
  }
});

test('in JSON, a geometry, a list and an object with names are places', async (t) => {
  for (const [value, found] of [
    [{ type: 'Point', coordinates: [-104.9903, 39.7392] }, 'geometry'],
    [{ x: -104.9903, y: 39.7392 }, 'geometry.y geometry.x'],
    [[-104.9903, 39.7392], 'geometry'],
    [[39.7392, -104.9903, 1600], 'geometry'],
  ] as const) {
    const line = `${JSON.stringify({ id: 1, geometry: value })}\n`;
    assert.equal(await placesIn(t, 'in.ndjson', line + line), found, line);
  }
});

test('in Parquet, a column that the file declares to hold points is the place, whatever its name; one of lines is named', async (t) => {
  const pair = 'place.latitude place.longitude';
  const [lng, lat] = [-104.9903, 39.7392];
  /** Well-known binary: little-endian, the kind, how many positions of a line, and these. */
  const wkb = (kind: number, ...numbers: number[]) => {
    const bytes = Buffer.alloc(5 + 8 * numbers.length);
    bytes[0] = 1;
    bytes.writeUInt32LE(kind, 1);
    for (const [at, number] of numbers.entries()) bytes.writeDoubleLE(number, 5 + 8 * at);
    return bytes;
  };
  const point = wkb(1, lng, lat);
  const line = Buffer.concat([
    wkb(2),
    Buffer.of(2, 0, 0, 0),
    wkb(0, lng, lat, lng, lat + 1).subarray(5),
  ]);
  for (const [types, bytes, found] of [
    [['Point'], point, pair],
    [['Point Z', 'LineString'], point, pair],
    [[], point, pair],
    [
      ['LineString', 'MultiLineString'],
      line,
      /^Column place holds linestrings and multilinestrings, not points\./,
    ],
  ] as const) {
    const columns = { place: { encoding: 'WKB', geometry_types: types } };
    const value = JSON.stringify({ version: '1.1.0', primary_column: 'place', columns });
    const columnData = [
      { name: 'id', data: ['a', 'b'], type: 'STRING' as const },
      { name: 'place', data: [bytes, bytes], type: 'BYTE_ARRAY' as const },
    ];
    const written = parquetWriteBuffer({ columnData, kvMetadata: [{ key: 'geo', value }] });
    const places = await placesIn(t, 'in.parquet', Buffer.from(written));
    if (typeof found === 'string') assert.equal(places, found);
    else assert.match(places, found);
  }
});

test('lists and structs of Parquet are JSON, in which a wrapper around each element is nothing of its own', async (t) => {
  const group = (name: string, num_children: number, more = {}) => ({
    ...{ name, num_children, repetition_type: 'OPTIONAL' as const },
    ...more,
  });
  const repeated = { repetition_type: 'REPEATED' as const };
  const leaf = (name: string) => ({ name, type: 'INT32', repetition_type: 'OPTIONAL' }) as const;
  const written = parquetWriteBuffer({
    schema: [
      { name: 'root', num_children: 2 },
      group('parts', 1, { converted_type: 'LIST' }),
      group('list', 1, repeated),
      leaf('element'),
      group('size', 2),
      leaf('floors'),
      leaf('units'),
    ],
    columnData: [
      { name: 'parts', data: [[1, 2], [], null] },
      { name: 'size', data: [{ floors: 2, units: null }, { floors: 1, units: 3 }, null] },
    ],
  });
  const file = join(temporaryFolder(t), 'nested.parquet');
  writeFileSync(file, Buffer.from(written));
  const rows = await firstRows(await openRowFile(file), [0, 1], 3);
  assert.deepEqual(
    rows.map(({ fields }) => fields),
    [
      ['[1,2]', '{"floors":2,"units":null}'],
      ['[]', '{"floors":1,"units":3}'],
      ['', ''],
    ],
  );
});

test('names of metres or degrees: the values decide', async (t) => {
  const table = (lat: string, lng: string) =>
    `id,POINT_Y,POINT_X\n1,${lat},${lng}\n2,${lat},${lng}\n`;
  assert.equal(await placesIn(t, 'in.csv', table('39.7392', '-104.9903')), 'POINT_Y POINT_X');
  assert.equal(await placesIn(t, 'in.csv', table('', '')), 'POINT_Y POINT_X');
  assert.match(await placesIn(t, 'in.csv', table('207012.0', '990629.0')), /metres or feet/);
  const both = 'id,X,Y,Y_COORD,X_COORD\n1,990629.0,207012.0,39.7392,-104.9903\n';
  assert.equal(await placesIn(t, 'in.csv', both), 'Y_COORD X_COORD');
});

const GEOCODED = [
  '"1","1 Elm St, Denver, CO, 80202","Match","Exact","1 ELM ST, DENVER, CO, 80202","-104.9903,39.7392","76049","L"',
  '"2","9 Nowhere Rd, Denver, CO, ","No_Match"',
  '"3","5 Main St, Miami, FL, ","Tie"',
];

test("the result of the Census Bureau's geocoder is known by its third field; a list of addresses names the way", async (t) => {
  const geocoder =
    /^This is a result of the geocoder .* --no-header --location 6 \(docs\/analyst\/addresses\.md\)\.$/;
  const orders = [
    [0, 1, 2],
    [1, 2, 0],
    [2, 0, 1],
  ] as const;
  for (const order of orders) {
    const text = order.map((row) => `${GEOCODED[row]}\n`).join('');
    assert.match(await placesIn(t, 'GeocodeResults.csv', text), geocoder);
  }
  assert.match(
    await placesIn(t, 'in.csv', 'id,street,zip\n1,1 Elm St,80202\n'),
    /docs\/analyst\/addresses\.md/,
  );
  const data = /^The first line looks like data: --no-header --location 2\.$/;
  assert.match(await placesIn(t, 'in.csv', '1,"39.7, -104.9"\n2,\n'), data);
  assert.match(
    await placesIn(t, 'in.csv', '1,"39.7, -104.9"\n2,"39.8, -104.9"\n'),
    /add --no-header/,
  );
});

test('the page on addresses leads from a list through the geocoder back to its rows', async (t) => {
  const page = readFileSync('docs/analyst/addresses.md', 'utf8');
  const [, sql] = /```sql\n(.*?)```/s.exec(page)!;
  const folder = temporaryFolder(t);
  writeFileSync(
    join(folder, 'houses.csv'),
    'id,street,zip\n1,1 Elm St,80202\n2,9 Nowhere Rd,\n3,5 Main St,\n',
  );
  writeFileSync(join(folder, 'GeocodeResults.csv'), `${GEOCODED.toReversed().join('\n')}\n`);
  const duckdb = await openDuckdb();
  t.after(() => duckdb.close());
  await duckdb.execute(sql!.replace(/'([\w]+\.csv)'/g, (_, name) => `'${join(folder, name)}'`));
  const rowFile = await openRowFile(join(folder, 'located.csv'));
  assert.deepEqual(rowFile.columns, ['id', 'street', 'zip', 'location']);
  const { lat, lng } = await locationInFile(rowFile);
  assert.deepEqual([lat, lng], [3, 3]);
  const rows = await firstRows(rowFile, [0, 3], 3);
  const sorted = rows.map(({ fields }) => fields.join(' ')).sort();
  assert.deepEqual(sorted, ['1 -104.9903,39.7392', '2 ', '3 ']);
});
