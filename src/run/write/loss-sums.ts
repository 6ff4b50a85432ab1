import { lossTopics } from '../../columns/loss-columns.ts';
import type { NaturalSlug, TopicSlug } from '../../contract/topics.ts';
import type { PlaceLosses } from '../../formats/packed/place-losses.ts';
import { hasOneCurrency } from '../scan/currency.ts';
import type { Scan } from '../scan/scan-input.ts';
import { valueOfUnits } from '../scan/value.ts';

/** The expected annual losses of all located rows, in the file's currency. */
export interface LossSums {
  readonly annualLoss: number;
  /** The value that the rates apply to, of the rows whose place has a rate, and of all. */
  readonly value: number;
  readonly allValue: number;
  /** The topics with a rate somewhere, the largest loss first. */
  readonly topics: readonly { readonly topic: NaturalSlug; readonly annualLoss: number }[];
}

/** The value of a cell that loss rates apply to, in units (`CellTable`); null where the values have no sum: amounts in two currencies. */
export function lossValueOf({ cells, findings }: Pick<Scan, 'cells' | 'findings'>) {
  return hasOneCurrency(findings) ? (cell: number) => cells.lossValue(cell) : null;
}

/** Adds up the losses of all places. @returns null without amounts, or without one currency */
export function sumLosses(
  scan: Pick<Scan, 'cells' | 'findings'>,
  losses: PlaceLosses | null,
  topics: readonly TopicSlug[],
  valueOfCell = lossValueOf(scan),
): LossSums | null {
  if (!losses?.hasAmounts || valueOfCell === null) return null;
  const { cells } = scan;
  const natural = lossTopics(topics);
  const units = natural.map(() => 0);
  const isKnown = natural.map(() => false);
  let [value, allValue] = [0, 0];
  for (let cell = 0; cell < cells.size; cell++) {
    const own = valueOfCell(cell);
    const first = losses.numberOf[cell]! * losses.topics;
    allValue += own;
    let hasRate = false;
    for (let topic = 0; topic < losses.topics; topic++) {
      const rate = losses.rates[first + topic]!;
      if (Number.isNaN(rate)) continue;
      hasRate = true;
      isKnown[topic] = true;
      units[topic]! += rate * own;
    }
    if (hasRate) value += own;
  }
  const of = (unit: number) => valueOfUnits(unit, cells.decimals);
  const all = natural.map((topic, index) => ({ topic, annualLoss: of(units[index]!) }));
  return {
    annualLoss: all.reduce((sum, { annualLoss }) => sum + annualLoss, 0),
    value: of(value),
    allValue: of(allValue),
    topics: all.filter((_, index) => isKnown[index]).sort((a, b) => b.annualLoss - a.annualLoss),
  };
}
