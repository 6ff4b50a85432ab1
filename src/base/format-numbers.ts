/** Numbers, shares and times for people; of these, `--json` has the shares. Some are served to the page too (`page/web/assets.ts`). */

/** 12,345. Intl's formatter takes 10 ms to load. */
export function grouped(value: number): string {
  return value.toFixed(0).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** `1 credit`, `2 credits`; `many` for irregular plurals. */
export function counted(value: number, singular: string, plural = `${singular}s`): string {
  return `${grouped(value)} ${value === 1 ? singular : plural}`;
}

/** `under a minute`, `12 minutes`, `3 h 20 min`, `2 days 4 h`. */
export function timeSpan(minutes: number): string {
  if (minutes < 1) return 'under a minute';
  if (minutes < 90) return counted(Math.round(minutes), 'minute');
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${Math.round(minutes % 60)} min`;
  return `${Math.floor(hours / 24)} days ${hours % 24} h`;
}

/** 12.3 MB */
export function byteSize(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${power === 0 ? value : value.toFixed(1)} ${units[power]}`;
}

/** `38 %`. `100 %` only for all, and `0 %` only for none. */
export function percent(share: number): string {
  const rounded = Math.round(share * 100);
  if (rounded === 100 && share < 1) return `${Math.floor(share * 1000) / 10} %`;
  return `${rounded === 0 && share > 0 ? '<1' : rounded} %`;
}

/** 2026-12-01 */
export function isoDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** 2026-12-01T14:05:00.000Z, as JSON has it; null stays null. */
export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** 2026-12-01 14:05 UTC */
export function dateTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** A part of a whole, 0 to 1; null where the whole is nothing. Both are counts, credits or whole units of value (`CellTable`): sums of
 * these are exact, so that all of the whole is 1. */
export function shareOf(part: number, whole: number): number | null {
  return whole > 0 ? part / whole : null;
}

const STEPS = [
  [1e12, ' T'],
  [1e9, ' B'],
  [1e6, ' M'],
  [1e3, ' K'],
] as const;

/** A sum of values in three digits and a unit, with the currency where it is known: $3.19 B, CAD 12.5 M, 950, 0.60. */
export function amount(value: number, currency: string | null): string {
  const [sign, size] = [value < 0 ? '−' : '', Math.abs(value)];
  const before = sign + (currency === null ? '' : currency === 'USD' ? '$' : `${currency} `);
  if (size > 0 && size < 0.01) return `${before}<0.01`;
  // 999,500 is 1.00 M: a thousand times the next smaller unit has four digits.
  const [per, unit] = STEPS.find(([least]) => size >= least * 0.9995) ?? [1, ''];
  const scaled = size / per;
  const digits =
    scaled >= 99.95 || (per === 1 && Number.isInteger(size)) ? 0 : scaled >= 9.995 ? 1 : 2;
  return `${before}${digits === 0 ? grouped(scaled) : scaled.toFixed(digits)}${unit}`;
}
