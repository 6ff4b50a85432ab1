import { grouped } from '../../format-numbers.ts';
import type { Facts } from '../facts.ts';
import type { RowsAndValue } from '../figures.ts';
import { amount } from './numbers.ts';

/** By what the page ranks: the value where the file has one, else the locations. */
export interface Measure {
  readonly by: 'value' | 'rows';
  /** For the head of a column. */
  readonly name: string;
  /** For the column with the share answered: by the same measure as the shares of what was answered. */
  readonly answeredName: string;
  readonly of: (sums: RowsAndValue) => number;
  readonly shown: (measured: number) => string;
}

export function measureOf({ valueName, currency }: Facts): Measure {
  if (valueName === null)
    return {
      by: 'rows',
      name: 'Locations',
      answeredName: 'Locations answered',
      of: ({ rows }) => rows,
      shown: grouped,
    };
  const name = currency === null ? 'Value' : `Value, ${currency}`;
  return {
    by: 'value',
    name,
    answeredName: 'Value answered',
    of: ({ value }) => value,
    shown: (value) => amount(value, currency),
  };
}
