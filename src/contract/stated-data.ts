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

/** Datasets with their vintages, the oldest first. All are named: one that is left out may be the only one behind an answer. */
export function oldestFirst(vintages: readonly string[]): string {
  return vintages.toSorted((a, b) => timeIn(a) - timeIn(b)).join(', ');
}

/** The oldest date in a vintage, in milliseconds since the epoch; of years the last one (1950-2025): what is not shown is newer. Vintages
 * without a date come last. */
export function timeIn(vintage: string): number {
  const dates =
    vintage.replace(/\b\d{4}-(?=\d{4}\b)/g, '').match(/\b(?:19|20)\d\d(?:-\d\d(?:-\d\d)?)?\b/g) ??
    [];
  return dates.length === 0 ? Number.MAX_VALUE : Math.min(...dates.map((date) => Date.parse(date)));
}
