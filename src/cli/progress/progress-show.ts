import type { Progress } from '../../run/buy/progress.ts';
import type { RunFacts } from '../../run/estimate.ts';

/** Shows the progress of a run on stderr, with messages in between. */
export interface ProgressShow extends Disposable {
  readonly progress: Progress;
  /** Prints a message above the progress. */
  readonly say: (text: string) => void;
  /** Hides the progress while the price is shown and approved. */
  pause(): void;
  /** Shows it again, with what the price told of the run. */
  resume(facts: RunFacts): void;
}
