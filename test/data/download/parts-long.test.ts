import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parse } from 'csv-parse/sync';
import type { Geometry } from 'geojson';
import { createDataVersion, openDataDatabase } from '../../../src/data/tables/data-database.ts';
import { FeatureTiles } from '../../../src/data/tables/feature-tiles.ts';
import { importDataset } from '../../../src/data/tables/import-dataset.ts';
import { createLayerSearch } from '../../../src/data/tables/layer-search.ts';
import type { Layer } from '../../../src/data/tables/layers.ts';
import type { Dataset } from '../../../src/data/tables/records.ts';
import { boxesOfState } from '../../../src/data/tables/states-near.ts';
import { SEARCH_RADII } from '../../../src/data/topics/coverage.ts';
import { boxOfGeometry } from '../../../src/geo/bounding-boxes.ts';
import type { Location } from '../../../src/geo/coordinates.ts';
import { metersToShape, parseShape } from '../../../src/geo/nearest.ts';
import { sampleDatasets } from '../../../src/sample/add-sample.ts';
import { perilbook } from '../../cli/command-line.ts';
import { lines } from '../../geo/lines.ts';
import { randomFrom } from '../../random-from.ts';
import { NOON, square } from '../../service/small-data.ts';
import type { MirroredLayer } from './agency-mirror.ts';
import { dataMachine } from './downloading.ts';

const HIFLD = 'services2.arcgis.com/FiaPA4ga0iQKduv3/arcgis/rest/services';
const PLANTS = `${HIFLD}/Power_Plants_in_the_US/FeatureServer/0`;
const UST =
  'services.arcgis.com/cJ9YHowT8TU7DUyn/arcgis/rest/services/UST_Finder_Feature_Layer_2/FeatureServer/0';
const PARKS =
  'services.arcgis.com/v01gqwM5QqNysAAi/ArcGIS/rest/services/Fee_Managers_PADUS/FeatureServer/0';
const PERIMETERS =
  'services3.arcgis.com/T4QMspbfLg3qTGWY/arcgis/rest/services/WFIGS_Interagency_Perimeters/FeatureServer/0';

type Row = MirroredLayer['rows'][number] & { readonly geometry: Geometry };

const layerOf = (rows: readonly Row[]): MirroredLayer => ({
  fields: Object.keys(rows[0]!.attributes),
  rows,
  edited: 1_770_000_000_000,
});

/** Plants or lines on both sides of the border between Vermont and New Hampshire, and far around. */
function rowsAround(count: number, shape: (lng: number, lat: number) => Geometry): Row[] {
  const random = randomFrom(7);
  return Array.from({ length: count }, (_, index) => ({
    attributes: {
      ...{ Plant_Code: 5_000 + index, ID: `L${index}`, Name: `Number ${index}` },
      ...{ Period: 202_502, VOLTAGE: 230, TYPEPIPE: 'x' },
    },
    geometry: shape(-74.2 + 4 * random(), 42.2 + 3.6 * random()),
  }));
}

const pointAt = (lng: number, lat: number): Geometry => ({
  type: 'Point',
  coordinates: [lng, lat],
});
const lineFrom = (lng: number, lat: number) =>
  lines(`${lng} ${lat}, ${lng + 0.21} ${lat + 0.02}, ${lng + 0.33} ${lat - 0.08}`) as Geometry;
async function setUp(t: TestContext) {
  const machine = await dataMachine(t);
  return {
    ...machine,
    run: (...args: string[]) => machine.run(args),
    /** The number of records of the only dataset. */
    rows: async () => (await machine.list()).datasets[0]?.rows ?? null,
    states: async () => (await machine.list()).datasets[0]?.states,
    open: () => {
      const database = openDataDatabase(join(machine.folder, 'perilbook/data.db'));
      t.after(() => database.close());
      return database;
    },
  };
}

/** What lies or begins in the boxes that are asked for states. */
function askedOf(published: readonly Row[], states: readonly string[], meters: number): Row[] {
  const boxes = states.flatMap((state) => boxesOfState(state, meters));
  return published.filter(({ geometry }) => {
    const own = boxOfGeometry(geometry)!;
    return boxes.some(
      (box) =>
        own.maxLng >= box.minLng &&
        own.minLng <= box.maxLng &&
        own.maxLat >= box.minLat &&
        own.minLat <= box.maxLat,
    );
  });
}

