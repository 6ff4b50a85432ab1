import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { completeFields, enrichedFields } from '../../src/columns/row.ts';
import { cellStatus } from '../../src/columns/row-status.ts';
import { columnsOf, wantedColumns } from '../../src/columns/topic-columns.ts';
import {
  type Answer,
  type CellRecord,
  EMPTY_RECORD,
  type Field,
} from '../../src/contract/answer.ts';
import { type TopicSlug, topicOf } from '../../src/contract/topics.ts';
import { outputWidth, placeUnpacker } from '../../src/formats/packed/output-places.ts';
import { missingTopics, timesOf } from '../../src/run/frame/freshness.ts';
import { type Prepared, prepare } from '../../src/run/prepare.ts';
import { openOutputFields } from '../../src/run/write/output-fields.ts';
import type { CellAnswers } from '../../src/store/answers/port.ts';
import { openHarness, places, type RunOptions } from './harness.ts';

const TOPICS: readonly TopicSlug[] = ['hail', 'wildfire', 'drought', 'floodZone', 'park'];
const RATINGS = ['Very Low', 'Relatively High', 'Very High'];
const DAY_MS = 86_400_000;
const COUNT = 420;

/** An answer of the form of its topic. */
function answerOf(topic: TopicSlug, number: number, asOf: number): Answer {
  const fields = columnsOf(topic).map(({ name, type }, index): Field => {
    if (name.endsWith('_rating')) return RATINGS[number % 3]!;
    if (type === 'count') return (number * 7919) % 100_000;
    if (type === 'text') return `${name} ${number % 9}`;
    return type === 'time' ? new Date(asOf).toISOString() : (number * 7919 + index) / 1e4 - 2;
  });
  return { topic, asOf, fields };
}

/** What a store may hold of a place: everything, nulls, failures, statements of a service, readings that have ended, ratings without a
 * number, nothing. */
function stored(number: number, now: number): Omit<CellAnswers, 'cell'> | null {
  if (number % 13 === 3) return null;
  const asOf = now - (number % 19 === 5 ? 3 * DAY_MS : number);
  let answers = TOPICS.map((topic) => answerOf(topic, number, asOf));
  let failures: CellAnswers['failures'] = [];
  const some = TOPICS[number % TOPICS.length]!;
  const change = (isOne: boolean, to: (answer: Answer) => Answer) => {
    if (isOne) answers = answers.map((answer) => (answer.topic === some ? to(answer) : answer));
  };
  change(number % 5 === 0, (answer) => ({ ...answer, fields: answer.fields.map(() => null) }));
  const stated = `[["nri 2025"],["remark ${number % 2}"]]`;
  change(number % 11 === 2, (answer) => ({ ...answer, stated }));
  change(number % 17 === 4, ({ fields, ...answer }) => ({
    ...answer,
    fields: [`own ${number}`, ...fields.slice(1)],
  }));
  if (number % 7 === 1) {
    const reason = (['failed', 'unavailable', 'rejected'] as const)[number % 3]!;
    failures = [{ topic: some, reason, note: `why ${number % 4}`, at: now + (number % 2) - 1 }];
    if (number % 2 === 0) answers = answers.filter(({ topic }) => topic !== some);
    change(number % 2 === 1, (answer) => ({ ...answer, asOf: 1e12 }));
  }
  if (number % 29 === 7) answers = answers.slice(0, 2);
  return { answers, failures };
}

/** A store with these places, and rows at each, twice at the first ones. */
async function openScene(t: TestContext, counts = false) {
  const harness = await openHarness(t, { factor: 0 });
  const { store, clock } = harness;
  const all = places(COUNT);
  harness.writeInput([...all, ...all.slice(0, 50), ['x', 'y'], [51.5, -0.1]]);
  const settings = { topics: [...TOPICS], counts };
  const open = async (options: RunOptions = {}) =>
    await prepare(await harness.open(settings, options));
  using prepared = await open();
  const { cells } = prepared.plan.scan;
  const told = cells.cells(0, cells.size).flatMap((cell, number) => {
    const of = stored(number, clock.now());
    return of === null ? [] : [{ cell, ...of }];
  });
  return { ...harness, open, told, put: (some = told) => store.putAnswers(prepared.source, some) };
}

/** Places with their answers to the first topic alone, or to the others. */
const withTopics = (told: readonly CellAnswers[], isFirst: boolean) =>
  told.map((of) => ({
    ...of,
    answers: of.answers.filter(({ topic }) => (topic === TOPICS[0]) === isFirst),
  }));

const besideOf = ({ lat7, lng7 }: CellAnswers['cell']) => ({ lat7: lat7 + 1, lng7 });

/** Writes places as a look-up does: into the store, and from there into the fields of its plan. The store learns of the other topics after
 * the first batch. */
async function writePlaces({ store, source, plan }: Prepared, told: readonly CellAnswers[]) {
  const fields = plan.fields.parts[0]!;
  const take = store.placeTaker(fields.beginWritten());
  const first = told.slice(0, 60);
  const batches = [
    withTopics(first, true),
    withTopics(first, false),
    told.slice(60, 90),
    told.slice(90),
  ];
  for (const batch of batches) {
    const write = store.packAnswers(source, batch);
    await fields.takeWritten(await take(await write()));
  }
}

