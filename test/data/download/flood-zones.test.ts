import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { placeTiles } from '../../../src/data/download/place-tiles.ts';
import { openDataReadOnly } from '../../../src/data/tables/data-database.ts';
import { square } from '../../service/small-data.ts';
import { sendJson, sendPage } from './agency-mirror.ts';
import { dataMachine } from './downloading.ts';

const NFHL = 'hazards.fema.gov/arcgis/rest/services/public/NFHL/MapServer';
const SIDE = 0.01;
const COLUMNS = 40;

/** A grid of zones in Virginia from 38, -78 on, with a strip of Maryland east of it. */
const ZONES = Array.from({ length: COLUMNS * COLUMNS }, (_, index) => {
  const [x, y] = [index % COLUMNS, Math.floor(index / COLUMNS)];
  const attributes = {
    DFIRM_ID: x < 36 ? '51059C' : '24031C',
    FLD_ZONE: index % 3 === 0 ? 'AE' : 'X',
    ZONE_SUBTY: null,
    SFHA_TF: index % 3 === 0 ? 'T' : 'F',
  };
  const rest = { STATIC_BFE: -9999, V_DATUM: null, DEPTH: -9999, LEN_UNIT: null };
  return {
    attributes: { ...attributes, ...rest },
    geometry: square(-78 + x * SIDE, 38 + y * SIDE, SIDE),
  };
});
const PANELS = ['51059C', '24031C'].map((DFIRM_ID, index) => ({
  attributes: { DFIRM_ID, FIRM_PAN: `${DFIRM_ID}0100E`, EFF_DATE: Date.UTC(2019, 2, 5) },
  geometry: square(-78 + index * 0.36, 38, 0.4),
}));
const IN_VIRGINIA = ZONES.filter(({ attributes }) => attributes.DFIRM_ID === '51059C').length;

async function serving(
  t: TestContext,
  zones: Partial<{ rows: typeof ZONES; mostRows: number }> = {},
) {
  const machine = await dataMachine(t);
  const { mirror, folder } = machine;
  mirror.layers.set(`${NFHL}/28`, {
    fields: Object.keys(ZONES[0]!.attributes),
    rows: ZONES,
    edited: null,
    mostRows: 300,
    ...zones,
  });
  mirror.layers.set(`${NFHL}/3`, {
    fields: Object.keys(PANELS[0]!.attributes),
    rows: PANELS,
    edited: null,
  });
  const get = async (...words: string[]) =>
    await machine.run(['get', 'flood-zones', '--yes', ...words]);
  const book = (name: string, ...places: readonly (readonly [lat: number, lng: number])[]) => {
    writeFileSync(
      join(folder, name),
      `id,lat,lng\n${places.map(([lat, lng], index) => `${index},${lat},${lng}\n`).join('')}`,
    );
    return name;
  };
  const counts = () => {
    using database = openDataReadOnly(join(folder, 'perilbook/data.db'));
    const rows = database
      .prepare<[], [string, number]>('SELECT kind, count(*) FROM flood_zones GROUP BY kind')
      .raw()
      .all();
    return Object.fromEntries(rows);
  };
  /** The ids of zones in the pages that were asked for. */
  const askedIds = () =>
    mirror.requests.flatMap(({ target }) => {
      const url = new URL(`http://${target}`);
      const isDrawn = url.searchParams.get('returnGeometry') !== 'false';
      return isDrawn && url.pathname.endsWith('/28/query')
        ? (url.searchParams.get('objectIds')?.split(',') ?? [])
        : [];
    });
  return { ...machine, get, book, counts, askedIds };
}