const PLACES: readonly Location[] = (() => {
  const random = randomFrom(11);
  return Array.from({ length: 80 }, () => ({
    lat: 42.8 + 2.2 * random(),
    lng: -73.3 + 2.5 * random(),
  }));
})();

const PIPELINES = `${HIFLD}/Natural_Gas_Interstate_and_Intrastate_Pipelines_1/FeatureServer/0`;
const POWER_LINES = `${HIFLD}/US_Electric_Power_Transmission_Lines/FeatureServer/0`;

for (const [source, layerPath, layer, shape] of [
  ['transmission-lines', POWER_LINES, 'sites:highVoltageLine', lineFrom],
  ['gas-pipelines', PIPELINES, 'sites:naturalGasPipeline', lineFrom],
] as const) {
  test(`${source}: what lies in the boxes of two states is stored, counted, measured and listed once`, async (t) => {
    const { mirror, run, rows, open } = await setUp(t);
    const published = rowsAround(500, shape);
    mirror.layers.set(layerPath, layerOf(published));
    const meters = SEARCH_RADII[layer.slice(6) as 'powerPlant'];
    const asked = askedOf(published, ['VT', 'NH'], meters);
    assert.ok(asked.length > 200 && asked.length < 500, String(asked.length));

    const got = await run('get', source, '--states', 'VT,NH', '--yes');
    assert.equal(got.code, 0, got.stderr);
    assert.equal(await rows(), asked.length, 'in one load');
    // Each of them again, and by itself.
    for (const states of ['NH', 'VT']) {
      mirror.layers.set(layerPath, {
        ...layerOf(published),
        edited: 1_770_000_000_000 + states.charCodeAt(0),
      });
      assert.equal((await run('get', source, '--states', states, '--yes')).code, 0);
      assert.equal(await rows(), asked.length, `after ${states} again`);
    }

    const database = open();
    const versionOf = createDataVersion(database);
    const { count, measure } = createLayerSearch(database, 'places', new FeatureTiles(), versionOf);
    const { find } = createLayerSearch(database, 'json');
    const shapes = asked.map(({ geometry }) => parseShape(geometry));
    let counted = 0;
    for (const place of PLACES) {
      const distances = shapes
        .map((one) => metersToShape(one, place))
        .filter((distance) => distance <= meters);
      const least = distances.length === 0 ? null : Math.min(...distances);
      assert.equal(count(layer as Layer, place, meters), distances.length);
      const measured = measure(layer as Layer, place, meters);
      assert.equal(measured.count, distances.length);
      // A line is measured on a plane: 0.1 % at the edge of the search.
      assert.ok(
        measured.nearestMeters === least || Math.abs(measured.nearestMeters! - least!) < 10,
      );
      assert.equal(find(layer as Layer, place, meters).length, distances.length);
      counted += distances.length;
    }
    assert.ok(counted > 20, String(counted));
  });
}

// On the other bank of the Potomac coarse outlines put each corner into Virginia; the fires are some kilometres into California.
for (const [source, layer, state, attributesOf, [lng, lat]] of [
  [
    'parks',
    PARKS,
    'DC',
    (Unit_Nm: string) => ({ State_Nm: 'DC', Pub_Access: 'OA', Unit_Nm }),
    [-77.1, 38.85],
  ],
  [
    'wildfire-perimeters',
    PERIMETERS,
    'NV',
    (name: string) => ({
      attr_POOState: 'US-NV',
      attr_IncidentTypeCategory: 'WF',
      attr_IncidentName: name,
      poly_IncidentName: name,
    }),
    [-120.2, 39.5],
  ],
] as const) {
  test(`what the agency of ${source} lists under a state is of that state, wherever outlines draw it`, async (t) => {
    const { mirror, run, rows } = await setUp(t);
    // Each has a name of its own: outlines of one name, so near to each other, are of one fire.
    const published = Array.from({ length: 28 }, (_, index) => ({
      attributes: attributesOf(`Number ${index}`),
      geometry: square(lng + index / 1_000, lat, 0.002),
    }));
    mirror.layers.set(layer, layerOf(published));
    const got = await run('get', source, '--states', state, '--yes');
    assert.equal(got.code, 0, got.stderr);
    assert.equal(await rows(), 28);
  });
}

