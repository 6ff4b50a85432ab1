import type { ErrorCode, ErrorContext } from '../../errors.ts';
import type { LookupTerms } from './place-answers.ts';
import type { SharedCells } from './sorted-cells.ts';

/** What a worker gets at its start. */
export interface LookupTask extends LookupTerms {
  readonly dataFile: string;
  /** The version of the data that the plan was made for. */
  readonly version: number;
  /** Whether the events of natural topics are counted. */
  readonly counts: boolean;
  readonly store: string;
  /** The number of the source in the store. */
  readonly source: number;
  readonly cells: SharedCells;
  /** Shared by all: the next cell to look up, whether to stop, and whether some worker writes. */
  readonly control: Int32Array<SharedArrayBuffer>;
}

/** Places in `control`. */
export const NEXT = 0;
export const STOPPED = 1;
const WRITING = 2;

/** One transaction in the store: some 50 ms of work, so that an interrupt is obeyed at once and a kill loses little. */
export const CELLS_PER_BATCH = 1_000;

/**
 * Waits until no other worker writes. SQLite lets writers poll for each other's transactions in steps of up to 100 ms; here the
 * next one is woken at once.
 */
export function beginWriting(control: LookupTask['control']): void {
  while (Atomics.compareExchange(control, WRITING, 0, 1) !== 0) Atomics.wait(control, WRITING, 1);
}

export function endWriting(control: LookupTask['control']): void {
  Atomics.store(control, WRITING, 0);
  Atomics.notify(control, WRITING);
}

export type LookupMessage =
  | { readonly kind: 'done'; readonly cells: number }
  | { readonly kind: 'ended' }
  | {
      readonly kind: 'failed';
      readonly code: ErrorCode;
      readonly message: string;
      readonly hint: string;
      readonly context: ErrorContext;
    };
