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
  readonly calls: Iterable<RecentCall>;
}

/** @param calls oldest first */
export function recentOf(calls: readonly RecentCall[]): Recent {
  const sum = (counted: readonly RecentCall[]) => counted.reduce((credits, call) => credits + call.credits, 0);
  return { credits: sum(calls), creditsOf: (run) => sum(calls.filter((call) => call.run === run)), calls };
}
