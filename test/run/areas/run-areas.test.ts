import assert from 'node:assert/strict';
import { test } from 'node:test';
import { areaAnswer, columnsOf } from '../../../src/columns/topic-columns.ts';
import { type Answer, type CellRecord, EMPTY_RECORD } from '../../../src/contract/answer.ts';
import type { TopicSlug } from '../../../src/contract/topics.ts';
import { makeJob } from '../../../src/job/settings.ts';
import { AreaTable } from '../../../src/run/areas/area-table.ts';
import {
  areaTopics,
  isTrusted,
  verifyAreas,
  verifyingCells,
} from '../../../src/run/areas/area-verification.ts';
import { type AreaPlan, planAreas, RunAreas } from '../../../src/run/areas/run-areas.ts';
import { makeFreshness } from '../../../src/run/frame/freshness.ts';
import { CellTable } from '../../../src/run/scan/cell-table.ts';
import type { StoredArea } from '../../../src/store/answers/port.ts';
import { TopicSets, topicSet, topicsIn } from '../../../src/store/answers/topic-set.ts';
import type { Store } from '../../../src/store/port.ts';

const NOW = Date.UTC(2026, 2, 15);
const DAY = 86_400_000;
// An answer to `hail` holds for a tract, one to `radon` for a county, one to `park` for its place alone.
const TOPICS: TopicSlug[] = ['hail', 'park', 'radon'];
const job = makeJob([{ input: 'in.csv', topics: TOPICS, areas: 'tract' }], {
  dataFolder: '/',
  workingFolder: '/',
});
const freshness = makeFreshness(job, NOW);
const inOrder = (a: number, b: number) => a - b;

const answer = (topic: TopicSlug, rating = 'High', asOf = NOW - DAY): Answer => ({
  topic,
  asOf,
  fields: columnsOf(topic).map((_, index) => (index === 0 ? rating : null)),
});
const recordOf = (...answers: Answer[]): CellRecord => ({
  answers: new Map(answers.map((each) => [each.topic, each])),
  failures: new Map(),
});
const areaOf = (...answers: Answer[]): StoredArea => ({
  answers: recordOf(...answers.map(areaAnswer)).answers,
  mismatchedAt: null,
});

/** Cells in these tracts and counties; null: in none. */
function scanOf(tracts: readonly (string | null)[], counties: readonly (string | null)[] = []) {
  const [cells, areas] = [new CellTable(), new AreaTable()];
  for (const [cell, tract] of tracts.entries()) {
    cells.add({ lat7: cell, lng7: 7 * cell });
    areas.record(cell, 'tract', tract);
    areas.record(cell, 'county', counties[cell] ?? null);
  }
  return { cells, areas };
}

/** A store of these cells and areas. */
function storeOf(stored: Record<string, StoredArea>, records: Record<number, CellRecord> = {}) {
  const reading = {
    readAreas: async (_: number, names: readonly string[]) =>
      names.map((name) => stored[name] ?? null),
    read: async (_: number, cells: readonly { lat7: number }[]) =>
      cells.map(({ lat7 }) => records[lat7] ?? null),
  };
  return { job, store: reading as unknown as Store, source: 1, freshness };
}

test('boundaries are trusted while one area differs, or one in fifty', () => {
  const cases: readonly (readonly [verified: number, differed: number, trusted: boolean])[] = [
    [0, 0, true],
    [1, 1, true],
    [20, 1, true],
    [20, 2, false],
    [99, 2, false],
    [100, 2, true],
    [149, 3, false],
    [150, 3, true],
  ];
  for (const [verified, differed, trusted] of cases)
    assert.equal(isTrusted({ verified, differed }), trusted, `${differed} of ${verified}`);
});

test('twenty spared cells verify, or one in a hundred; never the first of an area, nor a cell in none', () => {
  const verifying = (tracts: readonly (string | null)[], compare = inOrder) =>
    [...verifyingCells(areaTopics(job), scanOf(tracts), compare)].sort(inOrder);
  assert.deepEqual(verifying(['1', '1', null, '2', '2', '3']), [1, 4]);
  assert.deepEqual(
    verifying(['1', '1', null, '2', '2', '3'], (a, b) => b - a),
    [0, 3],
  );
  assert.deepEqual(verifying([null, null]), []);
  const many = (count: number) => verifying(Array.from({ length: count }, () => '1'));
  assert.equal(many(21).length, 20);
  assert.equal(many(1_000).length, 20);
  assert.deepEqual(many(1_000), many(1_000));
  const share = many(10_000).length;
  assert.ok(share > 70 && share < 130, String(share));
  const all = makeJob([{ input: 'in.csv', topics: ['park'] }], {
    dataFolder: '/',
    workingFolder: '/',
  });
  assert.equal(verifyingCells(areaTopics(all), scanOf(['1', '1']), inOrder).size, 0);
});

