import { NO_TOPICS, type ReadonlyTopicSets } from '../../store/answers/topic-set.ts';
import type { CellTable } from '../scan/cell-table.ts';
import { type PriceList, purchaseBySet } from './cheapest-calls.ts';
import { minutesFor } from './forecast.ts';

export type CellNumbers = ArrayLike<number> & Iterable<number>;

/** The cells that credits can be spent on. */
export interface Demand {
  readonly cells: CellTable;
  /** The cells that lack something, in the order in which credits are spent on them. */
  readonly order: CellNumbers;
  readonly missing: ReadonlyTopicSets;
  readonly priceList: PriceList;
}

export interface ReachRequest extends Demand {
  readonly creditsPerMinute: number;
  /** Milliseconds that the calls take for a credit (`minutesFor`). */
  readonly msPerCredit: number;
}

export interface Reach {
  readonly credits: number;
  /** Cells that get something. */
  readonly cells: number;
  /** The value of these cells, in units (`CellTable`); 0 in the order of the file. */
  readonly value: number;
  readonly minutes: number;
  /** The cells that lack nothing afterwards, and their value in units. */
  readonly complete: { readonly cells: number; readonly value: number };
}

export interface Purchases {
  /** By the cell's number: 1 where it is bought. */
  readonly isBought: Uint8Array;
  readonly credits: number;
}

/** Spends credits on cells, in order. A cell that costs more than what is left is skipped, and cheaper ones after it are still bought. */
export function purchasesFor(
  { cells, order, missing, priceList }: Demand,
  available: number,
): Purchases {
  const isBought = new Uint8Array(cells.size);
  const purchaseOf = purchaseBySet(() => priceList);
  let left = available;
  for (const cell of order) {
    const price = purchaseOf(missing.get(cell)).credits;
    if (price > left) continue;
    isBought[cell] = 1;
    left -= price;
  }
  return { isBought, credits: available - left };
}

/** The reach of a number of credits. */
export function findReach(request: ReachRequest, credits: number): Reach {
  return reachedBy(request, purchasesFor(request, credits));
}

/** The reach of purchases. */
export function reachedBy(
  { creditsPerMinute, cells, order, missing, msPerCredit }: ReachRequest,
  { isBought, credits }: Purchases,
): Reach {
  const bought = { cells: 0, value: 0 };
  for (const cell of order) {
    if (isBought[cell] === 0) continue;
    bought.cells++;
    bought.value += cells.value(cell);
  }
  const complete = { ...bought };
  for (let cell = 0; cell < cells.size; cell++) {
    if (missing.get(cell) !== NO_TOPICS) continue;
    complete.cells++;
    complete.value += cells.value(cell);
  }
  const minutes = minutesFor(credits, creditsPerMinute, msPerCredit);
  return { credits, ...bought, minutes, complete };
}
