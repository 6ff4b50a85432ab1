import type { RowStatus } from '../../columns/row-status.ts';
import type { Field } from '../../contract/answer.ts';

/** What `lookup --json` prints. */
export interface LookupJson {
  /** The latitude, in decimal degrees. */
  readonly lat: number;
  /** The longitude, in decimal degrees. */
  readonly lng: number;
  /** As `hazard_status` in a row. */
  readonly status: RowStatus;
  /** Why the status is not `ok`, or where the answers come from; null for nothing. */
  readonly note: string | null;
  /** When the oldest answer was given, ISO 8601 in UTC; null without an answer. */
  readonly as_of: string | null;
  /** The answers by the names of their columns; null where there is none. */
  readonly hazards: Readonly<Record<string, Field>>;
  /** Credits that were charged; for the sample, that a paid service would charge. */
  readonly credits_spent: number;
  /** Credits of calls without a usable answer, which may have been charged. */
  readonly credits_unknown: number;
  /** The most credits that the look-up could spend, with retries; 0 where nothing had to be bought. */
  readonly credits_limit: number;
}
