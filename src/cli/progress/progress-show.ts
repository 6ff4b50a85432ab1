import type { Progress } from '../../job/buying/progress.ts';
import type { RunFacts } from '../../job/estimate.ts';

/** Shows the progress of a run on stderr, with messages in between. */
export interface ProgressShow extends Disposable {
  readonly progress: Progress;
  /** Prints a message above the progress. */
  readonly say: (text: string) => void;
  /** Call it when the input is priced: more can be shown. */
  know(facts: RunFacts): void;
  /** Hides the progress until `resume`. */
  pause(): void;
  resume(): void;
}
