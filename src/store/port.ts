import type { PerilbookError } from '../base/errors.ts';
import type { AnswersPort } from './answers/port.ts';
import type { ChargeState, LedgerPort, Spending } from './ledger/port.ts';
import type { RunsPort } from './runs/port.ts';

/** Calls by their charge, and their credits. */
export interface Charges {
  readonly calls: Readonly<Record<ChargeState, number>>;
  readonly credits: Spending;
}

export interface StoreStats extends Charges {
  readonly sources: readonly {
    readonly source: string;
    readonly cells: number;
    readonly answers: number;
    readonly oldest: number | null;
  }[];
  /** The calls and credits of some sources. */
  readonly chargesOf: (isOne: (source: string) => boolean) => Charges;
  readonly bytes: number;
}

/** What became of the room of deleted rows. `busy`: another program has the store open, which would take a smaller file for another one.
 * `no_room`: a copy of what is left does not fit. `server`: PostgreSQL does it by itself. */
export type Compaction =
  | { readonly kind: 'done'; readonly freed: number }
  | { readonly kind: 'busy' | 'no_room' | 'server' };

/** The process that holds claims. `isAlive` says whether the owner of another claim may still be running. */
export interface Owner {
  readonly name: string;
  isAlive(owner: string): boolean;
}

/** The data kept between runs. One database holds all of it, so a settlement is one transaction. */
export interface Store extends AnswersPort, LedgerPort, RunsPort, AsyncDisposable {
  /** The number of a source; a new source gets one. */
  source(name: string): Promise<number>;
  /** The error of a store whose file was deleted, moved or replaced while it is open; null if it is unchanged.
   * Settlements are still written to it. */
  moved(): Promise<PerilbookError | null>;
  stats(): Promise<StoreStats>;
  /** Gives the room of what was deleted back to the disk. */
  compact(): Promise<Compaction>;
  close(): Promise<void>;
}
