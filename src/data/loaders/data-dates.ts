/* The date of data in its vintage, to tell older data from newer. */

/** Two dates of data, the first of which is older. */
export interface OlderDates {
  readonly now: string;
  readonly before: string;
}

const DAY_MS = 86_400_000;

/** At a publisher the newest records may be withdrawn: of days, a download may be so much older. */
const WITHDRAWN_MS = 30 * DAY_MS;

/** The dates of two vintages if the first is older; null if it is not, or if that is not known. Dates of unlike precision are older only if
 * the whole period is: a year is not older than a day in it.
 * @param isByHand a day makes a difference */
export function datesIfOlder(
  vintage: string,
  stored: string,
  isByHand: boolean,
): OlderDates | null {
  for (const kind of KINDS) {
    const [now, before] = [newestPeriod(vintage, kind), newestPeriod(stored, kind)];
    if (now === null || before === null) continue;
    const areDays = [now, before].every(({ from, to }) => to - from < DAY_MS);
    const margin = areDays && !isByHand ? WITHDRAWN_MS : 0;
    return now.to + margin < before.from ? { now: now.text, before: before.text } : null;
  }
  return null;
}

/** `radon is of 2025 here and of 1993 in the load`. */
export const olderText = (of: string, { now, before }: OlderDates): string =>
  `${of} is of ${before} here and of ${now} in the load`;

/** A period with its text; times in milliseconds since the epoch, both in it. */
interface Period {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/** The forms of dates, the most exact first. The day of a file is no date of data. The day on which a layer was edited is compared
 * with another such day alone. */
const KINDS: readonly (readonly RegExp[])[] = [
  [
    /\bto (\d{4}-\d\d-\d\d)\b/,
    /^(\d{4}-\d\d-\d\d)\b/,
    /^(\d{4}-\d\d)(?:,|$)/,
    /^([A-Z][a-z]+ \d{4})(?:,|$)/,
    // Of several years the last: 2005-2007.
    /^(?:\d{4}-)?(\d{4})(?:,|$)/,
    /\((\d{4})\)(?:,|$)/,
  ],
  [/^edited (\d{4}-\d\d-\d\d)\b/],
];

/** The newest date of a kind; a part of several files has a vintage of each. */
function newestPeriod(vintage: string, forms: readonly RegExp[]): Period | null {
  let newest: Period | null = null;
  for (const text of vintage.split('; ')) {
    const date = forms.map((form) => form.exec(text)?.[1]).find((found) => found !== undefined);
    const period = date === undefined ? null : periodOf(date);
    if (period !== null && (newest === null || period.to > newest.to)) newest = period;
  }
  return newest;
}

function periodOf(text: string): Period | null {
  const isMonthName = /^[A-Z]/.test(text);
  const from = Date.parse(isMonthName ? `1 ${text} UTC` : text);
  if (Number.isNaN(from)) return null;
  const start = new Date(from);
  const isMonth = isMonthName || /^\d{4}-\d\d$/.test(text);
  const next = isMonth
    ? Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1)
    : text.length === 4
      ? Date.UTC(start.getUTCFullYear() + 1, 0)
      : from + DAY_MS;
  return { text, from, to: next - 1 };
}
