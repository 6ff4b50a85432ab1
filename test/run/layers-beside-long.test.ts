import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { declareLayers } from '../../src/contract/topics.ts';
import { connect } from '../../src/host/connection.ts';
import { enrich, lookup, run } from '../../src/index.ts';
import { makeJob } from '../../src/job/settings.ts';
import { perilbook } from '../cli/command-line.ts';
import { all, openScene, rowsOf } from '../library/library-scene.ts';
import { openBook } from '../page/ui-scene.ts';
import { releaseLater } from '../service/small-data.ts';
import { column, type Harness, places } from './harness.ts';

/* A layer on this machine beside answers that are bought: the service counts the same credits with it and without it. */

const BOTH = ['wildfire', 'own_fire'] as const;

const DESCRIPTION = `
layer: own_fire
title: Fire zone
vintage: "2025"
states: [NE]
class: { from: ZONE }
classes: [High]
outside: none
`;

/** Holds the second place and those south of it. */
const ZONE = {
  type: 'Feature',
  properties: { ZONE: 'High' },
  geometry: {
    type: 'Polygon',
    coordinates: [
      [
        [-99.96, 40.04],
        [-99.94, 40.04],
        [-99.94, 40.0515],
        [-99.96, 40.0515],
        [-99.96, 40.04],
      ],
    ],
  },
};

/** Loads the layer into the data folder of a home of its own, which the library takes for the user's. */
async function loadLayer(t: TestContext, { folder }: Harness): Promise<string> {
  const home = join(folder, 'home');
  const data = join(home, '.local/share/perilbook');
  mkdirSync(join(data, 'layers'), { recursive: true });
  writeFileSync(join(data, 'layers/own_fire.yaml'), DESCRIPTION);
  writeFileSync(join(home, 'zone.geojson'), JSON.stringify(ZONE));
  const loaded = await perilbook(['data', 'load', 'own_fire', 'zone.geojson'], { folder: home });
  assert.equal(loaded.code, 0, loaded.stderr);
  const { HOME } = process.env;
  process.env.HOME = home;
  releaseLater(t, () => {
    process.env.HOME = HOME;
    declareLayers([]);
  });
  return data;
}

test('rows and look-ups of a program get the layer, and are charged as without it', async (t) => {
  const { harness, client, store, charged } = await openScene(t);
  await loadLayer(t, harness);
  const options = { source: client(), store, budget: 100 };
  const rows = rowsOf(places(4));
  const found = await all(enrich(rows, { ...options, topics: BOTH, batch: 2 }));
  const zones = (of: typeof found) => of.map(({ hazards }) => hazards.own_fire);
  assert.deepEqual(zones(found), ['High', 'High', 'none', 'none']);
  assert.ok(
    found.every(({ status, note }) => status === 'ok' && /on this machine: own_fire/.test(note!)),
  );
  assert.equal(charged(), 4);
  await all(enrich(rows, { ...options, topics: 'wildfire', budget: 0 }));
  const one = await lookup(rows[1]!, BOTH, options);
  assert.deepEqual([zones([one]), one.status, charged()], [['High'], 'ok', 4]);
});

test('the note of a row names the layer as data of this machine, not what was bought, though that is here too', async (t) => {
  const { harness, client, store, charged } = await openScene(t);
  await loadLayer(t, harness);
  const home = join(harness.folder, 'home');
  writeFileSync(join(home, 'radon.csv'), 'CountyFIPS,RadonZone\n31001,1\n');
  const loaded = await perilbook(['data', 'load', 'radon', 'radon.csv'], { folder: home });
  assert.equal(loaded.code, 0, loaded.stderr);
  const options = { topics: ['radon', 'own_fire'] as const, source: client(), store, budget: 2 };
  const [found] = await all(enrich(rowsOf(places(1)), options));
  assert.deepEqual([found!.status, charged()], ['ok', 1]);
  const service = "service's data: areas 2026, radon 2026";
  assert.equal(found!.note, `on this machine: own_fire 2025; ${service}`);
});

