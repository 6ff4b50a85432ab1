import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAtRisk, makeBridgeSums, type RowState, sumSteps } from '../../src/report/compare/bridge.ts';
import { HIGH, HIGHEST, unansweredClass, VERY_HIGH } from '../../src/report/figures/scales.ts';
import { fc } from '../properties.ts';

const state = fc.record({
  // Cents, up to a trillion dollars, and values that fell below zero.
  value: fc.integer({ min: -1e12, max: 1e14 }),
  rating: fc.nat(HIGHEST.classes.length - 1),
});
const row = fc.record({ was: fc.option(state), now: fc.option(state), hasMoved: fc.boolean() });

test('then and all changes add up to now, to the unit, for what is at risk and for all', () => {
  fc.assert(
    fc.property(fc.array(row, { maxLength: 30 }), (rows) => {
      for (const isCounted of [isAtRisk, () => true]) {
        const sums = makeBridgeSums(isCounted);
        for (const { was, now, hasMoved } of rows) sums.add(was, now, hasMoved, () => ({ line: 1, key: 'a' }));
        const { before, steps, now } = sums.bridge();
        const total = (side: 'was' | 'now') =>
          rows.reduce((sum, { [side]: one }) => sum + (one && isCounted(one.rating) ? one.value : 0), 0);
        assert.deepEqual([before.value, now.value], [total('was'), total('now')]);
        for (const part of ['rows', 'value'] as const) {
          const sum = steps.reduce((all, { change }) => all + change[part], before[part]);
          assert.equal(sum, now[part], part);
        }
      }
    }),
  );
});

test('each change of a row is one step: what changes in value is apart from what changes in rating', () => {
  const none = unansweredClass(HIGHEST);
  const steps = (then: RowState | null, now: RowState | null, hasMoved = false) => {
    const changes = sumSteps(then, now, hasMoved, isAtRisk).filter(([, change]) => change !== 0);
    return changes.map(([step, change]) => `${step} ${change}`).join(', ');
  };
  const at = (rating: number, value = 100) => ({ rating, value });
  assert.equal(steps(at(HIGH), null), 'gone -100');
  assert.equal(steps(null, at(VERY_HIGH)), 'new 100');
  assert.equal(steps(null, at(0)), '');
  assert.equal(steps(at(HIGH), at(VERY_HIGH, 130)), 'revalued 30');
  assert.equal(steps(at(0), at(HIGH, 130)), 'rated_worse 130');
  assert.equal(steps(at(VERY_HIGH), at(2, 130)), 'revalued 30, rated_better -130');
  assert.equal(steps(at(none), at(HIGH)), 'newly_answered 100');
  assert.equal(steps(at(HIGH), at(none)), 'no_longer_answered -100');
  assert.equal(steps(at(0), at(HIGH, 130), true), 'moved 100, revalued 30', 'a rating of another place is the move');
});
