import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { importDataset } from '../../src/data/tables/import-dataset.ts';
import {
  createClient,
  enrich,
  type Located,
  local,
  lookup,
  openStore,
  PerilbookError,
  plan,
  type RunEvent,
  run,
  sample,
} from '../../src/index.ts';
import { places } from '../run/harness.ts';
import { AREAS, HERE, info, RATINGS } from '../service/small-data.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { all, localFile, openScene, rowsOf, statuses } from './library-scene.ts';

const TOPICS = ['wildfire', 'radon'] as const;

test('rows of local data are free, and are answered as the command line writes them', async (t) => {
  const { harness, store, charged, folder } = await openScene(t);
  const located = [...places(2), [91, 0], [48.85, 2.35], [40.5, -98.5], ['40 N', 'x'], ['', '']];
  const rows = located.map(([lat, lng], id) => ({ id, lat, lng }));
  const found = await all(
    enrich(rows, { topics: TOPICS, source: local({ file: localFile(harness) }), store, batch: 4 }),
  );
  const lines = rows.map(({ id, lat, lng }) => `${id},${lat},${lng}\n`);
  writeFileSync(join(folder, 'input.csv'), `id,lat,lng\n${lines.join('')}`);
  const files = { input: 'input.csv', output: 'output.ndjson', store: 'run.db', max_invalid: 1 };
  await run(
    { ...files, service: 'local', topics: [...TOPICS] },
    { workingFolder: folder, dataFolder: folder },
  );
  const written = readFileSync(join(folder, 'output.ndjson'), 'utf8').trimEnd().split('\n');
  assert.deepEqual(
    found.map(({ status, note, hazards }) => ({
      hazard_status: status,
      hazard_note: note,
      ...hazards,
    })),
    written.map((line) => {
      const { id: _, lat: __, lng: ___, hazard_as_of: ____, ...added } = JSON.parse(line);
      return added;
    }),
  );
  assert.deepEqual(statuses(found), [
    'ok',
    'ok',
    'invalid',
    'outside_us',
    'ok',
    'invalid',
    'invalid',
  ]);
  assert.deepEqual(
    [found[4]!.hazards.wildfire_rating, found[4]!.hazards.wildfire_score],
    ['Not Applicable', null],
  );
  assert.match(
    found[0]!.note!,
    /^local data: areas 2026, nri 2026, radon 2026(, records:wildfire\.\w+ 2026){3}$/,
  );
  // One by one, in this thread and without a store.
  using source = local({ file: localFile(harness) });
  for (const { row, hazards, status, note } of found) {
    const one = await lookup(row, TOPICS, { source });
    assert.deepEqual({ ...one, asOf: null }, { row, status, note, asOf: null, hazards });
  }
  assert.equal(charged(), 0);
});

test('without the boundaries of its tract a place lacks local data, and the note has the command', async (t) => {
  const { harness } = await openScene(t);
  const counties = AREAS.filter(({ level }) => level === 'county');
  importDataset(
    harness.database,
    { kind: 'areas', info: info('areas'), records: counties },
    harness.clock,
  );
  using source = local({ file: localFile(harness) });
  const { status, note, hazards } = await lookup(HERE, ['hail', 'radon'], { source });
  assert.deepEqual([status, hazards.hail_rating, hazards.radon_zone], ['partial', null, 'Zone 2']);
  assert.match(
    note!,
    /^local data: areas 2026, radon 2026; no tract boundaries of NE \(perilbook data get areas --states NE\): hail$/,
  );
  const maryland = await lookup({ lat: 39, lng: -76.5 }, 'hail', { source });
  assert.equal(maryland.status, 'failed');
  assert.equal(maryland.note, 'no boundaries of MD (perilbook data get areas --states MD): hail');
});

