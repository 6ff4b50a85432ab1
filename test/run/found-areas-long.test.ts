import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { NATURAL_SLUGS } from '../../src/contract/topics.ts';
import { importDataset } from '../../src/data/tables/import-dataset.ts';
import type { JobFile } from '../../src/job/job-file.ts';
import { mergeJobFiles } from '../../src/job/merge-settings.ts';
import { makeJob } from '../../src/job/settings.ts';
import type { Store } from '../../src/store/port.ts';
import { AREAS, info, RATINGS } from '../service/small-data.ts';
import { column, type Harness, openHarness, places } from './harness.ts';

const natural = NATURAL_SLUGS.filter((slug) => slug !== 'avalanche');
const BOTH: JobFile = { topics: [...natural, 'airQuality', 'radon'], counts: false };

/** Ten places in one tract, five in another, six in a county without tracts; and one on the border of the two tracts. */
const LOCATIONS = [
  ...places(10).map(([lat, lng]) => [lat, lng, '31001000100,31001'] as const),
  ...places(5).map(([lat, lng]) => [lat, lng + 0.46, '31001000200,31001'] as const),
  ...places(6).map(([lat, lng]) => [lat, lng + 1.4, ',31003'] as const),
];
const ON_BORDER = [40.3, -99.5] as const;

/** The service has ratings of both tracts. */
async function open(t: TestContext): Promise<Harness> {
  const harness = await openHarness(t);
  const [first] = AREAS.filter(({ level }) => level === 'tract');
  const ofSecond = RATINGS.filter(({ geoid }) => geoid === first!.geoid).map((rating) => ({
    ...rating,
    ...{ geoid: '31001000200', rating: 'Very Low' as const },
  }));
  const records = [...RATINGS, ...ofSecond];
  importDataset(harness.database, { kind: 'nri', info: info('nri'), records }, harness.clock);
  return harness;
}

function write(harness: Harness, withCodes: boolean): void {
  const rows = LOCATIONS.map(([lat, lng, code]) => `${lat},${lng}${withCodes ? `,${code}` : ''}\n`);
  writeFileSync(join(harness.folder, 'input.csv'), `lat,lng${withCodes ? ',TRACT,COUNTY' : ''}\n${rows.join('')}`);
}

/** The columns that Perilbook added, without the time. */
function addedColumns(output: string): string[][] {
  const [header] = output.split('\n');
  const names = header!.split(',');
  return names
    .slice(names.indexOf('hazard_status'))
    .filter((name) => name !== 'hazard_as_of')
    .map((name) => [name, ...column(output, name)]);
}

test('a file without codes costs what the same file with codes costs, and its output is the same', async (t) => {
  const coded = await open(t);
  write(coded, true);
  const withCodes = await coded.run({ ...BOTH, areas: { tract: 'TRACT', county: 'COUNTY', verify: 0 } });
  const plain = await open(t);
  write(plain, false);
  const planned = await plain.plan({ ...BOTH, areas: { find: 'tract', verify: 0 } });
  const ended = await plain.run({ ...BOTH, areas: { find: 'tract', verify: 0 } });
  assert.deepEqual([withCodes.state, ended.state], ['complete', 'complete']);
  // Ratings: two tracts, and six places without one. Air and radon: two counties.
  assert.deepEqual([coded.charged(), plain.charged()], [8 * 15 + 2 * 2, 8 * 15 + 2 * 2]);
  assert.deepEqual(planned.areas, {
    ...{ representatives: 3, verified: 0, spared: 19 },
    ...{ found: 15, near_border: 0, in_no_area: 6, no_boundaries: 0 },
  });
  assert.equal(planned.credits, plain.charged());
  assert.deepEqual(addedColumns(plain.output()), addedColumns(coded.output()));
  assert.equal((await plain.run({ ...BOTH, areas: 'tract' })).summary.credits_spent, 0);
});

test('a place on a border is bought on its own, and so is one that no outline holds', async (t) => {
  const harness = await open(t);
  harness.writeInput([...LOCATIONS.slice(0, 15).map(([lat, lng]) => [lat, lng] as const), ON_BORDER, [40.3, -100.01]]);
  const job: JobFile = { topics: [...natural], counts: false, areas: { find: 'tract', verify: 0 } };
  const planned = await harness.plan(job);
  assert.deepEqual(planned.areas, {
    ...{ representatives: 2, verified: 0, spared: 13 },
    ...{ found: 15, near_border: 1, in_no_area: 1, no_boundaries: 0 },
  });
  const ended = await harness.run(job);
  assert.deepEqual([ended.state, harness.charged()], ['complete', 4 * 15]);
  const notes = column(harness.output(), 'hazard_note');
  assert.deepEqual(
    notes.map((note) => /by tract \d+/.exec(note)?.[0] ?? ''),
    [
      ...['', ...Array.from({ length: 9 }, () => 'by tract 31001000100')],
      ...['', ...Array.from({ length: 4 }, () => 'by tract 31001000200'), '', ''],
    ],
  );
});

