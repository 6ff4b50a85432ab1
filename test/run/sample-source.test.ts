import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { importDataset } from '../../src/data/tables/import-dataset.ts';
import { standBetween } from '../fake-service.ts';
import { AREAS, info } from '../service/small-data.ts';
import { column, type Harness, openHarness, places } from './harness.ts';

/** Makes the service answer from sample data, or from real data again. */
const useSample = ({ database, clock }: Harness, sample: boolean) =>
  importDataset(database, { kind: 'areas', info: info('areas', sample), records: AREAS }, clock);

const SAMPLE = 'sample data';

test('what a service says is sample data is marked on every answered row, in the summary, and for good', async (t) => {
  const harness = await openHarness(t);
  useSample(harness, true);
  harness.writeInput([...places(2), [0, 0]]);
  const first = await harness.run({ topics: ['drought', 'airQuality'] });
  assert.deepEqual(
    column(harness.output(), 'hazard_note').map((note) => note.split(';')[0]!.replaceAll('"', '')),
    // Nothing answered the last row.
    [SAMPLE, SAMPLE, 'Latitude and longitude are both 0'],
  );
  assert.equal(first.summary.sample_data, true);
  // The next run buys nothing, and knows it from the store.
  const output = harness.output();
  const plan = await harness.plan({ topics: ['drought', 'airQuality'] });
  assert.deepEqual([plan.sample_data, plan.credits], [true, 0]);
  const again = await harness.run({ topics: ['drought', 'airQuality'] });
  assert.deepEqual([again.summary.sample_data, harness.output()], [true, output]);
});

test('what was stored of a source before it says that it has sample data is marked too; what came after is not', async (t) => {
  const harness = await openHarness(t);
  const [before, during, after] = places(3) as [[number, number], [number, number], [number, number]];
  const run = async (book: (readonly [number, number])[]) => {
    harness.writeInput(book);
    await harness.clock.sleep(60_000);
    const { summary } = await harness.run({ topics: ['drought'] });
    return { sample: summary.sample_data, notes: column(harness.output(), 'hazard_note') };
  };
  assert.deepEqual(await run([before]), { sample: false, notes: [''] });
  useSample(harness, true);
  assert.deepEqual(await run([before, during]), { sample: true, notes: [SAMPLE, SAMPLE] });
  useSample(harness, false);
  assert.deepEqual(await run([before, during, after]), { sample: true, notes: [SAMPLE, SAMPLE, ''] });
  assert.deepEqual(await run([after]), { sample: false, notes: [''] });
});

test('the header alone, the meta alone and a free answer without data say it too', async (t) => {
  for (const [topic, change] of [
    ['drought', (body: string) => body.replace('"credit_cost":1', '"credit_cost":1,"sample_data":true')],
    ['airQuality', null],
  ] as const) {
    const harness = await openHarness(t);
    harness.writeInput(places(1));
    if (change === null) {
      useSample(harness, true);
      harness.database.exec('DELETE FROM air_quality');
    }
    const baseUrl = await standBetween(t, harness.url, (_, { status, body }) => ({
      status,
      body: change?.(body) ?? body,
    }));
    const { summary } = await harness.run({ topics: [topic] }, change === null ? {} : { baseUrl });
    assert.equal(summary.sample_data, true, topic);
    assert.match(column(harness.output(), 'hazard_note')[0]!, /^sample data/);
  }
});

test('areas that were answered from sample data mark the rows that they serve', async (t) => {
  const harness = await openHarness(t);
  useSample(harness, true);
  writeFileSync(
    join(harness.folder, 'input.csv'),
    `lat,lng,TRACT_GEOID\n${places(3)
      .map(([lat, lng]) => `${lat},${lng},31001000100\n`)
      .join('')}`,
  );
  await harness.run({ topics: ['drought'], areas: { tract: 'TRACT_GEOID', verify: 0 } });
  for (const note of column(harness.output(), 'hazard_note')) assert.match(note, /^sample data/);
  assert.equal(harness.charged(), 1);
});
