import { amount, grouped } from '../../format-numbers.ts';
import { valueOfUnits } from '../../job/scan/value.ts';
import type { Facts } from '../facts.ts';
import type { RowsAndValue } from '../figures.ts';

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

export function measureOf(facts: Facts): Measure {
  const { valueName, currency } = facts;
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
    shown: (units) => worth(facts, units),
  };
}

/** A sum of value, as the page shows it. @param units as the figures have it @param currency of the sum; that of the page if left out */
export function worth(
  { decimals, currency: shown }: Pick<Facts, 'decimals' | 'currency'>,
  units: number,
  currency = shown,
): string {
  return amount(valueOfUnits(units, decimals), currency);
}