test('an area differs where the answer at a place is another, of comparable time, and both are fresh', async () => {
  const old = NOW - 366 * DAY;
  // The oldest time that is fresh.
  const edge = NOW - 365 * DAY;
  const cases: readonly (readonly [
    own: Answer[],
    area: StoredArea,
    verified: number,
    differed: number,
  ])[] = [
    [[answer('hail')], areaOf(answer('hail')), 1, 0],
    [[answer('hail', 'Low')], areaOf(answer('hail')), 1, 1],
    [[], areaOf(answer('hail')), 0, 0],
    [[answer('hail')], areaOf(), 0, 0],
    [[answer('hail', 'Low', old)], areaOf(answer('hail')), 0, 0],
    [[answer('hail', 'Low', old)], areaOf(answer('hail', 'High', old)), 0, 0],
    [[answer('hail', 'Low', NOW - 30 * DAY)], areaOf(answer('hail', 'High', NOW)), 1, 1],
    [[answer('hail', 'Low', NOW - 30 * DAY - 1)], areaOf(answer('hail', 'High', NOW)), 0, 0],
    [[answer('hail', 'Low', edge)], areaOf(answer('hail', 'High', edge)), 1, 1],
    [[answer('hail', 'Low', edge - 1)], areaOf(answer('hail', 'High', edge + 1)), 0, 0],
    [[answer('hail')], { ...areaOf(answer('hail')), mismatchedAt: NOW }, 1, 1],
    [[answer('park', 'Low')], areaOf(answer('park')), 0, 0],
    [[answer('radon', 'Low')], areaOf(answer('radon')), 0, 0],
  ];
  for (const [own, area, verified, differed] of cases) {
    const context = storeOf({}, { 1: recordOf(...own) });
    const request = { ...context, scan: scanOf(['1', '1', null]) };
    const topics = areaTopics(job);
    const stored = new Map([['tract 1', area]]);
    const found = await verifyAreas(request, { topics, verifying: new Set([1, 2]) }, stored);
    assert.deepEqual(found, { verified, differed }, JSON.stringify([own, [...area.answers]]));
    const first = new Set([1]);
    assert.deepEqual(await verifyAreas(request, { topics, verifying: first }, new Map()), {
      verified: 0,
      differed: 0,
    });
  }
});

test('the first cell of an area is bought for all; the others lack only what differs from place to place', async () => {
  const scan = scanOf(['1', '1', '2', '2', null, '3', '3'], ['9', '9', '9', '9', '9', null, null]);
  const stored = {
    'tract 2': areaOf(answer('hail')),
    'tract 3': { ...areaOf(answer('hail')), mismatchedAt: NOW - DAY },
    'county 9': areaOf(answer('radon', '1', NOW - 800 * DAY)),
  };
  const missing = new TopicSets(7);
  for (let cell = 0; cell < 7; cell++) missing.set(cell, topicSet(TOPICS));
  const order = [...missingCells(7)];
  const planned = await planAreas({
    context: storeOf(stored),
    scan,
    compare: inOrder,
    order,
    missing,
  });
  const lacks = order.map((cell) => topicsIn(planned.missing.get(cell)));
  const { represents, verifying, verified, representatives, spared, verification } =
    planned.areas.plan;
  assert.deepEqual([...represents], [[0, topicSet(['hail', 'radon'])]]);
  assert.deepEqual([...verifying].sort(inOrder), [1, 2, 3, 4, 6]);
  assert.deepEqual([representatives, verified, spared], [1, 4, 0]);
  assert.deepEqual(verification, { verified: 0, differed: 0 });
  assert.deepEqual(
    lacks,
    order.map(() => TOPICS),
  );
});

const missingCells = (count: number) => Array.from({ length: count }, (_, cell) => cell);

