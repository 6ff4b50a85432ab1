import assert from 'node:assert/strict';
import { test } from 'node:test';
import { completeFields, enrichedFields } from '../../src/columns/row.ts';
import { columnsOf } from '../../src/columns/topic-columns.ts';

/** With an hour for clocks that differ. */
const DAY_MS = 25 * 3_600_000;
const NOW = Date.UTC(2027, 2, 15, 12);
const NAMES = columnsOf('wildfire').map(({ name }) => name);
const CURRENT = NAMES.indexOf('wildfire_current');
const FIELDS = ['Very High', 98.5, 0.01, 0, 3, 2];

/** The row of a place whose answer is of a time, as the plan has read it and as it was bought in pieces. */
function rowsOf(asOf: number, counts = true) {
  const fields = counts ? FIELDS : FIELDS.slice(0, 3);
  const answer = { topic: 'wildfire' as const, asOf, fields: FIELDS };
  const record = { answers: new Map([['wildfire' as const, answer]]), failures: new Map() };
  const whole = completeFields(['wildfire'], counts, () => false, NOW)(asOf, fields);
  return [
    whole,
    enrichedFields(record, ['wildfire'], { status: 'ok', note: '' }, () => false, counts, NOW),
  ] as const;
}

test('fires that burn now are counted for a day; then the count is empty, the note says why, and the rating stays', () => {
  assert.deepEqual(NAMES.slice(3), [
    'wildfire_current',
    'wildfire_historical',
    'wildfire_perimeters',
  ]);
  for (const asOf of [NOW, NOW - DAY_MS]) {
    for (const row of rowsOf(asOf))
      assert.deepEqual(row, ['ok', null, new Date(asOf).toISOString(), ...FIELDS]);
  }
  const asOf = NOW - DAY_MS - 1;
  for (const row of rowsOf(asOf)) {
    const [status, note, , ...fields] = row;
    assert.deepEqual(
      [status, note],
      ['ok', 'wildfire_current: unknown now, the answer is of 2027-03-14'],
    );
    assert.deepEqual(fields, FIELDS.with(CURRENT, null as never));
  }
  // Without the counts there is nothing of the present.
  for (const row of rowsOf(asOf, false)) assert.deepEqual(row.slice(0, 2), ['ok', null]);
});
