import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import test from 'node:test';
import { PerilbookError } from '../../src/base/errors.ts';
import { errorEnvelope } from '../../src/contract/envelopes.ts';
import { openDataReadOnly } from '../../src/data/tables/data-database.ts';
import { describeData } from '../../src/data/tables/describe-data.ts';
import { importDataset } from '../../src/data/tables/import-dataset.ts';
import { isAccountsFailure } from '../../src/service/accounts/calls.ts';
import {
  AREAS,
  AT_SEA,
  damageAreas,
  databaseFile,
  deliveries,
  HERE,
  info,
  NEXT_DOOR,
  NOON,
  openSmallData,
  pathTo,
  type Reply,
  releaseLater,
  request,
  StillClock,
  setUp,
  subscriptionOf,
} from './small-data.ts';

/** Clients date by `Date` in which period and minute a call counts; a cache would answer one location for another. */
function assertOwnHeaders({ headers }: Reply): void {
  assert.deepEqual(
    [headers.get('date'), headers.get('cache-control')],
    [new Date(NOON).toUTCString(), 'no-store'],
  );
}

function assertFailure(reply: Reply, status: number, code: string): void {
  assert.equal(reply.status, status, JSON.stringify(reply.body));
  errorEnvelope.parse(reply.body);
  assert.equal(reply.body.error.code, code);
  assert.equal(reply.body.meta.credit_cost, 0);
  assert.equal(reply.body.meta.timestamp, new Date(NOON).toISOString());
  assert.equal(reply.headers.get('x-credit-cost'), null);
  assertOwnHeaders(reply);
}

test('every failure has its status, its code and the one shape, and costs nothing', async (t) => {
  const { get, key, service, port, charged } = await setUp(t);
  const narrow = (await port.createKey('tester', ['wildfire'], null)).key;
  for (const wrong of [null, 'pb_short', `pb_${'A'.repeat(43)}`]) {
    assertFailure(await get(pathTo('/v1/wildfire/risk'), wrong), 401, 'UNAUTHENTICATED');
  }
  for (const path of [
    'v1/flood/risk',
    'v1/bundle/risk',
    'v1/constructor/risk',
    'v1/bundle/gold',
    '',
    'v2/wildfire/risk',
  ]) {
    assertFailure(await get(pathTo(`/${path}`)), 404, 'UNKNOWN_TOPIC');
  }
  for (const path of ['/v1/brownfield/risk', '/v1/bundle/standard']) {
    assertFailure(await get(pathTo(path), narrow), 403, 'SCOPE_REQUIRED');
  }
  assertFailure(await get(pathTo('/v1/wildfire/risk', AT_SEA)), 422, 'OUTSIDE_COVERAGE');
  // Also a method that Fastify does not know.
  for (const method of ['POST', 'PROPFIND']) {
    const reply = await request(service.url + pathTo('/v1/wildfire/risk'), key, { method });
    assertFailure(reply, 405, 'METHOD_NOT_ALLOWED');
    assert.equal(reply.headers.get('allow'), 'GET');
  }
  assert.equal(charged(), 0);
});

test('the order of the checks decides which failure is reported', async (t) => {
  const { get, port, single } = await setUp(t, { subscription: subscriptionOf(2, 1) });
  const narrow = (await port.createKey('tester', ['wildfire'], null)).key;
  assertFailure(await get('/v1/flood/risk', null), 401, 'UNAUTHENTICATED');
  assertFailure(await get('/v1/flood/risk', narrow), 404, 'UNKNOWN_TOPIC');
  assertFailure(await get('/v1/brownfield/risk', narrow), 403, 'SCOPE_REQUIRED');
  assert.equal((await single()).status, 200);
  assertFailure(await get('/v1/drought/risk?lat=91&lng=0'), 400, 'INVALID_PARAMETER');
  // The poles and the date line are places, if none of the US.
  assertFailure(await get('/v1/drought/risk?lat=90&lng=-180'), 422, 'OUTSIDE_COVERAGE');
  assertFailure(await get(pathTo('/v1/drought/risk', AT_SEA)), 422, 'OUTSIDE_COVERAGE');
  assertFailure(await single(), 429, 'RATE_LIMITED');
  // 15 credits fit neither the period nor the minute: the period is told.
  assertFailure(await get(pathTo('/v1/bundle/standard')), 429, 'QUOTA_EXCEEDED');
});