test('cells beyond the verifying ones are spared, unless the areas differ or the boundaries are not trusted', async () => {
  const tracts = [
    ...Array.from({ length: 60 }, () => '1'),
    ...Array.from({ length: 60 }, () => '2'),
  ];
  const scan = scanOf(tracts);
  const order = missingCells(120);
  const missing = new TopicSets(120);
  for (const cell of order) missing.set(cell, topicSet(['hail', 'park']));
  const verifying = [...verifyingCells(areaTopics(job), scan, inOrder)];
  const planOf = async (
    stored: Record<string, StoredArea>,
    records: Record<number, CellRecord> = {},
  ) => {
    const context = storeOf(stored, records);
    const { areas, missing: left } = await planAreas({
      context,
      scan,
      compare: inOrder,
      order,
      missing,
    });
    const lacking = order.filter((cell) => topicsIn(left.get(cell)).includes('hail'));
    assert.ok(order.every((cell) => topicsIn(left.get(cell)).includes('park')));
    return { ...areas.plan, lacking };
  };
  const inFirst = verifying.filter((cell) => cell < 60);
  const inSecond = verifying.filter((cell) => cell >= 60);
  const sorted = (...cells: number[]) => cells.sort(inOrder);
  const fresh = await planOf({});
  assert.deepEqual(fresh.lacking, sorted(0, 60, ...verifying));
  assert.deepEqual([fresh.representatives, fresh.verified, fresh.spared], [2, 20, 98]);
  const first = areaOf(answer('hail'));
  const oldest = areaOf(answer('hail', 'High', NOW - 365 * DAY));
  assert.deepEqual((await planOf({ 'tract 1': oldest })).lacking, sorted(60, ...verifying));
  assert.deepEqual((await planOf({ 'tract 1': first })).lacking, sorted(60, ...verifying));
  const stale = areaOf(answer('hail', 'High', NOW - 366 * DAY));
  assert.deepEqual((await planOf({ 'tract 1': stale })).lacking, fresh.lacking);
  const mismatched = { ...first, mismatchedAt: NOW };
  const apart = await planOf({ 'tract 1': mismatched });
  assert.deepEqual(apart.lacking, sorted(...missingCells(60), 60, ...inSecond));
  assert.equal(missing.get(1), topicSet(['hail', 'park']), 'what is missing stays as it was');
  const other = recordOf(answer('hail', 'Low'));
  const records = { [inFirst[0]!]: other, [inSecond[0]!]: other };
  const bothDiffer = await planOf({ 'tract 1': first, 'tract 2': first }, records);
  assert.deepEqual(bothDiffer.verification, { verified: 2, differed: 2 });
  assert.deepEqual([bothDiffer.lacking, bothDiffer.spared], [order, 0]);
});

/** The areas of a run in which these cells stand for their areas, and these verify. */
function areasOf(
  context: ReturnType<typeof storeOf>,
  scan: ReturnType<typeof scanOf>,
  represents: readonly (readonly [cell: number, topics: readonly TopicSlug[]])[] = [],
  verifying: readonly number[] = [],
  verification = { verified: 0, differed: 0 },
): RunAreas {
  const plan: AreaPlan = {
    topics: areaTopics(job),
    verifying: new Set(verifying),
    represents: new Map(represents.map(([cell, topics]) => [cell, topicSet(topics)])),
    ...{ representatives: 0, verified: 0, spared: 0, verification },
  };
  return new RunAreas(context, scan, plan);
}

test('a row takes the answer of its area for a topic without a fresh one of its own, from areas that agree', async () => {
  const scan = scanOf(['1', null]);
  const readOf = async (stored: StoredArea) =>
    (await areasOf(storeOf({ 'tract 1': stored }), scan).read())!;
  const stale = answer('hail', 'Low', NOW - 366 * DAY);
  const area = areaOf(answer('hail'), answer('park'));
  const cases: readonly (readonly [own: Answer[], area: StoredArea, rating: string | undefined])[] =
    [
      [[], area, 'High'],
      [[stale], area, 'High'],
      [[answer('hail', 'Low')], area, 'Low'],
      [[answer('hail', 'Low', NOW - 365 * DAY)], area, 'Low'],
      [[], areaOf(answer('hail', 'High', NOW - 365 * DAY)), 'High'],
      [[], { ...area, mismatchedAt: NOW }, undefined],
      [[], areaOf(answer('hail', 'High', NOW - 366 * DAY)), undefined],
      [[], areaOf(), undefined],
    ];
  for (const [own, stored, rating] of cases) {
    const { record, used } = (await readOf(stored))(recordOf(...own), 0);
    assert.equal(record.answers.get('hail')?.fields[0], rating);
    assert.equal(record.answers.has('park'), false);
    assert.deepEqual(used, rating === 'High' ? ['tract 1'] : []);
  }
  assert.deepEqual((await readOf(area))(EMPTY_RECORD, 1).used, []);
  const distrusted = areasOf(storeOf({ 'tract 1': area }), scan, [], [], {
    ...{ verified: 2, differed: 2 },
  });
  assert.equal(await distrusted.read(), null);
});

