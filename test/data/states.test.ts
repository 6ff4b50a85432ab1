import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseStates } from '../../src/cli/frame/states-of-file.ts';
import { describeData } from '../../src/data/tables/describe-data.ts';
import { importDataset } from '../../src/data/tables/import-dataset.ts';
import { STATES, spellingsOf, stateNamed } from '../../src/data/tables/states.ts';
import { createFeatureStates } from '../../src/data/tables/states-near.ts';
import { positions } from '../geo/lines.ts';
import { info, pathTo, setUp, square } from '../service/small-data.ts';
import { fileOf, geojson, loading } from './loaders/loading.ts';

test('states in any spelling, each once, and the whole US in capitals or not', () => {
  assert.deepEqual([undefined, 'US', ' us '].map(parseStates), [null, null, null]);
  assert.deepEqual(parseStates('va, Maryland,51'), ['MD', 'VA']);
});

test('each level of a dataset may cover its own states', async (t) => {
  const { database, clock, get } = await setUp(t);
  const status = async () => (await get(pathTo('/v1/drought/risk'))).status;
  const ratingOf = (geoid: string) =>
    ({ geoid, topic: 'drought', rating: 'Very Low', score: 1, frequency: null }) as const;
  const load = (geoid: string, states: readonly string[]) =>
    importDataset(
      database,
      { kind: 'nri', info: { ...info('nri'), states }, records: [ratingOf(geoid)] },
      clock,
    );
  importDataset(
    database,
    {
      kind: 'nri',
      info: { ...info('nri'), states: ['CA'] },
      records: [ratingOf('06037'), ratingOf('06037111111')],
    },
    clock,
  );
  assert.equal(await status(), 502);
  load('31001', ['NE']);
  assert.equal(await status(), 200);
});

test('boundaries of a few counties say which states they cover, and how much of them', async (t) => {
  const { database, load } = loading(t);
  const feature = (GEOID: string) => ({ properties: { GEOID }, geometry: square(-77, 38, 1) });
  const features = ['51079030101', '51079030102', '11001000101'].map(feature);
  const file = fileOf(t, 'tracts.geojson', geojson(features));
  assert.deepEqual((await load('areas', file)).notes, [
    'The data covers DC, VA only. It has 1 of 133 counties of VA.',
  ]);
  // Sites in so many states would be those of the whole US.
  const thirty = [...STATES]
    .slice(0, 30)
    .map((state) => feature(`${spellingsOf(state).fips}001000100`));
  const most = fileOf(t, 'most.geojson', geojson(thirty));
  await load('areas', most, { replace: true });
  assert.equal(describeData(database).datasets[0]!.parts.length, 30);
});

test('a load with rows of few states covers these only, and says so; --states US covers the whole', async (t) => {
  const { database, load } = loading(t);
  const states = () => describeData(database).datasets.map(({ name, states: of }) => [name, of]);
  const wells = fileOf(t, 'wells.csv', 'well,lat,lng\nOne,36,-119\n');
  const byRows = await load('wells', wells);
  assert.match(byRows.notes.join(), /covers CA only.*--states US/);
  assert.deepEqual(states(), [['sites:oilGasWell', ['CA']]]);
  assert.doesNotMatch(
    (await load('wells', wells, { states: ['CA', 'NV'] })).notes.join(),
    /--states US/,
  );
  assert.deepEqual(states(), [['sites:oilGasWell', ['CA', 'NV']]]);
  assert.deepEqual((await load('wells', wells, { states: 'US' })).notes, []);
  assert.deepEqual(states(), [['sites:oilGasWell', undefined]]);
  const unknown = { code: 'USAGE', message: /"XX" is not the two letters of a state/ };
  await assert.rejects(load('wells', wells, { states: ['CA', 'XX'] }), unknown);
});

test('of dates that states were loaded at, the oldest and the newest stay', async (t) => {
  const { database, load } = loading(t);
  const add = (state: string, day: string, place: string) =>
    load('wells', fileOf(t, `${state}.csv`, `well,lat,lng\nOne,${place}\n`), {
      states: [state],
      vintage: `to 2026-05-${day}`,
    });
  await add('CA', '02', '36,-119');
  await add('NV', '03', '39,-117');
  await add('TX', '01', '31,-99');
  await add('NV', '04', '39,-117');
  const [{ vintage } = { vintage: '' }] = describeData(database).datasets;
  assert.deepEqual(vintage.split('; ').sort(), ['to 2026-05-01', 'to 2026-05-04']);
});

test('states are recognized however an agency spells them, and else by the location of the record', () => {
  for (const spelled of ['VA', 'va', ' Virginia', 'VIRGINIA', '51', '51.0', 'US-VA'])
    assert.equal(stateNamed(spelled), 'VA');
  for (const [spelled, letters] of [
    ['5', 'AR'],
    ['District Of Columbia', 'DC'],
    ['Washington, DC', 'DC'],
    ['US Virgin Islands', 'VI'],
    ['west virginia', 'WV'],
    ['Sonora', null],
    ['', null],
    ['03', null],
  ] as const) {
    assert.equal(stateNamed(spelled), letters, spelled);
  }
  const parseStates = createFeatureStates();
  const at = (properties: object, coordinates: readonly unknown[], type = 'Point') =>
    parseStates({ geometry: { type, coordinates }, properties });
  assert.deepEqual(at({ POOState: 'US-WA' }, [-78, 38]), ['WA']);
  assert.deepEqual(at({ '8. ST': 'MD' }, [-78, 38]), ['MD']);
  assert.deepEqual(at({ State: 'Active' }, [-78, 38]), ['VA']);
  assert.deepEqual(at({}, [-30, 38]), []);
  assert.deepEqual(at({}, positions('-77.4 38.5, -77.4 39.5'), 'LineString'), ['VA', 'MD']);
});
