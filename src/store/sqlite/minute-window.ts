import type Database from 'better-sqlite3';
import type { Recent, RecentCall } from '../recent-calls.ts';

interface RunSum {
  readonly run: number;
  readonly credits: number;
  readonly latest: number;
}

/**
 * Reads the calls of the last minute as sums by run, and one by one only where the minute is full. What other processes settled
 * is seen too, since a call is settled within a transaction, at the time of that transaction. Runs inside the caller's transaction.
 *
 * @returns with `latest`, when the newest settled; 0 where there is none
 */
export function recentCalls(
  database: Database.Database,
): (account: string, since: number) => Recent & { readonly latest: number } {
  const where = 'FROM calls WHERE account = ? AND settled_at > ? AND credits > 0';
  const sums = database.prepare<[string, number], RunSum>(
    `SELECT run, sum(credits) AS credits, max(settled_at) AS latest ${where} GROUP BY run`,
  );
  const calls = database.prepare<[string, number], RecentCall>(
    `SELECT run, credits, settled_at AS settledAt ${where} ORDER BY settled_at`,
  );
  return (account, since) => {
    const runs = sums.all(account, since);
    return {
      credits: runs.reduce((sum, { credits }) => sum + credits, 0),
      latest: Math.max(0, ...runs.map(({ latest }) => latest)),
      creditsOf: (run) => runs.find((row) => row.run === run)?.credits ?? 0,
      get calls() {
        return calls.all(account, since);
      },
    };
  };
}
