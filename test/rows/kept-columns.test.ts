import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  findPerilbookColumns,
  hasPerilbookColumns,
  ownWidth,
} from '../../src/rows/kept-columns.ts';

const FIRST = ['hazard_status', 'hazard_note', 'hazard_as_of'];

test("the columns of an earlier run begin with its first three, with any prefix, and no column of a user's is one", () => {
  for (const [names, width] of [
    [['lat', 'lng', ...FIRST], 2],
    [['lat', ...FIRST.map((name) => `x_${name}`), 'x_hail_score'], 1],
    [[...FIRST, 'lat'], 0],
    [['lat', 'hazard_status'], 2],
    [['my_hazard_status', 'lat'], 2],
    // The first of the three was renamed or left out.
    [['lat', 'status_of_haz', 'hazard_note', 'hazard_as_of'], 4],
    [['hazard_status', 'hazard_note'], 2],
    // Of two, the prefixes differ.
    [['hazard_status', 'x_hazard_note', 'x_hazard_as_of'], 3],
  ] as const) {
    assert.equal(ownWidth(names), width, String(names));
    assert.equal(hasPerilbookColumns(names), width < names.length);
  }
});

test('the columns of an earlier run are dropped only where no foreign column follows them', () => {
  const own = new Set([...FIRST, 'hail_score']);
  assert.equal(findPerilbookColumns(['lat', ...FIRST, 'hail_score'], own), 1);
  assert.equal(findPerilbookColumns([...FIRST, 'hail_score'], own), 0);
  assert.equal(findPerilbookColumns(['lat', ...FIRST, 'hail_score', 'mine'], own), null);
  assert.equal(findPerilbookColumns(['lat', 'hazard_status', 'hail_score'], own), null);
  assert.equal(
    findPerilbookColumns(['lat', 'hail_score', 'hazard_note', 'hazard_as_of'], own),
    null,
  );
});
