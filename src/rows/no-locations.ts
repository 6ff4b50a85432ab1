import { LONGEST_NUMBER } from '../base/decimal-number.ts';
import { isNothing } from '../base/no-value.ts';

/* Rows that are no locations: they come back as they are, and do not count as rows whose location cannot be used. */

/** Why a row of a file is no location. */
export const NO_LOCATION_NOTES = {
  empty_row: 'The row is empty.',
  total_row: 'The row is a total, not a location.',
  count_row: 'The row says how many rows there are, and is no location.',
  rule_row: 'The row is a line between the names and the rows, not a location.',
} as const;
export type NoLocation = keyof typeof NO_LOCATION_NOTES;

/** The first text of a row of totals, in the languages of spreadsheets. */
const TOTAL =
  /^(?:(?:grand|sub|overall|page|report)?[\s-]*totals?|sums?|averages?|avg|mean|median|(?:gesamt|zwischen)?summe|gesamt|insgesamt|total\s+g[ée]n[ée]ral|sous-total|somme|totale|somma|totaal|som|suma|soma|итого|всего|合计|总计|總計|合計|総計|小計|小计|합계|총계|المجموع|الإجمالي)\s*(?:\([^)]*\))?\s*:?\s*[\d.,]*$/iu;
/** The last line of a database's client: `(3 rows)`, `3 rows affected`, `3 rows in set (0.01 sec)`. */
const ROW_COUNT =
  /^\(?\d[\d,.]*\s+(?:rows?|records?)(?:\s+(?:affected|selected|returned|exported|in set(?:\s*\(.*\))?))?\)?\.?$/i;
const RULE = /^[\s:|+=_-]*$/;

/** Whether a text may be that of a row that is no location: a quick look at its latitude and its longitude, which are read for each row. */
export function mayBeNoLocation(text: string): boolean {
  const code = text.charCodeAt(0);
  if (code >= ZERO && code <= NINE) return false;
  // A negative number has no second minus.
  if (code === MINUS) return text.charCodeAt(1) === MINUS && RULE.test(text);
  return text === '' || RULE.test(text);
}

const [MINUS, ZERO, NINE] = [45, 48, 57];

/** Why a row is no location, by its fields of which the first `needed` are its location; its texts are only asked for where these are
 * blank. */
export function noLocationOf(
  fields: readonly string[],
  needed: number,
  textsOf: () => readonly string[],
): NoLocation | null {
  if (needed === 0) return null;
  for (let index = 0; index < needed; index++)
    if (!mayBeNoLocation(fields[index] ?? '')) return null;
  return noLocationIn(textsOf());
}

/** Why a row without coordinates is no location, by all its texts that no earlier run wrote; null where it may be one. Of the first texts
 * alone: null where those after them cannot change it. */
export function noLocationIn(texts: readonly string[]): NoLocation | null {
  const filled = texts.map((text) => text.trim()).filter((text) => text !== '');
  const [first] = filled;
  if (first === undefined) return 'empty_row';
  if (filled.every((text) => RULE.test(text)) && filled.some((text) => /[-=_]{2}/.test(text)))
    return 'rule_row';
  if (filled.length === 1 && ROW_COUNT.test(first)) return 'count_row';
  const isTotal = TOTAL.test(first) && filled.slice(1).every((text) => isNumberOrNothing(text));
  return isTotal ? 'total_row' : null;
}

/** A sum as a spreadsheet writes it: `1,234.50`, `$ 12`, `(3)`, `45 %`. */
function isNumberOrNothing(text: string): boolean {
  if (isNothing(text)) return true;
  return (
    text.length <= LONGEST_NUMBER &&
    /^[\p{Sc}\s(+-]*\d[\d.,\s'’]*[%)\s\p{Sc}]*[A-Z]{0,3}$/u.test(text)
  );
}
