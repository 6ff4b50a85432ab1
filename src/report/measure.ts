import { amount, counted, grouped } from '../format-numbers.ts';
import type { Facts } from './facts.ts';
import type { Sum } from './sums.ts';

/** By what a report ranks and measures: the value where the input has one, else the locations. */
export interface Measure {
  readonly by: 'value' | 'locations';
  /** For the head of a column. */
  readonly name: string;
  readonly of: (sum: Sum) => number;
  readonly shown: (measured: number) => string;
  /** `$92.7 bn`, `36,600 locations`. */
  readonly words: (sum: Sum) => string;
}

export function measureOf({ valueName, currency }: Pick<Facts, 'valueName' | 'currency'>): Measure {
  if (valueName === null) {
    const words = ({ locations }: Sum) => counted(locations, 'location');
    return { by: 'locations', name: 'Locations', of: ({ locations }) => locations, shown: grouped, words };
  }
  const of = ({ value }: Sum) => value ?? 0;
  const shown = (value: number) => amount(value, currency);
  const name = currency === null ? 'Value' : `Value, ${currency}`;
  return { by: 'value', name, of, shown, words: (sum) => shown(of(sum)) };
}
