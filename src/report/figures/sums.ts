import type { Job } from '../../job/settings.ts';
import { OTHER_CODES, type ScannedCurrency, valueInCurrency } from '../../run/scan/currency.ts';
import type { Scan } from '../../run/scan/scan-input.ts';
import { valueOfUnits, wholeUnits } from '../../run/scan/value.ts';
import { CLASS_LETTERS, type Scale, unansweredClass } from './scales.ts';

/** Locations, and their value in the report's currency; null if the input has no value column. */
export interface Sum {
  /** The number of locations. */
  readonly locations: number;
  /** Their value in the report's currency; null if the input has no value column. */
  readonly value: number | null;
}

/** Rows and their value. While they are counted, the value is in whole units, so that sums are exact. */
export interface CountedSum {
  /** The number of rows. */
  readonly rows: number;
  /** Their value: in a report in its currency, while it is counted in whole units. */
  readonly value: number;
}

/** Converts counted sums for display. */
export type SumOf = (counted: CountedSum) => Sum;

/** @param decimals of the units; null where there are no values */
export function sumMaker(decimals: number | null): SumOf {
  return ({ rows, value }) => ({
    locations: rows,
    value: decimals === null ? null : valueOfUnits(value, decimals),
  });
}

/** The sums of a topic: the denominator of each share is the answered sum, of the severe one the known sum. */
export interface Rated {
  /** Locations with an answer. */
  readonly answered: Sum;
  /** Answered locations whose answer says what the place is. */
  readonly known: Sum;
  /** Locations without an answer. */
  readonly notAnswered: Sum;
  /** Locations in the severe classes: Relatively High and Very High, or a Special Flood Hazard Area. */
  readonly severe: Sum;
  /** The classes in the order of the scale, without that of locations without an answer. */
  readonly classes: readonly ClassSum[];
}

/** A class of a scale, as `Very High`. @public: the type of a tally names it */
export interface ClassSum extends Sum {
  /** The name of the class. */
  readonly name: string;
}

/** No scale has more classes. */
const CLASSES = CLASS_LETTERS.length;

/** Locations and value by class, in each of several layers: of a bin of the map, of a county, or of all locations. */
export class LayerSums {
  /** Of each layer: the rows of its classes, then their value. */
  readonly #sums: Float64Array;

  constructor(layers: number) {
    this.#sums = new Float64Array(layers * CLASSES * 2);
  }

  /** @param classes the class in each layer */
  add(rows: number, value: number, classes: Uint8Array): void {
    for (let layer = 0; layer < classes.length; layer++) {
      const index = layer * 2 * CLASSES + classes[layer]!;
      this.#sums[index]! += rows;
      this.#sums[index + CLASSES]! += value;
    }
  }

