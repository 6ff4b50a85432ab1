import { stringify } from 'csv-stringify/sync';

/** CSV text of a small table that Perilbook makes itself: commas, LF, quotes only where they are needed. */
export function plainCsv(head: readonly string[], rows: readonly (readonly (string | number | null)[])[]): string {
  return stringify([[...head], ...rows.map((row) => [...row])]);
}
