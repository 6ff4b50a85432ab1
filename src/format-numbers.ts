/** Numbers, shares and times for people; of these, `--json` has the shares. */

const GROUPED = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** 12,345 */
export function grouped(value: number): string {
  return GROUPED.format(value);
}

/** `1 credit`, `2 credits`; `many` for irregular plurals. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${grouped(value)} ${value === 1 ? one : many}`;
}

/** 2026-12-01 14:05 UTC */
export function dateTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/**
 * A part of a whole, 0 to 1; null where the whole is nothing. Both are counts, credits or whole units of value (`CellTable`): sums of these
 * are exact, so that all of the whole is 1.
 */
export function shareOf(part: number, whole: number): number | null {
  return whole > 0 ? part / whole : null;
}
