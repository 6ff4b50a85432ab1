import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { NATURAL_SLUGS } from '../../src/contract/topics.ts';
import { createPlaceLookup } from '../../src/data/lookup/place-lookup.ts';
import { createDataVersion, type DataDatabase } from '../../src/data/tables/data-database.ts';
import { importDataset } from '../../src/data/tables/import-dataset.ts';
import type { DatasetName } from '../../src/data/tables/records.ts';
import { stateOf } from '../../src/data/tables/states.ts';
import { SEARCH_RADII } from '../../src/data/topics/coverage.ts';
import { type Location, METERS_PER_DEGREE } from '../../src/geo/coordinates.ts';
import { countyHolding } from '../../src/geo/us-counties.ts';
import { randomFrom } from '../random-from.ts';
import { copySampleDatabase } from '../sample-database.ts';
import { databaseFile, info, NOON, openDatabase, StillClock } from '../service/small-data.ts';
import { times } from '../tier.ts';

/** The states of a dense grid of places around a location: slow, and without distances to borders. */
function statesAround({ lat, lng }: Location, meters: number): Set<string> {
  const states = new Set<string>();
  for (let ring = 0; ring <= 8; ring++) {
    for (let turn = 0; turn < 96; turn++) {
      const [angle, degrees] = [(turn * Math.PI) / 48, (meters * ring) / 8 / METERS_PER_DEGREE];
      const east = (degrees * Math.sin(angle)) / Math.cos((lat * Math.PI) / 180);
      const county = countyHolding({ lat: lat + degrees * Math.cos(angle), lng: lng + east });
      if (county !== null) states.add(stateOf(county.code));
    }
  }
  return states;
}

/** The boundaries and ratings of the sample, copied: to import them takes half a second. */
function openSample(t: TestContext): DataDatabase {
  const file = databaseFile(t);
  copySampleDatabase(file, NATURAL_SLUGS);
  return openDatabase(t, file);
}

/** Boxes over borders and coasts, and in Alaska, Hawaii and Puerto Rico: south, north, west, east. */
const REGIONS = [
  [42.6, 45.4, -73.5, -71],
  [35.5, 38.5, -110.5, -107.5],
  [38.6, 39.2, -77.4, -76.7],
  [41.2, 42.2, -72, -71],
  [58, 60, -138, -134],
  [19, 22, -160, -155],
  [17.9, 18.5, -67.2, -65],
] as const;
const HERE = ['VT', 'CO', 'NM', 'DC', 'RI', 'AK', 'HI', 'PR'];

test('a place is answered where the parts that are here cover its whole search, and else names the states that lack', (t) => {
  const database = openSample(t);
  const named = { ...info('sites:ustFacility'), states: HERE };
  importDataset(
    database,
    { kind: 'sites', topic: 'ustFacility', info: named, records: [] },
    new StillClock(),
  );
  const lookUp = createPlaceLookup(database, { counts: true }, createDataVersion(database));
  const meters = SEARCH_RADII.ustFacility;
  const random = randomFrom(30);
  const seen = { answered: 0, border: 0, away: 0 };
  for (let index = 0; index < times({ short: 420, long: 840, soak: 2_800 }); index++) {
    const [south, north, west, east] = REGIONS[index % REGIONS.length]!;
    const place = { lat: south + random() * (north - south), lng: west + random() * (east - west) };
    const found = lookUp(['ustFacility'], place, NOON);
    if (found.kind !== 'covered') continue;
    const own = stateOf(found.area.county);
    const within = [...statesAround(place, meters)].filter((state) => !HERE.includes(state));
    const [result] = found.results;
    const where = `${place.lat},${place.lng}`;
    if ('value' in result!) {
      assert.deepEqual(within, [], where);
      assert.ok(HERE.includes(own));
      seen.answered += 1;
      continue;
    }
    assert.ok(result?.reason === 'unavailable' && result.cause === 'not_loaded');
    const { states } = result;
    assert.ok(states.length > 0 && states.every((state) => !HERE.includes(state)), where);
    if (!HERE.includes(own)) {
      assert.ok(states.includes(own), where);
      seen.away += 1;
      continue;
    }
    for (const state of within) assert.ok(states.includes(state), `${state} at ${where}`);
    // Not farther away than the search and the accuracy of the outlines.
    const nearly = statesAround(place, meters + 2_000);
    for (const state of states) assert.ok(nearly.has(state), `${state} at ${where}`);
    seen.border += 1;
  }
  t.diagnostic(JSON.stringify(seen));
  for (const [name, count] of Object.entries(seen)) assert.ok(count > 8, `${name}: ${count}`);
});

test('events that are here for a part of the search are not counted, and the rating stays', (t) => {
  const database = openSample(t);
  const kinds = ['wildfire.current', 'wildfire.historical', 'wildfire.perimeters'] as const;
  for (const event of kinds) {
    const states = event === 'wildfire.historical' ? { states: ['CO'] } : {};
    const named = { ...info(`records:${event}`), ...states };
    importDataset(database, { kind: 'records', event, info: named, records: [] }, new StillClock());
  }
  const lookUp = createPlaceLookup(database, { counts: true }, createDataVersion(database));
  const countsAt = (lat: number, lng: number) => {
    const found = lookUp(['wildfire'], { lat, lng }, NOON);
    assert.ok(found.kind === 'covered' && 'value' in found.results[0]!);
    return found.results[0].counts;
  };
  assert.deepEqual(countsAt(38.8, -105.3), [0, 0, 0]);
  // New Mexico is 11 km away.
  assert.deepEqual(countsAt(37.1, -105.3), [0, null, 0]);
});

test('each topic of a place needs the states that its own search reaches, unless its part was asked for by box', (t) => {
  const database = openSample(t);
  const inColorado = <Name extends DatasetName>(name: Name) => ({
    info: { ...info(name), states: ['CO'] },
    records: [],
  });
  for (const topic of ['ustFacility', 'powerPlant', 'nuclearReactors'] as const) {
    importDataset(
      database,
      { kind: 'sites', topic, ...inColorado(`sites:${topic}`) },
      new StillClock(),
    );
  }
  importDataset(database, { kind: 'readings', ...inColorado('readings') }, new StillClock());
  const setReach = database.prepare(
    "UPDATE parts SET reach = ? WHERE dataset = 'sites:nuclearReactors'",
  );
  const statesAt = (lat: number, reach: number) => {
    setReach.run(reach);
    const lookUp = createPlaceLookup(database, { counts: true }, createDataVersion(database));
    const found = lookUp(
      ['ustFacility', 'powerPlant', 'nuclearReactors', 'ozone'],
      { lat, lng: -105.3 },
      NOON,
    );
    assert.ok(found.kind === 'covered');
    return found.results.map((one) =>
      'value' in one ? 'answered' : one.reason === 'unavailable' ? one.states : [],
    );
  };
  const reach = SEARCH_RADII.nuclearReactors;
  // New Mexico is 7 km away, and 200 km.
  assert.deepEqual(statesAt(37.063, reach), ['answered', ['NM'], 'answered', ['NM']]);
  assert.deepEqual(statesAt(37.063, reach - 1)[2], ['NM']);
  assert.deepEqual(statesAt(38.8, 0), ['answered', 'answered', 'answered', ['CO']]);
});
