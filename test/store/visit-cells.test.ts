import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type Database from 'better-sqlite3';
import { NATURAL_SLUGS } from '../../src/contract/topics.ts';
import type { Cell } from '../../src/geo/coordinates.ts';
import { cellCodec } from '../../src/store/cell-answers.ts';
import type { CellVisitor, CompleteCell } from '../../src/store/port.ts';
import { cellStatements } from '../../src/store/sqlite/answers.ts';
import { CELLS_PER_PAGE, cellPages } from '../../src/store/sqlite/cell-pages.ts';
import { inodeOf } from '../../src/store/sqlite/file-watch.ts';
import { pageCounters, type ReadPage, readInThreads } from '../../src/store/sqlite/page-threads.ts';
import { openDatabase } from '../../src/store/sqlite/sqlite-database.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { textDictionary } from '../../src/store/sqlite/text-dictionary.ts';
import { pageVisitor } from '../../src/store/sqlite/visit-cells.ts';
import { MovedClock } from '../moved-clock.ts';
import { fc } from '../properties.ts';
import { temporaryFolder } from '../temporary-folder.ts';

type Codec = ReturnType<typeof cellCodec>;

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

const WANTED = TOPICS.map((topic) => ({ topic, freshSince: 3, fields: 2 }));
/** Every fourth cell is not asked for; one of those asked for is not stored. */
const ASKED = [...Array(CELLS + 1).keys()].filter((number) => number % 4 !== 3);

/** What a visit has found, by the number of the cell. */
function collected() {
  const numbers = new Map(ASKED.map((number) => [`${cellAt(number).lat7}/${cellAt(number).lng7}`, number]));
  const found = new Map<number, unknown>();
  const note = (cell: number, what: unknown) => {
    assert.equal(found.has(cell), false, `cell ${cell} is visited once`);
    found.set(cell, what);
  };
  const visitor: CellVisitor = {
    numberOf: ({ lat7, lng7 }) => numbers.get(`${lat7}/${lng7}`) ?? -1,
    complete: (cell, take) => note(cell, whole(take())),
    incomplete: note,
  };
  return { found, visitor };
}

function openCells(t: TestContext, file: string) {
  const database = openDatabase(file);
  t.after(() => database.close());
  const texts = textDictionary(database, file);
  return { database, codec: cellCodec(texts, () => null), cells: cellStatements(database, texts, () => null) };
}

/** What looking up each cell finds. */
function lookedUp({ cells }: ReturnType<typeof openCells>): Map<number, unknown> {
  const found = cells.readWanted(1, ASKED.map(cellAt), WANTED);
  const complete = found.filter((one) => one !== null && 'fields' in one).length;
  assert.ok(complete > 500 && complete < found.length - 500, `${complete} of ${found.length} are complete`);
  return new Map(
    found.flatMap((one, index) => (one === null ? [] : [[ASKED[index]!, 'fields' in one ? whole(one) : one]])),
  );
}

/** The pages as threads read them, without the help of this one. */
async function pagesOfThreads(database: Database.Database, codec: Codec, inode = inodeOf(database.name)) {
  const pages = Math.ceil(cellPages(database).lastId() / CELLS_PER_PAGE);
  const sought = codec.sought(WANTED);
  const setup = { file: database.name, inode, source: 1, pages, sought, counters: pageCounters() };
  const read: ReadPage[] = [];
  await using readers = readInThreads(2, setup, (page) => read.push(page));
  await readers.ended;
  return { pages, read };
}

const sorted = (found: ReadonlyMap<number, unknown>) => [...found].sort(([a], [b]) => a - b);

test('a visit of all cells finds what looking each of them up finds, with threads and without', async (t) => {
  for (const [threads, seed] of [
    [0, 17],
    [2, 18],
  ] as const) {
    const file = join(temporaryFolder(t), 'store.db');
    makeStore(file, seed);
    const opened = openCells(t, file);
    const { found, visitor } = collected();
    await opened.cells.visit(1, WANTED, visitor, threads);
    assert.deepStrictEqual(sorted(found), sorted(lookedUp(opened)));
  }
});

test('threads read each page once, and a visit of their pages finds what looking up finds', async (t) => {
  const file = join(temporaryFolder(t), 'store.db');
  makeStore(file, 19);
  const opened = openCells(t, file);
  // The threads see what is written after the store was opened.
  opened.cells.merge(1, cellAt(0), [{ topic: 'hail', asOf: 9, fields: ['new', 1] }], []);
  const { pages, read } = await pagesOfThreads(opened.database, opened.codec);
  const numbers = read.map(({ number }) => number).sort((a, b) => a - b);
  assert.deepEqual(numbers, [...Array(pages).keys()]);
  const { found, visitor } = collected();
  const visitPage = pageVisitor(opened.codec, WANTED, visitor);
  for (const { page, complete } of read) visitPage(page, complete);
  assert.deepStrictEqual(sorted(found), sorted(lookedUp(opened)));
});

