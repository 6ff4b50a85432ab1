import type { PlanSummary } from './summary.ts';

/**
 * Whether so many rows have no usable location that the columns are probably wrong or exchanged. Rows outside the US are real
 * places; they count only if no row is inside the US.
 */
export function hasTooManyInvalid(summary: PlanSummary): boolean {
  return summary.rows > 0 && unusableRows(summary) / summary.rows > summary.max_invalid;
}

/** The rows that `hasTooManyInvalid` counts. */
export function unusableRows({ rows, located, invalid }: PlanSummary): number {
  return located === 0 ? rows : invalid;
}
