import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { places } from '../run/harness.ts';
import { openUi, WILDFIRE, yes } from './ui-scene.ts';

const timeout = 60_000;

/** 60 locations, each on two lines of the file, of which one is outside the US. */
function portfolio(): string {
  const rows = places(59).map(
    ([lat, lng], index) => `P${index},"${index} Main St\nUnit ${index % 7}",${lat},${lng},10\n`,
  );
  return `policyID,address,lat,lng,tiv\n${rows.join('')}X,"Sea\nRoad",30,-50,5\n`;
}

test("results: findings, counts, filters and pages, with the lines of the user's file", { timeout }, async (t) => {
  const scene = await openUi(t);
  const visitor = await scene.visit();
  const path = join(scene.harness.folder, 'book.csv');
  writeFileSync(path, portfolio());
  const { id } = (await visitor.ask('POST', '/api/books/named', { body: { path } })).body;
  const choice = { lat: 2, lng: 3, topics: ['hail', 'wildfire', 'superfund'], optimize: 'credits', order: 'tiv' };
  const results = () => visitor.ask('GET', `/api/books/${id}/results`);
  assert.equal((await results()).status, 404, 'not run yet');
  const rows = async (filter: object) =>
    (await visitor.ask('POST', `/api/books/${id}/rows`, { body: { from: 0, ...filter } })).body;
  const start = async (budget: number) => {
    await visitor.ask('POST', `/api/books/${id}/start`, { body: { ...choice, ...yes(budget) } });
    assert.ok((await visitor.ended(id)).end, 'it ended');
  };
  await start(30);
  assert.deepEqual((await results()).body.status, { ok: 10, deferred: 49, outside_us: 1 });
  await start(1_000);
  const counts = (await results()).body;
  assert.deepEqual(
    [counts.rows, counts.status, counts.hasId, counts.hasValue],
    [60, { ok: 59, outside_us: 1 }, true, true],
  );
  assert.deepEqual(
    counts.perils.map(({ slug }: { slug: string }) => slug),
    ['hail', 'wildfire'],
  );
  for (const { rows: found, answered, value } of counts.findings) assert.ok(found <= answered && value === found * 10);

  const first = await rows({});
  assert.deepEqual([first.total, first.rows.length], [60, 50]);
  assert.deepEqual(
    first.rows.slice(0, 3).map(({ line, id: one, place, value }: Record<string, unknown>) => [line, one, place, value]),
    [
      [2, 'P0', '0 Main St\nUnit 0', 10],
      [4, 'P1', '1 Main St\nUnit 1', 10],
      [6, 'P2', '2 Main St\nUnit 2', 10],
    ],
  );
  const last = await rows({ from: 50 });
  assert.deepEqual(
    [last.total, last.rows.length, last.rows.at(-1).line, last.rows.at(-1).status],
    [60, 10, 120, 'outside_us'],
  );
  assert.deepEqual(
    (await rows({ status: 'outside_us' })).rows.map(({ id: one }: { id: string }) => one),
    ['X'],
  );
  assert.equal((await rows({ text: 'p5' })).total, 10, 'P5, and P50 to P58');
  const { rating, rows: highest } = counts.highest[0];
  assert.equal((await rows({ rating })).total, highest);
  assert.equal((await rows({ peril: 'hail', status: 'outside_us' })).total, 0);
  assert.equal((await rows({ peril: 'hail' })).rows[0].peril, 'Hail');

  writeFileSync(path, portfolio().replace('P0,', 'New,"1 Side St",40.1,-99.9,7\nP0,'));
  const moved = (await rows({})).rows;
  assert.ok(
    moved.every(({ line }: { line: number | null }) => line === null),
    'the file has changed since: no line is said',
  );
  assert.deepEqual(scene.bugs, []);
});

