import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PerilbookError } from '../../src/errors.ts';
import { inOrder, ThreadPool } from '../../src/rows/threads/thread-pool.ts';

const ANSWER_TASKS = new URL('../../src/rows/threads/answer-tasks.ts', import.meta.url).href;
const moduleOf = (code: string) => new URL(`data:text/javascript,${encodeURIComponent(code)}`);
const DOUBLES = moduleOf(`
  const { answerTasks } = await import('${ANSWER_TASKS}');
  answerTasks(async (task) => { if (task === 13) throw new RangeError('thirteen'); return [task * 2, 'there']; }, () => []);`);

const here = async (task: number): Promise<[number, string]> => {
  if (task === 14) throw new PerilbookError('INPUT_UNREADABLE', 'fourteen', 'Leave it out.');
  return [task * 2, 'here'];
};

test('tasks are shared between a thread and this one, and their results come in order', async () => {
  await using pool = new ThreadPool<number, [number, string]>(DOUBLES, null, 1, here);
  const numbers: number[] = [];
  const places = new Set<string>();
  for await (const [task, [doubled, place]] of inOrder([0, 1, 2, 3, 4, 5, 6, 7], 4, (task) => pool.run(task))) {
    assert.equal(doubled, 2 * task);
    numbers.push(task);
    places.add(place);
  }
  assert.deepEqual(numbers, [0, 1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual([...places].sort(), ['here', 'there']);
});

test('a failed task fails alone', async () => {
  await using pool = new ThreadPool<number, [number, string]>(DOUBLES, null, 1, here);
  // The first task goes to the thread, the second, while that waits, to this one.
  const [there, own] = await Promise.allSettled([pool.run(13), pool.run(14)]);
  assert.match(String(there.status === 'rejected' && there.reason), /thirteen/);
  assert.equal(own.status === 'rejected' && own.reason.code, 'INPUT_UNREADABLE');
  assert.equal((await pool.run(4))[0], 8);
});

test('a thread that ends fails its tasks, those that come later too', async () => {
  const ends = moduleOf('process.exit(3);');
  await using pool = new ThreadPool<number, [number, string]>(ends, null, 1, here);
  await assert.rejects(pool.run(1), /ended with code 3/);
  await assert.rejects(pool.run(1), /ended with code 3/);
});
