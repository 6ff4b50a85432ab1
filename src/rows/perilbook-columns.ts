/** The columns that Perilbook's own ones begin with, always all of them; a prefix may stand before each. */
const [FIRST_COLUMN, ...NEXT_COLUMNS] = ['hazard_status', 'hazard_note', 'hazard_as_of'] as const;

/**
 * The index from which on all columns were written by Perilbook, or null when there is none. `known` holds every name that
 * Perilbook can write, with the prefix of the job. It is null when another column follows `hazard_status`, or when
 * `hazard_status` is not followed by its next columns: to drop them would lose a column of the user's.
 */
export function findPerilbookColumns(names: readonly string[], known: { has(name: string): boolean }): number | null {
  let from = names.length;
  while (from > 0 && known.has(names[from - 1]!)) from--;
  const first = names.findIndex((name, i) => i >= from && name.endsWith(FIRST_COLUMN) && isOurs(names, i));
  return first < 0 ? null : first;
}

function isOurs(names: readonly string[], at: number): boolean {
  const prefix = names[at]!.slice(0, -FIRST_COLUMN.length);
  return NEXT_COLUMNS.every((next, i) => names[at + 1 + i] === prefix + next);
}
