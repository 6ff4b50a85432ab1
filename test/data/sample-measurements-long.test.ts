import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readLand } from '../../src/data/sample/land.ts';
import { sampleDatasets } from '../../src/data/sample/sample-datasets.ts';
import type { Dataset } from '../../src/data/tables/records.ts';
import { distanceMeters } from '../../src/geo/distance.ts';

const NOW = Date.UTC(2026, 5, 1, 12, 30);
const { counties } = readLand();
const datasets = [...sampleDatasets({ seed: 1, now: NOW })];

function imported<K extends Dataset['kind']>(kind: K): Extract<Dataset, { kind: K }> {
  return datasets.find((dataset): dataset is Extract<Dataset, { kind: K }> => dataset.kind === kind)!;
}

test('every county has a year of air quality that adds up', () => {
  const years = [...imported('airQuality').records];
  assert.deepEqual(
    years.map(({ countyGeoid }) => countyGeoid),
    counties.map(({ geoid }) => geoid),
  );
  for (const year of years) {
    const days = [
      year.goodDays,
      year.moderateDays,
      year.unhealthyForSensitiveGroupsDays,
      year.unhealthyDays,
      year.veryUnhealthyDays,
      year.hazardousDays,
    ];
    assert.ok(
      days.every((count) => Number.isInteger(count) && count >= 0),
      JSON.stringify(year),
    );
    assert.equal(
      days.reduce((a, b) => a + b),
      year.daysWithAqi,
      JSON.stringify(year),
    );
    assert.ok(year.daysWithAqi <= 365 && year.year === 2025);
    assert.ok(year.medianAqi <= year.maxAqi, JSON.stringify(year));
    assert.equal(year.maxAqi > 300, year.hazardousDays > 0, JSON.stringify(year));
    assert.equal(year.medianAqi <= 50, 2 * year.goodDays > year.daysWithAqi, JSON.stringify(year));
  }
});

test('every county has a radon zone, and all three zones occur', () => {
  const zones = [...imported('radon').records];
  assert.deepEqual(
    zones.map(({ countyGeoid }) => countyGeoid),
    counties.map(({ geoid }) => geoid),
  );
  assert.deepEqual([...new Set(zones.map(({ zone }) => zone))].sort(), [1, 2, 3]);
  assert.equal(zones.find(({ countyGeoid }) => countyGeoid === '15003')?.zone, 3);
});

test('readings are of the last full hour, never negative, and PM10 includes PM2.5', () => {
  const byMonitor = Map.groupBy(imported('readings').records, ({ monitor }) => monitor);
  for (const [monitor, readings] of byMonitor) {
    assert.deepEqual(
      readings.map(({ pollutant }) => pollutant),
      ['ozone', 'pm25', 'pm10'],
      monitor,
    );
    const [ozone, pm25, pm10] = readings.map(({ concentration }) => concentration) as [number, number, number];
    assert.ok(ozone >= 0 && pm25 >= 0 && pm10 >= pm25 && ozone < 200, `${monitor}: ${ozone} ${pm25} ${pm10}`);
    for (const { measuredAt } of readings) assert.equal(measuredAt, Date.UTC(2026, 5, 1, 12));
  }
});

test("nearly every county's centre has a monitor within 80 km", () => {
  const monitors = [...imported('readings').records].filter(({ pollutant }) => pollutant === 'ozone');
  const distances = counties.map(({ centre }) =>
    monitors.reduce((least, monitor) => Math.min(least, distanceMeters(centre, monitor)), Number.POSITIVE_INFINITY),
  );
  const far = distances.filter((distance) => distance > 80_000);
  assert.ok(far.length < counties.length / 100, `${far.length} counties are farther`);
  assert.ok(Math.max(...distances) < 150_000);
});

test('at a full hour, readings are of the hour before', () => {
  const [reading] = [...sampleDatasets({ seed: 1, now: Date.UTC(2026, 5, 1, 12) })].find(
    (dataset) => dataset.kind === 'readings',
  )!.records;
  assert.equal(reading?.measuredAt, Date.UTC(2026, 5, 1, 11));
});
