import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TopicSlug } from '../../src/contract/topics.ts';
import { CellQueue, CreditReservations } from '../../src/run/buy/buying.ts';
import type { Plan } from '../../src/run/plan/planning.ts';
import { CellTable } from '../../src/run/scan/cell-table.ts';
import { NO_TOPICS, TopicSets, topicSet, topicsIn } from '../../src/store/answers/topic-set.ts';
import { fc } from '../properties.ts';

const always = () => true;

/** A plan of three cells: the first two lack three topics, in the order 1, 0; the last lacks nothing. */
function planOf(hadNoData: ReadonlyMap<number, readonly TopicSlug[]> = new Map()): Plan {
  const cells = new CellTable();
  for (const lat7 of [1, 2, 3]) cells.add({ lat7, lng7: 0 });
  const missing = new TopicSets(3);
  for (const cell of [0, 1]) missing.set(cell, topicSet(['hail', 'drought', 'radon']));
  const noData = new Map([...hadNoData].map(([cell, topics]) => [cell, topicSet(topics)]));
  return {
    scan: { cells },
    missing,
    order: [1, 0],
    hadNoData: noData,
    areas: null,
  } as unknown as Plan;
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

test('those who wait for as much are served in the order in which they came', async () => {
  const reservations = new CreditReservations(10);
  await reservations.take(5);
  await reservations.take(5);
  const order: number[] = [];
  const waiting = [1, 2, 3, 4].map(async (number) => {
    if (await reservations.take(5)) order.push(number);
  });
  await nextTurn();
  reservations.end(5, 0);
  await nextTurn();
  assert.deepEqual(order, [1]);
  reservations.end(5, 0);
  await nextTurn();
  assert.deepEqual(order, [1, 2]);
  reservations.end(5, 0);
  reservations.end(5, 5);
  await nextTurn();
  assert.deepEqual(order, [1, 2, 3]);
  reservations.end(5, 5);
  await Promise.all(waiting);
  assert.deepEqual(order, [1, 2, 3], 'for the fourth nothing was left');
});

interface Step {
  readonly kind: 'take' | 'end';
  readonly credits: number;
  /** How much of what was taken is spent, in percent; above 100 a call was tried twice. */
  readonly spends: number;
}

const anySteps = (mostSpent: number) =>
  fc.array(
    fc.record<Step>({
      kind: fc.constantFrom('take', 'end'),
      credits: fc.integer({ min: 0, max: 40 }),
      spends: fc.integer({ min: 0, max: mostSpent }),
    }),
    { maxLength: 60 },
  );

/** Walks through the steps; calls `check` with what is spent and committed whenever a cell was begun. */
async function walk(
  total: number,
  steps: readonly Step[],
  check: (spent: number, committed: number) => void,
): Promise<number> {
  const reservations = new CreditReservations(total);
  const begun: number[] = [];
  const takes: Promise<void>[] = [];
  let spent = 0;
  const end = (spends: number) => {
    const credits = begun.shift();
    if (credits === undefined) return;
    const paid = Math.floor((credits * spends) / 100);
    spent += paid;
    reservations.end(credits, paid);
  };
  const take = async (credits: number) => {
    if (!(await reservations.take(credits))) return;
    begun.push(credits);
    const committed = begun.reduce((sum, one) => sum + one, 0);
    check(spent, committed);
  };
  for (const { kind, credits, spends } of steps) {
    if (kind === 'take') takes.push(take(credits));
    else end(spends);
    await nextTurn();
  }
  let answered = false;
  const all = Promise.all(takes).then(() => {
    answered = true;
  });
  for (let turn = 0; turn < 2 * steps.length + 2 && !answered; turn++) {
    end(100);
    await nextTurn();
  }
  assert.ok(answered, 'nobody waits for ever');
  await all;
  while (begun.length > 0) end(100);
  return spent;
}

for (const [mostSpent, what] of [
  [100, 'what is spent and what is committed never exceed the credits'],
  [250, 'after calls that were tried twice, no cell is begun that the rest cannot pay'],
] as const) {
  test(`${what}, in whatever order cells begin and end`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 100 }),
        anySteps(mostSpent),
        async (total, steps) => {
          const spent = await walk(total, steps, (paid, committed) =>
            assert.ok(paid + committed <= total),
          );
          assert.ok(spent <= total || mostSpent > 100);
        },
      ),
    );
  });
}
