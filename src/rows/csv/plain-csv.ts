import { stringify } from 'csv-stringify/sync';

/** Formats a small table as CSV: commas, LF, quotes only where needed. */
export function plainCsv(head: readonly string[], rows: readonly (readonly (string | number | null)[])[]): string {
  return stringify([[...head], ...rows.map((row) => [...row])]);
}
