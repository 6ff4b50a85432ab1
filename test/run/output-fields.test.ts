import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addedColumns, completeFields } from '../../src/columns/row.ts';
import type { Field } from '../../src/contract/answer.ts';
import { makeJob } from '../../src/job/settings.ts';
import { placeFields } from '../../src/rows/placed-fields.ts';
import { CompleteCells } from '../../src/run/plan/complete-cells.ts';
import { CellTable } from '../../src/run/scan/cell-table.ts';
import { RowPlaces } from '../../src/run/scan/row-places.ts';
import type { Scan } from '../../src/run/scan/scan-input.ts';
import { OutputFields } from '../../src/run/write/output-fields.ts';
import { ratingCounter } from '../../src/run/write/rating-counts.ts';
import { FieldPacker } from '../../src/store/answers/packed-fields.ts';

const TEXTS = ['Very High', 'Low'];
const packer = new FieldPacker({
  numberOf: (text) => TEXTS.indexOf(text),
  textOf: (number) => TEXTS[number]!,
});
const form = { width: 6, packer, stated: '', fields: () => [] };

test('fields come from the plan, or are read once, in the order asked; the first pass counts them', async () => {
  const job = makeJob([{ input: '-', topics: ['hail', 'wildfire'] }], {
    dataFolder: '/',
    workingFolder: '/',
  });
  const complete = new CompleteCells();
  const cells = new CellTable();
  for (let lat7 = 0; lat7 < 4; lat7++) cells.add({ lat7, lng7: 0 });
  const completeWith = (rating: string) => {
    return {
      ...form,
      asOf: 0,
      hasNull: false,
      packed: Buffer.from(packer.pack([rating, 1, 2, 'Low', 3, 4])),
    };
  };
  complete.put(2, completeWith('Low'));
  using places = new RowPlaces();
  for (const cell of [0, 1, 2, 3]) places.addCell(cell);
  places.addUnlocated('unreadable', 'torn');
  const scan = { cells, places, layout: { hasPoints: false } } as unknown as Scan;
  const reads: (readonly number[])[] = [];
  const counted = completeFields(['hail', 'wildfire'], true, () => false, 0);
  const read = async (numbers: readonly number[]) => {
    reads.push(numbers);
    const lacking = { status: 'failed' as const, hasAnswers: false, fields: ['failed'] };
    return numbers.map((cell) => (cell === 3 ? lacking : completeWith('Very High')));
  };
  const output = new OutputFields(
    job,
    { scan, complete },
    { bare: [['torn']], completeOf: () => counted, read },
  );
  const given: Field[] = [];
  const sink = placeFields((_, fields) => given.push(fields[3] ?? fields[0]!));
  await output.give(sink, [3, 4, 2, 0]);
  assert.deepEqual(given.splice(0), ['failed', 'torn', 'Low', 'Very High']);
  await output.giveAll(sink);
  assert.deepEqual(given, ['Very High', 'Very High', 'Low', 'failed', 'torn']);
  assert.deepEqual(reads, [[0, 1, 3]]);
  const { status, cellsComplete, isComplete } = await output.sums();
  assert.deepEqual([status.ok, status.failed, status.invalid, cellsComplete], [3, 1, 1, 3]);
  assert.deepEqual([isComplete(0), isComplete(3)], [true, false]);
});

test('a sink gets the fields that an array of them has, and no memory is held after a release', () => {
  const completeOf = completeFields(['hail', 'wildfire'], false, () => false, 0);
  const complete = new CompleteCells();
  const rows: Field[][] = [
    ['Low', 12.5, 0.001, 'Very High', 100, -0.25],
    [null, null, null, 'Low', 1 / 3, 0],
    ['Low', null, 2_000_000, null, 3, 4],
    ['an own text', 1e-7, 300, '2026-03-10T12:00:00.000Z', 0.5, null],
  ];
  for (const [cell, fields] of rows.entries()) {
    const hasNull = fields[0] === null || fields[3] === null;
    complete.put(cell, {
      ...form,
      asOf: 1e12 + cell,
      hasNull,
      packed: Buffer.from(packer.pack(fields)),
    });
  }
  for (const [cell, fields] of rows.entries()) {
    const taken: Field[] = [];
    const put = (field: Field) => taken.push(field);
    const sink = {
      put,
      putMillionths: (count: number) => put(count / 1e6),
      putText: put,
      endPlace: () => {},
    };
    complete.putFields(cell, completeOf, sink);
    assert.deepEqual(taken, complete.fields(cell, completeOf));
    assert.deepEqual(taken.slice(3), fields);
    assert.equal(taken[1], cell === 1 ? 'no data here: hail' : null);
  }
  complete.release();
  assert.equal(complete.has(0), false);
});

const JOB = { topics: ['hail', 'wildfire', 'park'], counts: false } as const;
const columns = addedColumns(JOB.topics, '', JOB.counts).map(({ name }) => name);

/** Two places, of three rows worth 10 each and of one worth 5. */
function twoPlaces(): CellTable {
  const cells = new CellTable();
  for (const value of [10, 10, 5, 10]) cells.add({ lat7: value, lng7: -900_000_000 }, value);
  return cells;
}

const fieldsWith = (named: Readonly<Record<string, Field>>) =>
  columns.map((name) => named[name] ?? null);

test('ratings are counted as the fields go by, and the fields arrive as they were', () => {
  const arrived: Field[][] = [[]];
  const { counting, ratings } = ratingCounter(JOB, twoPlaces());
  const sink = counting({
    put: (field) => arrived.at(-1)!.push(field),
    putMillionths: (millionths) => arrived.at(-1)!.push(millionths / 1e6),
    putText: (text) => arrived.at(-1)!.push(text),
    endPlace: () => arrived.push([]),
  });
  const places = [
    fieldsWith({
      hazard_status: 'ok',
      hail_rating: 'Very High',
      hail_score: 99.5,
      wildfire_rating: 'Very Low',
    }),
    fieldsWith({ hazard_status: 'partial', hail_rating: 'Relatively High', park_count: 2 }),
    // Rows that were not looked up.
    fieldsWith({ hazard_status: 'invalid' }),
  ];
  for (const fields of places) {
    for (const field of fields) {
      if (typeof field === 'number') sink.putMillionths(field * 1e6);
      else if (typeof field === 'string') sink.putText(field, 1);
      else sink.put(field);
    }
    sink.endPlace();
  }
  assert.deepEqual(arrived.slice(0, -1), places);
  const count = (rows: number, value: number) => ({ rows, value });
  assert.deepEqual(ratings, [
    { title: 'Hail', answered: count(4, 35), highest: [count(3, 30), count(1, 5)] },
    { title: 'Wildfire', answered: count(3, 30), highest: [count(0, 0), count(0, 0)] },
  ]);
});
