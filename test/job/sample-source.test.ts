import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { importDataset } from '../../src/data/tables/import-dataset.ts';
import { AREAS, info } from '../service/small-data.ts';
import { standBetween } from './between.ts';
import { column, type Desk, openDesk, places } from './harness.ts';

/** Makes the service answer from sample data, or from real data again. */
const useSample = ({ database, clock }: Desk, sample: boolean) =>
  importDataset(database, { kind: 'areas', info: info('areas', sample), records: AREAS }, clock);

const SAMPLE = 'sample data';

test('what a service says is sample data is marked on every row, in the summary, and for good', async (t) => {
  const desk = await openDesk(t);
  useSample(desk, true);
  desk.book([...places(2), [0, 0]]);
  const first = await desk.run({ topics: ['drought', 'airQuality'] });
  assert.deepEqual(
    column(desk.output(), 'hazard_note').map((note) => note.split(';')[0]!.replaceAll('"', '')),
    [SAMPLE, SAMPLE, SAMPLE],
  );
  assert.equal(first.summary.sample_data, true);
  // The next run buys nothing, and knows it from the store.
  const output = desk.output();
  const plan = await desk.plan({ topics: ['drought', 'airQuality'] });
  assert.deepEqual([plan.sample_data, plan.credits], [true, 0]);
  const again = await desk.run({ topics: ['drought', 'airQuality'] });
  assert.deepEqual([again.summary.sample_data, desk.output()], [true, output]);
});

test('what was stored of a source before it says that it has sample data is marked too; what came after is not', async (t) => {
  const desk = await openDesk(t);
  const [before, during, after] = places(3) as [[number, number], [number, number], [number, number]];
  const run = async (book: (readonly [number, number])[]) => {
    desk.book(book);
    await desk.clock.sleep(60_000);
    const { summary } = await desk.run({ topics: ['drought'] });
    return { sample: summary.sample_data, notes: column(desk.output(), 'hazard_note') };
  };
  assert.deepEqual(await run([before]), { sample: false, notes: [''] });
  useSample(desk, true);
  assert.deepEqual(await run([before, during]), { sample: true, notes: [SAMPLE, SAMPLE] });
  useSample(desk, false);
  assert.deepEqual(await run([before, during, after]), { sample: true, notes: [SAMPLE, SAMPLE, ''] });
  assert.deepEqual(await run([after]), { sample: false, notes: [''] });
});

test('the header alone, the meta alone and a free answer without data say it too', async (t) => {
  for (const [topic, change] of [
    ['drought', (body: string) => body.replace('"credit_cost":1', '"credit_cost":1,"sample_data":true')],
    ['airQuality', null],
  ] as const) {
    const desk = await openDesk(t);
    desk.book(places(1));
    if (change === null) {
      useSample(desk, true);
      desk.database.exec('DELETE FROM air_quality');
    }
    const baseUrl = await standBetween(t, desk.url, (_, { status, body }) => ({
      status,
      body: change?.(body) ?? body,
    }));
    const { summary } = await desk.run({ topics: [topic] }, change === null ? {} : { baseUrl });
    assert.equal(summary.sample_data, true, topic);
    assert.match(column(desk.output(), 'hazard_note')[0]!, /^sample data/);
  }
});

test('areas that were answered from sample data mark the rows that they serve', async (t) => {
  const desk = await openDesk(t);
  useSample(desk, true);
  writeFileSync(
    join(desk.folder, 'input.csv'),
    `lat,lng,TRACT_GEOID\n${places(3)
      .map(([lat, lng]) => `${lat},${lng},31001000100\n`)
      .join('')}`,
  );
  await desk.run({ topics: ['drought'], areas: { tract: 'TRACT_GEOID', verify: 0 } });
  for (const note of column(desk.output(), 'hazard_note')) assert.match(note, /^sample data/);
  assert.equal(desk.charged(), 1);
});
