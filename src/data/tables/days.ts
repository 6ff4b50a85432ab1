/* Dates as agencies write them. */

/** A date as 2024-10-03; '' for none. */
export function dayIn(value: unknown): string {
  const time = timeIn(value);
  return time === null ? '' : new Date(time).toISOString().slice(0, 10);
}

const EARLIEST = Date.UTC(1900);
const LATEST = Date.UTC(2200);

/** Milliseconds of a date: epoch milliseconds, 2024-10-03…, 2024/10/03 …, a date of a shapefile; null when it is none, or 9999. */
function timeIn(value: unknown): number | null {
  const text =
    value instanceof Date ? value.toISOString() : typeof value === 'string' ? value.trim() : '';
  const [, year, month, day] = /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?!\d)/.exec(text) ?? [];
  const time =
    year !== undefined
      ? Date.UTC(Number(year), Number(month) - 1, Number(day))
      : typeof value === 'number' || /^\d{12,13}$/.test(text)
        ? Number(value)
        : Number.NaN;
  return time >= EARLIEST && time <= LATEST ? time : null;
}