test('a call claims and settles the topics of its areas, each for the area of its level', async () => {
  const scan = scanOf(['1', null, '2'], ['9', null, null]);
  const answers = TOPICS.map((topic) => answer(topic));
  const areas = areasOf(storeOf({}), scan);
  const since = NOW - 30 * DAY;
  const settled = (cell: number) =>
    areas.listAnswers(cell, answers).map(({ area, answers: of, comparableSince }) => {
      return `${area}: ${of.map(({ topic }) => topic)} since ${comparableSince}`;
    });
  assert.deepEqual(settled(0), [`tract 1: hail since ${since}`, `county 9: radon since ${since}`]);
  assert.deepEqual([settled(1), settled(2)], [[], [`tract 2: hail since ${since}`]]);
  assert.deepEqual(areas.listAnswers(0, [answer('park')]), []);
  // A verifying cell gives an area only the topics for which it stands for it; the others are compared.
  const verifying = areasOf(storeOf({}), scan, [[0, ['radon']]], [0]);
  assert.deepEqual(
    verifying.listAnswers(0, answers).map(({ area, isComparison = false }) => [area, isComparison]),
    [
      ['county 9', false],
      ['tract 1', true],
    ],
  );
  const wanted = TOPICS.map((topic) => ({ topic, freshSince: 0 }));
  const claimed = (cell: number, represented: TopicSlug[]) =>
    areasOf(storeOf({}), scan, [[cell, represented]])
      .listClaims(cell, wanted)
      .map(({ area, wanted: of }) => `${area}: ${of.map(({ topic }) => topic)}`);
  assert.deepEqual(claimed(0, ['hail']), ['tract 1: hail']);
  assert.deepEqual(claimed(0, ['hail', 'radon']).length, 2);
  assert.deepEqual([claimed(1, ['hail']), claimed(0, [])], [[], []]);

  const meanwhile = async (
    stored: Record<string, StoredArea>,
    represented: TopicSlug[] = ['hail', 'radon'],
  ) => topicsIn(await areasOf(storeOf(stored), scan, [[0, represented]]).findAnswered(0));
  const both = areaOf(answer('hail'), answer('radon'));
  assert.deepEqual(await meanwhile({}), []);
  assert.deepEqual(await meanwhile({ 'tract 1': both }), ['hail']);
  assert.deepEqual(await meanwhile({ 'tract 1': both, 'county 9': both }), ['hail', 'radon']);
  assert.deepEqual(await meanwhile({ 'tract 1': both, 'county 9': both }, ['radon']), ['radon']);
  assert.deepEqual(await meanwhile({ 'tract 1': { ...both, mismatchedAt: NOW } }), []);
  assert.deepEqual(
    await meanwhile({ 'tract 1': areaOf(answer('hail', 'High', NOW - 366 * DAY)) }),
    [],
  );
});

test('the cells of an area that is answered differently are bought for themselves, once; all where too many areas differ', async () => {
  const scan = scanOf(['1', '1', '2', '2', '3']);
  const [agreeing, differing] = [
    areaOf(answer('hail')),
    { ...areaOf(answer('hail')), mismatchedAt: NOW },
  ];
  const stored: Record<string, StoredArea> = { 'tract 1': differing, 'tract 2': agreeing };
  const records = { 0: recordOf(answer('hail')), 3: recordOf(answer('hail', 'Low')) };
  const areas = areasOf(storeOf(stored, records), scan, [], [3]);
  const notices: string[] = [];
  const find = async () => {
    const missing = await areas.findContradicted((message) => notices.push(message));
    return missing && [...missing].map(([cell, topics]) => [cell, ...topicsIn(topics)]);
  };
  assert.deepEqual(await find(), [
    [0, 'park', 'radon'],
    [1, ...TOPICS],
  ]);
  assert.equal(await find(), null, 'the area was named before');
  assert.deepEqual([areas.verification, areas.isTrusted], [{ verified: 1, differed: 1 }, true]);
  const earlier = areasOf(storeOf({ 'tract 1': { ...differing, mismatchedAt: NOW - 1 } }), scan);
  assert.equal(await earlier.findContradicted(() => {}), null, 'the plan knew it');
  stored['tract 2'] = { ...areaOf(answer('hail', 'Medium')), mismatchedAt: NOW };
  const both = areasOf(storeOf(stored, records), scan, [], [0, 3]);
  const all = await both.findContradicted((message) => notices.push(message));
  assert.deepEqual([[...all!.keys()], both.isTrusted], [[0, 1, 2, 3], false]);
  assert.equal(await both.findContradicted(() => {}), null, 'each place is bought already');
  assert.deepEqual(notices, [
    'Two locations of tract 1 were answered differently: its locations are bought one by one.',
    '2 areas verified, 2 differed: the boundaries on this machine are not those of the service, so each place is bought for itself.',
  ]);
});