/** The fields of a place by its record: what the packed ones must be. */
function expectedFields({ job, freshness, setAside }: Prepared, record: CellRecord): Field[] {
  const { topics, counts } = job;
  if (
    topics.every((topic) => (record.answers.get(topic)?.asOf ?? 0) >= freshness.freshSince(topic))
  ) {
    const answers = topics.map((topic) => record.answers.get(topic)!);
    const own = answers.flatMap(({ topic, fields }) =>
      fields.slice(0, wantedColumns(topic, counts).length),
    );
    const stated = answers.some((answer) => answer.stated)
      ? answers.map((answer) => answer.stated ?? '').join('\n')
      : '';
    const oldest = Math.min(...answers.map(({ asOf }) => asOf));
    return completeFields(topics, counts, () => false, freshness.startedAt)(oldest, own, stated);
  }
  const status = cellStatus(
    record,
    topics,
    (topic) => timesOf(freshness, topic),
    freshness.startedAt,
    undefined,
    setAside,
  );
  return enrichedFields(record, topics, status, () => false, counts, freshness.startedAt);
}

for (const [name, options, counts, isWritten] of [
  ['in memory', {}],
  ['in a file', { placeBytes: 0 }],
  ['in two threads, in memory and in a file', { placeBytes: 2 ** 13, rowThreads: 2 }],
  ['in memory, with counts of which some have ended', {}, true],
  ['as a look-up writes them', {}, true, 'new'],
  ['as a look-up writes them, whose texts are known', { placeBytes: 0 }, false, 'known'],
] as const) {
  test(`each place has the fields of its record, and plan and sums agree: ${name}`, async (t) => {
    const { open, put, told, store, notices } = await openScene(t, counts);
    await put(isWritten === undefined ? told : withTopics(told.slice(30, 90), true));
    // Answers whose texts the store knows are packed before they are written.
    if (isWritten === 'known') await put(told.map((of) => ({ ...of, cell: besideOf(of.cell) })));
    using prepared = await open(options);
    if (isWritten !== undefined) await writePlaces(prepared, told);
    const { plan, source, job, freshness } = prepared;
    const { cells } = plan.scan;
    const isInFile = plan.fields.parts[0]!.table.file !== null;
    assert.equal(isInFile, 'placeBytes' in options);
    const records = await store.read(source, cells.cells(0, cells.size));
    const { places: output, sums } = await openOutputFields(prepared, plan);
    const unpack = placeUnpacker(output);
    const { status, ratings, cellsComplete } = sums();
    const rows: Record<string, number> = {};
    const rated = new Map<string, number[]>();
    for (const [cell, record] of records.entries()) {
      const expected = expectedFields(prepared, record ?? EMPTY_RECORD);
      assert.deepEqual(unpack(cell), expected, `place ${cell}`);
      rows[String(expected[0])] = (rows[String(expected[0])] ?? 0) + cells.rows(cell);
      const lacks = missingTopics(record, job.topics, freshness);
      assert.equal(plan.fields.isComplete(cell), lacks.length === 0 && expected[0] !== 'rejected');
      let at = 3;
      for (const topic of job.topics) {
        const rating = expected[at];
        at += wantedColumns(topic, job.counts).length;
        if (topicOf(topic).category !== 'natural' || rating === null) continue;
        const sum = rated.get(topic) ?? [0, 0, 0];
        rated.set(topic, sum);
        sum[0]! += cells.rows(cell);
        const rank = ['Very High', 'Relatively High'].indexOf(String(rating));
        if (rank >= 0) sum[rank + 1]! += cells.rows(cell);
      }
    }
    assert.deepEqual(
      ratings.map(({ answered, highest }) => [answered, ...highest].map((sum) => sum.rows)),
      job.topics.flatMap((topic) => (rated.has(topic) ? [rated.get(topic)] : [])),
    );
    for (const [kind, count] of Object.entries(rows))
      assert.equal(status[kind as keyof typeof status], count, kind);
    assert.deepEqual([status.invalid, status.outside_us, cellsComplete > 100], [1, 1, true]);
    assert.deepEqual(unpack(cells.size).slice(0, 1), ['invalid']);
    assert.ok(
      unpack(cells.size)
        .slice(2)
        .every((field) => field === null),
    );
    assert.ok(Object.keys(rows).length === 4, Object.keys(rows).join());
    assert.deepEqual(notices, []);
  });
}

test('where the temporary folder is missing, that is told and the run goes on in memory', async (t) => {
  const { open, put, notices, folder } = await openScene(t);
  await put();
  const before = process.env.TMPDIR;
  process.env.TMPDIR = join(folder, 'none');
  t.after(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });
  using prepared = await open({ placeBytes: 0 });
  const { places: output } = await openOutputFields(prepared, prepared.plan);
  assert.equal(placeUnpacker(output)(4)[0], 'ok');
  assert.equal(notices.length, 1);
  assert.match(notices[0]!, /^The temporary folder has no room .*ENOENT.*they stay in memory/);
});

test('the fields of an input without rows are as many as its columns, for a part or a row group of none', async (t) => {
  const harness = await openHarness(t);
  harness.writeInput([]);
  using prepared = await prepare(await harness.open({ topics: ['hail', 'park'] }));
  const { places: output } = await openOutputFields(prepared, prepared.plan);
  assert.equal(outputWidth(output), prepared.plan.scan.layout.added.length);
});
