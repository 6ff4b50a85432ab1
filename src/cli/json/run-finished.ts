import type { Phase } from '../../run/frame/progress.ts';
import type { PlanSummary, RunSummary } from '../../run/summary-shapes.ts';
import type { FinalState } from '../../store/runs/port.ts';
import type { ErrorReport } from '../options/exit-codes.ts';

/* What a program is told of a run: by `on_finish`, and by the lines of `--log json`. */

/** What the program of `on_finish` gets on its standard input. */
export interface RunFinished {
  readonly event: 'run.finished';
  /** Of Perilbook. */
  readonly version: string;
  /** The name of the job. */
  readonly job: string;
  /** The number of the run in its store; null where it ended before it got one. */
  readonly run: number | null;
  readonly exit_code: number;
  /** `failed` where an error ended it. */
  readonly state: FinalState | 'failed';
  /** ISO 8601 UTC. */
  readonly started_at: string;
  readonly ended_at: string;
  /** Null where none ended it. */
  readonly error: ErrorReport | null;
  /** What `run --json` prints; null where an error ended the run. */
  readonly summary: RunSummary | null;
}

/** The events of `--log json`, each with its own members. Every line also has `time` (ISO 8601 UTC), `level` and `event`. */
export interface LogEvents {
  /** What the program says to people. */
  readonly message: { readonly message: string };
  /** Before anything is spent. */
  readonly planned: { readonly plan: PlanSummary };
  /** Every 30 seconds, and at each change of phase. */
  readonly progress: LoggedProgress;
  /** The end of a run. */
  readonly finished: {
    readonly exit_code: number;
    readonly state: FinalState;
    readonly message: string;
    readonly summary: RunSummary;
  };
  /** The end of a command by an error. */
  readonly error: ErrorReport & { readonly exit_code: number };
  /** At an interrupt: what is still completed. */
  readonly stopping: { readonly message: string };
  /** Standard output takes no more, as on a full disk. */
  readonly 'output lost': { readonly message: string; readonly hint: string };
}

/** How far a run is. */
export interface LoggedProgress {
  /** What it does now. */
  readonly phase: Phase;
  /** Rows that this phase has read or written. */
  readonly rows: number;
  /** The distinct places that the run buys or looks up, and the credits of its plan; null before they are known. */
  readonly places: number | null;
  readonly credits_planned: number | null;
  readonly places_done: number;
  /** Credits that were charged, and those of calls without an outcome. */
  readonly credits_spent: number;
  readonly credits_unknown: number;
  /** Calls that have ended, and calls whose answer is awaited. */
  readonly calls: number;
  readonly calls_in_flight: number;
  /** Calls that were tried again. */
  readonly retries: number;
  /** How often the service asked to slow down. */
  readonly slowed_down: number;
  /** Failed tries by their kind. */
  readonly failures: Readonly<Record<string, number>>;
}