test('by county, what differs between tracts is bought by place', async (t) => {
  const harness = await open(t);
  harness.writeInput(LOCATIONS.map(([lat, lng]) => [lat, lng] as const));
  const job: JobFile = { topics: ['drought', 'radon'], areas: { find: 'county', verify: 0 } };
  await harness.run(job);
  assert.equal(harness.charged(), 21 + 2);
});

test('outlines that contradict the service are found by the verified share, and their tract is bought place by place', async (t) => {
  const harness = await open(t);
  harness.writeInput(LOCATIONS.map(([lat, lng]) => [lat, lng] as const));
  // All places in one tract: a boundary file that the service does not answer by.
  const wide = { ...AREAS[1]!, geometry: { ...AREAS[1]!.geometry, coordinates: WIDE } } as (typeof AREAS)[number];
  const other = await open(t);
  importDataset(other.database, { kind: 'areas', info: info('areas'), records: [wide] }, other.clock);
  const openAreas = other.openAreas;
  const job: JobFile = { topics: ['drought'], areas: { find: 'tract', verify: 1 } };
  await harness.run(job, { openAreas });
  assert.equal(harness.charged(), LOCATIONS.length);
  assert.match(harness.notices.join('\n'), /Two locations of tract 31001000100 were answered differently/);
});

const WIDE = [
  [
    [-101, 39],
    [-97, 39],
    [-97, 42],
    [-101, 42],
    [-101, 39],
  ],
];

test('a mismatch found in a run sends it to the spared cells in the same run, within its budget', async (t) => {
  const harness = await openHarness(t);
  // Ten places of the tract, and five of another county that claim to lie in it.
  const others = places(4).map(([lat, lng]) => [lat + 0.3, lng + 1.4]);
  const rows = [...places(10), ...others, [40.4, -99.6]].map(([lat, lng]) => `${lat},${lng},31001000100\n`);
  writeFileSync(join(harness.folder, 'input.csv'), `lat,lng,TRACT_GEOID\n${rows.join('')}`);
  const job = { topics: ['drought' as const], areas: { tract: 'TRACT_GEOID', verify: 0.5 }, budget: 100 };
  const planned = await harness.plan(job);
  assert.ok(planned.areas!.spared > 0 && planned.areas!.verified > 0, JSON.stringify(planned.areas));
  let cellsRead = 0;
  let reads = 0;
  const store: Store = {
    ...harness.store,
    read(source, cells) {
      reads += 1;
      cellsRead += cells.length;
      return harness.store.read(source, cells);
    },
  };
  const ended = await harness.run(job, { store });
  assert.deepEqual([ended.state, harness.charged()], ['complete', 15]);
  assert.deepEqual(new Set(column(harness.output(), 'drought_rating').slice(10, 14)), new Set(['Not Applicable']));
  assert.deepEqual([reads, cellsRead], [2, 30], 'the cells of the area are read together, as those of the output are');
});

const SURROUNDINGS = { dataFolder: '/data', workingFolder: '/work' };

test('areas: tract is short for find; the stronger of a column and a search wins, and the share stays', () => {
  const areasOf = (...said: JobFile[]) => makeJob([...said, { input: 'x.csv' }], SURROUNDINGS).areas;
  assert.deepEqual(areasOf({ areas: 'tract' }), { tract: null, county: null, oed: false, verify: 0.01, find: 'tract' });
  assert.deepEqual(areasOf({ areas: { tract: 'T' } }), { tract: 'T', county: null, oed: false, verify: 0.01 });
  const merged = (strong: JobFile['areas'], weak: JobFile['areas']) =>
    mergeJobFiles({ areas: weak }, { areas: strong }).areas;
  assert.deepEqual(merged({ find: 'tract' }, { tract: 'T', verify: 0.2 }), { find: 'tract', verify: 0.2 });
  assert.deepEqual(merged({ tract: 'T' }, 'county'), { tract: 'T' });
  assert.deepEqual(merged({ verify: 0.3 }, 'county'), { find: 'county', verify: 0.3 });
  assert.deepEqual(merged({ county: 'C' }, { tract: 'T' }), { tract: 'T', county: 'C' });
  assert.deepEqual(merged({ tract: 'T' }, 'oed'), { tract: 'T', oed: true });
  assert.throws(() => areasOf({ areas: { verify: 0.1 } }), /areas: verify is set, but not how areas are known/);
});
