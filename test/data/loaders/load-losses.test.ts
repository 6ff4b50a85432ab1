import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { loadParts } from '../../../src/data/loaders/load-files.ts';
import { describeData } from '../../../src/data/tables/describe-data.ts';
import { openDatabase, StillClock } from '../../service/small-data.ts';
import { fileOf, geojson, loading, rejects, towers } from './loading.ts';

const refused = (problem: string, context: object) => ({
  code: 'SERVICE_DATA',
  message: `Cannot replace dataset "sites:cellTower": ${problem}`,
  context: { dataset: 'sites:cellTower', ...context },
});

const FIVE = ['VA', 'MD', 'TX', 'OH', 'UT'];
const NINE = { VA: 9, MD: 9, TX: 9, OH: 9, UT: 9 };
const NINE_LOST = ['VA', 'MD', 'TX']
  .map((state) => `${state} has 9 records here and 0 in the load`)
  .join('; ');
const LARGE = 'VA has 10 records here and 6 in the load; NC has 12 records here and 0 in the load';

for (const [what, states, before, after, problem, lost] of [
  [
    'the whole',
    'US',
    { VA: 9, MD: 9, TX: 9 },
    { VA: 5, MD: 6, TX: 6 },
    'it has 27 records, and the load has 17',
    'US',
  ],
  ['two thirds of the whole', 'US', { VA: 9 }, { VA: 6 }],
  ['states with ten and more', 'US', { VA: 10, NC: 12, MD: 90 }, { VA: 6, MD: 90 }, LARGE, 'VA NC'],
  [
    'a state with nine, two thirds of one with twelve',
    'US',
    { VA: 9, NC: 12, MD: 90 },
    { NC: 8, MD: 90 },
  ],
  [
    'a state by itself',
    ['VA'],
    { VA: 3 },
    { VA: 1 },
    'VA has 3 records here and 1 in the load',
    'VA',
  ],
  ['two thirds of a state', ['VA'], { VA: 3 }, { VA: 2 }],
  [
    'one of two',
    ['VA', 'MD'],
    { VA: 9, MD: 9 },
    { VA: 2, MD: 16 },
    'VA has 9 records here and 2 in the load',
    'VA',
  ],
  ['three of five', FIVE, NINE, { UT: 9, OH: 9 }, NINE_LOST, 'VA MD TX'],
  ['four of five', FIVE, NINE, { UT: 9, OH: 1 }, `${NINE_LOST}; and 1 more`, 'VA MD TX OH'],
] as const) {
  test(`a loss is refused or not, and names all states to the program: ${what}`, async (t) => {
    const { load } = loading(t);
    await load('cell-towers', towers(t, before), { states });
    const again = load('cell-towers', towers(t, after), { states });
    if (problem === undefined) await again;
    else await assert.rejects(again, refused(problem, { states: lost!.split(' ') }));
  });
}

test('a state of national data is compared with itself', async (t) => {
  const { database, load } = loading(t);
  const loadIn = (
    states: 'US' | string[],
    counts: Readonly<Record<string, number>>,
    replace = false,
  ) => load('cell-towers', towers(t, counts), { states, replace });
  const rows = () => describeData(database).datasets[0]!.rows;
  await loadIn('US', { VA: 40, MD: 30, TX: 100, OH: 5 });
  const lost = (state: string, here: number, now: number) =>
    refused(`${state} has ${here} records here and ${now} in the load`, { states: [state] });
  await assert.rejects(loadIn('US', { MD: 30, TX: 120, OH: 5 }), lost('VA', 40, 0));
  // Five may go by chance.
  await loadIn('US', { VA: 41, MD: 30, TX: 100 });
  assert.equal(rows(), 171);
  // A state in place of its share of the whole US is compared with that share.
  await assert.rejects(loadIn(['MD'], { MD: 12 }), lost('MD', 30, 12));
  await loadIn(['MD'], { MD: 12 }, true);
  assert.equal(rows(), 153);
  await assert.rejects(loadIn(['VA'], { VA: 1 }), lost('VA', 41, 1));
  await assert.rejects(loadIn('US', { VA: 41, MD: 7, TX: 100 }), lost('MD', 12, 7));
});

