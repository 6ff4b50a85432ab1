import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { inTurn, makeTurn } from '../../src/threads/shared-turn.ts';

const MODULE = new URL('../../src/threads/shared-turn.ts', import.meta.url).href;

test('threads work one after the other, also after an error', async () => {
  const turn = makeTurn();
  const counts = new Int32Array(new SharedArrayBuffer(8));
  // A count that is read and written apart is right only if nobody else writes between. A thread that waits has nothing else to do.
  const code = `
    const { workerData: { turn, counts, module } } = require('node:worker_threads');
    import(module).then(async ({ inTurn }) => {
      for (let round = 0; round < 20; round++) {
        const failed = await inTurn(turn, async () => {
          const before = counts[0];
          await new Promise((done) => setTimeout(done, 1));
          counts[0] = before + 1;
          if (round % 10 === 0) throw new Error('it failed');
        }).catch(() => 1);
        Atomics.add(counts, 1, failed ?? 0);
      }
    });`;
  const workers = [1, 2, 3].map(
    () => new Worker(code, { eval: true, workerData: { turn, counts, module: MODULE } }),
  );
  const ended = workers.map(
    (worker) =>
      new Promise((resolve, reject) => void worker.on('exit', resolve).on('error', reject)),
  );
  assert.deepEqual(await Promise.all(ended), [0, 0, 0]);
  assert.deepEqual([...counts], [60, 6]);
});

test('a thread that died in its turn holds the others up for a while only', async () => {
  const turn = makeTurn();
  // It never ends.
  void inTurn(turn, () => new Promise(() => {}));
  const done: string[] = [];
  await inTurn(turn, async () => void done.push('first'), 20);
  await Promise.all([
    inTurn(turn, async () => {
      await sleep(5);
      done.push('second');
    }),
    inTurn(turn, async () => void done.push('third')),
  ]);
  assert.deepEqual(done, ['first', 'second', 'third']);
});
