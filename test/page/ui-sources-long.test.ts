import assert from 'node:assert/strict';
import { test } from 'node:test';
import { column, places } from '../run/harness.ts';
import { allSources, openBook, yes } from './ui-scene.ts';

const CELLS = 12;

test('each source answers what was chosen: local data and the sample cost the paid account nothing', async (t) => {
  const { harness, get, post, run: runFor, bugs } = await openBook(t, places(CELLS), (opened) => allSources(opened));
  const ask = async (what: string, body: object) => (await post(what, body)).body;
  const choices = await ask('choices', {});
  assert.deepEqual(choices, {
    sources: { local: null, service: null, sample: null },
    areas: { tract: null, county: 'No chosen topic is the same in all of a county: air quality and radon are.' },
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
    const live = await runFor(budget, { source });
    const output = (await get('/result')).text;
    const statuses = new Set(column(output, 'hazard_status'));
    return [live.source, live.end?.state, [...statuses].join(), harness.charged(), harness.charged('made up')];
  };
  assert.deepEqual(await run('local', 0), ['local', 'complete', 'ok', 0, 0]);
  assert.deepEqual(await run('sample', 100), ['sample', 'complete', 'ok', 0, CELLS]);
  assert.deepEqual(await price('service'), ['service', CELLS, 100_000], 'the sample is not counted for the account');
  assert.equal((await get()).body.chosen.source, 'sample');
  assert.deepEqual(await run('service', 5), ['service', 'paused', 'ok,deferred', 5, CELLS]);
  assert.deepEqual(await run('service', 100), ['service', 'complete', 'ok', CELLS, CELLS]);
  assert.deepEqual(bugs, []);
});

test('what cannot be chosen has a reason, and asking for it all the same spends nothing', async (t) => {
  const { harness, post: ask } = await openBook(t, places(3), { sample: true });
  assert.match((await ask('choices')).body.sources.service, /--base-url and a key/);
  const refused = await ask('start', { source: 'service', ...yes(3) });
  assert.deepEqual([refused.status, refused.body.error.code], [422, 'NO_SERVICE']);
  assert.equal((await ask('start', { source: 'anything', ...yes(3) })).status, 400);

  const all = await openBook(t, places(3), (opened) => allSources(opened, ['superfund']));
  const radius = { topics: ['superfund'], source: 'local' };
  const { sources } = (await all.post('choices', radius)).body;
  assert.match(sources.local ?? '', /^No data for superfund\. Get it: perilbook data get/);
  const priced = await all.post('price', radius);
  assert.equal(priced.body.error.code, 'LOCAL_DATA', 'never another source instead');
  assert.equal((await all.run(0, radius)).error?.code, 'LOCAL_DATA');
  assert.deepEqual([harness.charged(), all.harness.charged(), all.harness.charged('made up')], [0, 0, 0]);
});

test('one answer a tract or county costs what the page said', async (t) => {
  const { harness, get, post, run } = await openBook(t, places(40), (opened) => allSources(opened));
  const base = { topics: ['drought'], source: 'service' };
  const credits = async (areas: object) => (await post('price', { ...base, ...areas })).body.summary.credits;
  assert.equal(await credits({}), 40);
  const found = await credits({ areas: 'tract' });
  assert.equal(found, 21, 'one for the tract, and twenty to verify');
  assert.equal((await run(found, { ...base, areas: 'tract' })).end?.state, 'complete');
  assert.equal(harness.charged(), found);
  assert.equal((await get()).body.chosen.areas, 'tract');
});

test('the curve of a budget is what the budget buys; its marks are the fewest credits that buy so much', async (t) => {
  // Of 78: 12 + 11 + 10 + 9 = 42 are the first more than 50 %, seven places have 63, ten have 75.
  const rows = places(CELLS).map(([lat, lng], index) => `${lat},${lng},${index + 1}\n`);
  const table = `lat,lng,tiv\n${rows.join('')}`;
  const { harness, post } = await openBook(t, table, (opened) => allSources(opened));
  const choice = { lat: 0, lng: 1, topics: ['hail', 'wildfire'], source: 'service', order: 2 };
  const ask = async (what: string, body: object = {}) => (await post(what, { ...choice, ...body })).body;
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
  assert.equal(harness.charged(), 0);
});
