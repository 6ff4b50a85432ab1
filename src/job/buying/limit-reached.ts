import { counted, grouped } from '../../format-numbers.ts';
import type { BuyingParts, Stop, StopReason } from './buying.ts';

/** The end of a run that may spend no more, in the words of whoever set the limit: the job's budget, the plan that was
 * approved, or the plan that the run began with (`--yes`, or a yes on a terminal). */
export function limitReached({
  job,
  budget,
  approved,
  progress,
}: Pick<BuyingParts, 'job' | 'budget' | 'approved' | 'progress'>): Stop {
  const stop = (reason: StopReason, message: string): Stop => ({ reason, message, resumeAfter: null });
  const credits = counted(budget, 'credit');
  const doubt = inDoubt(progress);
  if (job.budget === budget) {
    const isTooSmall = progress.creditsSpent + progress.creditsUnknown === 0;
    return stop(
      'budget',
      isTooSmall
        ? `Budget (${credits}) is too small for even one location.`
        : `The budget of ${credits} is reached${doubt}.`,
    );
  }
  if (approved !== null) {
    return stop('approved_plan', `The approved plan (${counted(approved.budget, 'credit')}) is used up${doubt}.`);
  }
  return stop('limit', `The run's limit of ${credits} (the plan and its retries) is reached${doubt}.`);
}

/** Why a limit was reached before all was bought: what was paid for nothing, as far as is known. */
function inDoubt({ creditsUnknown, callsUnknown }: BuyingParts['progress']): string {
  if (callsUnknown === 0) return '';
  return `: ${counted(callsUnknown, 'call')} without a usable answer may have cost ${grouped(creditsUnknown)} of them`;
}
