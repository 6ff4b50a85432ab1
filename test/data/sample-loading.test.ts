import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TOPIC_SLUGS } from '../../src/contract/topics.ts';
import { importSample, refreshSampleReadings } from '../../src/data/sample/build-sample-database.ts';
import { SAMPLE_VINTAGE, sampleDatasets } from '../../src/data/sample/sample-datasets.ts';
import { describeData } from '../../src/data/tables/describe-data.ts';
import { importDataset } from '../../src/data/tables/import-dataset.ts';
import { info, openDatabase, StillClock, square } from '../service/small-data.ts';
import { LONG } from '../tier.ts';

const clock = new StillClock();
test('loading the sample replaces all tracts and counties, and answers every topic', LONG, (t) => {
  const database = openDatabase(t);
  // Real tracts that were loaded before must not rate locations of the sample.
  const tract = {
    geoid: '31001000100',
    level: 'tract',
    name: 'x',
    state: 'NE',
    geometry: square(-100, 40, 1),
  } as const;
  importDataset(database, { kind: 'areas', level: 'tract', info: info('areas'), records: [tract] }, clock);
  importSample(database, clock);
  const { datasets, topics } = describeData(database);
  assert.deepEqual(topics, TOPIC_SLUGS);
  assert.deepEqual([...new Set(datasets.map(({ level }) => level))].sort(), ['', 'county']);
  assert.ok(datasets.every(({ sample, vintage, rows }) => sample && vintage === SAMPLE_VINTAGE && rows > 30));
});

test('the readings of a sample are renewed after an hour', (t) => {
  const database = openDatabase(t);
  const moving = new StillClock();
  const newest = () => database.prepare('SELECT max(measured_at) FROM reading_boxes').pluck().get();
  refreshSampleReadings(database, moving);
  assert.equal(newest(), null);
  for (const dataset of sampleDatasets({ seed: 1, now: moving.now() })) {
    if (dataset.kind === 'readings') importDataset(database, dataset, moving);
  }
  const first = newest() as number;
  moving.at += 3_600_000;
  refreshSampleReadings(database, moving);
  assert.equal(newest(), first + 3_600_000);
});
