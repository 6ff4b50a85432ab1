import type { Phased } from '../phase.ts';

/** What the buying has done so far; read by whoever shows progress. */
export interface Progress extends Phased {
  cells: number;
  cellsDone: number;
  creditsPlanned: number;
  creditsSpent: number;
  creditsUnknown: number;
  /** The calls that these credits are of. */
  callsUnknown: number;
  calls: number;
  callsInFlight: number;
  retries: number;
  failures: number;
  /** The same by kind: `upstream`, `transport`, `rejected`, … */
  failuresByKind: Record<string, number>;
  /** Times that the service asked to slow down (429). */
  slowedDown: number;
  /** Until when it asked for it the last time, by the steady time; 0 when it never did. */
  slowedUntil: number;
  /** Until when the run waits for the quota, milliseconds since the epoch; 0 when it does not. */
  waitingUntil: number;
  /** What quota and reserve leave of the period, by the ledger, when as many credits of this run were spent; null before
   * the ledger was asked. */
  atHand: { readonly credits: number; readonly spent: number } | null;
  /** Credits that may be spent at this moment before the minute is full: less than the subscription says where the
   * service has said so. Null while nothing is bought. */
  minuteLeft: (() => number) | null;
}
