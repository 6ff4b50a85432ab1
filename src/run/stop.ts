import { type Clock, steadyTime } from '../base/clock.ts';
import type { PerilbookError } from '../base/errors.ts';
import { counted, grouped } from '../base/format-numbers.ts';
import type { Job } from '../job/settings.ts';
import type { ClaimLimits } from '../store/ledger/port.ts';
import type { Progress } from './progress.ts';

/** Why a run stopped buying early. */
export type StopReason =
  | 'quota'
  /** The limit of the run: the job's budget, or the run's own plan where none is set. */
  | 'budget'
  | 'limit'
  | 'time'
  | 'interrupted'
  | 'service_down'
  | 'keys'
  /** The account's payment, a proxy, or a law. */
  | 'denied'
  | 'misdirected'
  | 'store_moved';

export interface Stop {
  readonly reason: StopReason;
  /** One sentence for the user. */
  readonly message: string;
  /** When to run again: milliseconds since the epoch, or null if the user must act first. */
  readonly resumeAfter: number | null;
}

export function stopFor(reason: StopReason, message: string, resumeAfter: number | null = null): Stop {
  return { reason, message, resumeAfter };
}

/** When the `max_minutes` of a run that begins now are over, by the steady time: setting the clock makes a run neither longer nor shorter.
 * Null: never. */
export function deadlineOf({ maxMinutes }: Pick<Job, 'maxMinutes'>, clock: Clock): number | null {
  return maxMinutes === null ? null : steadyTime(clock) + maxMinutes * 60_000;
}

/** The stop at the job's time limit. */
export function timeIsOver({ maxMinutes }: Job): Stop {
  return stopFor('time', `The time of this run is over (${maxMinutes} min).`);
}

/** The stop after the store was moved: the next run would not find the bought answers. */
export function storeMovedStop({ message, hint }: PerilbookError): Stop {
  return stopFor('store_moved', `${message}. ${hint}`);
}

/** The stop at a spending limit. Its message names the limit: the job's budget, or the plan that the run began with
 * (`--yes`, or a yes on a terminal). */
export function limitReached(
  job: Pick<Job, 'budget'>,
  limits: Pick<ClaimLimits, 'budget'>,
  progress: Pick<Progress, 'creditsSpent' | 'creditsUnknown' | 'callsUnknown'>,
): Stop {
  const { creditsSpent, creditsUnknown, callsUnknown } = progress;
  const credits = counted(limits.budget, 'credit');
  const unknown =
    callsUnknown === 0
      ? ''
      : `: ${counted(callsUnknown, 'call')} without a usable answer may have cost ${grouped(creditsUnknown)} of them`;
  if (job.budget === limits.budget) {
    return creditsSpent + creditsUnknown === 0
      ? stopFor('budget', `Budget (${credits}) is too small for even one location.`)
      : stopFor('budget', `The budget of ${credits} is reached${unknown}.`);
  }
  return stopFor('limit', `The run's limit of ${credits} (the plan and its retries) is reached${unknown}.`);
}
