import type { Scale } from './scales.ts';

/** The rows and the value in each class of a scale, in the order of its classes. */
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

/**
 * The typical class: the weighted lower median of the ordered classes, so that half of the weight is at least as severe;
 * without any, the heaviest of the other classes.
 */
export function typicalClass(weights: readonly number[], { ordered, classes }: Scale): number {
  let sum = 0;
  for (let index = 0; index < ordered; index++) sum += weights[index]!;
  if (sum > 0) {
    let below = 0;
    for (let index = 0; index < ordered; index++) {
      below += weights[index]!;
      if (below * 2 >= sum) return index;
    }
  }
  let heaviest = classes.length - 1;
  for (let index = ordered; index < classes.length; index++) {
    if (weights[index]! > weights[heaviest]!) heaviest = index;
  }
  return heaviest;
}
