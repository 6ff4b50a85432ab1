import type Database from 'better-sqlite3';
import { type Recent, type RecentCall, RecentCalls } from '../recent-calls.ts';

/**
 * Reads the calls of the last minute, each of them once: at 500 calls a second a claim that read all of them again spent
 * 15 ms on it. What other processes settled is seen too, since a call is settled within a transaction, at the time of that
 * transaction: whoever comes later in the ledger is not earlier in time. Runs inside the caller's transaction.
 */
export function recentCalls(database: Database.Database): (account: string, since: number) => Recent {
  const settled = database.prepare<[string, number], RecentCall>(
    'SELECT id, run, credits, settled_at AS settledAt FROM calls WHERE account = ? AND settled_at >= ? AND credits > 0 ORDER BY settled_at',
  );
  const windows = new Map<string, RecentCalls>();
  return (account, since) => {
    const window = windows.get(account) ?? new RecentCalls();
    windows.set(account, window);
    window.add(settled.all(account, Math.max(since + 1, window.latest)));
    window.leave(since);
    return window;
  };
}