test('older years do not take the place of newer ones in silence, of the whole US or of a state', async (t) => {
  const inVirginia = 'VA is of 2023 here and of 2022 in the load';
  for (const [loaded, stored, ...problems] of [
    ['VA 2022', 'VA 2023', inVirginia],
    ['VA 2005-2022', 'US 2006-2023', inVirginia],
    [
      'US 2022',
      'VA 2023, MD 2021, NC 2024',
      'NC is of 2024 here and of 2022 in the load',
      inVirginia,
    ],
    ['VA 2023', 'VA 2023'],
    ['VA 2022', 'US 2023, VA 2021'],
    ['VA 2022', 'MD 2023'],
    ['VA to 2022', 'VA 2023'],
    ['VA 2022-01', 'VA 2023', 'VA is of 2023 here and of 2022-01 in the load'],
    ['VA 2023-01', 'VA 2023'],
    ['VA February 2025', 'VA 2026-08', 'VA is of 2026-08 here and of February 2025 in the load'],
    [
      'VA edited 2025-02-01',
      'VA edited 2026-05-01',
      'VA is of 2026-05-01 here and of 2025-02-01 in the load',
    ],
    ['VA edited 2025-02-01', 'VA 2026'],
  ] as const) {
    const { database, load } = loading(t);
    const loadPart = (part: string, replace = false) => {
      const [state, vintage] = [part.slice(0, 2), part.slice(3)];
      const file = towers(t, state === 'US' ? { VA: 1, MD: 1, NC: 1 } : { [state]: 1 });
      return load('cell-towers', file, {
        states: state === 'US' ? 'US' : [state],
        vintage,
        replace,
      });
    };
    for (const part of stored.split(', ')) await loadPart(part, true);
    if (problems.length > 0) {
      const error = refused(problems.join('; '), {
        states: problems.map(() => loaded.slice(0, 2)),
      });
      await assert.rejects(loadPart(loaded), { ...error, hint: /the newer file.*--replace/ });
      await loadPart(loaded, true);
    } else await loadPart(loaded);
    const parts = describeData(database).datasets[0]!.parts.map(
      ({ state, vintage }) => `${state} ${vintage}`,
    );
    const others = loaded.startsWith('US')
      ? []
      : stored.split(', ').filter((part) => !part.startsWith('VA'));
    assert.deepEqual(parts, [...others, loaded]);
  }
});

test('a file of some states that is loaded by hand adds to the others', async (t) => {
  const { database, load } = loading(t);
  const loadAll = (counts: Readonly<Record<string, number>>, options = {}) =>
    load('cell-towers', towers(t, counts), options);
  const parts = () =>
    describeData(database).datasets[0]!.parts.map(({ state, rows }) => `${state} ${rows}`);
  await loadAll({ MD: 3, NC: 3, GA: 3 });
  const { notes } = await loadAll({ VA: 2, MD: 4 });
  assert.ok(notes.includes('Unchanged, in other states: 6 records.'), notes.join());
  assert.deepEqual(parts(), ['GA 3', 'MD 4', 'NC 3', 'VA 2']);
  await loadAll({ VA: 1 }, { replace: true });
  assert.deepEqual(parts(), ['VA 1']);
  // A state without a part of its own stays in that of the whole US.
  await loadAll({ MD: 3 }, { states: 'US', replace: true });
  await loadAll({ MD: 4 });
  assert.deepEqual(parts(), ['US 4']);
});

