import { counted } from '../base/format-numbers.ts';
import { memo } from '../base/memo.ts';

/** The data behind an answer. Our own service states it beside `value` (docs/developer/service-api.md, 3). */
export interface StatedData {
  /** The datasets, each with its vintage: `nri December 2025`. */
  readonly vintages: readonly string[];
  /** Where the answer is not the topic's usual one: `rating of the county, not of the tract`. */
  readonly remarks: readonly string[];
}

/** Stated data as one text, as answers keep it. */
export const statedText = ({ vintages, remarks }: StatedData): string =>
  JSON.stringify([vintages, remarks]);

/** The vintages and the remarks of such a text. A run writes the same few on each row. */
export const readStated = memo(
  (text: string) => JSON.parse(text) as readonly [string[], string[]],
  4_096,
);

/** Most datasets that a note names. */
const MOST_DATASETS = 3;

/** Some datasets with their vintages, the oldest first: what is left out is newer. */
export function oldestFirst(vintages: readonly string[]): string {
  const sorted = vintages.toSorted((a, b) => timeIn(a) - timeIn(b));
  const rest = sorted.length - MOST_DATASETS;
  return `${sorted.slice(0, MOST_DATASETS).join(', ')}${rest > 0 ? ` and ${counted(rest, 'more dataset')}` : ''}`;
}

/** The oldest date in a vintage, in milliseconds since the epoch; of years the last one (1950-2025): what is not shown is newer. Vintages
 * without a date come last. */
export function timeIn(vintage: string): number {
  const dates =
    vintage.replace(/\b\d{4}-(?=\d{4}\b)/g, '').match(/\b(?:19|20)\d\d(?:-\d\d(?:-\d\d)?)?\b/g) ??
    [];
  return dates.length === 0 ? Number.MAX_VALUE : Math.min(...dates.map((date) => Date.parse(date)));
}
