import type Database from 'better-sqlite3';
import { type Clock, steadyTime } from '../clock.ts';

/** The time by which the ledger measures spans. */
export interface LedgerClock {
  now(): number;
  /** Another process was seen to be later: from now on this one is too. */
  catchUp(time: number): void;
}

/**
 * Opens the ledger's own time, which all processes of a machine share: its steady clock and an offset that the first of
 * them wrote. It began as the wall clock's time, and does not follow where that is set to. After the machine was started
 * again, which a steady clock shows by being earlier than the ledger's latest entry, it begins anew, never earlier than that
 * entry. Runs inside the caller's transaction.
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
