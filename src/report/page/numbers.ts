/** Numbers as the page shows them. */

import { grouped, shareOf } from '../../format-numbers.ts';
import type { RowPlace } from '../../job/noted-rows.ts';

/** A share in per cent: 12.3 %, and never 0 for something nor 100 for less than all. */
export function percent(part: number, whole: number): string {
  const share = shareOf(part, whole);
  if (share === null) return '–';
  if (share > 0 && share < 0.0005) return '<0.1 %';
  if (share < 1 && share > 0.9995) return '>99.9 %';
  return `${share === 1 || share === 0 ? 100 * share : (100 * share).toFixed(1)} %`;
}

const STEPS = [
  [1e12, 'tn'],
  [1e9, 'bn'],
  [1e6, 'm'],
  [1e3, 'k'],
] as const;

/** Three digits and a unit, with the currency where it is known: $3.19 bn, CAD 12.5 m, 950. */
export function amount(value: number, currency: string | null): string {
  const [sign, size] = [value < 0 ? '−' : '', Math.abs(value)];
  const before = currency === null ? '' : currency === 'USD' ? '$' : `${currency} `;
  // 999,500 is 1.00 m: a thousand times the next smaller unit has four digits.
  const step = STEPS.find(([per]) => size >= per * 0.9995);
  if (step === undefined) return `${sign}${before}${Math.round(size)}`;
  const [per, unit] = step;
  const scaled = size / per;
  const digits = scaled >= 99.95 ? 0 : scaled >= 9.995 ? 1 : 2;
  return `${sign}${before}${scaled.toFixed(digits)} ${unit}`;
}

/** `1,234`, or `a.csv:1,234` in a part file. */
export function placeText({ line, part }: RowPlace): string {
  return part === undefined ? grouped(line) : `${part}:${grouped(line)}`;
}