test('lat and lng are decimal numbers in range, each exactly once, as numbers are written', async (t) => {
  const { get, service, key } = await setUp(t);
  for (const query of [
    ...[
      '',
      '?lat=40.25',
      '?lng=-99.75',
      '?lat=40.25&lat=40.25&lng=-99.75',
      '?lat=40.25&lng=-99.75&lng=-99.75',
    ],
    ...[
      '?lat=&lng=-99.75',
      '?lat=0x28&lng=-99.75',
      '?lat=40,25&lng=-99.75',
      '?lat=40 .25&lng=-99.75',
    ],
    ...['?lat=.&lng=-99.75', '?lat=e1&lng=-99.75', '?lat=--40&lng=-99.75', '?lat=4e1.5&lng=-99.75'],
    ...[
      '?lat=4e400&lng=-99.75',
      '?lat=NaN&lng=-99.75',
      '?lat=Infinity&lng=-99.75',
      '?lat=90.0001&lng=-99.75',
    ],
    ...[
      '?lat=40.25&lng=-180.0001',
      '?lat=40.25%00&lng=-99.75',
      '?lat[]=40.25&lng=-99.75',
      '?LAT=40.25&lng=-99.75',
    ],
  ]) {
    const reply = await get(`/v1/drought/risk${query}`);
    assertFailure(reply, 400, 'INVALID_PARAMETER');
    assert.match(reply.body.error.message, /"(lat|lng)"/);
  }
  for (const lat of [
    '%2B40.25',
    '+40.25',
    '4.025e1',
    '4025E-2',
    '.4025e%2B2',
    '40.25000',
    '040.25',
  ]) {
    const { status, body } = await get(`/v1/drought/risk?lat=${lat}&lng=-99.75`);
    assert.deepEqual([status, body.data?.location], [200, HERE], lat);
  }
  assert.equal((await get('/v1/drought/risk?lat=40.&lng=-99.75')).status, 200);
  assertFailure(await get('/v1/drought/risk?lat=.5&lng=-99.75'), 422, 'OUTSIDE_COVERAGE');
  const more = await request(`${service.url}${pathTo('/v1/drought/risk')}&units=metric`, key);
  assert.equal(more.status, 200);
  assert.deepEqual(more.body.data.location, HERE);
});

test('a single topic that fails is a 502 and free; a bundle with one that fails is charged in full', async (t) => {
  const { get, charged } = await setUp(t, {
    service: { failures: (topic, { lat }) => topic === 'hail' && lat === HERE.lat },
  });
  assertFailure(await get(pathTo('/v1/hail/risk')), 502, 'UPSTREAM_UNAVAILABLE');
  assert.equal(charged(), 0);
  const reply = await get(pathTo('/v1/bundle/enterprise'));
  const { status, headers, body } = reply;
  assert.equal(status, 200);
  assertOwnHeaders(reply);
  assert.deepEqual(body.data.topics.hail, { error: 'unavailable' });
  assert.equal(Object.keys(body.data.topics).length, 37);
  assert.equal(headers.get('x-credit-cost'), '35');
  assert.equal(charged(), 35);
});

test('a topic whose data is not loaded is unavailable, an area without a row has no data', async (t) => {
  const { get, charged } = await setUp(t, {
    deliveries: deliveries().filter(({ info }) => info.name !== 'radon'),
  });
  assertFailure(await get(pathTo('/v1/radon/risk')), 502, 'UPSTREAM_UNAVAILABLE');
  assertFailure(await get(pathTo('/v1/drought/risk', { lat: 40.75, lng: -99.25 })), 404, 'NO_DATA');
  // A tract that has no rating, in a county whose own is not loaded.
  const unrated = await get(pathTo('/v1/bundle/enterprise', { lat: 40.75, lng: -99.25 }));
  assert.deepEqual(unrated.body.data.topics.drought, { error: 'unavailable', reason: 'no_data' });
  assert.deepEqual(unrated.body.data.topics.radon, { error: 'unavailable' });
  assert.equal(unrated.body.data.topics.park.value, 0);
  assert.equal(unrated.body.meta.credit_cost, 35);
  // Nothing of the standard bundle is there: that is no answer.
  assertFailure(
    await get(pathTo('/v1/bundle/standard', { lat: 40.75, lng: -99.25 })),
    404,
    'NO_DATA',
  );
  assert.equal(charged(), 35);
});

