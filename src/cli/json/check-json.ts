import type { CheckResult } from '../../service/check/statement-table.ts';

/* What `job check` and `service check` print with `--json`. */

/** A place in a job file, and what is wrong there. */
export interface JobProblemJson {
  /** Both count from 1. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** What `job check --json` prints. */
export interface JobCheckJson {
  /** The path as it was given. */
  readonly file: string;
  /** Whether the job can run. */
  readonly ok: boolean;
  readonly problems: readonly JobProblemJson[];
  /** What does not prevent the run. */
  readonly warnings: readonly JobProblemJson[];
}

/** What `service check --json` prints: each statement of the contract, and how many passed, failed and were skipped. */
export interface ServiceCheckJson extends CheckResult {
  /** Credits that the check spent, by the ledger, and those of calls without an outcome. */
  readonly creditsSpent: number;
  readonly creditsUnknown: number;
}