  addAll(other: LayerSums): void {
    for (let index = 0; index < this.#sums.length; index++)
      this.#sums[index]! += other.#sums[index]!;
  }

  /** The rows or the value of each class. */
  weights(layer: number, measure: 'rows' | 'value'): number[] {
    const from = fromOf(layer, measure);
    return [...this.#sums.subarray(from, from + CLASSES)];
  }

  /** The sum of the classes of a layer from one index up to, not including, another. */
  counted(layer: number, from = 0, to: number = CLASSES): CountedSum {
    const sum = (measure: 'rows' | 'value') => {
      const start = fromOf(layer, measure);
      return sumOfClasses(this.#sums, start + from, start + to);
    };
    return { rows: sum('rows'), value: sum('value') };
  }

  rated(layer: number, scale: Scale, sumOf: SumOf): Rated {
    const unanswered = unansweredClass(scale);
    const sum = (from: number, to: number) => sumOf(this.counted(layer, from, to));
    return {
      answered: sum(0, unanswered),
      known: sum(0, scale.known),
      notAnswered: sum(unanswered, unanswered + 1),
      severe: sum(scale.severe.from, scale.ordered),
      classes: scale.classes
        .slice(0, unanswered)
        .map(({ name }, index) => ({ name, ...sum(index, index + 1) })),
    };
  }
}

function fromOf(layer: number, measure: 'rows' | 'value'): number {
  return (layer * 2 + (measure === 'rows' ? 0 : 1)) * CLASSES;
}

function sumOfClasses(sums: ArrayLike<number>, from: number, to: number): number {
  let sum = 0;
  for (let index = from; index < to; index++) sum += sums[index]!;
  return sum;
}

/** The part of the classes' weights that is answered, and not left open by the answer. */
export function knownOf(weights: ArrayLike<number>, { known }: Scale): number {
  return sumOfClasses(weights, 0, known);
}

/** The typical class of the answered weight: the weighted lower median of the ordered classes, so that half of the weight is at
 * least as severe; without ordered classes, the heaviest other class. The unanswered class only if nothing was answered. */
export function typicalClass(weights: readonly number[], scale: Scale): number {
  const { ordered } = scale;
  const sum = sumOfClasses(weights, 0, ordered);
  if (sum > 0) {
    let below = 0;
    for (let index = 0; index < ordered; index++) {
      below += weights[index]!;
      if (below * 2 >= sum) return index;
    }
  }
  const unanswered = unansweredClass(scale);
  let heaviest = unanswered;
  for (let index = ordered; index < unanswered; index++) {
    if (weights[index]! > (heaviest === unanswered ? 0 : weights[heaviest]!)) heaviest = index;
  }
  return heaviest;
}

/** The currencies of a file's values. Values of different currencies are never added. */
export interface FileCurrencies {
  /** The currency of the values that the report breaks down; null: unknown. */
  readonly shown: string | null;
  /** By currency, most rows first; `currency` is null for rows without one. Empty without values. */
  readonly totals: readonly (CountedSum & { readonly currency: string | null })[];
  /** The value of a cell in the shown currency, in units (`CellTable`). */
  readonly valueOfCell: (cell: number) => number;
  /** The same of a group of rows (`RowGroups`). */
  readonly valueOfGroup: (group: number) => number;
}

/** From the scan, which has the values of each currency by cell and by group of rows. */
export function sumCurrencies({ currency }: Pick<Job, 'currency'>, scan: Scan): FileCurrencies {
  const { cells, groups, layout, located, currencies } = scan;
  const total = cells.total();
  const whole = {
    valueOfCell: (cell: number) => cells.value(cell),
    valueOfGroup: (group: number) => groups.value(group),
  };
  if (layout.values === 0) return { shown: null, totals: [], ...whole };
  const byRows = [...currencies].sort((a, b) => b.rows - a.rows);
  const [most, ...others] = byRows.flatMap(({ code }) => (code === OTHER_CODES ? [] : [code]));
  const named = most || others.find(Boolean);
  const shown = currency ?? named ?? scan.currency;
  // No row names one.
  if (named === undefined) {
    return {
      shown,
      totals: [{ currency: shown, rows: located, value: total }],
      ...whole,
    };
  }
  const units = (value = 0) => wholeUnits(value, cells.decimals);
  const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);
  const apart = currencies.flatMap(({ values }) => values ?? []);
  const totalOf = (values: ReadonlyMap<number, number>) => sum([...values.values()].map(units));
  const totals = byRows.map(({ code, rows, values }) => ({
    currency: code || null,
    rows,
    value: values === null ? total - sum(apart.map(totalOf)) : totalOf(values),
  }));
  const { decimals } = cells;
  const inShown = (all: readonly ScannedCurrency[], whole: (of: number) => number) => {
    const own = all.find(({ code }) => code === shown);
    return own === undefined ? () => 0 : valueInCurrency(own, all, 'values', { whole, decimals });
  };
  return {
    shown,
    totals,
    valueOfCell: inShown(currencies, whole.valueOfCell),
    valueOfGroup: inShown(scan.currenciesOfGroups, whole.valueOfGroup),
  };
}
