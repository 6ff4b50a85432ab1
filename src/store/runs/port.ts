import type { Subscription } from '../../contract/subscriptions.ts';
import type { Spending } from '../ledger/port.ts';

export type FinalState = 'complete' | 'incomplete' | 'paused' | 'stopped' | 'interrupted';

/** `cut off`: its process died before it ended. */
export type RunState = 'running' | 'cut off' | FinalState;

export interface RunRecord extends Spending {
  readonly run: number;
  readonly job: string;
  readonly input: string;
  readonly output: string;
  readonly account: string;
  readonly startedAt: number;
  readonly finishedAt: number | null;
  readonly state: RunState;
  readonly plannedCredits: number;
  readonly budget: number;
  readonly resumeAfter: number | null;
  /** What the run was asked for, as a job file; null where it was not recorded. */
  readonly settings: unknown;
  /** The summary of the run, as `--json` prints it. */
  readonly summary: unknown;
}

export interface AccountTerms {
  readonly subscription: Subscription;
  readonly anniversaryDay: number;
  /** Credits of the period that are not touched. */
  readonly reserve: number;
  /** Credits beyond the allowance of a period that the job lets the provider bill. */
  readonly overageCredits: number;
  /** The subscription is a default: no job and no option named it. */
  readonly isAssumed?: boolean | undefined;
  /** The same of the anniversary day. */
  readonly isDayAssumed?: boolean | undefined;
}

/** An account under the terms of the last run that could spend it. */
export interface LedgerAccount extends AccountTerms {
  readonly name: string;
}

/** What a run may spend. */
export interface RunLimits {
  readonly plannedCredits: number;
  readonly budget: number;
}

export interface NewRun extends RunLimits {
  readonly job: string;
  readonly input: string;
  readonly output: string;
  /** The account that it may spend; empty where answers are free. */
  readonly account: string;
  /** The terms of the account; absent where they stay as they were. */
  readonly terms?: AccountTerms;
  /** What the run was asked for, as a job file, without keys. */
  readonly settings?: unknown;
}

export interface RunConclusion {
  readonly state: FinalState;
  readonly resumeAfter: number | null;
  readonly summary: unknown;
}

/** The runs, and the terms under which they spent. */
export interface RunsPort {
  startRun(run: NewRun): Promise<number>;
  /** Changes the limits of a run that begins again, before it has spent. */
  replanRun(run: number, limits: RunLimits): Promise<void>;
  finishRun(run: number, end: RunConclusion): Promise<void>;
  runs(filter?: { readonly job?: string }): Promise<readonly RunRecord[]>;
  /** Forgets runs that ended before a time; returns how many. Their calls stay in the ledger. */
  forgetRuns(before: number): Promise<number>;
  /** The accounts of runs, the latest run's first. */
  ledgerAccounts(): Promise<readonly LedgerAccount[]>;
  runSpending(run: number): Promise<Spending>;
}