/** Tanks of some states, as UST Finder lists them. */
function tanks(counts: Readonly<Record<string, number>>, edited: number): MirroredLayer {
  const rows = Object.entries(counts).flatMap(([State, count]) =>
    Array.from({ length: count }, (_, index) => ({
      attributes: { State, Facility_ID: `${State}${index}`, Open_USTs: 1, Name: `Tank ${index}` },
      geometry: pointAt(-77 - index / 1_000, 38),
    })),
  );
  return { ...layerOf(rows), edited };
}

test('a state that disappears at its publisher, or whose name changes there, keeps its records until --replace', async (t) => {
  const { mirror, run, rows } = await setUp(t);
  mirror.layers.set(UST, tanks({ Virginia: 30, Maryland: 12 }, 1_770_000_000_000));
  const got = await run('get', 'ust-facilities', '--states', 'VA,MD', '--yes');
  assert.equal(got.code, 0, got.stderr);
  assert.equal(await rows(), 42);

  for (const [counts, edited] of [
    [{ VIRGINIA: 30, Maryland: 13 }, 1_771_000_000_000],
    [{ Virginia: 19, Maryland: 14 }, 1_772_000_000_000],
  ] as const) {
    mirror.layers.set(UST, tanks(counts, edited));
    const updated = await run('update');
    assert.equal(updated.code, 2, updated.stderr);
    assert.match(
      updated.stderr,
      /ust-facilities: the stored data of other states stays\. Cannot replace dataset "sites:ustFacility": VA has 30 records here/,
    );
    // Maryland's are there, and Virginia's are those of before.
    assert.equal(await rows(), 30 + counts.Maryland);
    // Virginia's are downloaded again, though the layer names no change; Maryland's are not.
    mirror.downloads();
    assert.equal((await run('update')).code, 2);
    assert.equal(mirror.downloads(), 1);
  }
  const replaced = await run('update', '--replace');
  assert.equal(replaced.code, 0, replaced.stderr);
  assert.equal(await rows(), 19 + 14);

  // Nothing at all is a loss too, and can be meant.
  mirror.layers.set(UST, tanks({ Maryland: 14 }, 1_773_000_000_000));
  const gone = await run('update');
  assert.equal(gone.code, 2);
  assert.match(gone.stderr, /VA has 19 records here and 0 in the load/);
  assert.equal((await run('update', '--replace')).code, 0);
  assert.equal(await rows(), 14);
  mirror.layers.set(UST, tanks({ Maryland: 1 }, 1_774_000_000_000));
  assert.equal((await run('update')).code, 2);
  assert.match(
    (await run('remove', 'ust-facilities')).stderr,
    /ust-facilities: removed sites:ustFacility/,
  );
  assert.equal(await rows(), null, 'removed after a refused update too');
});

test('data remove --states takes states away, and leaves records that another state has too', async (t) => {
  const { mirror, run, rows, states, folder } = await setUp(t);
  const published = rowsAround(300, lineFrom);
  mirror.layers.set(POWER_LINES, layerOf(published));
  const inVermont = askedOf(published, ['VT'], SEARCH_RADII.highVoltageLine).length;
  await run('get', 'transmission-lines', '--states', 'VT,NH', '--yes');
  assert.ok((await rows()) > inVermont);
  const removed = await run('remove', 'transmission-lines', '--states', 'NH');
  assert.match(removed.stderr, /transmission-lines: removed sites:highVoltageLine of NH\./);
  assert.equal(await rows(), inVermont);
  assert.deepEqual(await states(), ['VT']);
  assert.deepEqual(readdirSync(join(folder, 'perilbook/downloads/transmission-lines')).sort(), [
    'manifest.json',
    'transmission-lines-VT.geojson',
  ]);
  const again = await run('remove', 'transmission-lines', '--states', 'NH');
  assert.match(again.stderr, /it has no part of NH, and nothing was removed/);
  // An update brings no state back.
  assert.equal((await run('update')).code, 0);
  assert.equal(await rows(), inVermont);
});

test('a state of which the publisher has no record has none, if others are spelled as it is', async (t) => {
  const { mirror, run, states } = await setUp(t);
  mirror.layers.set(UST, tanks({ Virginia: 30 }, 1_770_000_000_000));
  const quiet = await run('get', 'ust-facilities', '--states', 'DE', '--yes', '--quiet');
  assert.match(quiet.stderr, /The publisher has no record of DE/);
  const alone = await run('get', 'ust-facilities', '--states', 'MD', '--yes');
  assert.equal(alone.code, 0);
  assert.match(alone.stderr, /The publisher has no record of MD/);
  assert.equal(await states(), undefined, 'unknown, not zero');
  const both = await run('get', 'ust-facilities', '--states', 'VA,DC', '--yes');
  assert.match(both.stderr, /loaded 30 records of DC, VA/);
  assert.match(both.stderr, /The publisher has no record of DC/);
  assert.deepEqual(await states(), ['DC', 'VA']);
  mirror.layers.set(UST, { ...tanks({ Virginia: 30 }, 0), edited: null });
  const others = await run('get', 'ust-facilities', '--states', 'AK,CT', '--yes');
  assert.match(others.stderr, /ust-facilities: loaded 0 records of AK, CT\.\n/);
});

