import type { Store } from '../store/port.ts';
import { type Prepared, priced } from './prepare.ts';
import { hasSeveralCurrencies, scan } from './scan/scan-input.ts';
import { likelyOrder } from './scan/value.ts';
import type { OrderBy } from './settings/settings.ts';

/** An order in which the same credits cover more of the value. */
export interface OrderSuggestion {
  /** The value of `--order-by`. */
  readonly flag: string;
  readonly credits: number;
  /** The share of all value that they cover, 0 to 1. */
  readonly share: number;
}

/** Reading the input once more takes some 50 µs a row: more rows would delay a plan by seconds. */
const MOST_ROWS = 200_000;

/** Suggests to spend on the most valuable places first, where a run in the order of the file cannot buy everything and a column
 * looks like a value. The figure is that of a plan in that order. Null where there is nothing to suggest. */
export async function suggestOrder(
  { job, connection, rowFile, summary, freshness }: Prepared,
  store: Store,
): Promise<OrderSuggestion | null> {
  const { this_run: thisRun } = summary;
  if (job.orderBy.kind !== 'file' || thisRun.credits === 0 || thisRun.credits >= summary.credits) return null;
  const flag = likelyOrder(rowFile.columns);
  // Standard input cannot be read twice; a price by areas depends on boundaries that are not read again.
  if (flag === null || summary.rows > MOST_ROWS || job.input === '-' || job.areas !== null) return null;
  const orderBy: OrderBy = flag === 'tiv' ? { kind: 'tiv' } : { kind: 'column', column: flag, direction: 'desc' };
  const ordered = { ...job, orderBy };
  using scanned = await scan(rowFile, ordered);
  if (hasSeveralCurrencies(scanned)) return null;
  const other = await priced({ job: ordered, connection, rowFile, scan: scanned, store, asOf: freshness.startedAt });
  const { credits, share_of_value: share } = other.summary.this_run;
  return share === null ? null : { flag, credits, share };
}