test('without areas every location is unavailable, and so is a county without any row in the loaded index', async (t) => {
  const empty = await setUp(t, { deliveries: [] });
  assertFailure(await empty.get(pathTo('/v1/park/risk')), 502, 'UPSTREAM_UNAVAILABLE');
  const { get, database, clock } = await setUp(t);
  const records = [
    { geoid: '31003', topic: 'drought', rating: 'Very Low', score: 1, frequency: 1 } as const,
  ];
  importDataset(database, { kind: 'nri', info: info('nri'), records }, clock);
  importDataset(database, { kind: 'nri', level: 'tract', info: info('nri'), records: [] }, clock);
  assertFailure(await get(pathTo('/v1/drought/risk')), 502, 'UPSTREAM_UNAVAILABLE');
});

test('a hazard without any rating in the state is unavailable: its columns were missing in the file', async (t) => {
  const { get, database, clock } = await setUp(t);
  const rated = (geoid: string, topic: 'drought' | 'hail') =>
    ({ geoid, topic, rating: 'Very Low', score: 1, frequency: 1 }) as const;
  const load = (...records: ReturnType<typeof rated>[]) =>
    importDataset(database, { kind: 'nri', info: info('nri'), records }, clock);
  importDataset(database, { kind: 'nri', level: 'tract', info: info('nri'), records: [] }, clock);
  load(rated('31001', 'drought'), rated('06037', 'hail'));
  assert.equal((await get(pathTo('/v1/drought/risk'))).status, 200);
  assertFailure(await get(pathTo('/v1/hail/risk')), 502, 'UPSTREAM_UNAVAILABLE');
  load(rated('31001', 'drought'), rated('31003', 'hail'));
  assertFailure(await get(pathTo('/v1/hail/risk')), 404, 'NO_DATA');
});

test('without the boundaries of rated tracts, or of the state, an answer is unavailable: neither lasts', async (t) => {
  const { get, charged } = await setUp(t, {
    deliveries: deliveries().map((one) =>
      one.kind === 'areas'
        ? { ...one, records: AREAS.filter(({ level }) => level === 'county') }
        : one,
    ),
  });
  assertFailure(await get(pathTo('/v1/hail/risk')), 502, 'UPSTREAM_UNAVAILABLE');
  assertFailure(await get(pathTo('/v1/bundle/standard')), 502, 'UPSTREAM_UNAVAILABLE');
  assertFailure(
    await get(pathTo('/v1/hail/risk', { lat: 39, lng: -76.5 })),
    502,
    'UPSTREAM_UNAVAILABLE',
  );
  assert.equal(charged(), 0);
  // The county that is rated itself needs no tracts.
  assert.equal((await get(pathTo('/v1/hail/risk', NEXT_DOOR))).status, 200);
});

test('without its records a topic still has its rating; the records are left out, not empty', async (t) => {
  const missing = ['records:wildfire.perimeters', 'records:hail', 'records:earthquake'];
  const { get, database } = await setUp(t, {
    deliveries: deliveries().filter(({ info }) => !missing.includes(info.name)),
  });
  const { wildfire, hail, earthquake } = (await get(pathTo('/v1/bundle/standard'))).body.data
    .topics;
  const scores = [wildfire, hail, earthquake].map(({ value }) => value.score);
  assert.deepEqual(scores, [81.5, 81.5, 81.5]);
  assert.deepEqual(Object.keys(wildfire.details), ['current', 'historical']);
  assert.deepEqual([hail.details, earthquake.details], [null, null]);
  // With nothing near, what was looked for is said to be empty.
  const there = (await get(pathTo('/v1/wildfire/risk', NEXT_DOOR))).body.data.result;
  assert.deepEqual(there.details, { current: [], historical: [] });
  const lacking = describeData(database).withoutRecords.map(
    ({ topic, missing }) => `${topic} ${missing.length}`,
  );
  assert.deepEqual(lacking, ['earthquake 1', 'hail 1', 'wildfire 1']);
});