test('a state comes whole, with its panels, whatever the server cannot do at once', async (t) => {
  const { mirror, get, counts } = await serving(t);
  // Pages of 500 and of 125 rows are too heavy, the third time also one of 32.
  mirror.fail(/\/28\/query\?.*resultRecordCount=500/, 99, (_, response) => sendPage(response, 500));
  mirror.fail(/\/28\/query\?.*resultRecordCount=125/, 2, (_, response) =>
    sendJson(response, { error: { code: 500, message: 'Error performing query operation' } }),
  );
  mirror.fail(/\/28\/query\?.*resultOffset=96.*resultRecordCount=32/, 2, (_, response) =>
    sendPage(response, 500),
  );
  const { stderr } = await get('--states', 'VA');
  assert.match(
    stderr,
    new RegExp(
      `flood-zones: loaded ${(IN_VIRGINIA + 1).toLocaleString('en')} records of VA, to 2019-03-05`,
    ),
  );
  assert.deepEqual(counts(), { panel: 1, zone: IN_VIRGINIA });
  const asked = mirror.requests.map(({ target }) =>
    decodeURIComponent(target.replaceAll('+', ' ')),
  );
  assert.ok(
    asked.some(
      (target) =>
        target.includes("where=DFIRM_ID LIKE '51%'") &&
        target.includes('maxAllowableOffset=0.00001'),
    ),
  );
  // Around the heavy ones pages are small, and then grow again.
  assert.ok(
    asked.some((target) => /resultRecordCount=8\b/.test(target)) &&
      asked.some((target) => /resultRecordCount=64\b/.test(target)),
  );
});

test('outlines without a geometry are asked for again; one that has none is left out, and many are refused', async (t) => {
  const without = (every: number) =>
    ZONES.map((row, index) => (index % every === 7 ? { ...row, geometry: null as never } : row));
  const { mirror, get, counts } = await serving(t, { rows: without(1_600) });
  const one = await get('--states', 'VA');
  assert.match(one.stderr, /to 2019-03-05, without 1 record that had no outline in degrees/);
  assert.deepEqual(counts(), { panel: 1, zone: IN_VIRGINIA - 1 });
  mirror.layers.set(`${NFHL}/28`, {
    ...mirror.layers.get(`${NFHL}/28`)!,
    rows: without(10),
    edited: 7,
  });
  const many = await get('--states', 'VA');
  assert.match(many.stderr, /outlines have no geometry in degrees/);
  assert.deepEqual(counts(), { panel: 1, zone: IN_VIRGINIA - 1 });
});

test('--for brings what lies around the places of a file, each record once, and a second file adds to it', async (t) => {
  const { mirror, get, book, counts, askedIds, run, options } = await serving(t);
  const first = book('first.csv', [38.03, -77.97], [38.031, -77.971], [38.1, -77.9]);
  const plan = await run(['get', 'flood-zones', '--for', first, '--dry-run']);
  assert.match(plan.stdout, /flood-zones +about 2\.\d MB +2 tiles/);
  assert.equal(mirror.requests.length, 0);
  assert.match(
    (await get('--for', first)).stderr,
    /flood-zones: loaded \d+ records of VA, to 2019-03-05, in 2 tiles\.\n/,
  );
  // Tiles of a sixteenth of a degree, and 100 m around them.
  const touching = (boxes: readonly (readonly [south: number, west: number])[]) =>
    ZONES.filter(({ attributes, geometry }) => {
      const [west, south] = geometry.coordinates[0]![0]! as [number, number];
      const margin = 0.0012;
      return (
        attributes.DFIRM_ID === '51059C' &&
        boxes.some(
          ([lat, lng]) =>
            west + SIDE >= lng - margin &&
            west <= lng + 0.0625 + margin &&
            south + SIDE >= lat - margin &&
            south <= lat + 0.0625 + margin,
        )
      );
    }).length;
  const tiles = [
    [38, -78],
    [38.0625, -77.9375],
  ] as const;
  assert.deepEqual(counts(), { panel: 1, tile: 2, zone: touching(tiles) });
  assert.equal(new Set(askedIds()).size, askedIds().length);
  // Nothing changed, within the hours in which the layer is not asked again.
  const before = mirror.requests.length;
  assert.match(
    (await get('--for', first)).stderr,
    /flood-zones: unchanged by its ids and codes; the layer has no edit date, and is loaded again on 2026-07-01\.\n/,
  );
  assert.equal(askedIds().length, touching(tiles));
  assert.ok(mirror.requests.length > before);
  const second = book('second.csv', [38.2, -77.8]);
  await get('--for', second);
  const all = [...tiles, [38.1875, -77.8125]] as const;
  assert.deepEqual(counts(), { panel: 1, tile: 3, zone: touching(all) });
  // An update keeps the tiles; a state takes their place.
  options.clock.move(40 * 86_400_000);
  await run(['update', 'flood-zones']);
  assert.deepEqual(counts(), { panel: 1, tile: 3, zone: touching(all) });
  await get('--states', 'VA');
  assert.deepEqual(counts(), { panel: 1, zone: IN_VIRGINIA });
  await get('--for', first);
  assert.deepEqual(counts(), { panel: 1, zone: IN_VIRGINIA });
});

