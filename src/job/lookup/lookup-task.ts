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
  /** Shared by all: the next cell to look up, whether to stop, and which worker writes. */
  readonly control: Int32Array<SharedArrayBuffer>;
  /** The number of this worker, from 1. */
  readonly worker: number;
}

/** Places in `control`. */
export const NEXT = 0;
export const STOPPED = 1;
/** The number of the worker that writes; 0 where none does. */
const WRITING = 2;

/** One transaction in the store: some 50 ms of work, so that an interrupt is obeyed at once and a kill loses little. */
export const CELLS_PER_BATCH = 1_000;

/**
 * Waits until no other worker writes. SQLite lets writers poll for each other's transactions in steps of up to 100 ms; here the
 * next one is woken at once.
 */
export function beginWriting({ control, worker }: Pick<LookupTask, 'control' | 'worker'>): void {
  for (;;) {
    const other = Atomics.compareExchange(control, WRITING, 0, worker);
    if (other === 0) return;
    Atomics.wait(control, WRITING, other);
  }
}

/** Lets the next worker write. Nothing changes where this worker does not write: it may have died while another does. */
export function endWriting({ control, worker }: Pick<LookupTask, 'control' | 'worker'>): void {
  if (Atomics.compareExchange(control, WRITING, worker, 0) === worker) Atomics.notify(control, WRITING);
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
