import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { NATURAL_SLUGS } from '../../src/contract/topics.ts';
import { importDataset } from '../../src/data/tables/import-dataset.ts';
import type { AreaRecord } from '../../src/data/tables/records.ts';
import type { JobFile } from '../../src/job/job-file.ts';
import { drawBetween, makeRandom } from '../../src/sample/random.ts';
import { AREAS, info, RATINGS, square } from '../service/small-data.ts';
import { column, type Harness, openHarness, places } from './harness.ts';

const natural = NATURAL_SLUGS.filter((slug) => slug !== 'avalanche');

/** Sixty places in one tract, forty in another, thirty in a county without tracts; and one on the border of the two tracts. */
const IN_TRACTS = [...places(60), ...places(40).map(([lat, lng]) => [lat, lng + 0.46] as const)];
const LOCATIONS = [
  ...IN_TRACTS,
  [40.3, -99.5],
  ...places(30).map(([lat, lng]) => [lat, lng + 1.4] as const),
] as const;

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
  harness.writeInput(LOCATIONS);
  return harness;
}

/** The columns that Perilbook added, without the note and the time. */
function addedColumns(output: string): string[][] {
  const names = output.split('\n')[0]!.split(',');
  return names
    .slice(names.indexOf('hazard_status'))
    .filter((name) => name !== 'hazard_as_of' && name !== 'hazard_note')
    .map((name) => [name, ...column(output, name)]);
}

test('one answer a tract and county gives the columns that one for each place gives, for fewer credits; a border has none', async (t) => {
  const job: JobFile = { topics: [...natural, 'airQuality', 'radon'] };
  const each = await open(t);
  await each.run(job);
  const shared = await open(t);
  const planned = await shared.plan({ ...job, areas: 'tract' });
  const ended = await shared.run({ ...job, areas: 'tract' });
  assert.equal(ended.state, 'complete');
  // Ratings: two tracts, a place on their border and thirty without one. Air and radon: two counties. And twenty places to verify.
  assert.deepEqual(planned.areas, {
    ...{ representatives: 3, verified: 20, spared: 109 },
    ...{ areas_verified: 0, areas_differed: 0, each_place: false },
    ...{ found: 100, near_border: 1, in_no_area: 30, no_boundaries: 0 },
  });
  assert.equal(planned.credits, shared.charged());
  assert.ok(
    shared.charged() <= 53 * 15 + 22 * 2 && shared.charged() < each.charged() / 2,
    String(shared.charged()),
  );
  // Counts differ from place to place, so a job with areas leaves them out.
  const columns = addedColumns(shared.output());
  const isShared = ([name]: readonly string[]) => columns.some(([other]) => other === name);
  assert.deepEqual(columns, addedColumns(each.output()).filter(isShared));
  const tracts = column(shared.output(), 'hazard_note').map(
    (note) => /by tract \d+/.exec(note)?.[0],
  );
  assert.deepEqual([...new Set(tracts.slice(60, 100))].sort(), ['by tract 31001000200', undefined]);
  assert.ok(tracts.slice(100).every((tract) => tract === undefined));
  assert.ok(!shared.output().includes('hail_reports') && each.output().includes('hail_reports'));
  assert.deepEqual(
    [ended.summary.areas?.areas_differed, ended.summary.areas?.each_place],
    [0, false],
  );
  assert.equal((await shared.run({ ...job, areas: 'tract' })).summary.credits_spent, 0);
});

/** Boundaries that the service does not answer by. */
async function wrongBoundaries(
  t: TestContext,
  records: readonly AreaRecord[],
): Promise<Harness['openAreas']> {
  const other = await openHarness(t);
  importDataset(other.database, { kind: 'areas', info: info('areas'), records }, other.clock);
  return other.openAreas;
}

/** Tracts of a tenth of a degree, whose neighbours have other ratings; and eight places in each, anywhere in it. */
const TRACTS = Array.from({ length: 100 }, (_, number) => {
  const [row, across] = [Math.floor(number / 10), number % 10];
  const geoid = `31001${String(100 + number).padStart(6, '0')}`;
  return { geoid, south: 40 + row / 10, west: -100 + across / 10, row, across };
});
const SCALE = [
  'Very Low',
  'Relatively Low',
  'Relatively Moderate',
  'Relatively High',
  'Very High',
] as const;
const ROWS = 800;

