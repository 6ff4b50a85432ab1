import type { PlanSummary } from './summary.ts';

/**
 * Whether so many rows have no usable location that the file was probably read wrongly: with its columns exchanged, or with the
 * wrong location columns. Rows outside the US are real places; they count only where no row is inside.
 */
export function hasTooManyInvalid(summary: PlanSummary): boolean {
  return summary.rows > 0 && unusableRows(summary) / summary.rows > summary.max_invalid;
}

/** The rows that `hasTooManyInvalid` counts. */
export function unusableRows({ rows, located, invalid }: PlanSummary): number {
  return located === 0 ? rows : invalid;
}
