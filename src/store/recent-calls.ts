/** A call that was charged, or may have been, and when it settled by the ledger's own time. */
export interface RecentCall {
  readonly run: number;
  readonly credits: number;
  readonly settledAt: number;
}

/** The calls of an account that settled within a window. */
export interface Recent {
  readonly credits: number;
  /** Those of one run among them. */
  creditsOf(run: number): number;
  /** Oldest first. */
  readonly calls: readonly RecentCall[];
}

/** @param calls oldest first */
export function recentOf(calls: readonly RecentCall[]): Recent {
  const sum = (counted: readonly RecentCall[]) => counted.reduce((credits, call) => credits + call.credits, 0);
  return { credits: sum(calls), creditsOf: (run) => sum(calls.filter((call) => call.run === run)), calls };
}

/** When the newest call settled; 0 where there is none. Calls from then on are to be read: more may have settled in that
 * millisecond. */
export function latestOf(calls: readonly RecentCall[]): number {
  return calls.at(-1)?.settledAt ?? 0;
}

/** The calls after `since`, of those that were read before and those that settled from their latest on. Whoever settles later is
 * not earlier in time: the store sees to that. */
export function movedWindow(
  calls: readonly RecentCall[],
  newer: readonly RecentCall[],
  since: number,
): readonly RecentCall[] {
  const latest = latestOf(calls);
  return [...calls.filter(({ settledAt }) => settledAt > since && settledAt < latest), ...newer];
}
