import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CreditReservations } from '../../src/run/buy/buying.ts';
import { fc } from '../properties.ts';

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
      fc.asyncProperty(fc.integer({ min: 0, max: 100 }), anySteps(mostSpent), async (total, steps) => {
        const spent = await walk(total, steps, (paid, committed) => assert.ok(paid + committed <= total));
        assert.ok(spent <= total || mostSpent > 100);
      }),
    );
  });
}
