import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { importDataset } from '../../src/data/tables/import-dataset.ts';
import type { Dataset } from '../../src/data/tables/records.ts';
import { standBetween } from '../fake-service.ts';
import { deliveries, info } from '../service/small-data.ts';
import { column, type Harness, openHarness, places } from './harness.ts';

/** A harness whose service has no air quality for the county and no monitor of ozone near, and counts its calls. */
async function withGaps(t: TestContext) {
  const harness = await openHarness(t);
  const readings = (pollutant: 'ozone' | 'pm25', lat: number) => ({
    ...{ pollutant, monitor: pollutant, lat, lng: -99.9, concentration: 9 },
    measuredAt: harness.clock.now(),
  });
  const fill = (year: readonly string[], ozoneAt: number) => {
    const air = deliveries().find(({ kind }) => kind === 'airQuality') as Dataset & { kind: 'airQuality' };
    const records = [...air.records].filter(({ countyGeoid }) => year.includes(countyGeoid));
    importDataset(harness.database, { ...air, records }, harness.clock);
    const measured = [readings('ozone', ozoneAt), readings('pm25', 40.1)];
    importDataset(harness.database, { kind: 'readings', info: info('readings'), records: measured }, harness.clock);
  };
  fill(['31003'], 20);
  const calls: string[] = [];
  const baseUrl = await standBetween(t, harness.url, (address, answer) => {
    calls.push(`${answer.status} ${address.split('?')[0]}`);
    return answer;
  });
  const run = async (settings: Parameters<Harness['run']>[0]) => {
    calls.length = 0;
    const { summary, state } = await harness.run(settings, { baseUrl });
    return { calls: [...calls], summary, state, output: harness.output() };
  };
  return { harness, run, fill };
}

const DAY = 86_400_000;

test('a single call without data is free, a fact, and not made again before its time', async (t) => {
  const { harness, run, fill } = await withGaps(t);
  harness.writeInput(places(2));
  const topics = { topics: ['drought', 'airQuality'] as const };
  const first = await run({ ...topics, topics: [...topics.topics] });
  assert.equal(first.calls.filter((call) => call === '404 /v1/airQuality/risk').length, 2);
  assert.equal(first.calls.length, 4);
  assert.deepEqual([harness.charged(), (await harness.ledger()).charged, (await harness.ledger()).unknown], [2, 2, 0]);
  assert.deepEqual(column(first.output, 'hazard_status'), ['ok', 'ok']);
  assert.deepEqual(column(first.output, 'hazard_note'), Array(2).fill('no data here: airQuality'));
  assert.deepEqual(column(first.output, 'air_quality_metric'), ['', '']);
  assert.deepEqual(column(first.output, 'drought_score'), ['81.5', '81.5']);
  assert.equal(first.state, 'complete');
  const again = await run({ topics: [...topics.topics] });
  assert.deepEqual([again.calls, again.output, again.state], [[], first.output, 'complete']);
  fill(['31001'], 20);
  await harness.clock.sleep(31 * DAY);
  const later = await run({ topics: ['airQuality'] });
  assert.deepEqual(later.calls, Array(2).fill('200 /v1/airQuality/risk'));
  assert.deepEqual(column(later.output, 'air_quality_metric'), ['Good', 'Good']);
  assert.deepEqual(column(later.output, 'hazard_note'), ['', '']);
});

test('a bundle that says that a topic has no data is complete: no retry as a single, and no other bundle', async (t) => {
  const { harness, run, fill } = await withGaps(t);
  harness.writeInput(places(1));
  const settings = { topics: 'all' as const, optimize: 'calls' as const };
  const first = await run(settings);
  assert.deepEqual(first.calls.sort(), ['200 /v1/bundle/enterprise', '502 /v1/pm10/risk']);
  assert.equal(harness.charged(), 35);
  assert.match(column(first.output, 'hazard_note')[0]!, /no data here: airQuality ozone$/);
  assert.equal(column(first.output, 'hazard_status')[0], 'partial');
  // When its time is over, what had no data is asked for alone: a bundle would be bought for nothing.
  await harness.clock.sleep(31 * DAY);
  fill(['31003'], 20);
  const { calls } = await run({ ...settings, topics: ['airQuality', 'ozone'] });
  assert.deepEqual(calls.sort(), ['404 /v1/airQuality/risk', '404 /v1/ozone/risk']);
  assert.deepEqual([harness.charged(), (await harness.ledger()).charged], [35, 35]);
});

test('no data replaces an older answer', async (t) => {
  const { harness, run, fill } = await withGaps(t);
  harness.writeInput(places(1));
  fill([], 40.1);
  const first = await run({ topics: ['ozone'] });
  assert.deepEqual(column(first.output, 'ozone_value'), ['9']);
  await harness.clock.sleep(DAY);
  fill([], 20);
  const second = await run({ topics: ['ozone'] });
  assert.deepEqual(second.calls, ['404 /v1/ozone/risk']);
  assert.deepEqual([column(second.output, 'ozone_value'), column(second.output, 'hazard_status')], [[''], ['ok']]);
  assert.deepEqual(harness.charged(), 1);
});

test('what has no data for a county is asked once a county', async (t) => {
  const { harness, run } = await withGaps(t);
  const rows = places(5).map(([lat, lng]) => `${lat},${lng},31001\n`);
  writeFileSync(join(harness.folder, 'input.csv'), `lat,lng,COUNTY_FIPS\n${rows.join('')}`);
  const job = { topics: ['airQuality' as const], areas: { county: 'COUNTY_FIPS', verify: 0 } };
  const { calls, output } = await run(job);
  assert.deepEqual(calls, ['404 /v1/airQuality/risk']);
  assert.deepEqual(column(output, 'hazard_status'), Array(5).fill('ok'));
  for (const note of column(output, 'hazard_note')) assert.match(note, /^no data here: airQuality/);
  assert.equal(harness.charged(), 0);
});
