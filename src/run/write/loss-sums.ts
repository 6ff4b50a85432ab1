import { lossTopics } from '../../columns/loss-columns.ts';
import type { NaturalSlug, TopicSlug } from '../../contract/topics.ts';
import type { PlaceLosses } from '../../formats/packed/place-losses.ts';
import { hasOneCurrency, OTHER_CODES, valueInCurrency } from '../scan/currency.ts';
import type { Scan } from '../scan/scan-input.ts';
import { valueOfUnits } from '../scan/value.ts';

/** The expected annual losses of the located rows with values in one currency. */
export interface LossSums {
  /** Its code; null where the file says none. */
  readonly currency: string | null;
  readonly annualLoss: number;
  /** The value that the rates apply to, of the rows whose place has a rate, and of all. */
  readonly value: number;
  readonly allValue: number;
  /** The topics with a rate somewhere, the largest loss first. */
  readonly topics: readonly { readonly topic: NaturalSlug; readonly annualLoss: number }[];
}

/** The value of a cell that loss rates apply to, in units (`CellTable`). */
export interface LossAmounts {
  /** The code of its currency; null where the file says none. */
  readonly currency: string | null;
  readonly valueOfCell: (cell: number) => number;
}

/** The values that loss rates apply to, by currency, the one of most rows first: amounts in two have no sum. Codes beyond the first fifty
 * are several, and have none. */
export function lossValues({
  cells,
  currencies,
  currency,
  findings,
}: Pick<Scan, 'cells' | 'currencies' | 'currency' | 'findings'>): readonly LossAmounts[] {
  const whole = (cell: number) => cells.lossValue(cell);
  if (hasOneCurrency(findings)) return [{ currency, valueOfCell: whole }];
  const of = { whole, decimals: cells.decimals };
  return currencies
    .filter(({ code }) => code !== OTHER_CODES)
    .sort((a, b) => b.rows - a.rows)
    .map((own) => ({
      currency: own.code || null,
      valueOfCell: valueInCurrency(own, currencies, 'lossValues', of),
    }));
}

/** Adds up the losses of all places in one currency. */
export function sumLosses(
  { cells }: Pick<Scan, 'cells'>,
  losses: PlaceLosses,
  topics: readonly TopicSlug[],
  { currency, valueOfCell }: LossAmounts,
): LossSums {
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
    currency,
    annualLoss: all.reduce((sum, { annualLoss }) => sum + annualLoss, 0),
    value: of(value),
    allValue: of(allValue),
    topics: all.filter((_, index) => isKnown[index]).sort((a, b) => b.annualLoss - a.annualLoss),
  };
}
