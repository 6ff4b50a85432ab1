import { z } from 'zod';
import type { OutputRow } from './output-table.ts';

/** What the table can be sorted by. */
const SORT_KEYS = ['line', 'value', 'status', 'rating'] as const;

/** Which rows of an output to show, and in which order. */
export const rowFilterSchema = z.strictObject({
  status: z.string().optional(),
  peril: z.string().optional(),
  /** Of the peril; without one, the highest of all perils. */
  rating: z.string().optional(),
  /** In any of the user's own fields; upper and lower case are the same. */
  text: z.string().trim().max(200).optional(),
  /** Default: in the order of the file. */
  sort: z.strictObject({ by: z.enum(SORT_KEYS), direction: z.enum(['asc', 'desc']) }).optional(),
  from: z.int().nonnegative(),
});

export type RowFilter = z.infer<typeof rowFilterSchema>;

/** Some rows that pass a filter, and how many pass it in all. */
export interface OutputPage {
  readonly total: number;
  readonly rows: readonly ShownRow[];
}

/** A row as the page shows it: with the peril of the filter, else with the worst one. */
export interface ShownRow extends Pick<OutputRow, 'id' | 'place' | 'value' | 'currency' | 'status' | 'note'> {
  /** The place of the row in the user's file; null where that file has changed since. */
  readonly line: number | null;
  readonly peril: string;
  readonly rating: string;
}

/** A page of the table. */
export const ROWS_PER_PAGE = 50;
