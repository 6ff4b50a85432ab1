import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { NATURAL_SLUGS } from '../../src/contract/topics.ts';
import { countyCode, tractCode } from '../../src/geo/area-codes.ts';
import type { Store } from '../../src/store/port.ts';
import { fc } from '../properties.ts';
import { column, type Harness, openHarness, places } from './harness.ts';

/** Ten places in the tract 31001000100, four in the county 31003, and one whose code cannot be read. */
function tractBook(harness: Harness, codes?: readonly string[]): void {
  const ten = places(10);
  const four = places(4).map(([lat, lng]): [number, number] => [lat + 0.3, lng + 1.4]);
  const odd: [number, number] = [40.4, -99.6];
  const rows = [...ten, ...four, odd].map(([lat, lng], index) => {
    const code = codes?.[index] ?? (index < 10 ? '31001000100' : index < 14 ? '31003000100' : 'n/a');
    return `${lat},${lng},${code}\n`;
  });
  writeFileSync(join(harness.folder, 'input.csv'), `lat,lng,TRACT_GEOID\n${rows.join('')}`);
}

const natural = NATURAL_SLUGS.filter((slug) => slug !== 'avalanche');
const AREAS = { areas: { tract: 'TRACT_GEOID', verify: 0 } };

test('one purchase serves a tract: ratings go to every row of it, and the plan says what that saves', async (t) => {
  const harness = await openHarness(t);
  tractBook(harness);
  const job = { topics: [...natural], counts: false, ...AREAS };
  const plain = await harness.plan({ topics: [...natural], counts: false });
  const planned = await harness.plan(job);
  assert.equal(plain.credits, 15 * 15);
  assert.deepEqual([planned.credits, planned.saved.by_areas], [3 * 15, 12 * 15]);
  assert.deepEqual(planned.areas, { representatives: 2, verified: 0, spared: 12 });
  assert.deepEqual(
    planned.findings.map(({ finding }) => finding),
    ['area_not_readable'],
  );
  const ended = await harness.run(job);
  assert.deepEqual([ended.state, harness.charged(), ended.summary.status.ok], ['complete', 45, 15]);
  const output = harness.output();
  assert.deepEqual(new Set(column(output, 'drought_rating').slice(0, 10)), new Set(['Relatively High']));
  assert.deepEqual(new Set(column(output, 'drought_rating').slice(10, 14)), new Set(['Not Applicable']));
  assert.match(output, /by tract 31001000100/);
  assert.equal((await harness.run(job)).summary.credits_spent, 0);
});

test('what belongs to the place still goes by cell: counts of details, sites nearby', async (t) => {
  const harness = await openHarness(t);
  tractBook(harness);
  const planned = await harness.plan({
    topics: ['drought', 'wildfire', 'park', 'superfund', 'airQuality', 'radon'],
    ...AREAS,
  });
  // 2 tracts and an unreadable one: drought; 2 counties and one: airQuality, radon; 15 cells: wildfire, park, superfund.
  assert.equal(planned.credits, 3 + 2 * 3 + 15 * 3);
  const ended = await harness.run({
    topics: ['drought', 'wildfire', 'park', 'superfund', 'airQuality', 'radon'],
    ...AREAS,
  });
  assert.deepEqual([ended.state, harness.charged()], ['complete', 54]);
  assert.ok(column(harness.output(), 'wildfire_current').every((count) => count !== ''));
  assert.ok(column(harness.output(), 'radon_zone').every((zone) => zone !== ''));
});

test('a share is bought anyway and compared; a wrong code is reported, and its area is bought one by one', async (t) => {
  const harness = await openHarness(t);
  // Two places of the other county claim to lie in the first tract: their ratings will differ.
  tractBook(
    harness,
    Array.from({ length: 15 }, () => '31001000100'),
  );
  const job = { topics: ['drought' as const], areas: { tract: 'TRACT_GEOID', verify: 1 } };
  const planned = await harness.plan(job);
  assert.deepEqual(planned.areas, { representatives: 1, verified: 14, spared: 0 });
  await harness.run(job);
  assert.match(harness.notices.join('\n'), /Two locations of tract 31001000100 were answered differently/);
  const mistrusting = await harness.plan({ topics: ['hail'], counts: false, ...AREAS });
  assert.deepEqual([mistrusting.areas?.spared, mistrusting.credits], [0, 15]);
});

test('a mismatch found in a run sends it to the spared cells in the same run, within its budget', async (t) => {
  const harness = await openHarness(t);
  tractBook(
    harness,
    Array.from({ length: 15 }, () => '31001000100'),
  );
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

test('a run that stops early says what it saved by areas, not what its plan would', async (t) => {
  const harness = await openHarness(t);
  tractBook(harness);
  const job = { topics: ['drought' as const], ...AREAS };
  const first = await harness.run({ ...job, budget: 1 });
  assert.deepEqual([first.stop?.reason, first.summary.status.ok, first.summary.saved.by_areas], ['budget', 10, 9]);
  const nothing = await harness.run({ ...job, topics: ['hail'], budget: 0 });
  assert.equal(nothing.summary.saved.by_areas, 0);
  const rest = await harness.run(job);
  assert.deepEqual([harness.charged(), rest.summary.saved.by_areas], [3, 12]);
});

test('OED names areas by scheme and name', async (t) => {
  const harness = await openHarness(t);
  const rows = places(4).map(
    ([lat, lng], index) => `${lat},${lng},${index % 2 ? 'CNTY,31001' : 'XTRCT,31001000100'}\n`,
  );
  writeFileSync(join(harness.folder, 'input.csv'), `Latitude,Longitude,GeogScheme1,GeogName1\n${rows.join('')}`);
  const planned = await harness.plan({ topics: ['drought', 'radon'], areas: 'oed' });
  // Two cells name the tract (and with it the county), two the county alone: one radon, drought once and twice.
  assert.equal(planned.credits, 1 + 1 + 2);
});

test('census codes are read as files carry them, or not at all', () => {
  const cases: readonly [string, string | null][] = [
    ['06037106111', '06037106111'],
    ['6037106111', '06037106111'],
    ['1400000US06037106111', '06037106111'],
    ['060371061112003', '06037106111'],
    [' 51079030101 ', '51079030101'],
    ['6037106111.0', '06037106111'],
    ['99037106111', null],
    ['0603710611', null],
    ['106111', null],
    ['n/a', null],
    ['', null],
  ];
  for (const [text, code] of cases) assert.equal(tractCode(text), code, text);
  assert.deepEqual(['06037', '6037', '0500000US06037', '037', 'x'].map(countyCode), [
    '06037',
    '06037',
    '06037',
    null,
    null,
  ]);
  fc.assert(fc.property(fc.string(), (text) => tractCode(text) === null || /^\d{11}$/.test(tractCode(text)!)));
});
