/** The column that Perilbook's own ones begin with; a prefix may stand before it. */
const FIRST_COLUMN = 'hazard_status';

/**
 * The index from which on all columns were written by Perilbook, or null when there is none. `known` holds every name that
 * Perilbook can write, with the prefix of the job. A stranger behind `hazard_status` makes it null: dropping it would lose
 * a column of the user's.
 */
export function findPerilbookColumns(names: readonly string[], known: ReadonlySet<string>): number | null {
  let from = names.length;
  while (from > 0 && known.has(names[from - 1]!)) from--;
  const first = names.findIndex((name, i) => i >= from && name.endsWith(FIRST_COLUMN));
  return first < 0 ? null : first;
}
