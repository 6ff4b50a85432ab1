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

/** `1,234`, or `a.csv:1,234` in a part file. */
export function placeText({ line, part }: RowPlace): string {
  return part === undefined ? grouped(line) : `${part}:${grouped(line)}`;
}