test('a budget that is reached leaves the layer of later batches complete', async (t) => {
  const { harness, client, store, charged } = await openScene(t);
  await loadLayer(t, harness);
  const options = { topics: BOTH, source: client(), store, budget: 1, batch: 1 };
  const found = await all(enrich(rowsOf(places(3)), options));
  assert.deepEqual(
    found.map(({ status, hazards }) => [status, hazards.own_fire]),
    [
      ['ok', 'High'],
      ['deferred', 'High'],
      ['deferred', 'none'],
    ],
  );
  assert.equal(charged(), 1);
  for (const { note } of found) assert.match(note!, /on this machine: own_fire 2025/);
});

test('beside answers that a service calls made up the layer stays empty, and the note says why', async (t) => {
  const scene = await openScene(t);
  const { harness, folder, secret, charged } = scene;
  const dataFolder = await loadLayer(t, harness);
  harness.writeInput(places(2));
  const job = {
    ...{ input: 'input.csv', output: 'output.csv', store: 'own.db', budget: 10 },
    topics: [...BOTH],
    service: { base_url: harness.url, api_keys: [{ env: 'KEY' }] },
  };
  const options = { workingFolder: folder, dataFolder, env: { KEY: secret } };
  await run(job, options);
  assert.deepEqual(column(harness.output(), 'own_fire'), ['High', 'High']);
  const first = harness.output();
  await run(job, options);
  assert.equal(harness.output(), first, 'nothing was bought or looked up');
  harness.writeInput(places(3));
  await run({ ...job, budget: 0 }, options);
  assert.deepEqual(column(harness.output(), 'own_fire'), ['High', 'High', 'none']);
  harness.database.exec(
    'UPDATE datasets SET sample = 1; CREATE TABLE loaded (a); DROP TABLE loaded',
  );
  const boughtFrom = new Date().toISOString();
  const { summary } = await run(job, options);
  assert.deepEqual([summary.sample_data, charged()], [true, 3]);
  assert.deepEqual(column(harness.output(), 'own_fire'), ['', '', '']);
  const [, , asOf] = column(harness.output(), 'hazard_as_of');
  assert.ok(asOf! >= boughtFrom, 'the layer was looked up before');
  for (const note of column(harness.output(), 'hazard_note'))
    assert.match(note, /^sample data; .*left out beside sample data: own_fire/);
});

test('the page prices and buys what the service answers, and looks up the layer', async (t) => {
  const { harness, post, run, id, visitor } = await openBook(t, places(4), (harness) => {
    const { secret } = harness.key();
    const folders = {
      dataFolder: join(harness.folder, 'home/.local/share/perilbook'),
      workingFolder: harness.folder,
    };
    const base = { service: { base_url: harness.url }, store: join(harness.folder, 'store.db') };
    const { clock } = harness;
    const host = {
      ...folders,
      clock,
      random: Math.random,
      notice: () => {},
      env: { PERILBOOK_API_KEY: secret },
    };
    return {
      jobOf: (said) => makeJob([said, base], folders),
      connectionOf: async (job) => (await connect(host, job)).connection,
    };
  });
  await loadLayer(t, harness);
  declareLayers([]);
  assert.equal((await post('price', { topics: [...BOTH] })).status, 400);
  await perilbook(['topics'], { folder: join(harness.folder, 'home') });
  const { summary } = (await post('price', { topics: [...BOTH] })).body;
  assert.deepEqual([summary.credits, summary.source.beside.places_to_look_up], [4, 4]);
  const { phase, error } = await run(4, { topics: [...BOTH] });
  assert.deepEqual([phase, error ?? null, harness.charged()], ['ended', null, 4]);
  const output = await visitor.ask('GET', `/api/files/${id}/result`);
  assert.deepEqual(column(output.text, 'own_fire'), ['High', 'High', 'none', 'none']);
});
