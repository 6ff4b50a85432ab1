import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Geometry, Position } from 'geojson';
import { AIR_QUALITY_DAYS, RATINGS, type Rating } from '../../src/contract/topic-values.ts';
import { NATURAL_SLUGS, type NaturalSlug, TOPIC_SLUGS } from '../../src/contract/topics.ts';
import { eventDatasetsOf, needsOf, SAMPLE_VINTAGE } from '../../src/data/tables/describe-data.ts';
import type { Dataset, NaturalRatingRecord } from '../../src/data/tables/records.ts';
import { distanceMeters } from '../../src/geo/distance.ts';
import { sampleDatasets } from '../../src/sample/add-sample.ts';
import { readLand } from '../../src/sample/land.ts';

const NOW = Date.UTC(2026, 5, 1, 12, 30);
const { counties } = readLand();
const geoids = counties.map(({ geoid }) => geoid);

type Records<K extends Dataset['kind']> =
  Extract<Dataset, { kind: K }>['records'] extends Iterable<infer T> ? T[] : never;

const datasetsOf = (seed: number, now = NOW) => [...sampleDatasets(now, seed)];
const datasets = datasetsOf(1);

function recordsOf<K extends Dataset['kind']>(kind: K, from: readonly Dataset[] = datasets): Records<K> {
  return [...(from.find((dataset) => dataset.kind === kind)!.records as Iterable<unknown>)] as Records<K>;
}

const layers = datasets
  .filter((dataset) => dataset.kind === 'sites' || dataset.kind === 'records')
  .map((dataset) => ({ name: dataset.info.name, records: [...dataset.records] }));

test('every dataset is made once, has records and says that it is a sample; together they have less than 12 MB', () => {
  const expected = new Set(TOPIC_SLUGS.flatMap((topic) => [...needsOf(topic), ...eventDatasetsOf(topic)]));
  assert.deepEqual(datasets.map(({ info }) => info.name).sort(), [...expected].sort());
  let bytes = 0;
  for (const dataset of datasets) {
    const { name } = dataset.info;
    assert.deepEqual(dataset.info, {
      name,
      source: 'Perilbook sample generator',
      vintage: SAMPLE_VINTAGE,
      licence: '',
      sample: true,
    });
    if (name === 'areas') continue;
    const records = [...(dataset.records as Iterable<unknown>)];
    assert.ok(records.length > 30, name);
    bytes += JSON.stringify(records).length;
  }
  assert.ok(bytes < 12e6, `${bytes} bytes`);
});

test('equal options give equal records, in any order and again; another seed gives others', () => {
  const other = new Map(datasetsOf(2).map(({ info, records }) => [info.name, records]));
  // In reverse: a dataset does not depend on whether those before it were read.
  for (const { info, records } of datasetsOf(1).reverse()) {
    if (info.name === 'areas') continue;
    const again = datasets.find((dataset) => dataset.info.name === info.name)!;
    const text = JSON.stringify([...(records as Iterable<unknown>)]);
    assert.equal(JSON.stringify([...(again.records as Iterable<unknown>)]), text, info.name);
    assert.notEqual(JSON.stringify([...(other.get(info.name) as Iterable<unknown>)]), text, info.name);
  }
});

test('the areas are the counties of all states, DC and the territories', () => {
  const records = recordsOf('areas');
  assert.equal(new Set(records.map(({ geoid }) => geoid)).size, records.length);
  assert.equal(new Set(records.map(({ state }) => state)).size, 56);
  for (const { geoid, level, name, state } of records) {
    assert.match(`${geoid} ${level} ${state} ${name}`, /^\d{5} county [A-Z]{2} ./);
  }
});

test('every county is rated for all natural topics by the rules of the index, and every rating occurs', () => {
  const records = recordsOf('nri');
  const keys = geoids.flatMap((geoid) => NATURAL_SLUGS.map((topic) => `${geoid} ${topic}`));
  assert.deepEqual(
    records.map(({ geoid, topic }) => `${geoid} ${topic}`),
    keys,
  );
  assert.deepEqual(new Set(records.map(({ rating }) => rating)), new Set(RATINGS));
  for (const record of records) {
    const { rating, score, frequency } = record;
    const what = JSON.stringify(record);
    if (rating === 'Not Applicable' || rating === 'Insufficient Data')
      assert.deepEqual([score, frequency], [null, null]);
    else assert.ok(frequency! >= 0 && (rating === 'No Rating' ? score === 0 : score! > 0 && score! <= 100), what);
  }
  const levels = ['Very Low', 'Relatively Low', 'Relatively Moderate', 'Relatively High', 'Very High'];
  const scored = records.filter(({ rating }) => levels.includes(rating)).sort((a, b) => a.score! - b.score!);
  const ranks = scored.map(({ rating }) => levels.indexOf(rating));
  assert.deepEqual(ranks, ranks.toSorted(), 'a higher score never has a lower rating');
});

const HIGH: readonly Rating[] = ['Relatively High', 'Very High'];
const LOW: readonly Rating[] = ['No Rating', 'Very Low', 'Relatively Low'];
const NONE: readonly Rating[] = ['Not Applicable'];

