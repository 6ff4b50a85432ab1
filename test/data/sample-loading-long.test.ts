import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { RATINGS, RATINGS_WITHOUT_SCORE } from '../../src/contract/topic-values.ts';
import { NATURAL_SLUGS, TOPIC_SLUGS } from '../../src/contract/topics.ts';
import {
  describeData,
  type LoadedDataset,
  SAMPLE_VINTAGE,
} from '../../src/data/tables/describe-data.ts';
import { importDataset } from '../../src/data/tables/import-dataset.ts';
import type { NaturalRatingRecord } from '../../src/data/tables/records.ts';
import {
  addSample,
  importSample,
  lacksSample,
  refreshSampleReadings,
  sampleDatasets,
} from '../../src/sample/add-sample.ts';
import { readLand } from '../../src/sample/land.ts';
import { info, openDatabase, StillClock, square } from '../service/small-data.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const clock = new StillClock();
test('loading the sample replaces all tracts and counties, and answers every topic', (t) => {
  const database = openDatabase(t);
  // Real tracts that were loaded before must not rate locations of the sample.
  const tract = {
    geoid: '31001000100',
    level: 'tract',
    name: 'x',
    state: 'NE',
    geometry: square(-100, 40, 1),
  } as const;
  importDataset(
    database,
    { kind: 'areas', level: 'tract', info: info('areas'), records: [tract] },
    clock,
  );
  importSample(database, clock);
  const { datasets, topics } = describeData(database);
  assert.deepEqual(topics, TOPIC_SLUGS);
  assert.deepEqual([...new Set(datasets.map(({ level }) => level))].sort(), ['', 'county']);
  assert.ok(
    datasets.every(
      ({ sample, vintage, rows }) => sample && vintage === SAMPLE_VINTAGE && rows > 30,
    ),
  );
});

test('every county of the sample is rated for all natural topics as the index does, and perils are where they are known to be', () => {
  const dataset = [...sampleDatasets(clock.now())].find(({ kind }) => kind === 'nri')!;
  const records = [...(dataset.records as Iterable<NaturalRatingRecord>)];
  assert.equal(records.length, readLand().counties.length * NATURAL_SLUGS.length);
  assert.deepEqual(new Set(records.map(({ rating }) => rating)), new Set(RATINGS));
  for (const { rating, score, frequency, ...of } of records) {
    const isScored = !['Not Applicable', 'Insufficient Data', 'No Rating'].includes(rating);
    const least = RATINGS_WITHOUT_SCORE.has(rating) ? null : 0;
    assert.ok(
      isScored ? score! > 0 && score! <= 100 && frequency! >= 0 : score === least,
      JSON.stringify(of),
    );
  }
  const hurricane = (county: string) =>
    records.find(({ geoid, topic }) => geoid === county && topic === 'hurricane')!.rating;
  for (const coast of ['12086', '48201']) assert.match(hurricane(coast), / High$/);
  for (const inland of ['20173', '06037']) assert.equal(hurricane(inland), 'Not Applicable');
});

test('sample data is added for the topics that are asked, once', (t) => {
  const database = openDatabase(t);
  const moving = new StillClock();
  const loaded = () =>
    describeData(database).datasets.map(({ name, loadedAt }) => `${name} ${loadedAt}`);
  addSample(database, ['radon'], moving);
  const [first, later] = [moving.at, moving.at + 60_000];
  assert.deepEqual(loaded(), [`areas ${first}`, `radon ${first}`]);
  moving.at = later;
  assert.deepEqual(
    [lacksSample(database, ['radon']), lacksSample(database, ['radon', 'superfund'])],
    [false, true],
  );
  addSample(database, ['radon', 'superfund'], moving);
  assert.deepEqual(loaded(), [`areas ${first}`, `radon ${first}`, `sites:superfund ${later}`]);
  assert.deepEqual(describeData(database).topics, ['superfund', 'radon']);
});

test("an earlier version's sample is replaced", (t) => {
  const database = openDatabase(t);
  addSample(database, ['radon'], clock);
  database.exec("UPDATE parts SET vintage = 'sample-1' WHERE dataset = 'radon'");
  assert.equal(lacksSample(database, ['radon']), true);
  addSample(database, ['radon'], clock);
  assert.ok(describeData(database).datasets.every(({ vintage }) => vintage === SAMPLE_VINTAGE));
});

test('two processes that need the same sample data make it once', async (t) => {
  const file = join(temporaryFolder(t), 'data.db');
  openDatabase(t, file);
  const workers = [1, 2].map(() => {
    const workerData = { file, topics: ['radon', 'superfund'] };
    const worker = new Worker(new URL('./sample-adder.ts', import.meta.url), { workerData });
    t.after(() => worker.terminate());
    return worker;
  });
  await Promise.all(workers.map((worker) => once(worker, 'message')));
  const added = workers.map((worker) => once(worker, 'message'));
  for (const worker of workers) worker.postMessage('add');
  const [[one], [other]] = (await Promise.all(added)) as [[LoadedDataset[]], [LoadedDataset[]]];
  const names = one.map(({ name }) => name);
  assert.deepEqual(names, ['areas', 'radon', 'sites:superfund']);
  assert.deepEqual(other, one, 'both found what one of them made');
});

test('the readings of a sample are renewed after an hour', (t) => {
  const database = openDatabase(t);
  const moving = new StillClock();
  const newest = () => database.prepare('SELECT max(measured_at) FROM reading_boxes').pluck().get();
  refreshSampleReadings(database, moving);
  assert.equal(newest(), null);
  for (const dataset of sampleDatasets(moving.now())) {
    if (dataset.kind === 'readings') importDataset(database, dataset, moving);
  }
  const first = newest() as number;
  moving.at += 3_600_000;
  refreshSampleReadings(database, moving);
  assert.equal(newest(), first + 3_600_000);
});
