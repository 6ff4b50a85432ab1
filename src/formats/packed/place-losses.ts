import type { Field } from '../../contract/answer.ts';

/** The loss rates of the places of an output, for writers: plain data, which threads share. Places of one tract have the same rates. */
export interface PlaceLosses {
  /** How many topics have a rate each. */
  readonly topics: number;
  /** The rates by number, `topics` of each: dollars a year for a dollar of value. NaN: the index has none. Number 0 is for
   * places of which it is not known. */
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

/** All fields of a row. */
export function lossFields(losses: PlaceLosses, number: number, value: number): Field[] {
  return Array.from({ length: lossWidth(losses) }, (_, field) =>
    lossField(losses, number, field, value),
  );
}
