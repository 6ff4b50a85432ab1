import type { LocationFinding } from './parse-location.ts';
import { isCovered } from './us-coverage.ts';

/** Which of the two numbers of a place comes first. */
export const PLACE_ORDERS = ['lat,lng', 'lng,lat'] as const;
export type PlaceOrder = (typeof PLACE_ORDERS)[number];

/** Two numbers of a place, in the order in which they stand. */
export interface TwoNumbers {
  readonly first: unknown;
  readonly second: unknown;
  /** As the format has it; null where it leaves this open. */
  readonly order: PlaceOrder | null;
  /** The value is a small outline, and this a point inside it. */
  readonly isInside?: true;
}

/** What a form has: two numbers, or such with names; why it is no place; null where the form does not fit. */
export type FormReading =
  | TwoNumbers
  | { readonly lat: unknown; readonly lng: unknown }
  | LocationFinding
  | null;

/** Numbers in the order of most formats. */
export const inFormat = (first: unknown, second: unknown): TwoNumbers => ({
  first,
  second,
  order: 'lng,lat',
});

/** Numbers in an order that the form leaves open. */
export const inOpenOrder = (first: unknown, second: unknown): TwoNumbers => ({
  first,
  second,
  order: null,
});

/** Whether two numbers are a place in the US in one order. No place is one in both. */
export function isPlace(first: unknown, second: unknown): boolean {
  const [one, other] = [Number(first), Number(second)];
  const isUs = (lat: number, lng: number) =>
    Math.abs(lat) <= 90 && Math.abs(lng) <= 180 && isCovered({ lat, lng });
  return isUs(one, other) || isUs(other, one);
}

/** Whether two numbers after a place are not its height and accuracy, but the other corner of a box, or the next place of a line. */
export function isBox(first: readonly unknown[], second: readonly unknown[]): boolean {
  return second.every(
    (number, at) =>
      number !== undefined && Math.abs(Number(number) - Number(first[at])) < NEAR_DEGREES,
  );
}

const NEAR_DEGREES = 10;
