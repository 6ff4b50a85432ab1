import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { inBatches } from '../../src/job/buying/batcher.ts';

test('what is asked in one turn is done in one go, and each asker gets its own result', async () => {
  const batches: number[][] = [];
  const square = inBatches(async (items: readonly number[]) => {
    batches.push([...items]);
    return items.map((item) => item * item);
  });
  assert.deepEqual(await Promise.all([3, 1, 2].map(square)), [9, 1, 4]);
  assert.equal(await square(5), 25);
  assert.deepEqual(batches, [[3, 1, 2], [5]]);
});

test('what is asked while a batch is at work goes into the next one', async () => {
  const batches: number[][] = [];
  const gates: (() => void)[] = [];
  const work = inBatches(async (items: readonly number[]) => {
    batches.push([...items]);
    await new Promise<void>((open) => gates.push(open));
    return items;
  });
  const first = [work(1), work(2)];
  await nextTurn();
  const second = work(3);
  await nextTurn();
  assert.deepEqual(batches, [[1, 2], [3]]);
  gates[1]!();
  assert.equal(await second, 3, 'a later batch need not wait for an earlier one');
  gates[0]!();
  assert.deepEqual(await Promise.all(first), [1, 2]);
});

test('a batch that fails fails for all of its askers, and for no others', async () => {
  let calls = 0;
  const work = inBatches(async (items: readonly string[]) => {
    if (++calls === 1) throw new Error('the disk is full');
    return items;
  });
  const ends = await Promise.allSettled([work('a'), work('b')]);
  assert.deepEqual(
    ends.map((end) => end.status === 'rejected' && String(end.reason)),
    ['Error: the disk is full', 'Error: the disk is full'],
  );
  assert.equal(await work('c'), 'c');
});

test('however askers come, every one is answered once, with its own, in the order in which it asked', async () => {
  const asked = fc.array(fc.tuple(fc.nat({ max: 3 }), fc.integer()), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(asked, async (askers) => {
      const seen: number[] = [];
      const work = inBatches(async (items: readonly number[]) => {
        seen.push(...items);
        return items.map((item) => `answer to ${item}`);
      });
      const answers: Promise<string>[] = [];
      for (const [turns, item] of askers) {
        for (let turn = 0; turn < turns; turn++) await nextTurn();
        answers.push(work(item));
      }
      const items = askers.map(([, item]) => item);
      assert.deepEqual(
        await Promise.all(answers),
        items.map((item) => `answer to ${item}`),
      );
      assert.deepEqual(seen, items);
    }),
  );
});
