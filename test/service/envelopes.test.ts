import assert from 'node:assert/strict';
import test from 'node:test';
import { NATURAL_SLUGS, TOPICS } from '../../src/contract/topics.ts';
import { importDataset } from '../../src/data/tables/import-dataset.ts';
import { nearestMeters } from '../../src/geo/nearest.ts';
import {
  AREAS,
  deliveries,
  feature,
  HERE,
  info,
  NEXT_DOOR,
  NOON,
  pathTo,
  point,
  setUp,
  square,
} from './small-data.ts';

/** A tract without ratings, in a county that has some. */
const UNRATED = { lat: 40.75, lng: -99.25 };

test('every topic answers with the envelope and the value of its category, for one credit', async (t) => {
  const { get } = await setUp(t);
  for (const { slug, title, category } of TOPICS) {
    const { status, headers, body } = await get(pathTo(`/v1/${slug}/risk`));
    assert.equal(status, 200, slug);
    assert.match(headers.get('content-type')!, /^application\/json/);
    assert.deepEqual(Object.keys(body), ['data', 'meta']);
    assert.deepEqual(body.data.location, HERE);
    assert.equal(body.meta.credit_cost, 1);
    assert.equal(body.meta.timestamp, new Date(NOON).toISOString());
    const { value, details } = body.data.result;
    if (category === 'natural') {
      assert.deepEqual(value, { title, rating: 'Relatively High', score: 81.5, frequency: 0.25 });
    }
    if (category === 'proximity') {
      assert.equal(value, 2);
      assert.equal(details.features.length, 2);
      assert.equal(details.features[0].properties.name, 'A "quoted" name, µ');
    }
    if (category === 'measurement') assert.equal(details, null);
  }
});

test('a rating states its loss rate beside its value, where the index has one', async (t) => {
  const { get, database } = await setUp(t);
  const [tract, county] = [0.000332446988231, 3.5e-8];
  database.prepare("UPDATE ratings_tract SET loss_rate = ? WHERE topic = 'hurricane'").run(tract);
  database.prepare("UPDATE ratings_county SET loss_rate = ? WHERE topic = 'hurricane'").run(county);
  // As a load does: another version of the data.
  database.exec('CREATE TABLE loaded (a); DROP TABLE loaded');
  const value = { title: 'Hurricane', rating: 'Relatively High', score: 81.5, frequency: 0.25 };
  const data = { vintages: ['areas 2026', 'nri 2026'] };
  const { body } = await get(pathTo('/v1/hurricane/risk'));
  assert.deepEqual(body.data.result.value, value);
  assert.equal(body.data.result.data.loss_rate, tract);
  const { topics } = (await get(pathTo('/v1/bundle/enterprise', NEXT_DOOR))).body.data;
  assert.equal(topics.hurricane.data.loss_rate, county);
  // None is not 0.
  assert.deepEqual(topics.drought.data.vintages, data.vintages);
  for (const topic of ['drought', 'brownfield', 'radon'])
    assert.ok(!('loss_rate' in topics[topic].data), topic);
});

test('with nothing near, counts are 0, arrays are empty and wildfire is an empty object', async (t) => {
  const { get } = await setUp(t);
  const { body } = await get(pathTo('/v1/bundle/enterprise', NEXT_DOOR));
  assert.deepEqual(body.data.topics.brownfield, {
    value: 0,
    details: { type: 'FeatureCollection', radius_m: 5_000, features: [] },
    data: { vintages: ['areas 2026', 'sites:brownfield 2026'] },
  });
  // NEXT_DOOR lies in a county without tracts.
  const ofCounty = ['rating of the county, not of the tract'];
  assert.deepEqual(body.data.topics.drought.data, {
    vintages: ['areas 2026', 'nri 2026'],
    remarks: ofCounty,
  });
  assert.deepEqual(body.data.topics.hail.details, []);
  assert.deepEqual(body.data.topics.wildfire.details, {});
  assert.deepEqual(body.data.topics.wildfire.value, {
    title: 'Wildfire',
    rating: 'Not Applicable',
    score: 0,
    frequency: 0,
  });
});

