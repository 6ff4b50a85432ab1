import { type Scale, unansweredClass } from './scales.ts';

/** The rows and the value (in units of `CellTable`) in each class of a scale, in the order of its classes. */
export interface Distribution {
  readonly rows: readonly number[];
  readonly value: readonly number[];
}

/** Rows and value by class. */
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

  distribution({ classes }: Scale): Distribution {
    return { rows: [...this.rows.subarray(0, classes.length)], value: [...this.value.subarray(0, classes.length)] };
  }
}

/** The sum of the classes from one index up to, not including, another. */
export function sumOfClasses(sums: ArrayLike<number>, from = 0, to = sums.length): number {
  let sum = 0;
  for (let index = from; index < to; index++) sum += sums[index]!;
  return sum;
}

/** What was answered: the denominator of every share. */
export function answeredOf(sums: ArrayLike<number>, scale: Scale): number {
  return sumOfClasses(sums, 0, unansweredClass(scale));
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