test('a download that lacks states of the one before is refused, and lists six or seven, or six and the rest', async (t) => {
  const database = openDatabase(t);
  const downloading = (...states: string[]) => {
    const files = [towers(t, Object.fromEntries(states.map((state) => [state, 3])))];
    const effects = { clock: new StillClock(), onRecords: () => {} };
    const parts = [{ of: null, files, options: {} }];
    return loadParts(database, 'cell-towers', parts, { askedOf: 'cell-towers' }, effects);
  };
  await downloading('MD', 'NC', 'GA', 'TX');
  const states = ['VA', 'NC', 'MD', 'GA', 'FL', 'AL', 'SC', 'WV'];
  for (const [count, listed] of [
    [6, 'AL, FL, GA, MD, NC, VA'],
    [7, 'AL, FL, GA, MD, NC, SC, VA'],
    [8, 'AL, FL, GA, MD, NC, SC and 2 more'],
  ] as const) {
    const problem = `the file covers ${listed}, and the rows of TX would be lost`;
    const covered = states.slice(0, count).sort();
    await assert.rejects(downloading(...covered), refused(problem, { covered }));
  }
});

const outline = (at: number) => ({
  type: 'Polygon',
  coordinates: [
    [
      [at, 38],
      [at + 0.01, 38],
      [at + 0.01, 38.01],
      [at, 38],
    ],
  ],
});
const parksWith = (t: TestContext, drawn: number, lost: readonly unknown[]) =>
  fileOf(
    t,
    'parks.geojson',
    geojson([
      ...Array.from({ length: drawn }, (_, index) => ({
        geometry: outline(-78 + index / 1e4),
        properties: {},
      })),
      ...lost.map((geometry) => ({ geometry, properties: {} })),
    ]),
  );

test('outlines without a geometry in degrees: few are told and stay known, more are refused', async (t) => {
  const { database, load } = loading(t);
  const empty = { type: 'Polygon', coordinates: [] };
  const few = await load('parks', parksWith(t, 1_999, [null, empty]), {
    states: ['VA'],
    vintage: '2024',
  });
  assert.deepEqual(rejects(few), [['it has no geometry', 2, 1]]);
  assert.equal(few.vintage, '2024, without 2 records that had no outline in degrees');
  assert.equal(describeData(database).datasets[0]!.vintage, few.vintage);

  const many = parksWith(t, 1_997, [null, empty, outline(260)]);
  const tooMany = {
    code: 'SERVICE_DATA',
    message: /3 of 2,000 outlines have no geometry in degrees/,
  };
  await assert.rejects(load('parks', many, { states: ['VA'] }), tooMany);
  assert.equal((await load('parks', many, { states: ['VA'], replace: true })).records, 1_997);
});

test('an older file of any dated source is asked before it replaces a newer one', async (t) => {
  const { database, load } = loading(t);
  const plants = (period: string) =>
    fileOf(t, 'plants.csv', `Plant_Code,Period,Latitude,Longitude\n1,${period},38,-78\n`);
  const stations = (day: string) =>
    fileOf(
      t,
      'stations.csv',
      `Fuel Type Code,Station Name,Updated At,Latitude,Longitude\nE85,A,${day},38,-78\n`,
    );
  for (const [loader, file, newer, older, problem] of [
    [
      'power-plants',
      plants,
      '202602',
      '202512',
      'VA is of 2026-02 here and of 2025-12 in the load',
    ],
    [
      'alternative-fuels',
      stations,
      '2026-05-02',
      '2026-04-30',
      'VA is of 2026-05-02 here and of 2026-04-30 in the load',
    ],
  ] as const) {
    await load(loader, file(newer));
    await assert.rejects(load(loader, file(older)), {
      code: 'SERVICE_DATA',
      message: new RegExp(problem),
    });
    await load(loader, file(newer));
    assert.equal((await load(loader, file(older), { replace: true })).records, 1);
  }
  // At a publisher the newest record may be withdrawn, not those of months.
  const clock = new StillClock();
  const options = {};
  await load('alternative-fuels', stations('2026-05-02'));
  const effects = { clock, onRecords: () => {} };
  const get = (day: string) => {
    const part = { of: 'VA', files: [stations(day)], options };
    const terms = { askedOf: 'alternative-fuels' };
    return loadParts(database, 'alternative-fuels', [part], terms, effects);
  };
  await get('2026-04-30');
  await assert.rejects(get('2026-03-15'), /VA is of 2026-04-30 here and of 2026-03-15 in the load/);
});