const PLAIN_FACTS: readonly [
  place: string,
  geoid: string,
  topics: readonly NaturalSlug[],
  ratings: readonly Rating[],
][] = [
  ['Miami-Dade, FL', '12086', ['hurricane', 'lightning'], HIGH],
  ['Miami-Dade, FL', '12086', ['winterWeather', 'avalanche', 'volcano', 'tsunami'], NONE],
  ['Harris, TX', '48201', ['hurricane', 'riverineFlood'], HIGH],
  ['Sedgwick, KS', '20173', ['avalanche', 'tsunami', 'volcano', 'hurricane'], NONE],
  ['Sedgwick, KS', '20173', ['hail', 'tornado'], HIGH],
  ['Los Angeles, CA', '06037', ['earthquake', 'wildfire'], HIGH],
  ['Los Angeles, CA', '06037', ['hurricane'], NONE],
  ['New Madrid, MO', '29143', ['earthquake'], HIGH],
  ['Cook, IL', '17031', ['tsunami'], NONE],
  ['Maricopa, AZ', '04013', ['heatWave'], HIGH],
  ['Cass, ND', '38017', ['coldWave', 'winterWeather'], HIGH],
  ['Cass, ND', '38017', ['earthquake', 'landslide'], LOW],
  ['Hawaii, HI', '15001', ['volcano'], HIGH],
  ['Honolulu, HI', '15003', ['tsunami'], HIGH],
  ['Honolulu, HI', '15003', ['coldWave'], NONE],
  ['Pierce, WA', '53053', ['volcano'], HIGH],
  ['Orleans, LA', '22071', ['hurricane', 'coastalFlood'], HIGH],
  ['San Juan, PR', '72127', ['hurricane'], HIGH],
];

test('perils are where they are known to be, whatever the seed', () => {
  for (const seed of [1, 2, 3]) {
    const records: NaturalRatingRecord[] = recordsOf('nri', datasetsOf(seed));
    const ratings = new Map(records.map(({ geoid, topic, rating }) => [`${geoid}/${topic}`, rating]));
    for (const [place, geoid, topics, expected] of PLAIN_FACTS) {
      for (const topic of topics) {
        const rating = ratings.get(`${geoid}/${topic}`)!;
        // Any peril may lack data, now and then.
        assert.ok(
          rating === 'Insufficient Data' || expected.includes(rating),
          `${seed}: ${place}, ${topic}: ${rating}`,
        );
      }
    }
  }
});

test('every county has a year of air quality that adds up, and a radon zone', () => {
  const years = recordsOf('airQuality');
  assert.deepEqual(
    years.map(({ countyGeoid }) => countyGeoid),
    geoids,
  );
  for (const year of years) {
    const what = JSON.stringify(year);
    const days = AIR_QUALITY_DAYS.filter((name) => name.endsWith('Days')).map((name) => year[name]);
    assert.ok(days.length === 6 && days.every((count) => Number.isInteger(count) && count >= 0), what);
    const sum = days.reduce((a, b) => a + b);
    assert.deepEqual([sum, year.year], [year.daysWithAqi, 2025], what);
    assert.ok(year.daysWithAqi <= 365 && year.medianAqi <= year.maxAqi, what);
    assert.equal(year.maxAqi > 300, year.hazardousDays > 0, what);
    assert.equal(year.medianAqi <= 50, 2 * year.goodDays > year.daysWithAqi, what);
  }
  const zones = recordsOf('radon');
  assert.deepEqual(
    zones.map(({ countyGeoid }) => countyGeoid),
    geoids,
  );
  assert.deepEqual([...new Set(zones.map(({ zone }) => zone))].sort(), [1, 2, 3]);
});

test('readings are of the last full hour, never negative, PM10 includes PM2.5, and most counties have a monitor within 80 km', () => {
  const readings = recordsOf('readings');
  for (const [monitor, own] of Map.groupBy(readings, (reading) => reading.monitor)) {
    const pollutants = own.map(({ pollutant }) => pollutant);
    assert.deepEqual(pollutants, ['ozone', 'pm25', 'pm10'], monitor);
    const [ozone, pm25, pm10] = own.map(({ concentration }) => concentration) as [number, number, number];
    assert.ok(ozone >= 0 && pm25 >= 0 && pm10 >= pm25 && ozone < 200, `${monitor}: ${ozone} ${pm25} ${pm10}`);
    for (const { measuredAt } of own) assert.equal(measuredAt, Date.UTC(2026, 5, 1, 12));
  }
  const [atFullHour] = recordsOf('readings', datasetsOf(1, Date.UTC(2026, 5, 1, 12)));
  assert.equal(atFullHour!.measuredAt, Date.UTC(2026, 5, 1, 11));
  const monitors = readings.filter(({ pollutant }) => pollutant === 'ozone');
  const far = counties.filter(({ centre }) => monitors.every((monitor) => distanceMeters(centre, monitor) > 80_000));
  assert.ok(far.length < counties.length / 50, `${far.length} counties are farther`);
});

function positionsOf(geometry: Geometry): Position[] {
  if (geometry.type === 'Point') return [geometry.coordinates];
  if (geometry.type === 'LineString') return geometry.coordinates;
  if (geometry.type === 'Polygon') return geometry.coordinates.flat();
  throw new Error(`A ${geometry.type} is not expected`);
}

test('every site and event is valid GeoJSON within the bounds of the US, and its name says that it is a sample', () => {
  for (const { name, records } of layers) {
    for (const { geometry, properties } of records) {
      const what = `${name} ${JSON.stringify({ geometry, properties })}`;
      assert.match(JSON.stringify(properties), /"Sample [\w ]+ \d+"/, what);
      for (const [lng, lat] of positionsOf(geometry) as [number, number][]) {
        assert.ok(lat > -16 && lat < 73 && lng >= -180 && lng <= 180, what);
      }
      if (geometry.type === 'LineString') assert.ok(geometry.coordinates.length >= 2, what);
      if (geometry.type !== 'Polygon') continue;
      const [ring] = geometry.coordinates as [[number, number][]];
      assert.ok(ring.length >= 4, what);
      assert.deepEqual(ring.at(-1), ring[0], what);
      const area = ring.slice(1).reduce((sum, [x, y], i) => sum + ring[i]![0] * y - x * ring[i]![1], 0);
      assert.ok(area > 0, `counter-clockwise: ${what}`);
    }
  }
});
