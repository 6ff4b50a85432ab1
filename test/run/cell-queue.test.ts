import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_TOPICS, TopicSets, topicSet, topicsIn } from '../../src/contract/topic-set.ts';
import type { TopicSlug } from '../../src/contract/topics.ts';
import { CellQueue } from '../../src/run/buy/buying.ts';
import type { Plan } from '../../src/run/plan/planning.ts';
import { CellTable } from '../../src/run/scan/cell-table.ts';

const always = () => true;

/** A plan of three cells: the first two lack three topics, in the order 1, 0; the last lacks nothing. */
function planOf(hadNoData: ReadonlyMap<number, readonly TopicSlug[]> = new Map()): Plan {
  const cells = new CellTable();
  for (const lat7 of [1, 2, 3]) cells.add({ lat7, lng7: 0 });
  const missing = new TopicSets(3);
  for (const cell of [0, 1]) missing.set(cell, topicSet(['hail', 'drought', 'radon']));
  const noData = new Map([...hadNoData].map(([cell, topics]) => [cell, topicSet(topics)]));
  return { scan: { cells }, missing, order: [1, 0], hadNoData: noData, areas: null } as unknown as Plan;
}

test('a cell that was left goes on with what was tried there; one that is done begins anew', () => {
  const queue = new CellQueue(planOf());
  const topics = topicSet(['hail', 'radon']);
  const work = queue.begin(1, topics, always);
  queue.end({ ...work, spentBundles: new Set(['standard']) }, topics, false);
  assert.deepEqual([...queue.begin(1, topics, always).spentBundles], ['standard']);
  queue.end(work, topics, true);
  assert.deepEqual(topicsIn(queue.missing.get(1)), ['drought']);
  assert.deepEqual([...queue.begin(1, topicSet(['drought']), always).spentBundles], []);
});

test('all is done when no cell of the order lacks anything', () => {
  const queue = new CellQueue(planOf());
  for (const cell of [0, 1]) {
    assert.equal(queue.isDone, false);
    const topics = queue.missing.get(cell);
    queue.end(queue.begin(cell, topics, always), topics, true);
  }
  assert.equal(queue.isDone, true);
});

test('a topic without data the last time is bought as a single, where a key may buy it so', () => {
  const noData = new Map([[0, ['hail', 'radon']]] as const);
  const may = (topic: TopicSlug) => topic === 'hail';
  const work = new CellQueue(planOf(noData)).begin(0, topicSet(['hail', 'drought', 'radon']), may);
  assert.deepEqual(topicsIn(work.singlesOnly), ['hail']);
});

test('a cell that is planned later is bought last, once', () => {
  const queue = new CellQueue(planOf());
  const lacks = topicSet(['hail']);
  queue.replan(new Map([[2, lacks]]).set(0, NO_TOPICS));
  queue.replan(new Map([[2, lacks]]));
  assert.deepEqual([...queue.order], [1, 0, 2]);
  assert.deepEqual([queue.missing.get(2), queue.missing.get(0)], [lacks, NO_TOPICS]);
});
