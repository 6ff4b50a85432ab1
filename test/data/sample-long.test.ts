import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { PROXIMITY_SLUGS } from '../../src/contract/topics.ts';
import { sampleDatasets } from '../../src/data/sample/sample-datasets.ts';
import type { Dataset, DatasetName } from '../../src/data/tables/records.ts';

const NOW = Date.UTC(2026, 5, 1, 12, 30);
const OPTIONS = { seed: 1, now: NOW };

/** A hash of the first records of every dataset. */
function fingerprints(options: { seed: number; now: number }): Map<DatasetName, string> {
  const entries = Array.from(sampleDatasets(options), (dataset): [DatasetName, string] => {
    const hash = createHash('sha256');
    let left = 500;
    for (const record of dataset.records as Iterable<unknown>) {
      hash.update(JSON.stringify(record));
      left -= 1;
      if (left === 0) break;
    }
    return [dataset.info.name, hash.digest('hex')];
  });
  return new Map(entries);
}

function count(dataset: Dataset): number {
  let records = 0;
  for (const _ of dataset.records as Iterable<unknown>) records += 1;
  return records;
}

test('equal options give equal records, another seed gives others', () => {
  const once = fingerprints(OPTIONS);
  assert.deepEqual(fingerprints(OPTIONS), once);
  const other = fingerprints({ ...OPTIONS, seed: 2 });
  for (const [name, hash] of once) {
    if (name === 'areas') assert.equal(other.get(name), hash, 'the map of the US does not depend on a seed');
    else assert.notEqual(other.get(name), hash, name);
  }
});

test('a dataset does not depend on whether those before it were read, and can be read again', () => {
  const radon = [...sampleDatasets(OPTIONS)].find((dataset) => dataset.kind === 'radon')!;
  const first = JSON.stringify([...radon.records]);
  const afterAll = [...sampleDatasets(OPTIONS)].map((dataset) => {
    count(dataset);
    return dataset;
  });
  assert.equal(JSON.stringify([...afterAll.find(({ kind }) => kind === 'radon')!.records]), first);
  assert.equal(JSON.stringify([...radon.records]), first);
});

test('every dataset is generated once, has records and says that it is a sample', () => {
  const datasets = [...sampleDatasets(OPTIONS)];
  const expected: DatasetName[] = [
    'areas',
    'nri',
    ...PROXIMITY_SLUGS.map((topic): DatasetName => `sites:${topic}`),
    'records:earthquake',
    'records:hail',
    'records:hurricane',
    'records:tornado',
    'records:wildfire.current',
    'records:wildfire.historical',
    'records:wildfire.perimeters',
    'airQuality',
    'radon',
    'readings',
  ];
  assert.deepEqual(datasets.map(({ info }) => info.name).sort(), expected.sort());
  for (const dataset of datasets) {
    assert.ok(count(dataset) > 30, dataset.info.name);
    assert.deepEqual(dataset.info, {
      name: dataset.info.name,
      source: 'Perilbook sample generator',
      vintage: 'sample-1',
      licence: '',
      sample: true,
    });
    if (dataset.kind === 'sites') assert.equal(dataset.info.name, `sites:${dataset.topic}`);
    if (dataset.kind === 'records') assert.equal(dataset.info.name, `records:${dataset.event}`);
  }
});

test('the whole sample has less than 100 MB of records', () => {
  let bytes = 0;
  let sites = 0;
  for (const dataset of sampleDatasets(OPTIONS)) {
    for (const record of dataset.records as Iterable<unknown>) {
      bytes += JSON.stringify(record).length;
      if (dataset.kind === 'sites') sites += 1;
    }
  }
  assert.ok(bytes < 100e6, `${bytes} bytes`);
  assert.ok(sites > 100_000 && sites < 150_000, `${sites} sites`);
});

test('the areas are the counties of all states, DC and the territories', () => {
  const areas = [...sampleDatasets(OPTIONS)].find((dataset) => dataset.kind === 'areas')!;
  const records = [...areas.records];
  assert.equal(new Set(records.map(({ geoid }) => geoid)).size, records.length);
  assert.equal(new Set(records.map(({ state }) => state)).size, 56);
  for (const { geoid, level, name, state } of records) {
    assert.match(geoid, /^\d{5}$/);
    assert.equal(level, 'county');
    assert.match(state, /^[A-Z]{2}$/, geoid);
    assert.ok(name.length > 0, geoid);
  }
  const washington = records.find(({ geoid }) => geoid === '11001');
  assert.deepEqual([washington?.name, washington?.state], ['District of Columbia', 'DC']);
});
