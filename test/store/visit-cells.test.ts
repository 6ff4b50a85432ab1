import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { NATURAL_SLUGS } from '../../src/contract/topics.ts';
import type { Cell } from '../../src/geo/coordinates.ts';
import type { CompleteCell } from '../../src/store/port.ts';
import { cellStatements } from '../../src/store/sqlite/answers.ts';
import { openDatabase } from '../../src/store/sqlite/sqlite-database.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { textDictionary } from '../../src/store/sqlite/text-dictionary.ts';
import { MovedClock } from '../moved-clock.ts';
import { fc } from '../properties.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const TOPICS = NATURAL_SLUGS.slice(0, 3);
/** Some pages and a piece of one. */
const CELLS = 4_600;
/** With all bytes that a text of SQLite could not hold. */
const fields = [null, 12.5, -3, '2026-01-15T11:00:00.000Z', 'Very High', '\0\ud800', 'é'.repeat(20), 0, 255];

const cellAt = (number: number): Cell => ({ lat7: 360_000_000 + 10_000 * (number % 70), lng7: -7 * number });

/** A store with cells of two sources in turn, with any answers and failures. */
function makeStore(file: string, seed: number): void {
  const database = openDatabase(file);
  const { merge } = cellStatements(database, textDictionary(database, file), () => null);
  database.exec("INSERT INTO sources (id, name) VALUES (1, 'asked'), (2, 'other')");
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

test('a visit of all cells finds what looking each of them up finds', async (t) => {
  const file = join(temporaryFolder(t), 'store.db');
  makeStore(file, 17);
  await using store = openSqliteStore(file, new MovedClock(0), { name: 'me', isAlive: () => true });
  const wanted = TOPICS.map((topic) => ({ topic, freshSince: 3, fields: 2 }));
  // Every fourth cell is not asked for; one of those asked for is not stored.
  const asked = [...Array(CELLS + 1).keys()].filter((number) => number % 4 !== 3);
  const numbers = new Map(asked.map((number) => [`${cellAt(number).lat7}/${cellAt(number).lng7}`, number]));
  const found = new Map<number, unknown>();
  const note = (cell: number, what: unknown) => {
    assert.equal(found.has(cell), false, `cell ${cell} is visited once`);
    found.set(cell, what);
  };
  let complete = 0;
  const isVisited = await store.visitWanted(1, asked.length, wanted, {
    numberOf: ({ lat7, lng7 }) => numbers.get(`${lat7}/${lng7}`) ?? -1,
    complete: (cell, take) => {
      complete++;
      note(cell, whole(take()));
    },
    incomplete: note,
  });
  assert.equal(isVisited, true);
  assert.ok(complete > 500 && complete < found.size - 500, `${complete} of ${found.size} are complete`);
  const lookedUp = await store.readWanted(1, asked.map(cellAt), wanted);
  for (const [index, one] of lookedUp.entries()) {
    const expected = one !== null && 'fields' in one ? whole(one) : one;
    assert.deepStrictEqual(found.get(asked[index]!) ?? null, expected);
  }
});

test('few cells of a large store are looked up, not visited', async (t) => {
  const file = join(temporaryFolder(t), 'store.db');
  makeStore(file, 3);
  await using store = openSqliteStore(file, new MovedClock(0), { name: 'me', isAlive: () => true });
  const visitor = { numberOf: () => assert.fail('visited'), complete: () => {}, incomplete: () => {} };
  assert.equal(await store.visitWanted(1, 1_000, [], visitor), false);
});
