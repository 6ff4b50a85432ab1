/* Dates as agencies write them. */

/** A date as 2024-10-03; '' for none. */
export function dayIn(value: unknown): string {
  const time = timeIn(value);
  return time === null ? '' : new Date(time).toISOString().slice(0, 10);
}

const EARLIEST = Date.UTC(1900);
const LATEST = Date.UTC(2200);

/** A date as 2024-10-03; of a value that is no more than a year, the year; '' for none. They sort by time. */
export function dayOrYearIn(value: unknown): string {
  const [year = ''] = /^(?:19|20)\d\d$/.exec(String(value).trim()) ?? [];
  return year || dayIn(value);
}

/** The forms of a day: 2024-10-03…, 2024/10/03 …, 20241003, and 10/3/2024 …, as it is written in the US. */
const DAYS = [
  /^(?<year>\d{4})[-/](?<month>\d{1,2})[-/](?<day>\d{1,2})(?!\d)/,
  /^(?<year>\d{4})(?<month>\d\d)(?<day>\d\d)$/,
  /^(?<month>\d{1,2})[-/](?<day>\d{1,2})[-/](?<year>\d{4})(?!\d)/,
];

/** Milliseconds of a day, epoch milliseconds, or a date of a shapefile; null when it is none, or 9999. */
function timeIn(value: unknown): number | null {
  const text = value instanceof Date ? value.toISOString() : String(value ?? '').trim();
  const groups = DAYS.map((form) => form.exec(text)?.groups).find((found) => found !== undefined);
  const time =
    groups !== undefined
      ? timeOfDay(Number(groups.year), Number(groups.month), Number(groups.day))
      : typeof value === 'number' || /^\d{12,13}$/.test(text)
        ? Number(value)
        : Number.NaN;
  return time >= EARLIEST && time <= LATEST ? time : null;
}

/** NaN for a day that no month has. */
function timeOfDay(year: number, month: number, day: number): number {
  const time = Date.UTC(year, month - 1, day);
  return new Date(time).getUTCDate() === day && month <= 12 ? time : Number.NaN;
}