test('the table is sorted by line, value and status; ties stand by value, then as in the file', {
  timeout,
}, async (t) => {
  const scene = await openUi(t);
  const visitor = await scene.visit();
  const values = [10, 30, 20, 30, 5, 7];
  const located = places(values.length).map(([lat, lng], index) => `P${index},${lat},${lng},${values[index]}\n`);
  const file = `policyID,lat,lng,tiv_2026\n${located.join('')}sea,30,-50,8\nbad,,,9\n`;
  const { id } = (await visitor.upload('book.csv', file)).body;
  const choice = { lat: 1, lng: 2, topics: ['hail', 'wildfire'], optimize: 'credits', order: 3 };
  await visitor.ask('POST', `/api/books/${id}/start`, { body: { ...choice, ...yes(10) } });
  await visitor.ended(id);
  const rows = async (filter: object) =>
    (await visitor.ask('POST', `/api/books/${id}/rows`, { body: { from: 0, ...filter } })).body.rows;
  const ids = async (by: string, direction: string, filter = {}) =>
    (await rows({ ...filter, sort: { by, direction } })).map((row: { id: string }) => row.id).join(' ');
  assert.equal(await ids('line', 'desc'), 'bad sea P5 P4 P3 P2 P1 P0');
  assert.equal(await ids('value', 'desc'), 'P1 P3 P2 P0 bad sea P5 P4');
  assert.equal(await ids('value', 'asc', { status: 'ok' }), 'P5 P0 P2 P1 P3');
  assert.equal(await ids('status', 'desc'), 'bad sea P4 P1 P3 P2 P0 P5', 'P4 is deferred');
  assert.equal(await ids('line', 'desc', { text: 'p3' }), 'P3');
  assert.deepEqual(scene.bugs, []);
});

test('a row without a value shows none, and stands last by value either way', { timeout }, async (t) => {
  const scene = await openUi(t);
  const visitor = await scene.visit();
  const values = ['10', '', 'n/a', '0', '-5'];
  const located = places(values.length).map(([lat, lng], index) => `P${index},${lat},${lng},${values[index]}\n`);
  const { id } = (await visitor.upload('book.csv', `policyID,lat,lng,tiv_2026\n${located.join('')}`)).body;
  const choice = { lat: 1, lng: 2, topics: ['hail'], optimize: 'credits', order: 3 };
  await visitor.ask('POST', `/api/books/${id}/start`, { body: { ...choice, ...yes(5) } });
  await visitor.ended(id);
  const rows = async (direction: string) =>
    (await visitor.ask('POST', `/api/books/${id}/rows`, { body: { from: 0, sort: { by: 'value', direction } } })).body
      .rows;
  const shown = (found: { id: string; value: number | null }[]) => found.map((row) => [row.id, row.value]);
  const none = [
    ['P1', null],
    ['P2', null],
  ];
  assert.deepEqual(shown(await rows('desc')), [['P0', 10], ['P3', 0], ['P4', -5], ...none]);
  assert.deepEqual(shown(await rows('asc')), [['P4', -5], ['P3', 0], ['P0', 10], ...none]);
});

test('the findings name the currency of the values, and add none of several', { timeout }, async (t) => {
  const scene = await openUi(t);
  const visitor = await scene.visit();
  const findings = async (name: string, currencies: readonly string[]) => {
    const rows = places(2).map(([lat, lng], index) => `${lat},${lng},10,${currencies[index]}\n`);
    const { id } = (await visitor.upload(name, `Latitude,Longitude,BuildingTIV,LocCurrency\n${rows.join('')}`)).body;
    const choice = { lat: 0, lng: 1, topics: ['hail'], optimize: 'credits', order: 'tiv' };
    await visitor.ask('POST', `/api/books/${id}/start`, { body: { ...choice, ...yes(2) } });
    await visitor.ended(id);
    const { body } = await visitor.ask('GET', `/api/books/${id}/results`);
    return [body.currency, body.findings[0].rows, body.findings[0].value];
  };
  assert.deepEqual(await findings('one.csv', ['USD', 'usd']), ['USD', 2, 20]);
  assert.deepEqual(await findings('two.csv', ['USD', 'CAD']), [null, 2, 0]);
});

test('results of a file without a header line', { timeout }, async (t) => {
  const scene = await openUi(t);
  const visitor = await scene.visit();
  const text = places(3).map(([lat, lng]) => `x,${lat},${lng}\n`);
  const { id } = (await visitor.upload('bare.csv', text.join(''))).body;
  await visitor.ask('GET', `/api/books/${id}?header=no`);
  await visitor.ask('POST', `/api/books/${id}/start`, { body: { ...WILDFIRE, header: false, ...yes(3) } });
  await visitor.ended(id);
  const { body } = await visitor.ask('POST', `/api/books/${id}/rows`, { body: { from: 0 } });
  assert.deepEqual(
    body.rows.map(({ line, status }: Record<string, unknown>) => [line, status]),
    [1, 2, 3].map((line) => [line, 'ok']),
  );
  assert.notEqual(body.rows[0].rating, '');
});
