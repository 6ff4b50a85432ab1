import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type BatchLimits, inBatches } from '../../src/base/batches.ts';
import { fc } from '../properties.ts';

/** Batches of numbers that are doubled at once or later; which were processed together is kept. */
function doubling(limits: BatchLimits<number> = {}, isLater = false) {
  const batches: number[][] = [];
  const double = inBatches((items: readonly number[]) => {
    batches.push([...items]);
    const doubled = items.map((item) => item * 2);
    return isLater ? nextTurn(doubled) : doubled;
  }, limits);
  return { double, batches };
}

test('the items of one turn are processed together, each with its own result', async () => {
  for (const isLater of [false, true]) {
    const { double, batches } = doubling({}, isLater);
    assert.deepEqual(await Promise.all([3, 1, 2].map(double)), [6, 2, 4]);
    assert.equal(await double(5), 10);
    assert.deepEqual(batches, [[3, 1, 2], [5]]);
  }
});

test('a batch has at most as many items as is allowed', async () => {
  const { double, batches } = doubling({ most: 64 });
  const numbers = Array.from({ length: 70 }, (_, index) => index);
  assert.deepEqual(
    await Promise.all(numbers.map(double)),
    numbers.map((number) => number * 2),
  );
  const sizes = batches.map(({ length }) => length);
  assert.deepEqual(sizes, [64, 6]);
});

test('an item that goes alone is a batch of its own, in its turn', async () => {
  const { double, batches } = doubling({ isAlone: (item) => item >= 100 });
  await Promise.all([1, 2, 100, 3, 200, 300].map(double));
  assert.deepEqual(batches, [[1, 2], [100], [3], [200], [300]]);
});

/** Batches that end when the test ends them. */
function waiting(limits: BatchLimits<number> = {}) {
  const batches: number[][] = [];
  const ends: (() => void)[] = [];
  const work = inBatches(async (items: readonly number[]) => {
    batches.push([...items]);
    await new Promise<void>((end) => ends.push(end));
    return items;
  }, limits);
  return { work, batches, ends };
}

test('items that arrive during a batch are the next one, which does not wait for the first', async () => {
  const { work, batches, ends } = waiting();
  const first = [work(1), work(2)];
  await nextTurn();
  const second = work(3);
  await nextTurn();
  assert.deepEqual(batches, [[1, 2], [3]]);
  ends[1]!();
  assert.equal(await second, 3);
  ends[0]!();
  assert.deepEqual(await Promise.all(first), [1, 2]);
});

test('with a limit of batches in progress, items that arrive meanwhile are one batch afterwards', async () => {
  const { work, batches, ends } = waiting({ atOnce: 1 });
  const results = [work(1)];
  await nextTurn();
  for (const item of [2, 3, 4]) {
    results.push(work(item));
    await nextTurn();
  }
  assert.deepEqual(batches, [[1]]);
  ends[0]!();
  await results[0];
  await nextTurn();
  assert.deepEqual(batches, [[1], [2, 3, 4]]);
  ends[1]!();
  assert.deepEqual(await Promise.all(results), [1, 2, 3, 4]);
});

test('when the work fails, or a result is missing, each item of the batch fails, and later ones do not', async () => {
  const broken = () => {
    throw new Error('no disk');
  };
  for (const [failing, reason] of [
    [broken, 'Error: no disk'],
    [async () => broken(), 'Error: no disk'],
    [(items: readonly number[]) => items.slice(1), 'Error: 1 results for 2 items'],
  ] as const) {
    let isBroken = true;
    const work = inBatches((items: readonly number[]) => (isBroken ? failing(items) : items));
    const ends = await Promise.allSettled([work(1), work(2)]);
    const reasons = ends.map((end) => end.status === 'rejected' && String(end.reason));
    assert.deepEqual(reasons, [reason, reason]);
    isBroken = false;
    assert.equal(await work(3), 3);
  }
});

test('each item is processed once, in the order of arrival, and gets its own result', async () => {
  const arriving = fc.array(fc.tuple(fc.nat({ max: 3 }), fc.integer()), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(arriving, async (arrivals) => {
      const seen: number[] = [];
      const work = inBatches(async (items: readonly number[]) => {
        seen.push(...items);
        return items.map((item) => `result of ${item}`);
      });
      const results: Promise<string>[] = [];
      for (const [turns, item] of arrivals) {
        for (let turn = 0; turn < turns; turn++) await nextTurn();
        results.push(work(item));
      }
      const items = arrivals.map(([, item]) => item);
      const expected = items.map((item) => `result of ${item}`);
      assert.deepEqual(await Promise.all(results), expected);
      assert.deepEqual(seen, items);
    }),
  );
});
