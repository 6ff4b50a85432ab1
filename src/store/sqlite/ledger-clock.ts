import type Database from 'better-sqlite3';
import { type Clock, steadyTime } from '../../clock.ts';

/** The clock of the ledger. */
export interface LedgerClock {
  now(): number;
  /** Moves this clock forward when another process is seen to be later. */
  catchUp(time: number): void;
}

/**
 * Opens the ledger's clock, which all processes of a machine share: the machine's monotonic clock and an offset that the first
 * process wrote. It starts at the time of the wall clock, and does not change when that is set. After a restart of the machine
 * (the monotonic clock is earlier than the ledger's latest entry) it starts again, never earlier than that entry. Runs inside
 * the caller's transaction.
 */
export function openLedgerClock(database: Database.Database, clock: Clock): LedgerClock {
  const known = database.prepare<[], number>('SELECT offset FROM ledger_clock').pluck().get();
  const keep = database.prepare('INSERT OR REPLACE INTO ledger_clock (id, offset) VALUES (1, ?)');
  const latest = latestEntry(database);
  const steady = steadyTime(clock);
  const isOfThisStart = known !== undefined && steady + known >= latest;
  let offset = isOfThisStart ? known : Math.max(clock.now(), latest) - steady;
  if (!isOfThisStart) keep.run(offset);
  return {
    now: () => steadyTime(clock) + offset,
    catchUp(time) {
      offset = Math.max(offset, time - steadyTime(clock));
    },
  };
}

/** By account, since the index is. */
function latestEntry(database: Database.Database): number {
  return (
    database
      .prepare<[], number | null>(
        `SELECT max((SELECT max(settled_at) FROM calls WHERE calls.account = accounts.account AND credits > 0))
         FROM (SELECT DISTINCT account FROM periods) AS accounts`,
      )
      .pluck()
      .get() ?? 0
  );
}
