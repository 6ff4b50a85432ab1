import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deliver } from '../../src/service/data/deliver.ts';
import { describeData } from '../../src/service/data/describe-data.ts';
import { fileOf, loading } from './loaders/loading.ts';
import { HERE, info, pathTo, point, setUp } from './small-world.ts';

const records = [point(HERE.lng, HERE.lat)];

test('a topic whose data are of some states is unavailable, and free, in all others', async (t) => {
  const { database, clock, get } = await setUp(t);
  const wells = async () => {
    const single = await get(pathTo('/v1/oilGasWell/risk'));
    const bundle = await get(pathTo('/v1/bundle/enterprise'));
    const { oilGasWell } = bundle.body.data.topics;
    return [single.status, single.body.meta?.credit_cost ?? 0, oilGasWell?.value ?? null];
  };
  const load = (states?: readonly string[]) =>
    deliver(
      database,
      { kind: 'sites', topic: 'oilGasWell', info: { ...info('sites:oilGasWell'), ...(states && { states }) }, records },
      clock,
    );
  load(['CA', 'NV']);
  assert.deepEqual(await wells(), [502, 0, null]);
  load(['CA', 'NE']);
  assert.deepEqual(await wells(), [200, 1, 1]);
  load();
  assert.deepEqual(await wells(), [200, 1, 1]);
});

test('of a data set with levels each may be of states of its own', async (t) => {
  const { database, clock, get } = await setUp(t);
  const status = async () => (await get(pathTo('/v1/drought/risk'))).status;
  const ratingOf = (geoid: string) =>
    ({ geoid, topic: 'drought', rating: 'Very Low', score: 1, frequency: null }) as const;
  const load = (geoid: string, states: readonly string[]) =>
    deliver(database, { kind: 'nri', info: { ...info('nri'), states }, records: [ratingOf(geoid)] }, clock);
  deliver(
    database,
    { kind: 'nri', info: { ...info('nri'), states: ['CA'] }, records: [ratingOf('06037'), ratingOf('06037111111')] },
    clock,
  );
  assert.equal(await status(), 502);
  load('31001', ['NE']);
  assert.equal(await status(), 200);
});

test('a load says of which states it is; the wells of a state’s agency ask for it', async (t) => {
  const { database, load } = loading(t);
  const wells = fileOf(t, 'wells.csv', 'name,lat,lng\nOne,36,-119\n');
  assert.match((await load('wells', wells)).notes.join(), /--states CA,NV/);
  assert.match((await load('wells', wells, { states: ['CA'] })).notes.join(), /Outside of CA/);
  assert.deepEqual(
    describeData(database).datasets.map(({ name, states }) => [name, states]),
    [['sites:oilGasWell', ['CA']]],
  );
  await load('wells', wells);
  assert.equal(describeData(database).datasets[0]!.states, undefined);
  const unknown = { code: 'USAGE', message: /"XX" is not a state/ };
  await assert.rejects(load('wells', wells, { states: ['CA', 'XX'] }), unknown);
  await assert.rejects(load('counties', wells, { states: ['CA'] }), { code: 'USAGE', message: /takes no --states/ });
});
