import { valueOfUnits } from '../run/scan/value.ts';
import { type Scale, severeClasses, type Units, unansweredClass } from './scales.ts';

/** Locations, and what they are worth in the report's currency; null where the input has no value column. */
export interface Sum {
  readonly locations: number;
  readonly value: number | null;
}

/** Locations and value while they are counted: in whole units of `CellTable`, of which sums are exact. */
export interface CountedSum {
  readonly rows: number;
  readonly value: number;
}

/** Makes the sum that is shown of what was counted. */
export type SumOf = (counted: CountedSum) => Sum;

/** @param decimals of the units; null where there are no values */
export function sumMaker(decimals: number | null): SumOf {
  return ({ rows, value }) => ({ locations: rows, value: decimals === null ? null : valueOfUnits(value, decimals) });
}

/** What is known of a topic: each share of it is of what was answered. */
export interface Rated {
  readonly answered: Sum;
  readonly notAnswered: Sum;
  /** Of what was answered: the severe classes together. */
  readonly severe: Sum;
  /** In the order of the scale's classes, without what was not answered. */
  readonly classes: readonly (Sum & { readonly name: string })[];
}

/** Locations and value by class. */
export class ClassSums {
  readonly rows: Float64Array;
  readonly value: Float64Array;

  constructor(classes: number) {
    this.rows = new Float64Array(classes);
    this.value = new Float64Array(classes);
  }

  add(index: number, rows: number, value: number): void {
    this.rows[index]! += rows;
    this.value[index]! += value;
  }

  /** The sum of the classes from one index up to, not including, another. */
  counted(from: number, to: number): CountedSum {
    return { rows: sumOfClasses(this.rows, from, to), value: sumOfClasses(this.value, from, to) };
  }

  rated(scale: Scale, units: Units, sumOf: SumOf): Rated {
    const unanswered = unansweredClass(scale);
    return {
      answered: sumOf(this.counted(0, unanswered)),
      notAnswered: sumOf(this.counted(unanswered, unanswered + 1)),
      severe: sumOf(this.counted(severeClasses(scale, units).from, scale.ordered)),
      classes: scale.classes
        .slice(0, unanswered)
        .map(({ name }, index) => ({ name, ...sumOf(this.counted(index, index + 1)) })),
    };
  }
}

function sumOfClasses(sums: ArrayLike<number>, from: number, to: number): number {
  let sum = 0;
  for (let index = from; index < to; index++) sum += sums[index]!;
  return sum;
}

/** What was answered of the weights of all classes. */
export function answeredOf(weights: ArrayLike<number>, scale: Scale): number {
  return sumOfClasses(weights, 0, unansweredClass(scale));
}

/**
 * The typical class of what was answered: the weighted lower median of the ordered classes, so that half of the weight is at
 * least as severe; without any, the heaviest of the other classes. The unanswered class only if nothing was answered.
 */
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
