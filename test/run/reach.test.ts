import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TopicSets, topicSet } from '../../src/contract/topic-set.ts';
import { TOPIC_SLUGS } from '../../src/contract/topics.ts';
import type { PriceList } from '../../src/run/plan/cheapest-calls.ts';
import { purchasesFor, reachedBy } from '../../src/run/plan/reach.ts';
import { CellTable } from '../../src/run/scan/cell-table.ts';
import { fc } from '../properties.ts';

const singles: PriceList = {
  ...{ standard: new Set(), enterprise: new Set(), bundles: false },
  ...{ singles: () => true, optimize: 'credits' },
};

/** Cells that lack so many topics each, in some order; each topic costs a credit, and the first cell is worth 1, the next 2. */
function demandOf(lacking: readonly number[], order: readonly number[]) {
  const cells = new CellTable();
  const missing = new TopicSets(lacking.length);
  for (const [cell, count] of lacking.entries()) {
    cells.add({ lat7: cell, lng7: 0 }, cell + 1);
    missing.set(cell, topicSet(TOPIC_SLUGS.slice(0, count)));
  }
  return { cells, order, missing, priceList: singles };
}

test('the reach counts what is bought, and all cells that lack nothing afterwards', () => {
  const demand = demandOf([0, 4, 7, 2], [3, 1, 2]);
  const { minutes, ...reach } = reachedBy(
    { ...demand, creditsPerMinute: 300, msPerCredit: 0 },
    purchasesFor(demand, 6),
  );
  assert.deepEqual(reach, { credits: 6, cells: 2, value: 4 + 2, complete: { cells: 3, value: 1 + 2 + 4 } });
  assert.equal(minutes, 0);
});

test('no affordable choice of cells comes before it in the order of buying (exhaustive)', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 }),
      fc.nat({ max: 40 }),
      fc.nat(),
      (lacking, available, seed) => {
        const order = [...lacking.keys()].sort((a, b) => ((a * 7 + seed) % 5) - ((b * 7 + seed) % 5));
        const { isBought, credits } = purchasesFor(demandOf(lacking, order), available);
        const wordOf = (chosen: (cell: number) => boolean) => order.map((cell) => (chosen(cell) ? 1 : 0)).join('');
        let best = '';
        for (let code = 0; code < 2 ** lacking.length; code++) {
          const isIn = (cell: number) => Math.floor(code / 2 ** cell) % 2 === 1;
          const cost = lacking.reduce((sum, price, cell) => sum + (isIn(cell) ? price : 0), 0);
          if (cost <= available && wordOf(isIn) > best) best = wordOf(isIn);
        }
        const bought = wordOf((cell) => isBought[cell] === 1);
        assert.equal(bought, best);
        assert.ok(credits <= available);
      },
    ),
    { numRuns: 300 },
  );
});
