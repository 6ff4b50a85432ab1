import type Database from 'better-sqlite3';
import { latestOf, movedWindow, type Recent, type RecentCall, recentOf } from '../recent-calls.ts';

/**
 * Reads the calls of the last minute, each of them once. What other processes settled is seen too, since a call is settled within
 * a transaction, at the time of that transaction. Runs inside the caller's transaction.
 *
 * @returns with `latest`, when the newest settled; 0 where there is none
 */
export function recentCalls(
  database: Database.Database,
): (account: string, since: number) => Recent & { readonly latest: number } {
  const settled = database.prepare<[string, number], RecentCall>(
    'SELECT run, credits, settled_at AS settledAt FROM calls WHERE account = ? AND settled_at >= ? AND credits > 0 ORDER BY settled_at',
  );
  const windows = new Map<string, readonly RecentCall[]>();
  return (account, since) => {
    const before = windows.get(account) ?? [];
    const calls = movedWindow(before, settled.all(account, Math.max(since + 1, latestOf(before))), since);
    windows.set(account, calls);
    return { ...recentOf(calls), latest: latestOf(calls) };
  };
}
