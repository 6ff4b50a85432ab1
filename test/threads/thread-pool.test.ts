import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PerilbookError } from '../../src/base/errors.ts';
import { inOrder, ThreadPool } from '../../src/threads/thread-pool.ts';

const moduleOf = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;
/** Multiplies by the setup. */
const MULTIPLIES = moduleOf(`
  export const inThread = (factor) => ({
    async run(task) { if (task === 13) throw new RangeError('thirteen'); return [task * factor, 'there']; },
  });`);

const twice = async (task: number): Promise<[number, string]> => {
  if (task === 14) throw new PerilbookError('INPUT_UNREADABLE', 'fourteen', 'Leave it out.');
  return [task * 2, 'here'];
};

/** Runs tasks until one was run in the thread: its module is loaded. */
async function untilThere(
  run: (task: number) => Promise<readonly [number, string]>,
): Promise<void> {
  for (let tries = 0; (await run(0))[1] !== 'there'; tries++)
    assert.ok(tries < 100_000, 'the thread never begins');
}

const poolOf = (threads: number) => new ThreadPool({ threads, purpose: 'multiplied' });

test('tasks are shared between a thread and this one, and their results come in order', async () => {
  await using pool = poolOf(1);
  await using work = pool.begin(MULTIPLIES, 2, twice);
  await untilThere((task) => work.run(task));
  const numbers: number[] = [];
  const places = new Set<string>();
  for await (const [task, [doubled, place]] of inOrder([0, 1, 2, 3, 4, 5, 6, 7], 4, (task) =>
    work.run(task),
  )) {
    assert.equal(doubled, 2 * task);
    numbers.push(task);
    places.add(place);
  }
  assert.deepEqual(numbers, [0, 1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual([...places].sort(), ['here', 'there']);
});

test('while a thread loads its module, this one does the tasks', async () => {
  await using pool = poolOf(1);
  const slow = moduleOf(`await new Promise(() => {}); export const inThread = () => {};`);
  const work = pool.begin<number, number, [number, string]>(slow, 2, twice);
  const results = await Promise.all([1, 2, 3].map((task) => work.run(task)));
  assert.deepEqual(
    results.map(([, place]) => place),
    ['here', 'here', 'here'],
  );
});

test('one thread does several works at a time, each with its own setup', async () => {
  await using pool = poolOf(1);
  await using twofold = pool.begin<number, number, [number, string]>(MULTIPLIES, 2);
  {
    await using threefold = pool.begin<number, number, [number, string]>(MULTIPLIES, 3);
    const results = await Promise.all([
      twofold.run(5),
      threefold.run(5),
      twofold.run(6),
      threefold.run(6),
    ]);
    const values = results.map(([result]) => result);
    assert.deepEqual(values, [10, 15, 12, 18]);
  }
  assert.equal((await twofold.run(7))[0], 14);
});

test('a failed task fails alone', async () => {
  await using pool = poolOf(1);
  await using work = pool.begin(MULTIPLIES, 2, twice);
  await untilThere((task) => work.run(task));
  // The first task goes to the thread, the second, while that waits, to this one.
  const [there, own] = await Promise.allSettled([work.run(13), work.run(14)]);
  assert.match(String(there.status === 'rejected' && there.reason), /thirteen/);
  assert.equal(own.status === 'rejected' && own.reason.code, 'INPUT_UNREADABLE');
  assert.equal((await work.run(4))[0], 8);
});

test('a work that cannot begin fails its tasks, and no other work', async () => {
  await using pool = poolOf(1);
  const broken = moduleOf(
    `export const inThread = async () => { throw new Error('no such file'); };`,
  );
  await using work = pool.begin<null, number, number>(broken, null);
  await using other = pool.begin<number, number, [number, string]>(MULTIPLIES, 2);
  await assert.rejects(work.run(1), /no such file/);
  assert.equal((await other.run(4))[0], 8);
});

test('a work is ended in its threads when it is disposed of, behind the tasks that were begun', async () => {
  await using pool = poolOf(1);
  const module = moduleOf(`
    const seen = [];
    export const inThread = (name) => ({
      async run(task) { if (task !== null) seen.push(name + task); return seen.join(); },
      async end() { seen.push(name + 'end'); },
    });`);
  let result: Promise<string>;
  {
    await using work = pool.begin<string, number | null, string>(module, 'a');
    result = work.run(1);
  }
  assert.equal(await result, 'a1');
  await using other = pool.begin<string, number | null, string>(module, 'b');
  assert.equal(await other.run(null), 'a1,aend');
});

test('a thread that ends is named, and fails its tasks, those that come later too', async () => {
  await using pool = poolOf(1);
  await using work = pool.begin<null, number, number>(moduleOf('process.exit(3);'), null);
  const named = { code: 'THREAD_FAILED', message: 'A thread that multiplied ended with code 3' };
  await assert.rejects(work.run(1), named);
  await assert.rejects(work.run(1), named);
});
