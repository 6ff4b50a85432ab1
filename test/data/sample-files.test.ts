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
/** Data sets whose records are compared; of the others only their number. */
const COMPARED =
  /^(areas|nri|airQuality|radon|readings|sites:(park|toxicRelease.*)|records:(earthquake|hail|hurricane))$/;

test('the sample comes through the agencies’ files as it was made', LONG, (t) => {
  const database = openDatabase(t);
  // Real tracts that were loaded before must not rate places of the sample.
  const tract = {
    geoid: '31001000100',
    level: 'tract',
    name: 'x',
    state: 'NE',
    geometry: square(-100, 40, 1),
  } as const;
  importDataset(database, { kind: 'areas', level: 'tract', info: info('areas'), records: [tract] }, clock);
  importSample(database, clock);
  const description = describeData(database);
  assert.deepEqual(description.topics, TOPIC_SLUGS);
  const loaded = new Map(description.datasets.map((dataset) => [dataset.name, dataset]));
  assert.deepEqual([...new Set(description.datasets.map(({ level }) => level))].sort(), ['', 'county']);
  const made = openDatabase(t);
  for (const dataset of sampleDatasets({ seed: 1, now: clock.now() })) {
    const records = COMPARED.test(dataset.info.name)
      ? importDataset(made, dataset, clock)
      : Array.from<unknown>(dataset.records).length;
    const described = loaded.get(dataset.info.name)!;
    // The nine planning regions of Connecticut are answered from its counties.
    const regions = /^(airQuality|radon)$/.test(dataset.info.name) ? 9 : 0;
    assert.equal(described.rows, records + regions, dataset.info.name);
    assert.deepEqual(
      [described.source, described.vintage, described.sample],
      ['Perilbook sample generator', SAMPLE_VINTAGE, true],
    );
  }
  const same = (sql: string) => {
    assert.deepEqual(database.prepare(sql).raw().all(), made.prepare(sql).raw().all(), sql);
  };
  same('SELECT geoid, name, state, outline FROM areas_county ORDER BY geoid');
  same('SELECT * FROM ratings_county');
  same("SELECT * FROM air_quality WHERE county NOT GLOB '091[1-9]0'");
  same("SELECT * FROM radon WHERE county NOT GLOB '091[1-9]0'");
  same('SELECT pollutant, monitor, lat, lng, concentration, measured_at FROM reading_boxes');
  same('SELECT feature FROM sites_park ORDER BY id');
  same('SELECT feature FROM records_earthquake ORDER BY id');
  same('SELECT lng, lat FROM sites_toxicReleaseInventory ORDER BY id');
  // The Storm Prediction Center gives four decimals; the end of a made-up track has more.
  same('SELECT round(max_lng, 2) FROM records_hail ORDER BY id');
  same('SELECT min_lng, max_lat FROM records_hurricane ORDER BY id');
});

test('readings of a sample are measured again when an hour has gone by', (t) => {
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
