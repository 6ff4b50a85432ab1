import type { Phase } from '../../run/frame/progress.ts';
import type { PlanSummary, RunSummary } from '../../run/summary-shapes.ts';
import type { FinalState } from '../../store/runs/port.ts';
import type { ErrorReport } from '../options/exit-codes.ts';

/* What a program is told of a run: by `on_finish`, and by the lines of `--log json`. */

/** What the program of `on_finish` gets on its standard input. */
export interface RunFinished {
  /** Always this text. */
  readonly event: 'run.finished';
  /** The version of Perilbook. */
  readonly version: string;
  /** The name of the job. */
  readonly job: string;
  /** The number of the run in its store; null where it ended before it got one. */
  readonly run: number | null;
  /** As in the reference of exit codes. */
  readonly exit_code: number;
  /** `failed` where an error ended it. */
  readonly state: FinalState | 'failed';
  /** ISO 8601 in UTC. */
  readonly started_at: string;
  /** ISO 8601 in UTC. */
  readonly ended_at: string;
  /** What ended the run; null where no error did. */
  readonly error: ErrorReport | null;
  /** What `run --json` prints; null where an error ended the run. */
  readonly summary: RunSummary | null;
}

/** The events of `--log json`, each with its own members. Every line also has `time` (ISO 8601 UTC), `level` and `event`. */
export interface LogEvents {
  /** What the program says to people. */
  readonly message: {
    /** The sentence. */
    readonly message: string;
  };
  /** Before anything is spent. */
  readonly planned: {
    /** The price of the job. */
    readonly plan: PlanSummary;
  };
  /** Every 30 seconds, and at each change of phase. */
  readonly progress: LoggedProgress;
  /** The end of a run. */
  readonly finished: {
    /** As in the reference of exit codes. */
    readonly exit_code: number;
    /** How the run ended. */
    readonly state: FinalState;
    /** The same in a sentence. */
    readonly message: string;
    /** What the run did. */
    readonly summary: RunSummary;
  };
  /** The end of a command by an error. */
  readonly error: ErrorReport & {
    /** As in the reference of exit codes. */
    readonly exit_code: number;
  };
  /** At an interrupt. */
  readonly stopping: {
    /** What is still completed. */
    readonly message: string;
  };
  /** Standard output takes no more, as on a full disk. */
  readonly 'output lost': {
    /** What happened. */
    readonly message: string;
    /** What to do. */
    readonly hint: string;
  };
}

/** How far a run is. */
export interface LoggedProgress {
  /** What it does now. */
  readonly phase: Phase;
  /** Rows that this phase has read or written. */
  readonly rows: number;
  /** Distinct places that the run buys or looks up; null before they are known. */
  readonly places: number | null;
  /** The price of the plan, in credits; null before it is known. */
  readonly credits_planned: number | null;
  /** Places that are bought or looked up. */
  readonly places_done: number;
  /** Credits that were charged. */
  readonly credits_spent: number;
  /** Credits of calls without an outcome. */
  readonly credits_unknown: number;
  /** Calls that have ended. */
  readonly calls: number;
  /** Calls whose answer is awaited. */
  readonly calls_in_flight: number;
  /** Calls that were tried again. */
  readonly retries: number;
  /** How often the service asked to slow down. */
  readonly slowed_down: number;
  /** Failed tries by their kind. */
  readonly failures: Readonly<Record<string, number>>;
}
