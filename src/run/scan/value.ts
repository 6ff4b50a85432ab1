import { currencyOfMark } from '../../base/currencies.ts';
import { LONGEST_NUMBER } from '../../base/decimal-number.ts';
import { PerilbookError } from '../../base/errors.ts';
import { didYouMean } from '../../base/nearest-name.ts';
import type { OrderBy } from '../../job/settings.ts';

/** The value columns follow latitude and longitude. A row that is too short to have them has the value 0. */
export const FIRST_VALUE = 2;

/** OED's total insured values of a location, and AIR CEDE's names for them. The present columns are summed. */
const TIV_COLUMNS = [
  'buildingtiv',
  'othertiv',
  'contentstiv',
  'bitiv',
  'buildingvalue',
  'othervalue',
  'contentsvalue',
  'timeelementvalue',
];

/** Other lists have the sum under this name. */
const TIV_ITSELF = 'tiv';

/** The columns whose sum is a row's value; none for `file`. @throws INPUT_COLUMNS */
export function valueColumns(names: readonly string[], orderBy: OrderBy, file: string): number[] {
  switch (orderBy.kind) {
    case 'file':
      return [];
    case 'column':
      return [columnByName(names, orderBy.column, 'order_by', file)];
    case 'recognized': {
      const likely = likelyOrder(names);
      return likely === null ? [] : likely === 'tiv' ? tivColumns(names) : [names.indexOf(likely)];
    }
    case 'tiv': {
      const columns = tivColumns(names);
      if (columns.length > 0) return columns;
    }
  }
  const message = 'order_by tiv: no column BuildingTIV, OtherTIV, ContentsTIV, BITIV or TIV';
  const hint =
    'Name the value column: --order-by COLUMN, or order_by: {column: …} in the job file.';
  throw new PerilbookError('INPUT_COLUMNS', message, hint, { file });
}

/** Of OED's values and AIR CEDE's, that of the building. */
const BUILDING_VALUES = ['buildingtiv', 'buildingvalue'];

/** Of the columns whose sum is a row's value, those that rates of buildings apply to: buildings alone where they can be told apart, else
 * all. */
export function buildingColumns(names: readonly string[], values: readonly number[]): number[] {
  const own = values.filter((column) => BUILDING_VALUES.includes(letters(names[column]!)));
  return own.length > 0 ? own.slice(0, 1) : [...values];
}

/** The column that a setting names: by its exact name, else without regard to case. @throws INPUT_COLUMNS */
export function columnByName(
  columns: readonly string[],
  name: string,
  setting: string,
  file: string,
): number {
  const exact = columns.indexOf(name);
  const index =
    exact >= 0 ? exact : columns.findIndex((column) => column.toLowerCase() === name.toLowerCase());
  if (index >= 0) return index;
  const message = `${setting}: no column ${name}${didYouMean(name, columns)}`;
  throw new PerilbookError('INPUT_COLUMNS', message, `The columns are: ${columns.join(', ')}`, {
    file,
    column: name,
  });
}

/** A name in small letters without its unit: `Price (USD)`, `price_usd` and `PRICE $` are one name. Other currencies stay. */
const withoutDollars = (name: string): string =>
  name
    .trim()
    .slice(0, LONGEST_NUMBER)
    .toLowerCase()
    .replace(
      /[\s._-]*(?:\((?:us[d$]|\$)\)|\[(?:us[d$]|\$)\]|us[d$]|\$)(?=[\s._-]*(?:\d{2,4})?$)/,
      '',
    );

/** `Building TIV`, `building_tiv` and `BuildingTIV` are one name. */
const letters = (name: string): string => withoutDollars(name).replace(/[\s._-]+/g, '');

/** The columns whose sum `order_by: tiv` takes; none without such names. */
export function tivColumns(names: readonly string[]): number[] {
  const plain = names.map(letters);
  // A value that stands twice, for example in dollars too, counts once.
  const columns = [...plain.keys()].filter(
    (index) => TIV_COLUMNS.includes(plain[index]!) && plain.indexOf(plain[index]!) === index,
  );
  if (columns.length > 0) return columns;
  const sum = plain.indexOf(TIV_ITSELF);
  return sum < 0 ? [] : [sum];
}

/** Names of columns that usually hold a value, the likeliest first. A year may follow; the newest year is taken. */
const LIKELY_VALUES = [
  /^(?:tiv|total_?insured_?value)$/,
  /^(?:tiv|total_?insured_?value)_?\d{2,4}$/,
  /^(?:insured_?value|sum_?insured|replacement_?(?:cost|value)|(?:building|property|asset)_?value|total_?value)(?:_?\d{4})?$/,
  /^(?:tiv|insured_?value)_?\w+$/,
  /^(?:(?:total_?)?(?:assessed|appraised|market|taxable)_?value)(?:_?\d{4})?$/,
  /^(?:(?:sales?|list|listing|asking|purchase)_?)?price(?:_?\d{4})?$/,
  /^value(?:_?\d{4})?$/,
];

