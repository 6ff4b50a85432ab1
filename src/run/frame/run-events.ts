import type { Phase, Progress } from './progress.ts';
import type { Stop } from './stop.ts';

/** The progress of a run or an enrichment. */
export interface ProgressSoFar {
  /** What it does now. */
  readonly phase: Phase;
  /** Rows that were returned (`enrich`), or that this phase has read or written (`run`). */
  readonly rows: number;
  /** The distinct places of the batch or the run, and how many of them are done. */
  readonly places: number;
  readonly placesDone: number;
  /** Credits that were charged, and credits of calls without an outcome, which may have been charged. */
  readonly creditsSpent: number;
  readonly creditsUnknown: number;
  /** Calls that have ended, and calls whose answer is awaited. */
  readonly calls: number;
  readonly callsInFlight: number;
}

/** - `progress`: at each change of phase, once a second, and at the end (of `enrich`: of each batch).
 * - `notice`: a message for the user.
 * - `stopped`: buying has stopped, and why; `resumeAfter` is when to try again, in milliseconds since the epoch. */
export type RunEvent =
  | ({ readonly type: 'progress' } & ProgressSoFar)
  | { readonly type: 'notice'; readonly message: string }
  | ({ readonly type: 'stopped' } & Stop);

const EVERY_MS = 1_000;

/** Reports progress until it is disposed of. @param rows how many rows to report; default: the rows of the phase */
export function reportProgress(
  progress: Progress,
  onEvent: (event: RunEvent) => void,
  rows?: () => number,
): Disposable {
  const emit = () => {
    const { phase, cells: places, cellsDone: placesDone } = progress;
    const { creditsSpent, creditsUnknown, calls, callsInFlight } = progress;
    const counts = { places, placesDone, creditsSpent, creditsUnknown, calls, callsInFlight };
    onEvent({ type: 'progress', phase, rows: rows?.() ?? progress.rows, ...counts });
  };
  progress.onChange = emit;
  const timer = setInterval(emit, EVERY_MS);
  timer.unref();
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      progress.onChange = null;
      emit();
    },
  };
}
