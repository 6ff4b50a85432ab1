import type { Field } from '../../contract/answer.ts';

/** The loss rates of the places of an output, for writers: plain data, which threads share. Places of one tract have the same rates. */
export interface PlaceLosses {
  /** How many topics have a rate each. */
  readonly topics: number;
  /** The rates by number, `topics` of each: dollars a year for a dollar of value. NaN: the index has none. Number 0 is for
   * places of which it is not known, and has no rates. */
  readonly rates: Float64Array<SharedArrayBuffer>;
  /** The number of the rates of each place. */
  readonly numberOf: Uint32Array<SharedArrayBuffer>;
  /** Whether rows have values, and so amounts. */
  readonly hasAmounts: boolean;
}

/** How many fields there are: the rates, their sum, how many they are; and the amounts with their sum. */
export function lossWidth({ topics, hasAmounts }: PlaceLosses): number {
  return topics + 2 + (hasAmounts ? topics + 1 : 0);
}

const CENTS = 100;

/** An annual loss in whole cents. */
export const lossCents = (rate: number, value: number): number => Math.round(rate * value * CENTS);

/** The rates of all hazards of a table have 15 decimals: a sum of them has no more. */
const DECIMALS = 1e15;

/** The sum of rates, and how many there are. */
function sumOfRates(
  { topics, rates }: PlaceLosses,
  number: number,
): { readonly sum: number; readonly count: number } {
  let [sum, count] = [0, 0];
  for (let at = number * topics; at < (number + 1) * topics; at++) {
    const rate = rates[at]!;
    if (Number.isNaN(rate)) continue;
    sum += rate;
    count++;
  }
  return { sum: Math.round(sum * DECIMALS) / DECIMALS, count };
}

/** The sum of the rates of a place; null without one. */
export function rateOfPlace(losses: PlaceLosses, place: number): number | null {
  const { sum, count } = sumOfRates(losses, losses.numberOf[place]!);
  return count === 0 ? null : sum;
}

/** One of the fields, by its number: those of a place's rates, their sum and how many they are; then the amounts of a row, and their sum. All
 * are null for the number 0.
 * @param number that of the place's rates
 * @param value NaN: the row has none, and its amounts are unknown */
export function lossField(
  losses: PlaceLosses,
  number: number,
  field: number,
  value: number,
): Field {
  const { topics, rates } = losses;
  if (number === 0) return null;
  if (field < topics) return numberOrNull(rates[number * topics + field]!);
  if (field > topics + 1 && field < lossWidth(losses) - 1)
    return numberOrNull(lossCents(rates[number * topics + field - topics - 2]!, value) / CENTS);
  const { sum, count } = sumOfRates(losses, number);
  if (field === topics) return count === 0 ? null : sum;
  return field === topics + 1 ? count : sumOfAmounts(losses, number, value);
}

const numberOrNull = (number: number): number | null => (Number.isNaN(number) ? null : number);

/** The sum of the amounts in cents, so that columns add up. */
function sumOfAmounts(
  { topics, rates }: PlaceLosses,
  number: number,
  value: number,
): number | null {
  let [sum, count] = [0, 0];
  for (let at = number * topics; at < (number + 1) * topics; at++) {
    const cents = lossCents(rates[at]!, value);
    if (Number.isNaN(cents)) continue;
    sum += cents;
    count++;
  }
  return count === 0 ? null : sum / CENTS;
}

/** Some rows of which one of the fields is read: those `from` an index up to `to`. */
export interface LossRows {
  readonly from: number;
  readonly to: number;
  /** The number of the rates of each row's place. */
  readonly numbers: Uint32Array;
  /** The value of each row; NaN: it has none. Left out: no row has one, and amounts are not read. */
  readonly values?: Float64Array | undefined;
}

/** Makes what reads one of the fields of rows into an array, by their index, as `lossField`: NaN for null. */
export function lossReader(
  losses: PlaceLosses,
): (rows: LossRows, field: number, into: Float64Array) => void {
  const { topics, rates } = losses;
  const all = lossWidth(losses);
  const sums = sumsOfRates(losses);

  function readRates({ from, to, numbers }: LossRows, topic: number, into: Float64Array): void {
    for (let row = from; row < to; row++) into[row] = rates[numbers[row]! * topics + topic]!;
  }

  function readAmounts(rows: LossRows, topic: number, into: Float64Array): void {
    const { from, to, numbers } = rows;
    const values = rows.values!;
    for (let row = from; row < to; row++)
      into[row] = lossCents(rates[numbers[row]! * topics + topic]!, values[row]!) / CENTS;
  }

  function readSums({ from, to, numbers }: LossRows, field: number, into: Float64Array): void {
    for (let row = from; row < to; row++) into[row] = sums[2 * numbers[row]! + field - topics]!;
  }

  function readSumsOfAmounts({ from, to, numbers, values }: LossRows, into: Float64Array): void {
    for (let row = from; row < to; row++)
      into[row] = sumOfAmounts(losses, numbers[row]!, values![row]!) ?? Number.NaN;
  }

  return (rows, field, into) => {
    if (field < topics) readRates(rows, field, into);
    else if (field < topics + 2) readSums(rows, field, into);
    else if (rows.values === undefined) into.fill(Number.NaN, rows.from, rows.to);
    else if (field < all - 1) readAmounts(rows, field - topics - 2, into);
    else readSumsOfAmounts(rows, into);
  };
}

/** By number the sum of the rates and how many there are; NaN for null. */
function sumsOfRates(losses: PlaceLosses): Float64Array {
  const numbers = losses.rates.length / Math.max(1, losses.topics);
  const sums = new Float64Array(2 * numbers).fill(Number.NaN);
  for (let number = 1; number < numbers; number++) {
    const { sum, count } = sumOfRates(losses, number);
    if (count > 0) sums[2 * number] = sum;
    sums[2 * number + 1] = count;
  }
  return sums;
}

/** All fields of a row. */
export function lossFields(losses: PlaceLosses, number: number, value: number): Field[] {
  return Array.from({ length: lossWidth(losses) }, (_, field) =>
    lossField(losses, number, field, value),
  );
}