/** What `order_by` could be for a file with these columns: `tiv`, the name of a column that looks like a value, or null. */
export function likelyOrder(names: readonly string[]): string | null {
  const plain = names.map((name) => withoutDollars(name).replace(/[\s.-]+/g, '_'));
  if (
    names.map(letters).some((name) => TIV_COLUMNS.slice(0, 4).includes(name) || name === TIV_ITSELF)
  )
    return 'tiv';
  for (const pattern of LIKELY_VALUES) {
    const matches = [...names.keys()].filter((index) => pattern.test(plain[index]!));
    const newest = matches.sort((a, b) => parseYear(plain[b]!) - parseYear(plain[a]!) || a - b)[0];
    if (newest !== undefined) return names[newest]!;
  }
  return null;
}

/** The year at the end of a name; `24` is 2024, `98` is 1998, and no year is before all. */
function parseYear(name: string): number {
  const digits = /\d{2,4}$/.exec(name)?.[0];
  if (digits === undefined) return 0;
  if (digits.length !== 2) return Number(digits);
  return Number(digits) + (Number(digits) < 70 ? 2_000 : 1_900);
}

/** A sign, a currency before or after the number, and the sign again: it may follow the currency. */
const AMOUNT =
  /^([-+]?)\s*([A-Z]{0,2}\p{Sc}|[A-Z]{3}(?![A-Za-z]))?\s*([-+]?[\d.,].*?)\s*((?<![A-Za-z])[A-Z]{0,2}\p{Sc}|(?<![A-Za-z])[A-Z]{3})?$/u;

/** Groups of three digits stand between commas (in a file of decimal commas: dots) or blanks: one kind in a number. */
const NUMBERS = {
  point: /^[-+]?(?:\d+|\d{1,3}(?:([,\s])\d{3})(?:\1\d{3})*)?(?:\.\d*)?(?:e[-+]?\d+)?$/i,
  comma: /^[-+]?(?:\d+|\d{1,3}(?:([.\s])\d{3})(?:\1\d{3})*)?(?:,\d*)?(?:e[-+]?\d+)?$/i,
};

/** What almost all values are. */
const PLAIN = /^\d+(?:\.\d+)?$/;

const isCurrency = (mark: string): boolean => mark.length < 2 || currencyOfMark(mark) !== null;

/** A larger number is no amount of money, and adding it would hide all others: the value of all buildings on earth is less. */
export const MOST_AMOUNT = 1e15;

/** The sign or code of a currency that stands at an amount; '' for none. @param text for which `parseValue` has a number */
export function currencyMark(text: string): string {
  const plain = text.trim();
  if (plain.length > LONGEST_NUMBER || ENDS_IN_DIGITS.test(plain)) return '';
  const [, , before, , after] = AMOUNT.exec(plain) ?? [];
  return before ?? after ?? '';
}

const ENDS_IN_DIGITS = /^[-+]?[\d.,](?:.*[\d.,])?$/s;

/** The number in a text such as `1250000`, `$1,250,000.50` or `1 250 000 EUR`; empty is 0, anything else is null.
 * @param decimal the decimal separator of the file */
export function parseValue(text: string, decimal: 'point' | 'comma' = 'point'): number | null {
  if (text === '') return 0;
  if (decimal === 'point' && PLAIN.test(text)) return finiteOrNull(Number(text));
  const plain = text.trim();
  if (plain === '') return 0;
  if (plain.length > LONGEST_NUMBER) return null;
  const number = /^[$€£]?[\d.,]+$/.test(plain)
    ? plain.replace(/^[$€£]/, '')
    : withoutCurrency(plain);
  if (!NUMBERS[decimal].test(number) || !/\d/.test(number)) return null;
  return finiteOrNull(
    Number(number.replace(decimal === 'point' ? /[,\s]/g : /[.\s]/g, '').replace(',', '.')),
  );
}

/** The number of an amount with its sign; '' for no amount. */
function withoutCurrency(text: string): string {
  const [, sign, before, digits, after] = AMOUNT.exec(text) ?? [];
  return digits === undefined || (before && after) || !isCurrency(before ?? after ?? '')
    ? ''
    : `${sign}${digits}`;
}

const finiteOrNull = (value: number): number | null => (Number.isFinite(value) ? value : null);

/** More decimals than amounts of money have, because values may be shares or millions of dollars. */
const MOST_DECIMALS = 6;
const CENTS = 2;

/** Up to this total, a unit is finer than a cent: a thousandth of a double's exact range, so that sums of rows round to a unit. */
const FINE_TOTAL = 1e13;

/** The decimals of the unit in which the values of a file are counted: cents, or finer where the total leaves room. Sums of whole
 * units are exact up to 2^53 of them (90 trillion dollars in cents). Rejected: sums of doubles, by which all of the value was
 * 99.99999999999987 % of it; one unit for all files, because a column of values below 0.01 would be all zeros.
 * @param total the sum of the absolute values, in the file's unit */
export function decimalsFor(total: number): number {
  let decimals = MOST_DECIMALS;
  while (decimals > CENTS && total * 10 ** decimals > FINE_TOTAL) decimals--;
  return decimals;
}

/** A value as a whole number of units of 10^-decimals. */
export function wholeUnits(value: number, decimals: number): number {
  return Math.round(value * 10 ** decimals);
}

/** The value of a number of units, in the file's unit. */
export function valueOfUnits(units: number, decimals: number): number {
  return units / 10 ** decimals;
}
