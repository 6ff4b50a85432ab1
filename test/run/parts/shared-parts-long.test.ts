import assert from 'node:assert/strict';
import { realpathSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { columnsOf } from '../../../src/columns/topic-columns.ts';
import { judgePart, type PartTarget } from '../../../src/run/parts/part-state.ts';
import type { WrittenPart } from '../../../src/store/part-store.ts';
import type { Store } from '../../../src/store/port.ts';
import { openSqliteStore } from '../../../src/store/sqlite-store.ts';
import { releaseLater } from '../../service/small-data.ts';
import { openPartScene, type PartScene, partOf } from './part-scene.ts';

/** The scene's store as another process has it open. */
function anotherStore(t: TestContext, { folder, clock }: PartScene): Store {
  const owner = { name: 'another', isAlive: () => true };
  const store = openSqliteStore(join(folder, 'store.db'), clock, owner, (topic) => columnsOf(topic).length);
  releaseLater(t, () => store.close());
  return store;
}

test('two runs at once write each part once and buy each place once', async (t) => {
  const scene = await openPartScene(t);
  for (let part = 0; part < 6; part++) scene.write(`${part}.csv`, partOf(part, part + 10));
  const store = anotherStore(t, scene);
  const ended = await Promise.all([scene.runParts(), scene.runParts({}, { store })]);
  const [a, b] = ended.map(({ summary }) => summary.parts!);
  assert.equal(a!.written + b!.written, 6);
  assert.equal(a!.up_to_date + b!.up_to_date, 6);
  assert.deepEqual([scene.charged(), ended.map(({ state }) => state)], [15, ['complete', 'complete']]);
});

test('a part that another process writes is waited for; an interrupted run leaves it', async (t) => {
  const scene = await openPartScene(t);
  scene.write('a.csv', partOf(0, 2));
  scene.write('b.csv', partOf(2, 4));
  await scene.runParts();
  const store = anotherStore(t, scene);
  const folder = realpathSync(join(scene.folder, 'out'));
  const [record] = await store.parts(folder, 'a.csv');
  const claim = { folder, part: 'a.csv', version: record!.version, run: 1, leaseMs: 3_600_000 };
  const ticket = await store.claimPart(claim);
  scene.write('a.csv', partOf(0, 3));
  const interrupted = await scene.runParts({}, { interrupt: AbortSignal.abort() });
  assert.deepEqual(interrupted.summary.parts, { total: 2, written: 0, up_to_date: 1, left: 1 });
  assert.deepEqual([interrupted.state, interrupted.stop?.reason], ['interrupted', 'interrupted']);
  const waiting = scene.runParts();
  const waited = scene.clock.now();
  await scene.clock.sleep(5_000);
  await store.releasePart(ticket!);
  const { state, summary } = await waiting;
  assert.deepEqual([state, summary.parts], ['complete', { total: 2, written: 1, up_to_date: 1, left: 0 }]);
  assert.ok(scene.clock.now() - waited >= 5_000);
});

test('a part whose claim was lost while it was written is looked at again, and written again', async (t) => {
  const scene = await openPartScene(t);
  scene.write('a.csv', partOf(0, 2));
  let finished = 0;
  const finishPart: Store['finishPart'] = async (...given) => {
    return ++finished === 1 ? false : await scene.store.finishPart(...given);
  };
  const { summary } = await scene.runParts({}, { store: { ...scene.store, finishPart } });
  assert.deepEqual([summary.parts, finished], [{ total: 1, written: 1, up_to_date: 0, left: 0 }, 2]);
});

test('a part that cannot be written ends the run: the others are whole or untouched, and its claim is free', async (t) => {
  for (const rowThreads of [0, 2]) {
    const scene = await openPartScene(t);
    for (const name of ['a.csv', 'b.csv']) scene.write(name, partOf(0, 2));
    // After the scan and before the parts are written.
    const startParts: Store['startParts'] = (...given) => {
      utimesSync(join(scene.folder, 'in/b.csv'), 1, 1);
      return scene.store.startParts(...given);
    };
    await assert.rejects(scene.runParts({}, { rowThreads, store: { ...scene.store, startParts } }), {
      ...{ code: 'INPUT_UNREADABLE', message: /in\/b\.csv has changed since it was listed/ },
    });
    assert.deepEqual(
      scene.outputs().filter((name) => name !== 'a.csv'),
      [],
    );
    const parts = await scene.store.parts(realpathSync(join(scene.folder, 'out')));
    assert.deepEqual(
      parts.map(({ isHeld }) => isHeld),
      parts.map(() => false),
    );
    assert.equal((await scene.runParts({}, { rowThreads })).state, 'complete');
    assert.equal(scene.charged(), 2);
  }
});

test('what is current, what is held, what is written', () => {
  const target: PartTarget = { basis: 'b', fields: 'f', reading: 5 };
  const written: WrittenPart = { basis: 'b', fields: 'f', reading: 4, size: 9, mtimeMs: 7, rows: 1 };
  const file = { size: 9, mtimeMs: 7 };
  const judged = (change: Partial<WrittenPart> | null, output: typeof file | null = file, isHeld = false) =>
    judgePart({ part: 'a', version: 1, isHeld, written: change && { ...written, ...change } }, target, output);
  assert.equal(judgePart(null, target, null), 'write');
  assert.equal(judgePart(null, target, file), 'write');
  assert.equal(judged({}), 'current');
  assert.equal(judged({}, file, true), 'held');
  assert.equal(judged(null, null, true), 'held');
  assert.equal(judged(null), 'write');
  for (const output of [null, { size: 8, mtimeMs: 7 }, { size: 9, mtimeMs: 8 }]) {
    assert.equal(judged({}, output), 'write', JSON.stringify(output));
  }
  assert.equal(judged({ basis: 'x' }), 'write');
  assert.equal(judged({ basis: 'x', reading: 6 }), 'write');
  assert.equal(judged({ fields: 'x' }), 'write');
  // Its writer read the answers after this run had bought its own.
  assert.equal(judged({ fields: 'x', reading: 6 }), 'current');
});