test('without a recent reading nearby there is no data; without any recent reading the topic is unavailable', async (t) => {
  const clock = new StillClock();
  const { get, database } = await setUp(t, { clock });
  const hour = 3_600_000;
  const at = (pollutant: 'ozone' | 'pm25', monitor: string, hours: number, lat = HERE.lat) => ({
    ...{ pollutant, monitor, lat, lng: HERE.lng },
    concentration: hours + 1,
    measuredAt: clock.at - hours * hour,
  });
  const load = (sample = false) => {
    const ozone = [at('ozone', 'near', 9), at('ozone', 'far', 1, HERE.lat + 5)];
    const records = [...ozone, at('pm25', 'near', 9), at('pm25', 'next', 2, HERE.lat + 0.1)];
    importDataset(database, { kind: 'readings', info: info('readings', sample), records }, clock);
  };
  load();
  assertFailure(await get(pathTo('/v1/ozone/risk')), 404, 'NO_DATA');
  assert.equal((await get(pathTo('/v1/pm25/risk'))).body.data.result.value.measurement.value, 3);
  // pm10 is not in the feed at all.
  assertFailure(await get(pathTo('/v1/pm10/risk')), 502, 'UPSTREAM_UNAVAILABLE');
  clock.at += 5 * hour;
  for (const topic of ['ozone', 'pm25']) {
    assert.equal((await get(pathTo(`/v1/${topic}/risk`))).status, 502, topic);
  }
  // Made-up readings do not age.
  clock.at -= 5 * hour;
  load(true);
  clock.at += 100 * hour;
  assert.equal((await get(pathTo('/v1/ozone/risk'))).status, 200);
});

test('only a failure of the accounts is reported once for all calls; a bug or another error is each reported', () => {
  for (const [error, isOfAccounts] of [
    [new PerilbookError('ACCOUNTS_UNAVAILABLE', 'away', ''), true],
    [new PerilbookError('SERVICE_ACCOUNT', 'unusable', ''), true],
    [new PerilbookError('BUG', 'odd', ''), false],
    [new PerilbookError('SERVICE_DATA', 'damaged', ''), false],
    [new Error('odd'), false],
  ] as const)
    assert.equal(isAccountsFailure(error), isOfAccounts, String(error));
});

test('a damaged data file is told in the log with what to do, and a call that it fails costs nothing', async (t) => {
  const file = databaseFile(t);
  openSmallData(t, file, new StillClock()).pragma('wal_checkpoint(TRUNCATE)');
  const damaged = `${file}.damaged`;
  copyFileSync(file, damaged);
  const data = openDataReadOnly(damaged);
  releaseLater(t, () => data.close());
  const errors: PerilbookError[] = [];
  const onError = (error: unknown) => void errors.push(error as PerilbookError);
  const { get, charged } = await setUp(t, { service: { data, onError } });
  damageAreas(damaged);
  assertFailure(await get(pathTo('/v1/drought/risk')), 500, 'INTERNAL');
  assert.equal(charged(), 0);
  const [{ code, message, hint }] = errors as [PerilbookError];
  assert.equal(code, 'SERVICE_DATA');
  assert.ok(message.startsWith(`The data file ${damaged} is damaged: `), message);
  assert.match(hint, /^Put back a copy of it/);
  const again = openDataReadOnly(damaged);
  releaseLater(t, () => again.close());
  await assert.rejects(setUp(t, { service: { data: again } }), { code: 'SERVICE_DATA' });
});

test('health needs no key and says whether the data is a sample', async (t) => {
  const { get, database, clock } = await setUp(t);
  assert.equal((await get('/healthz', null)).body.sample, false);
  importDataset(database, { kind: 'areas', info: info('areas', true), records: AREAS }, clock);
  const { status, body } = await get('/healthz', null);
  assert.equal(status, 200);
  assert.deepEqual(body, { status: 'ok', topics: 38, sample: true });
});
