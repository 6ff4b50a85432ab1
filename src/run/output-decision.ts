import { answersLoss, type ReplacedOutput } from './frame/earlier-output.ts';
import { STOPS, type Stop } from './frame/stop.ts';
import type { OutputSums } from './write/output-fields.ts';

/** Why an earlier output stays as it was.
 * - `no_rows`: the input has none.
 * - `no_answer`: the run got no answer, and failed, or has no row with an answer.
 * - `fewer_answers`: it answers more of the rows of the input than the run would. */
export type KeptBecause = 'no_rows' | 'no_answer' | 'fewer_answers';

/** What becomes of an output. */
export type OutputDecision =
  | { readonly kind: 'write' }
  | { readonly kind: 'keep'; readonly because: KeptBecause };

const WRITE: OutputDecision = { kind: 'write' };

/** How a run has ended, before its output is written. */
export interface FetchOutcome {
  /** Null: nothing that the run may not replace is there. */
  readonly earlier: ReplacedOutput | null;
  /** Whether each file that the run would write is there. */
  readonly isThere: boolean;
  readonly rows: number;
  readonly stop: Stop | null;
  readonly callsFailed: number;
  readonly callsAnswered: number;
  /** What the output would say. Read only where the decision depends on it: it takes a pass over all places. */
  readonly sums: () => Promise<Pick<OutputSums, 'answered' | 'status'>>;
  /** Counts the rows that the earlier output answers and that are still there; null where it does not say it. */
  readonly stayed: () => Promise<number | null>;
}

/** Decides whether a run writes its output, or leaves an earlier one as it is. A run that bought all that it planned writes: what it would
 * replace was compared with its plan. */
export async function decideOutput(outcome: FetchOutcome): Promise<OutputDecision> {
  const { earlier, isThere, rows, stop, callsFailed, callsAnswered, sums, stayed } = outcome;
  if (!isThere || (stop === null && rows > 0 && callsFailed === 0)) return WRITE;
  const keep = (because: KeptBecause): OutputDecision => ({ kind: 'keep', because });
  if (callsAnswered === 0) {
    if (rows === 0) return keep('no_rows');
    if (stop !== null && STOPS[stop.reason].isFailure) return keep('no_answer');
    const { answered, status } = await sums();
    // A row that failed is partial where kept columns of an earlier run have answers.
    const failed = status.failed + status.partial;
    if (answered === 0 && (stop !== null || failed > 0)) return keep('no_answer');
  }
  if (earlier === null) return WRITE;
  const { answered, status } = await sums();
  const located = status.ok + status.partial + status.deferred + status.failed;
  const loss = await answersLoss(earlier, { now: answered, located }, stayed);
  return loss === null ? WRITE : keep('fewer_answers');
}
