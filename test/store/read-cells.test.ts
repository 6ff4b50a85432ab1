import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { NATURAL_SLUGS } from '../../src/contract/topics.ts';
import type { Cell } from '../../src/geo/coordinates.ts';
import type { CompleteCell } from '../../src/store/answers/port.ts';
import { fc } from '../properties.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { openCells } from './open-cells.ts';

const TOPICS = NATURAL_SLUGS.slice(0, 3);
const CELLS = 4_600;
/** With all bytes that a text of SQLite could not hold. */
const fields = [null, 12.5, -3, '2026-01-15T11:00:00.000Z', 'Very High', '\0\ud800', 'é'.repeat(20), 0, 255];

const cellAt = (number: number): Cell => ({ lat7: 360_000_000 + 10_000 * (number % 70), lng7: -7 * number });

/** A store with cells of two sources in turn, with any answers and failures. */
function makeStore(file: string, seed: number): void {
  const { handle: database, merge } = openCells(file);
  database.exec("INSERT INTO sources (id, name) VALUES (2, 'other')");
  const ages = fc.sample(fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 3, maxLength: 3 }), {
    numRuns: CELLS,
    seed,
  });
  database.transaction(() => {
    for (const [number, asOf] of ages.entries()) {
      // An age of 0: not answered. Most cells have all answers, some none.
      const told = TOPICS.flatMap((topic, index) =>
        asOf[index] === 0 ? [] : [{ topic, asOf: asOf[index]!, fields: fields.slice(0, 2 + ((number + index) % 8)) }],
      );
      const failed =
        number % 5 === 0 ? [{ topic: 'wildfire' as const, reason: 'unavailable' as const, note: '"\n', at: 5 }] : [];
      merge(1, cellAt(number), number % 11 === 0 ? [] : told, failed);
      if (number % 3 === 0) merge(2, cellAt(number), told, failed);
    }
  })();
  database.close();
}

const whole = (found: CompleteCell) => ({ asOf: found.asOf, fields: found.fields() });

const WANTED = TOPICS.map((topic) => ({ topic, freshSince: 3, fields: 2 }));

test('cells that are read together are those that are read one by one, in the order asked', (t) => {
  const file = join(temporaryFolder(t), 'store.db');
  makeStore(file, 25);
  const cells = openCells(file);
  t.after(() => cells.handle.close());
  const signs: Cell[] = [1, -1, 0].flatMap((lat7) => [1, -1, 0].map((lng7) => ({ lat7, lng7 })));
  for (const cell of signs) cells.merge(2, cell, [{ topic: 'hail', asOf: 1, fields: [cell.lat7, cell.lng7] }], []);
  // In no order, more than a statement reads, with cells that are not stored and cells that come twice.
  const mixed = Array.from({ length: 2_050 }, (_, index) => cellAt((index * 1_009) % (CELLS + 100)));
  for (const [source, asked] of [
    [1, [...mixed, ...mixed.slice(0, 3)]],
    [2, signs],
    [2, mixed],
    [1, []],
    [1, signs],
  ] as const) {
    const one = asked.map((cell) => cells.read(source, cell));
    assert.deepStrictEqual(cells.readAll(source, asked), one);
    const wanted = cells.readWanted(source, asked, WANTED);
    const alone = asked.map((cell) => cells.readWanted(source, [cell], WANTED)[0]!);
    const shown = (found: (typeof wanted)[number]) => (found !== null && 'fields' in found ? whole(found) : found);
    assert.deepStrictEqual(wanted.map(shown), alone.map(shown));
  }
});
