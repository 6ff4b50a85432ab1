import { type Clock, sleepUntilSteady, steadyTime } from '../../base/clock.ts';
import type { ErrorCode, PerilbookError } from '../../base/errors.ts';
import { counted, grouped } from '../../base/format-numbers.ts';
import type { Job } from '../../job/settings.ts';
import type { ClaimLimits } from '../../store/ledger/port.ts';
import type { Progress } from './progress.ts';

/** What follows from a reason to stop. */
type StopRow = {
  /** The user or the provider must end it: where the run got no answer, an earlier output stays as it was. */
  readonly isFailure: boolean;
} & (
  | {
      /** Running again goes on. */
      readonly state: 'paused' | 'interrupted';
      /** Why to run again, in front of the command. */
      readonly next: string;
    }
  | {
      /** The user must act first. */
      readonly state: 'stopped';
      /** The error that a program gets, whose exit code the command has. */
      readonly code: ErrorCode;
      /** What to do before running again. */
      readonly remedy: string;
    }
);

const RESUMED = { state: 'paused', isFailure: false, next: 'To resume' } as const;

export const STOPS = {
  quota: RESUMED,
  /** The limit of the run: the job's budget, or the run's own plan where none is set. */
  budget: { ...RESUMED, next: 'To buy more' },
  limit: RESUMED,
  /** The rest costs more than the run may spend, because the service refused a way to buy or charges more. */
  price: { ...RESUMED, next: 'To buy the rest at that price' },
  /** The same after a refusal that names no scope: the next run asks again, at the price of before. */
  refusal: { ...RESUMED, next: 'To ask the service again' },
  /** `--limit`: a trial with the first rows. */
  rows: { ...RESUMED, next: 'For all rows' },
  time: RESUMED,
  interrupted: { ...RESUMED, state: 'interrupted' },
  /** The service says that a quota is used up, in its own words, or asks to wait for hours. */
  service_pause: RESUMED,
  service_down: { ...RESUMED, isFailure: true },
  keys: {
    state: 'stopped',
    isFailure: true,
    code: 'KEY_REFUSED',
    remedy: 'Check the API keys and their scopes',
  },
  /** The account's payment, a proxy, or a law. */
  denied: {
    state: 'stopped',
    isFailure: true,
    code: 'KEY_REFUSED',
    remedy: 'Settle this with the provider',
  },
  /** The service states a cost that no call has. */
  cost: {
    state: 'stopped',
    isFailure: false,
    code: 'BUDGET_REACHED',
    remedy: 'Ask the provider what a call costs',
  },
  misdirected: { state: 'stopped', isFailure: true, code: 'USAGE', remedy: 'Check base_url' },
  store_moved: {
    state: 'stopped',
    isFailure: false,
    code: 'STORE_MOVED',
    remedy: 'Open the store again',
  },
} as const satisfies Record<string, StopRow>;

export type StopReason = keyof typeof STOPS;

export interface Stop {
  readonly reason: StopReason;
  /** One sentence for the user. */
  readonly message: string;
  /** When to run again: milliseconds since the epoch, or null if the user must act first. */
  readonly resumeAfter: number | null;
}

/** A stop. @param resumeAfter when to run again; null: the user must act first */
export function stopFor(
  reason: StopReason,
  message: string,
  resumeAfter: number | null = null,
): Stop {
  return { reason, message, resumeAfter };
}

/** When the `max_minutes` of a run that begins now are over, by the steady time, which no setting of the clock changes. Null: never. */
export function deadlineOf({ maxMinutes }: Pick<Job, 'maxMinutes'>, clock: Clock): number | null {
  return maxMinutes === null ? null : steadyTime(clock) + maxMinutes * 60_000;
}

/** What ends a run from outside. */
export interface RunEnds {
  readonly job: Pick<Job, 'maxMinutes'>;
  /** When `max_minutes` ends the run, by the steady time; null: never. */
  readonly deadline: number | null;
  /** Ends the run: calls and batches in progress are completed, and the output is still written. */
  readonly interrupt: AbortSignal;
}

/** Calls a function when the user interrupts the run or its time is over, unless it is disposed of before. */
export function onEnd(
  { job, deadline, interrupt }: RunEnds,
  clock: Clock,
  stop: (why: Stop) => void,
): Disposable {
  const disposed = new AbortController();
  const { signal } = disposed;
  const onInterrupt = () => stop(stopFor('interrupted', 'Interrupted.'));
  if (interrupt.aborted) onInterrupt();
  else interrupt.addEventListener('abort', onInterrupt, { signal });
  if (deadline !== null) {
    void sleepUntilSteady(clock, deadline, signal).then(() => {
      if (!signal.aborted)
        stop(stopFor('time', `The time of this run is over (${job.maxMinutes} min).`));
    });
  }
  return { [Symbol.dispose]: () => disposed.abort() };
}

/** The stop after a trial with the first rows. */
export function rowsAreDone(limit: number): Stop {
  return stopFor('rows', `The limit of ${counted(limit, 'row')} is reached.`);
}

/** The stop after the store was moved: the next run would not find the bought answers. */
export function storeMovedStop({ message, hint }: PerilbookError): Stop {
  return stopFor('store_moved', `${message}. ${hint}`);
}

/** The stop at a call whose cost cannot be believed. @param figures the stated and the expected cost */
export function unbelievableCost(figures: string): Stop {
  const why = `A call's cost cannot be believed: ${figures}`;
  return stopFor('cost', `${why}. The ledger counts the highest figure; nothing more was bought.`);
}

/** The stop before a rest that costs more than expected and than the run may spend. @param why a sentence without its full stop */
export function riseStop(
  why: string,
  {
    rest,
    expected,
    isForNow,
  }: { readonly rest: number; readonly expected: number; readonly isForNow: boolean },
): Stop {
  const costs = `What is left costs ${counted(rest, 'credit')} now, ${grouped(expected)} before`;
  return stopFor(isForNow ? 'refusal' : 'price', `${why}. ${costs}: nothing more was bought.`);
}

/** The stop at a spending limit, which its message names: the job's budget, or the plan that the run began with (`--yes`). */
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
      : `: ${counted(callsUnknown, 'call')} without a usable answer may have cost ${grouped(creditsUnknown)}`;
  if (job.budget === limits.budget) {
    return creditsSpent + creditsUnknown === 0
      ? stopFor('budget', `Budget (${credits}) is too small for even one location.`)
      : stopFor('budget', `The budget of ${credits} is reached${unknown}.`);
  }
  return stopFor(
    'limit',
    `The run's limit of ${credits} (the plan and its retries) is reached${unknown}.`,
  );
}