test('a damaged cell ends a visit only where it is asked for, with threads and without', async (t) => {
  const file = join(temporaryFolder(t), 'store.db');
  makeStore(file, 20);
  const { database, codec, cells } = openCells(t, file);
  const damage = database.prepare('UPDATE cells SET answers = ? WHERE source = 1 AND lat7 = ? AND lng7 = ?');
  const change = (number: number) => damage.run(Buffer.of(1, 2, 3), cellAt(number).lat7, cellAt(number).lng7).changes;
  assert.equal(change(7), 1);
  const { pages, read } = await pagesOfThreads(database, codec);
  assert.deepEqual(
    [read.length, read.some(({ number }) => number === 0)],
    [pages - 1, false],
    'threads leave its page',
  );
  for (const threads of [0, 2]) await cells.visit(1, WANTED, collected().visitor, threads);
  assert.equal(change(8), 1);
  for (const threads of [0, 2]) {
    await assert.rejects(cells.visit(1, WANTED, collected().visitor, threads), { code: 'STORE_UNUSABLE' });
  }
});

test('threads that find another file, or none, read nothing: the visit is that of one thread', async (t) => {
  const folder = temporaryFolder(t);
  const [file, other] = [join(folder, 'store.db'), join(folder, 'other.db')];
  makeStore(file, 21);
  makeStore(other, 22);
  const opened = openCells(t, file);
  const inode = inodeOf(file);
  renameSync(file, join(folder, 'moved.db'));
  assert.equal((await pagesOfThreads(opened.database, opened.codec, inode)).read.length, 0, 'no file');
  renameSync(other, file);
  assert.equal((await pagesOfThreads(opened.database, opened.codec, inode)).read.length, 0, 'another file');
  const { found, visitor } = collected();
  await opened.cells.visit(1, WANTED, visitor, 2);
  assert.deepStrictEqual(sorted(found), sorted(lookedUp(opened)));
});

test('cells that another program writes during a visit are visited once, as they were or as they are', async (t) => {
  const file = join(temporaryFolder(t), 'store.db');
  makeStore(file, 24);
  const { cells } = openCells(t, file);
  const writer = openCells(t, file);
  for (const threads of [0, 2]) {
    const { found, visitor } = collected();
    const before = lookedUp({ ...writer, cells });
    let written = 0;
    const numberOf = (cell: Cell) => {
      for (; written < 40; written++) {
        const told = TOPICS.map((topic) => ({ topic, asOf: 20 + threads, fields: [written, 'new'] }));
        writer.cells.merge(1, cellAt(4 * 29 * written), told, []);
      }
      return visitor.numberOf(cell);
    };
    await cells.visit(1, WANTED, { ...visitor, numberOf }, threads);
    const after = lookedUp({ ...writer, cells });
    for (const [cell, what] of found) {
      const known = [before.get(cell), after.get(cell)].some((one) => isDeepStrictEqual(one, what));
      assert.ok(known, `cell ${cell} is neither as before nor as after`);
    }
    // New cells may be missing, as where the other program had been a moment later.
    for (const cell of before.keys()) assert.ok(found.has(cell), `cell ${cell} was not visited`);
  }
});

test('an error of the visitor ends a visit with threads', async (t) => {
  const file = join(temporaryFolder(t), 'store.db');
  makeStore(file, 23);
  const { cells } = openCells(t, file);
  const visitor = { ...collected().visitor, numberOf: () => assert.fail('stopped') };
  await assert.rejects(cells.visit(1, WANTED, visitor, 2), /stopped/);
});

test('cells that are read together are those that are read one by one, in the order asked', (t) => {
  const file = join(temporaryFolder(t), 'store.db');
  makeStore(file, 25);
  const { cells } = openCells(t, file);
  const signs: Cell[] = [1, -1, 0].flatMap((lat7) => [1, -1, 0].map((lng7) => ({ lat7, lng7 })));
  for (const cell of signs) cells.merge(2, cell, [{ topic: 'hail', asOf: 1, fields: [cell.lat7, cell.lng7] }], []);
  // In no order, more than a page, with cells that are not stored and cells that come twice.
  const mixed = Array.from({ length: CELLS_PER_PAGE + 50 }, (_, index) => cellAt((index * 1_009) % (CELLS + 100)));
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

test('few cells of a large store are looked up, not visited', async (t) => {
  const file = join(temporaryFolder(t), 'store.db');
  makeStore(file, 3);
  await using store = openSqliteStore(file, new MovedClock(0), { name: 'me', isAlive: () => true });
  const visitor = { numberOf: () => assert.fail('visited'), complete: () => {}, incomplete: () => {} };
  assert.equal(await store.visitWanted(1, 1_000, [], visitor), false);
});
