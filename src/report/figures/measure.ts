import { amount, counted, grouped, shareOf } from '../../base/format-numbers.ts';
import type { LineReference } from '../../rows/port.ts';
import type { Facts } from './facts.ts';
import type { Sum } from './sums.ts';

export type Measure = ReturnType<typeof measureOf>;

/** The measure of a report: the value if the input has one, else the number of locations. `name` is the head of its column, `words` are
 * `$92.7 bn` or `36,600 locations`. */
export function measureOf({ valueName, currency }: Pick<Facts, 'valueName' | 'currency'>) {
  if (valueName === null) {
    const words = ({ locations }: Sum) => counted(locations, 'location');
    const of = ({ locations }: Sum) => locations;
    return { by: 'locations', name: 'Locations', of, shown: grouped, words } as const;
  }
  const of = ({ value }: Sum) => value ?? 0;
  const shown = (value: number) => amount(value, currency);
  const name = currency === null ? 'Value' : `Value, ${currency}`;
  return { by: 'value', name, of, shown, words: (sum: Sum) => shown(of(sum)) } as const;
}

/** A share in per cent: 12.3 %. 0 only for nothing, and 100 only for all. */
export function percent(part: number, whole: number, digits: 0 | 1 = 1): string {
  const share = shareOf(part, whole);
  if (share === null) return '–';
  const least = 10 ** -digits;
  const hundredths = share * 100;
  if (share > 0 && hundredths < least / 2) return `<${least} %`;
  if (share < 1 && hundredths >= 100 - least / 2) return `>${100 - least} %`;
  return `${share === 1 || share === 0 ? hundredths : hundredths.toFixed(digits)} %`;
}

/** `1,234`, or `a.csv:1,234` in a part file. */
export function lineText({ line, part }: LineReference): string {
  return part === undefined ? grouped(line) : `${part}:${grouped(line)}`;
}