test('the note of a single look-up names the year of its county and a rating of the county', async (t) => {
  const { harness } = await openScene(t);
  harness.database.exec(
    "UPDATE air_quality SET year = 2023 WHERE geoid = '31001'; INSERT INTO county_rated_areas VALUES ('31001000100', '*')",
  );
  using source = local({ file: localFile(harness) });
  const { note } = await lookup(HERE, ['airQuality', 'hail'], { source });
  assert.match(note!, /^local data: airQuality 2023, .*; rating of the county, not of the tract$/);
});

test('data without boundaries is refused with a command that gets those of the location', async (t) => {
  const { harness } = await openScene(t);
  harness.database.exec("DELETE FROM datasets WHERE name = 'areas'");
  using source = local({ file: localFile(harness) });
  await assert.rejects(lookup(HERE, 'hail', { source }), {
    code: 'LOCAL_DATA',
    message: /^Boundaries of tracts and counties are missing in /,
    hint: 'Get them: perilbook data get areas counties --states NE.',
  });
  harness.database.exec("DELETE FROM datasets WHERE name = 'nri'");
  using without = local({ file: localFile(harness) });
  await assert.rejects(lookup(HERE, 'hail', { source: without }), {
    message: /^No data for hail is in /,
    hint: 'Get it: perilbook data get hail --states NE.',
  });
});

test('a single look-up sees data that was loaded since the last one', async (t) => {
  const { harness } = await openScene(t);
  using source = local({ file: localFile(harness) });
  const [[lat, lng]] = places(1) as [[number, number]];
  const rating = async () =>
    (await lookup({ lat, lng }, 'wildfire', { source })).hazards.wildfire_rating;
  assert.equal(await rating(), 'Relatively High');
  const records = RATINGS.map((record) => ({ ...record, rating: 'Very Low' as const }));
  importDataset(harness.database, { kind: 'nri', info: info('nri'), records }, harness.clock);
  assert.equal(await rating(), 'Very Low');
});

test('rows may come one at a time, of any shape, from a stream', async (t) => {
  const { harness, store } = await openScene(t);
  async function* rows() {
    for (const [north, east] of places(5)) yield { at: { north, east } };
  }
  const source = local({ file: localFile(harness) });
  const locate = ({ at }: { at: { north: number; east: number } }) => ({
    lat: at.north,
    lng: at.east,
  });
  const found = await all(enrich(rows(), { topics: 'radon', source, store, locate, batch: 2 }));
  assert.deepEqual(
    found.map(({ row }) => row.at.north),
    places(5).map(([north]) => north),
  );
  assert.deepEqual(statuses(found), Array(5).fill('ok'));
  assert.deepEqual(await all(enrich([], { topics: 'radon', source, store })), []);
});

test('wrong settings are errors with a code, before a row is read', async (t) => {
  const { client, store } = await openScene(t);
  const source = client();
  const rows = rowsOf(places(1));
  const usage = (options: object, message: RegExp) =>
    assert.throws(
      () => enrich(rows, { topics: ['wildfire'], source, store, budget: 1, ...options } as never),
      {
        name: 'PerilbookError',
        code: 'USAGE',
        message,
      },
    );
  usage({ topics: ['wildfires'] }, /unknown topic "wildfires"; did you mean wildfire\?/);
  usage({ topic: 'wildfire' }, /unknown setting "topic"; did you mean topics\?/);
  usage({ budget: -1 }, /^budget: /);
  usage({ budget: Number.POSITIVE_INFINITY }, /^budget: expected a whole number, found Infinity$/);
  usage({ batch: 0 }, /^batch: 0 is not a number of rows/);
  usage({ store: {} }, /openStore did not make it/);
  usage({ source: undefined }, /Missing source/);
  usage({ source: { kind: 'local' } }, /Missing source/);
  assert.throws(() => createClient({ base_url: 'nowhere', api_key: 'k' }), {
    code: 'USAGE',
    message: /base_url/,
  });
  assert.throws(() => createClient({ base_url: 'http://127.0.0.1:9', api_key: '' }), {
    code: 'USAGE',
  });
  await assert.rejects(
    all(enrich([{ latitude: 1 }], { topics: ['wildfire'], source, store, budget: 1 } as never)),
    {
      code: 'INPUT_COLUMNS',
    },
  );
  const missing = local({ file: join(temporaryFolder(t), 'none.db') });
  await assert.rejects(lookup({ lat: 40, lng: -99 }, 'radon', { source: missing }), {
    code: 'LOCAL_DATA',
  });
  await assert.rejects(all(enrich(rows, { topics: 'radon', source: missing, store })), {
    code: 'LOCAL_DATA',
    hint: 'Get it: perilbook data get radon --states STATE.',
  });
});

