import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openCells } from '../store/open-cells.ts';
import { column, openHarness, places } from './harness.ts';

/** Takes the last field from every answer, as a version with one column less would have kept them. */
function narrowAnswers(file: string): void {
  const cells = openCells(file);
  const { handle: database } = cells;
  type Key = { source: number; lat7: number; lng7: number };
  const rows = database.prepare<[], Key>('SELECT source, lat7, lng7 FROM cells').all();
  for (const { source, ...cell } of rows) {
    const answers = [...cells.read(source, cell)!.answers.values()];
    const narrow = answers.map((answer) => ({ ...answer, fields: answer.fields.slice(0, -1) }));
    cells.merge(source, cell, narrow, []);
  }
  database.close();
}

test('answers of another width, which are written as empty fields, are not called ok, and are bought again', async (t) => {
  const harness = await openHarness(t);
  harness.writeInput(places(3));
  await harness.run({ topics: ['hail'] });
  narrowAnswers(join(harness.folder, 'store.db'));
  await harness.run({ topics: ['hail'], budget: 0 });
  const written = column(harness.output(), 'hail_rating').map((rating, row) => [
    column(harness.output(), 'hazard_status')[row],
    rating === '' ? 'empty' : 'filled',
  ]);
  for (const pair of written) assert.notDeepEqual(pair, ['ok', 'empty']);
  const again = await harness.run({ topics: ['hail'] });
  assert.deepEqual([again.summary.status.ok, again.summary.credits_spent], [3, 3]);
  assert.ok(column(harness.output(), 'hail_rating').every((rating) => rating !== ''));
});
