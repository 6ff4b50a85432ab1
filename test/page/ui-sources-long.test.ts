import assert from 'node:assert/strict';
import { test } from 'node:test';
import { column, places } from '../run/harness.ts';
import { allSources, openUi, WILDFIRE, yes } from './ui-scene.ts';

const timeout = 300_000;
const CELLS = 12;

test('each source answers what was chosen: local data and the sample cost the paid account nothing', {
  timeout,
}, async (t) => {
  const scene = await openUi(t, (opened) => allSources(opened));
  const { harness } = scene;
  const visitor = await scene.visit();
  const { id } = (await visitor.upload('book.csv', harness.writeInput(places(CELLS)))).body;
  const ask = async (what: string, body: object) =>
    (await visitor.ask('POST', `/api/files/${id}/${what}`, { body: { ...WILDFIRE, ...body } })).body;
  const choices = await ask('choices', {});
  assert.deepEqual(choices, {
    sources: { local: null, service: null, sample: null },
    areas: {
      tract: null,
      county: 'No chosen topic is the same in all of a county: air quality and radon are.',
    },
  });
  // An answer for each county is offered only where it saves one.
  assert.deepEqual((await ask('choices', { topics: ['drought', 'radon'] })).areas, { tract: null, county: null });
  const price = async (source: string) => {
    const { summary } = await ask('price', { source });
    return [summary.source.kind, summary.credits, summary.credits_available];
  };
  assert.deepEqual((await price('local')).slice(0, 2), ['local', 0]);
  assert.deepEqual(await price('service'), ['service', CELLS, 100_000]);
  const run = async (source: string, budget: number) => {
    await ask('start', { source, ...yes(budget) });
    const live = await visitor.ended(id);
    const output = (await visitor.ask('GET', `/api/files/${id}/result`)).text;
    const statuses = new Set(column(output, 'hazard_status'));
    return [live.source, live.end?.state, [...statuses].join(), harness.charged(), harness.charged('made up')];
  };
  assert.deepEqual(await run('local', 0), ['local', 'complete', 'ok', 0, 0]);
  assert.deepEqual(await run('sample', 100), ['sample', 'complete', 'ok', 0, CELLS]);
  assert.deepEqual(await price('service'), ['service', CELLS, 100_000], 'the sample is not counted for the account');
  assert.equal((await visitor.ask('GET', `/api/files/${id}`)).body.chosen.source, 'sample');
  assert.deepEqual(await run('service', 5), ['service', 'paused', 'ok,deferred', 5, CELLS]);
  assert.deepEqual(await run('service', 100), ['service', 'complete', 'ok', CELLS, CELLS]);
  assert.deepEqual(scene.bugs, []);
});

test('what cannot be chosen has a reason, and asking for it all the same spends nothing', { timeout }, async (t) => {
  const scene = await openUi(t, { sample: true });
  const { harness } = scene;
  const visitor = await scene.visit();
  const { id } = (await visitor.upload('book.csv', harness.writeInput(places(3)))).body;
  const ask = (what: string, body: object) =>
    visitor.ask('POST', `/api/files/${id}/${what}`, { body: { ...WILDFIRE, ...body } });
  assert.match((await ask('choices', {})).body.sources.service, /--base-url and a key/);
  const refused = await ask('start', { source: 'service', ...yes(3) });
  assert.deepEqual([refused.status, refused.body.error.code], [422, 'NO_SERVICE']);
  assert.equal((await ask('start', { source: 'anything', ...yes(3) })).status, 400);

  const all = await openUi(t, (harness) => allSources(harness, ['superfund']));
  const other = await all.visit();
  const book = (await other.upload('book.csv', all.harness.writeInput(places(3)))).body.id;
  const radius = { ...WILDFIRE, topics: ['superfund'] };
  const { sources } = (await other.ask('POST', `/api/files/${book}/choices`, { body: radius })).body;
  assert.match(sources.local ?? '', /^No data for superfund\. Get it: perilbook data get/);
  const priced = await other.ask('POST', `/api/files/${book}/price`, { body: { ...radius, source: 'local' } });
  assert.equal(priced.body.error.code, 'LOCAL_DATA', 'never another source instead');
  await other.ask('POST', `/api/files/${book}/start`, { body: { ...radius, source: 'local', ...yes(0) } });
  assert.equal((await other.ended(book)).error?.code, 'LOCAL_DATA');
  assert.deepEqual([harness.charged(), all.harness.charged(), all.harness.charged('made up')], [0, 0, 0]);
});

test('one answer a tract or county costs what the page said', {
  timeout,
}, async (t) => {
  const scene = await openUi(t, (opened) => allSources(opened));
  const { harness } = scene;
  const visitor = await scene.visit();
  const { id } = (await visitor.upload('book.csv', harness.writeInput(places(40)))).body;
  const base = { lat: 1, lng: 2, optimize: 'credits', source: 'service' };
  const ask = async (what: string, body: object) =>
    (await visitor.ask('POST', `/api/files/${id}/${what}`, { body: { ...base, ...body } })).body;
  const topics = ['drought'];
  const credits = async (areas?: string) =>
    (await ask('price', { topics, ...(areas ? { areas } : {}) })).summary.credits;
  assert.equal(await credits(), 40);
  const found = await credits('tract');
  assert.equal(found, 21, 'one for the tract, and twenty to verify');
  await ask('start', { topics, areas: 'tract', ...yes(found) });
  assert.equal((await visitor.ended(id)).end?.state, 'complete');
  assert.equal(harness.charged(), found);
  assert.equal((await visitor.ask('GET', `/api/files/${id}`)).body.chosen.areas, 'tract');
});

test('the curve of a budget is what the budget buys; its marks are the fewest credits that buy so much', {
  timeout,
}, async (t) => {
  const scene = await openUi(t, (opened) => allSources(opened));
  const visitor = await scene.visit();
  // Of 78: 12 + 11 + 10 + 9 = 42 are the first more than 50 %, seven places have 63, ten have 75.
  const rows = places(CELLS).map(([lat, lng], index) => `${lat},${lng},${index + 1}\n`);
  const { id } = (await visitor.upload('book.csv', `lat,lng,tiv\n${rows.join('')}`)).body;
  const topics = ['hail', 'wildfire'];
  const choice = { lat: 0, lng: 1, topics, optimize: 'credits', source: 'service', order: 2 };
  const ask = async (what: string, body: object = {}) =>
    (await visitor.ask('POST', `/api/files/${id}/${what}`, { body: { ...choice, ...body } })).body;
  const { curve } = await ask('price');
  assert.deepEqual(curve.marks, [
    { share: 0.5, credits: 2 * 4 },
    { share: 0.8, credits: 2 * 7 },
    { share: 0.95, credits: 2 * 10 },
  ]);
  assert.deepEqual([curve.of, curve.points.length, curve.points.at(-1)], ['value', CELLS + 1, [2 * CELLS, 1]]);
  for (const [budget, share] of curve.points) {
    assert.equal((await ask('reach', { budget })).share_of_value, share, `${budget} credits`);
  }
  const inFileOrder = (await ask('price', { order: 'file' })).curve;
  assert.deepEqual([inFileOrder.of, inFileOrder.marks[0]], ['places', { share: 0.5, credits: CELLS }]);
  const [credits, share] = curve.points[4];
  assert.equal((await ask('reach', { budget: credits })).share_of_value, share, 'not of what was priced last');
  assert.equal((await ask('price', { source: 'local' })).curve, null, 'local answers are free');
  assert.equal(scene.harness.charged(), 0);
});