test('arguments of another type are errors that name them, as a program in JavaScript may pass', async (t) => {
  const { store } = await openScene(t);
  const source = sample();
  const rows = [{ at: 1 }];
  const options = { topics: 'radon' as const, source, store };
  const cases: readonly (readonly [() => unknown, RegExp])[] = [
    [() => all(enrich<Located>(null as never, options)), /^rows is null$/],
    [() => all(enrich<Located>(5 as never, options)), /^rows is a number$/],
    [() => all(enrich(rows, null as never)), /^options is null$/],
    [() => all(enrich(rows, { ...options, locate: 5 as never })), /^locate is a number$/],
    [
      () => all(enrich(rows, { ...options, locate: () => null as never })),
      /^locate returned null for row 1$/,
    ],
    [
      () => all(enrich(rows, { ...options, locate: () => [] as never })),
      /^locate returned an object without lat and lng/,
    ],
    [
      () => all(enrich(rowsOf(places(1)), { ...options, onEvent: 5 as never })),
      /^onEvent is a number$/,
    ],
    [
      () => all(enrich(rowsOf(places(1)), { ...options, signal: {} as never })),
      /^signal is an object$/,
    ],
    [() => lookup(null as never, 'radon', { source: local() }), /^location is null$/],
    [() => lookup(null as never, 'radon', { source, store }), /^location is null$/],
    [() => lookup({ lat: 1, lng: 1 }, 'radon', undefined as never), /^options is undefined$/],
    [() => createClient(undefined as never), /^settings is undefined$/],
    [() => local({ file: 5 as never }), /^file is a number$/],
    [() => openStore(5 as never), /^address is a number$/],
    [() => plan(null as never), /^job is null$/],
    [() => run(5 as never), /^job is a number$/],
    [() => run({ input: 'x.csv' }, null as never), /^options is null$/],
  ];
  for (const [call, message] of cases) {
    const error = await (async () => call())().then(
      () => null,
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof PerilbookError, `${call}: ${error}`);
    assert.equal(error.code, 'USAGE', String(call));
    assert.match(error.message, message);
  }
});

test('a store that was closed is refused, and closing it again does nothing', async (t) => {
  const { client } = await openScene(t);
  const closed = await openStore(join(temporaryFolder(t), 'store.db'));
  await closed[Symbol.asyncDispose]();
  await closed[Symbol.asyncDispose]();
  const options = { topics: ['wildfire'] as const, source: client(), store: closed, budget: 1 };
  assert.throws(() => enrich(rowsOf(places(1)), options), {
    code: 'USAGE',
    message: /^The store is closed/,
  });
});

test('a source shows no key, and no event has one', async (t) => {
  const { client, secret, store } = await openScene(t);
  const source = client({ base_url: 'http://127.0.0.1:9' });
  const events: RunEvent[] = [];
  const rows = enrich(rowsOf(places(1)), {
    ...{ topics: ['wildfire'], source, store, budget: 9, signal: AbortSignal.timeout(200) },
    onEvent: (event) => events.push(event),
  });
  const error = await all(rows).catch((reason: unknown) => reason);
  assert.ok(error instanceof PerilbookError && error.code === 'INTERRUPTED');
  const shown =
    inspect([source, events, error], { depth: null, showHidden: true }) +
    JSON.stringify([source, events]);
  assert.ok(!shown.includes(secret));
});