/** The outlines of the tracts, moved by so many degrees. */
function outlines(north: number, east: number): AreaRecord[] {
  return TRACTS.map(({ geoid, south, west }) => ({
    ...{ geoid, level: 'tract', name: `Area ${geoid}`, state: 'NE' },
    geometry: square(west + east, south + north, 0.1),
  }));
}

async function openTracts(t: TestContext): Promise<Harness> {
  const harness = await openHarness(t);
  const ratings = TRACTS.map(({ geoid, row, across }) => ({
    ...{ geoid, topic: 'drought' as const, rating: SCALE[(row + 2 * across) % 5]! },
    ...{ score: row * 10 + across, frequency: 0.25 },
  }));
  const records = [AREAS[0]!, ...outlines(0, 0)];
  importDataset(harness.database, { kind: 'areas', info: info('areas'), records }, harness.clock);
  importDataset(
    harness.database,
    { kind: 'nri', info: info('nri'), records: ratings },
    harness.clock,
  );
  const random = makeRandom(5, 'book');
  const inside = () =>
    [drawBetween(random, 40.02, 40.98), drawBetween(random, -99.98, -99.02)].map((at) =>
      at.toFixed(4),
    );
  const rows = Array.from({ length: ROWS }, () => `${inside()}\n`);
  writeFileSync(join(harness.folder, 'input.csv'), `lat,lng\n${rows.join('')}`);
  return harness;
}

test('boundaries that lie a kilometre off are noticed, and each place is bought for itself within the limit of the run', async (t) => {
  const job: JobFile = { topics: ['drought'] };
  const each = await openTracts(t);
  await each.run(job);
  const right = column(each.output(), 'drought_rating');
  /** Rows with a rating that is not theirs. */
  const wrongRows = (output: string) =>
    column(output, 'drought_rating').filter((rating, row) => rating !== '' && rating !== right[row])
      .length;

  const trusted = await openTracts(t);
  const first = await trusted.run({ ...job, areas: 'tract' });
  assert.deepEqual(
    [first.state, wrongRows(trusted.output()), first.summary.areas!.areas_differed],
    ['complete', 0, 0],
  );
  assert.ok(
    first.summary.areas!.areas_verified >= 10 && trusted.charged() < ROWS / 2,
    String(trusted.charged()),
  );

  const harness = await openTracts(t);
  const openAreas = await wrongBoundaries(t, [AREAS[0]!, ...outlines(0.009, 0.012)]);
  const planned = await harness.plan({ ...job, areas: 'tract' }, { openAreas });
  const ended = await harness.run({ ...job, areas: 'tract' }, { openAreas });
  assert.match(
    harness.notices.join('\n'),
    /\d+ areas verified, \d+ differed: the boundaries .* not those of the service, so each place is bought for itself/,
  );
  const { areas_verified: verified, areas_differed: differed, each_place } = ended.summary.areas!;
  assert.ok(
    differed >= 2 && differed > 0.02 * verified && each_place,
    `${differed} of ${verified}`,
  );
  // The plan's price is the limit: what it does not buy is deferred.
  assert.ok(
    harness.charged() <= planned.credits + planned.credits_retries_at_most,
    String(harness.charged()),
  );
  assert.deepEqual([ended.state, wrongRows(harness.output())], ['paused', 0]);
  assert.equal(ended.summary.status.ok + ended.summary.status.deferred, ROWS);
  assert.ok(ended.summary.status.deferred > 0);
  // The next plan prices the rest, and its run buys it.
  const rest = await harness.plan({ ...job, areas: 'tract' }, { openAreas });
  assert.deepEqual([rest.areas!.each_place, rest.saved.by_areas], [true, 0]);
  assert.equal(harness.charged() + rest.credits, each.charged());
  const last = await harness.run({ ...job, areas: 'tract' }, { openAreas });
  assert.deepEqual(
    [last.state, wrongRows(harness.output()), harness.charged()],
    ['complete', 0, each.charged()],
  );

  const generous = await openTracts(t);
  // A budget beyond the plan approves no other way to buy: the next run plans it, and buys it.
  const stopped = await generous.run({ ...job, areas: 'tract', budget: 1000 }, { openAreas });
  assert.deepEqual([stopped.state, stopped.stop?.reason], ['paused', 'price']);
  const whole = await generous.run({ ...job, areas: 'tract', budget: 1000 }, { openAreas });
  assert.deepEqual(
    [whole.state, wrongRows(generous.output()), generous.charged()],
    ['complete', 0, each.charged()],
  );
});