test('a place near a border is answered where its state was asked by box, and is partial where the neighbour is not here', async (t) => {
  const { mirror, run, folder, options, open } = await setUp(t);
  mirror.layers.set(PLANTS, layerOf(rowsAround(300, pointAt)));
  mirror.layers.set(UST, tanks({ Vermont: 30 }, 1_770_000_000_000));
  assert.equal(
    (await run('get', 'power-plants', 'ust-facilities', '--states', 'VT', '--yes')).code,
    0,
  );
  const [areas] = sampleDatasets(NOON);
  importDataset(
    open(),
    { ...areas!, info: { ...areas!.info, sample: false } } as Dataset,
    options.clock,
  );
  // Both in Vermont: in its middle, and 2 km from New Hampshire.
  writeFileSync(
    join(folder, 'places.csv'),
    'id,lat,lng\nmiddle,43.95,-72.75\nborder,43.7,-72.33\n',
  );
  const topics = [
    '--topics',
    'powerPlant,ustFacility',
    '--service',
    'local',
    '--yes',
    '--output',
    'out.csv',
  ];
  const ran = await perilbook(['run', 'places.csv', ...topics], options);
  assert.equal(ran.code, 3, ran.stderr);
  const rows: Record<string, string>[] = parse(readFileSync(join(folder, 'out.csv')), {
    columns: true,
  });
  const [middle, border] = rows as [Record<string, string>, Record<string, string>];
  assert.equal(middle.hazard_status, 'ok');
  assert.equal(border.hazard_status, 'partial');
  assert.match(
    border.hazard_note!,
    /no local data of NH \(perilbook data get ustFacility --states NH\)/,
  );
  assert.match(border.power_plant_count!, /^\d+$/);
  assert.equal(border.ust_facility_count, '');
});

test('a state that a file at an own address no longer has keeps its records until --replace, and the others are loaded', async (t) => {
  const { mirror, run, rows, own } = await setUp(t);
  const sources = own(`sources: {tri: {url: "${mirror.url}/example.org/tri.csv"}}\n`);
  const serve = (etag: string, counts: Readonly<Record<string, number>>) => {
    const lines = Object.entries(counts).flatMap(([state, count]) =>
      Array.from(
        { length: count },
        (_, index) => `${state}${index},2025,${state},38,-78.${index}\n`,
      ),
    );
    const body = Buffer.from(`TRIFD,YEAR,ST,LATITUDE,LONGITUDE\n${lines.join('')}`);
    mirror.files.set('example.org/tri.csv', { body, etag });
  };
  const update = (...args: string[]) => run('update', ...sources, ...args);
  serve('"1"', { MD: 3, RI: 3, VA: 3 });
  assert.equal((await run('get', 'tri', '--yes', ...sources)).code, 0);
  serve('"2"', { MD: 4, VA: 5 });
  for (const _ of ['first', 'again']) {
    mirror.downloads();
    const { code, stderr } = await update();
    assert.equal(code, 2);
    assert.match(stderr, /tri: loaded 9 records of MD, VA, 2025\./);
    assert.match(
      stderr,
      /tri: the stored data of other states stays\. .* covers MD, VA, and the rows of RI would be lost\n {2}hint: Check /,
    );
    assert.equal(await rows(), 12);
    assert.equal(mirror.downloads(), 1);
  }
  const replaced = await update('--replace');
  assert.equal(replaced.code, 0, replaced.stderr);
  assert.equal(await rows(), 9);

  // A file that also lacks rows of a state that it has may be cut: nothing of it is taken.
  serve('"3"', { MD: 6, RI: 3, VA: 2 });
  const cut = await update();
  assert.equal(cut.code, 2);
  assert.match(
    cut.stderr,
    /VA has 5 records here and 2 in the load\n {2}hint: Check that .* or add --replace\./,
  );
  assert.equal(await rows(), 9);
});
