import { shareOf } from '../../base/format-numbers.ts';
import { purchaseBySet } from '../../run/plan/prices.ts';
import type { Prepared } from '../../run/prepare.ts';

/** The share that each budget buys, in the order of buying: of all value, or of all places if rows are bought in file order. */
export interface BudgetCurve {
  readonly of: 'value' | 'places';
  /** Credits and the share that they buy, both growing. */
  readonly points: readonly (readonly [credits: number, share: number])[];
  /** The fewest credits that buy this share, if the whole price buys it. */
  readonly marks: readonly { readonly share: number; readonly credits: number }[];
}

const MARKS = [0.5, 0.8, 0.95];

/** About as many as a slider has pixels. */
const MOST_POINTS = 200;

/** One pass over the plan: what a budget buys by `reachOf` is the same at each of these points. */
export function budgetCurve({ plan }: Prepared): BudgetCurve {
  const { cells } = plan.scan;
  const total = cells.total();
  const of = total > 0 ? 'value' : 'places';
  const purchaseOf = purchaseBySet(() => plan.priceList);
  const step = plan.order.length / MOST_POINTS;
  const points: [number, number][] = [[0, 0]];
  const marks: { share: number; credits: number }[] = [];
  let [credits, bought, count] = [0, 0, 0];
  for (const cell of plan.order) {
    const price = purchaseOf(plan.missing.get(cell)).credits;
    credits += price;
    count++;
    bought += of === 'value' ? cells.value(cell) : 1;
    const share = shareOf(bought, of === 'value' ? total : cells.size)!;
    while (marks.length < MARKS.length && share >= MARKS[marks.length]!) {
      marks.push({ share: MARKS[marks.length]!, credits });
    }
    if (count === plan.order.length || count >= points.length * step) points.push([credits, share]);
  }
  return { of, points, marks };
}
