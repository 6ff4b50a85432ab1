import { counted } from '../../base/format-numbers.ts';
import { type County, countyName } from '../../geo/us-counties.ts';

/* A report names the largest states and counties and adds up the rest. */

export const COUNTIES_SHOWN = 20;

/** Outside of every outline. */
export const ELSEWHERE = 'Elsewhere';

/** The largest areas, and the rest together. */
export interface LargestAreas<Area> {
  /** How many there are. */
  readonly count: number;
  /** The largest first. */
  readonly largest: readonly Area[];
  /** The rest together; null for none. */
  readonly others: Area | null;
}

/** Keeps the first areas and adds up the rest, as "3 others".
 * @param sorted the largest first
 * @param most how many are kept */
export function largestAreas<Area>(
  sorted: readonly Area[],
  most: number,
  addedUp: (name: string, rest: readonly Area[]) => Area,
): LargestAreas<Area> {
  const rest = sorted.slice(most);
  return {
    count: sorted.length,
    largest: sorted.slice(0, most),
    others: rest.length === 0 ? null : addedUp(counted(rest.length, 'other'), rest),
  };
}

/** The name of a county in a report's lists. */
export const countyLabel = (county: County | null): string => countyName(county) || ELSEWHERE;
