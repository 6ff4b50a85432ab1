import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allocate } from '../../src/plan/allocation.ts';
import { fc } from '../properties.ts';

const prices = (table: readonly (readonly number[])[]) => (cell: number, tier: number) => table[cell]![tier - 1]!;

test('every cell first gets the leanest tier, then the most valuable are upgraded', () => {
  const table = [
    [2, 15, 34],
    [2, 15, 34],
    [2, 15, 34],
  ];
  const order = Uint32Array.of(2, 0, 1);
  assert.deepEqual([...allocate(order, 3, 3, prices(table), 6).tiers], [1, 1, 1]);
  assert.deepEqual([...allocate(order, 3, 3, prices(table), 32).tiers], [2, 1, 2]);
  assert.deepEqual([...allocate(order, 3, 3, prices(table), 5).tiers], [1, 0, 1]);
  assert.deepEqual([...allocate(order, 3, 3, prices(table), 102).tiers], [3, 3, 3]);
});

test('what a cell has already costs nothing, and what is too dear is passed over', () => {
  const table = [
    [15, 34],
    [0, 19],
    [3, 22],
  ];
  const { tiers, credits } = allocate(Uint32Array.of(0, 1, 2), 3, 2, prices(table), 10);
  assert.deepEqual([[...tiers], credits], [[0, 1, 1], 3]);
});

test('no affordable allocation comes before it (exhaustive)', () => {
  const increments = fc.array(fc.nat({ max: 6 }), { minLength: 3, maxLength: 3 });
  fc.assert(
    fc.property(
      fc.array(increments, { minLength: 1, maxLength: 4 }),
      fc.nat({ max: 40 }),
      fc.nat(),
      (more, available, seed) => {
        const table = more.map(([a, b, c]) => [a!, a! + b!, a! + b! + c!]);
        const order = Uint32Array.from(table.keys()).sort((a, b) => ((a * 7 + seed) % 5) - ((b * 7 + seed) % 5));
        const chosen = allocate(order, table.length, 3, prices(table), available);
        const wordOf = (tiers: ArrayLike<number>) =>
          [1, 2, 3].map((tier) => [...order].map((cell) => (tiers[cell]! >= tier ? 1 : 0)).join('')).join('');
        let best = '';
        for (let code = 0; code < 4 ** table.length; code++) {
          const tiers = table.map((_, cell) => Math.floor(code / 4 ** cell) % 4);
          const cost = tiers.reduce((sum, tier, cell) => sum + (tier === 0 ? 0 : table[cell]![tier - 1]!), 0);
          if (cost <= available && wordOf(tiers) > best) best = wordOf(tiers);
        }
        assert.equal(wordOf(chosen.tiers), best);
        assert.ok(chosen.credits <= available);
      },
    ),
    { numRuns: 300 },
  );
});