test('each measurement has its value, unit and rating', async (t) => {
  const { get } = await setUp(t);
  const { airQuality, pm25, ozone, radon } = (await get(pathTo('/v1/bundle/enterprise'))).body.data
    .topics;
  assert.equal(airQuality.value.metric, 'Good');
  assert.equal(airQuality.value.progressValue, 8.4);
  assert.equal(airQuality.value.additionalInfo.medianAqi, 42);
  assert.equal(airQuality.value.additionalInfo.year, 2025);
  assert.deepEqual(pm25.value, {
    measurement: { value: 12.5, unit: '\u00b5g/m\u00b3' },
    rating: 'Moderate',
    timestamp: '2026-03-15T11:00:00.250Z',
  });
  assert.equal(ozone.value.rating, 'Good');
  assert.equal(radon.value.value, 'Zone 2');
});

test('a service with any sample data says so in each answer: a header and a member of meta', async (t) => {
  const { get, database, clock } = await setUp(t);
  const said = async (path: string) => {
    const { headers, body } = await get(path);
    return [headers.get('x-sample-data'), body.meta.sample_data];
  };
  const paths = [
    pathTo('/v1/drought/risk'),
    pathTo('/v1/bundle/standard'),
    pathTo('/v1/drought/risk', UNRATED),
  ];
  for (const path of paths) assert.deepEqual(await said(path), [null, undefined], path);
  importDataset(database, { kind: 'areas', info: info('areas', true), records: AREAS }, clock);
  for (const path of paths) assert.deepEqual(await said(path), ['true', true], path);
});

test('the slugs of the standard bundle can be chosen', async (t) => {
  const seventeen = NATURAL_SLUGS.filter((slug) => slug !== 'avalanche');
  const { get } = await setUp(t, { service: { standardTopics: seventeen } });
  const { body } = await get(pathTo('/v1/bundle/standard'));
  assert.deepEqual(Object.keys(body.data.topics), seventeen);
});

test('a coordinate is echoed as the number it is, and -0 as 0', async (t) => {
  const { get } = await setUp(t);
  const { body } = await get('/v1/drought/risk?lat=40.2500&lng=-099.75');
  assert.deepEqual(body.data.location, HERE);
  const refused = await get('/v1/drought/risk?lat=-0&lng=-0.0');
  assert.equal(refused.status, 422);
});

test('features come nearest first, each with its distance in whole metres, and the answer gives the search radius', async (t) => {
  const { lat, lng } = HERE;
  const west = [lng - 0.02, lat + 0.01];
  const records = [
    feature(
      { type: 'LineString', coordinates: [west, [lng + 0.02, lat + 0.01]] },
      { name: 'line' },
    ),
    point(lng, lat + 0.02, {}),
    feature(square(lng - 0.01, lat - 0.01, 0.02), { name: 'around' }),
    point(lng, lat + 0.005, { name: 'near', distance_m: 'their own' }),
    point(lng, lat + 0.04, { nested: {} }),
  ];
  const { get } = await setUp(t, {
    deliveries: [
      ...deliveries(),
      { kind: 'sites', topic: 'park', info: info('sites:park'), records },
      { kind: 'records', event: 'earthquake', info: info('records:earthquake'), records },
      { kind: 'records', event: 'hail', info: info('records:hail'), records },
      {
        kind: 'records',
        event: 'wildfire.perimeters',
        info: info('records:wildfire.perimeters'),
        records,
      },
    ],
  });
  const { topics } = (await get(pathTo('/v1/bundle/enterprise'))).body.data;
  const told = (features: { properties: Record<string, unknown> }[]) =>
    features.map(({ properties }) => properties);
  const expected = [
    { name: 'around', distance_m: 0 },
    { name: 'near', distance_m: 556 },
    { name: 'line', distance_m: 1_112 },
    { distance_m: 2_224 },
    { nested: {}, distance_m: 4_448 },
  ];
  for (const features of [
    topics.park.details.features,
    topics.earthquake.details.features,
    topics.hail.details,
    topics.wildfire.details.perimeters,
  ]) {
    assert.deepEqual(told(features), expected);
    assert.equal(nearestMeters(HERE, features), 0);
  }
  assert.equal(Math.round(nearestMeters(HERE, topics.park.details.features.slice(1))!), 556);
  assert.deepEqual(
    [topics.park.details.radius_m, topics.earthquake.details.radius_m],
    [5_000, 100_000],
  );
  assert.equal(
    (await get(pathTo('/v1/park/risk'))).body.data.result.details.features[1].properties.distance_m,
    556,
  );
});
