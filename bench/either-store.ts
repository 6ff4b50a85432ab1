import { systemClock } from '../src/base/clock.ts';
import { NATURAL_SLUGS } from '../src/contract/topics.ts';
import { isPostgresAddress } from '../src/sql/postgres-address.ts';
import type { Store } from '../src/store/port.ts';
import { openPostgresStore } from '../src/store/postgres-store.ts';
import { openSqliteStore } from '../src/store/sqlite-store.ts';

/** What a worker is told by its arguments. */
export interface StoreWorkerTask {
  readonly store: string;
  readonly worker: number;
  readonly account: string;
  readonly batch: number;
  readonly ms: number;
  /** The worker ends earlier after so many calls. */
  readonly most: number;
  /** Into how many parts the time is divided; the calls of each are counted. */
  readonly parts: number;
}

/** What a worker sends when it has finished. */
export interface StoreWorkerResult {
  /** The calls of each part of the time. */
  readonly counts: readonly number[];
  /** The worker's processor time in each part. */
  readonly seconds: readonly number[];
  /** Milliseconds from opening the store to the first granted claim, without the wait for the other workers. */
  readonly firstClaimMs: number;
}

export function openEither(store: string, name: string): Promise<Store> {
  const owner = { name, isAlive: () => true };
  return isPostgresAddress(store)
    ? openPostgresStore(store, systemClock, owner)
    : Promise.resolve(openSqliteStore(store, systemClock, owner));
}

/** An answer to 18 topics of three fields, as a standard bundle gives. */
export function bundleAnswers(number: number) {
  return NATURAL_SLUGS.map((topic) => ({
    topic,
    asOf: 1_750_000_000_000 + number,
    fields: ['Relatively Low', number / 7, (number % 1000) / 1e4],
  }));
}
