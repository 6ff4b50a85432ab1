import { grouped } from '../../format-numbers.ts';

/** Numbers and times as the page shows them. */

/** A share in per cent: 12.3 %, and never 0 for something nor 100 for less than all. */
export function percent(part: number, whole: number): string {
  if (whole === 0) return '–';
  const share = (part / whole) * 100;
  if (share > 0 && share < 0.05) return '<0.1 %';
  if (share < 100 && share > 99.95) return '>99.9 %';
  return `${share === 100 || share === 0 ? share : share.toFixed(1)} %`;
}

/** The unit in which a book's values are shown: thousands or millions, so that columns stay narrow. */
export interface ValueUnit {
  readonly per: number;
  /** For the head of a column. */
  readonly name: string;
}

export function valueUnit(total: number): ValueUnit {
  if (Math.abs(total) >= 1e10) return { per: 1_000_000, name: 'Value, millions' };
  return Math.abs(total) >= 1_000_000 ? { per: 1_000, name: 'Value, thousands' } : { per: 1, name: 'Value' };
}

export function inUnit(value: number, { per }: ValueUnit): string {
  return grouped(value / per);
}
