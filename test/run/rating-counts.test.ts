import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addedColumns } from '../../src/columns/row.ts';
import type { Field } from '../../src/contract/answer.ts';
import { CellTable } from '../../src/run/scan/cell-table.ts';
import { ratingCounter } from '../../src/run/write/rating-counts.ts';

const JOB = { topics: ['hail', 'wildfire', 'park'], counts: false } as const;
const columns = addedColumns(JOB.topics, '', JOB.counts).map(({ name }) => name);

/** Two places, of three rows worth 10 each and of one worth 5. */
function twoPlaces(): CellTable {
  const cells = new CellTable();
  for (const value of [10, 10, 5, 10]) cells.add({ lat7: value, lng7: -900_000_000 }, value);
  return cells;
}

const fieldsWith = (named: Readonly<Record<string, Field>>) => columns.map((name) => named[name] ?? null);

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
    fieldsWith({ hazard_status: 'ok', hail_rating: 'Very High', hail_score: 99.5, wildfire_rating: 'Very Low' }),
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
