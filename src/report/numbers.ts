/** Numbers as the report shows them. */

import { grouped, shareOf } from '../format-numbers.ts';
import type { RowPlace } from './noted-rows.ts';

/** A share in per cent: 12.3 %, and never 0 for something nor 100 for less than all. */
export function percent(part: number, whole: number, digits: 0 | 1 = 1): string {
  const share = shareOf(part, whole);
  if (share === null) return '–';
  const least = 10 ** -digits;
  const hundredths = share * 100;
  if (share > 0 && hundredths < least / 2) return `<${least} %`;
  if (share < 1 && hundredths > 100 - least / 2) return `>${100 - least} %`;
  return `${share === 1 || share === 0 ? hundredths : hundredths.toFixed(digits)} %`;
}

/** `1,234`, or `a.csv:1,234` in a part file. */
export function placeText({ line, part }: RowPlace): string {
  return part === undefined ? grouped(line) : `${part}:${grouped(line)}`;
}
