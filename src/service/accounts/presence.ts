import type { SqlReading, SqlStatement, SqlWork } from '../../sql/sql-work.ts';

/** An instance that crashed. */
export interface Crashed {
  readonly instance: number;
  /** What it left pending; if it comes back meanwhile, its new charges are not among them. */
  readonly pending: readonly number[];
}

/** How the instances of a service know of one another that they run: by locks on this machine (`instance-locks.ts`), by leases
 * where they are on several (`instance-leases.ts`). */
export interface Presence {
  /** Registers a running instance, under a number that no other ever gets, and removes those that crashed and have nothing
   * pending. */
  begin(): Promise<{ readonly id: number; readonly now: number }>;
  /** Removes a running instance. What it left pending must be settled before. */
  end(instance: number): Promise<void>;
  /** How often an instance must show that it still runs, in milliseconds; null where that shows without it. */
  readonly renewEveryMs: number | null;
  /** Shows that an instance still runs, also one that others took for crashed. */
  renewal(instance: number): readonly SqlStatement[];
  /** Whether a transaction of an instance has to do that too. */
  isDue(instance: number): SqlReading<boolean>;
  /** Instances that crashed, with the ids of the charges that they left pending. */
  crashed(): SqlWork<Crashed[]>;
}
