import { intersection, topicSet } from '../../contract/topic-set.ts';
import { shareOf } from '../../format-numbers.ts';
import { purchaseBySet } from '../../plan/prices.ts';
import type { Prepared } from '../../run/prepare.ts';

/** What budgets buy, in the order of buying: the share of all value, or of all places where the order is that of the file. */
export interface BudgetCurve {
  readonly of: 'value' | 'places';
  /** Credits and the share that they buy, both growing. */
  readonly points: readonly (readonly [credits: number, share: number])[];
  /** The fewest credits that buy so much of it, where the price does. */
  readonly marks: readonly { readonly share: number; readonly credits: number }[];
}

const MARKS = [0.5, 0.8, 0.95];

/** As many as a slider has pixels, or nearly. */
const MOST_POINTS = 200;

/** One pass over the plan: what a budget buys by `reachOf` is the same at each of these points. Of several tiers the leanest is bought for
 * every place first, and only that counts. */
export function budgetCurve({ job, plan }: Prepared): BudgetCurve {
  const { cells } = plan.scan;
  const total = cells.total();
  const of = total > 0 ? 'value' : 'places';
  const leanest = topicSet(job.tiers[0]!.topics);
  const purchaseOf = purchaseBySet(() => plan.priceList);
  const step = plan.order.length / MOST_POINTS;
  const points: [number, number][] = [[0, 0]];
  const marks: { share: number; credits: number }[] = [];
  let [credits, bought, count] = [0, 0, 0];
  for (const cell of plan.order) {
    const price = purchaseOf(intersection(plan.missing.get(cell), leanest)).credits;
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