test('a tile where nothing was studied is covered, and has no zone', async (t) => {
  const { get, book, counts } = await serving(t);
  const { stderr } = await get('--for', book('far.csv', [37.2, -79.9]));
  assert.deepEqual(counts(), { tile: 1 }, stderr);
});

test('a download of tiles that is cut goes on where it stopped', async (t) => {
  const { mirror, get, book, counts, askedIds } = await serving(t);
  const places = Array.from(
    { length: 25 },
    (_, index) => [38.03 + (index % 5) * 0.0625, -77.97 + Math.floor(index / 5) * 0.0625] as const,
  );
  const file = book('many.csv', ...places);
  let pages = 0;
  mirror.fail(/\/28\/query\?.*objectIds=/, 99, (_, response) => {
    pages += 1;
    if (pages === 5) return sendJson(response, { error: { code: 400, message: 'cut' } });
    return false;
  });
  assert.notEqual((await get('--for', file)).code, 0);
  const first = askedIds().length;
  assert.equal((await get('--for', file)).code, 0);
  // All but the page that was cut were asked for once.
  assert.equal(askedIds().length - 100, new Set(askedIds()).size);
  assert.ok(first === 500 && counts().zone! > 900);
});

test('squares that hold places are of the smallest size that is not too many, in each state that they touch', () => {
  const tiles = placeTiles([
    { lat: 38.03, lng: -77.97 },
    { lat: 38.9, lng: -77.04 },
  ]);
  assert.deepEqual([...tiles.keys()], ['DC', 'VA']);
  assert.deepEqual(tiles.get('DC'), [
    { minLat: 38.875, minLng: -77.0625, maxLat: 38.9375, maxLng: -77 },
  ]);
  assert.equal(tiles.get('VA')!.length, 2);
  const many = Array.from({ length: 2_000 }, (_, index) => ({
    lat: 40.51 + Math.floor(index / 50) * 0.0625,
    lng: -99.99 + (index % 50) * 0.0625,
  }));
  const squares = placeTiles(many).get('NE')!;
  assert.ok(squares.length <= 400 && squares.length > 100, String(squares.length));
  for (const { lat, lng } of many.filter(({ lat }) => lat < 42.9)) {
    assert.ok(
      squares.some(
        (box) => lat >= box.minLat && lat < box.maxLat && lng >= box.minLng && lng < box.maxLng,
      ),
      `${lat}, ${lng}`,
    );
  }
});

test('a check tells a study that is gone, though others have as many zones more', async (t) => {
  const { mirror, get, run } = await serving(t);
  const layer = mirror.layers.get(`${NFHL}/28`)!;
  const all = layer.rows.slice(0, 200);
  const named = (study: string, from: number, to: number) =>
    all
      .slice(from, to)
      .map((row) => ({ ...row, attributes: { ...row.attributes, DFIRM_ID: study } }));
  const of = (rows: typeof all) => mirror.layers.set(`${NFHL}/28`, { ...layer, rows });
  of([...named('51059C', 0, 195), ...named('51600C', 195, 200)]);
  assert.equal((await get('--states', 'VA')).code, 0);
  assert.match((await run(['check', 'flood-zones'])).stdout, /^flood-zones +ok/m);
  of(named('51059C', 0, 200));
  const { stdout, code } = await run(['check', 'flood-zones']);
  assert.match(stdout, /^flood-zones: study 51600C of VA is gone; 5 records of it are loaded$/m);
  assert.notEqual(code, 0);
  // A server that cannot list the studies is not one without them.
  mirror.fail(/returnDistinctValues/, 9, (_, response) =>
    sendJson(response, { error: { code: 400, message: 'Unable to complete operation.' } }),
  );
  assert.match((await run(['check', 'flood-zones'])).stdout, /^flood-zones +ok/m);
});
