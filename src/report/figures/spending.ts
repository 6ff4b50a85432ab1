import { z } from 'zod';
import type { CallKind } from '../../contract/credits.ts';
import { isSampleAccount, isUnlimited } from '../../job/account-settings.ts';
import { accountState } from '../../run/frame/account-state.ts';
import { subscriptionText } from '../../run/plan/notices.ts';
import type { Prepared } from '../../run/prepare.ts';
import type { StatementRow } from '../../store/ledger/port.ts';
import type { RunRecord } from '../../store/runs/port.ts';

/** What a job has spent. */
export interface Credits {
  /** Whether these are what a paid service would charge: the sample charges none. */
  readonly isMadeUp: boolean;
  /** Credits that the last run planned. */
  readonly planned: number;
  /** Credits that it spent. */
  readonly charged: number;
  /** Credits of calls without an outcome, which may have been charged. */
  readonly unknown: number;
  /** Credits of calls whose answer is awaited. */
  readonly inFlight: number;
  /** The run's spending limit; null before the first run. */
  readonly allowed: number | null;
  /** Credits that the plan saves over all places. With `planned` they are the price without savings. */
  readonly saved: {
    /** By rows at the same place. */
    readonly byCells: number;
    /** By answers in the store. */
    readonly byCache: number;
    /** By answers that hold for a whole area. */
    readonly byAreas: number;
  };
  /** Calls and credits of each kind, over all runs of the job. */
  readonly ledger: readonly (Pick<StatementRow, 'calls' | 'credits'> & {
    /** The kind of call. */
    readonly kind: CallKind;
  })[];
}

/** The next run's purchases and the available credits. */
export interface LeftOver {
  /** Credits that the missing answers cost now. */
  readonly credits: number;
  /** Places that lack an answer. */
  readonly places: number;
  /** Why the last run stopped early; null where it did not. */
  readonly stopped: string | null;
  /** When to run again; null where no time is known. */
  readonly resumeAfter: string | null;
  /** The account in its billing period; null for local data. */
  readonly account: {
    /** The name of the account. */
    readonly name: string;
    /** Credits that the period includes. */
    readonly allowance: number;
    /** Credits that may still be spent. */
    readonly left: number;
    /** The subscription that is assumed; null where a job or an option names it. */
    readonly assumed: string | null;
    /** When the next period begins. */
    readonly resetsAt: string;
  } | null;
}

/** The parts of a run's summary that the report reads. A summary of another version may lack them. */
const storedSummary = z
  .object({
    stopped: z.string().nullable(),
    saved_by_plan: z.object({ by_cells: z.number(), by_cache: z.number(), by_areas: z.number() }),
  })
  .nullable()
  .catch(null);

/** What was planned and spent by the record of a run, and all that the ledger has of the job by kind of call. */
export async function gatherCredits(
  { job, store, summary, connection }: Prepared,
  run: RunRecord | null,
): Promise<Credits> {
  const saved = storedSummary.parse(run?.summary ?? null)?.saved_by_plan ?? summary.saved;
  return {
    isMadeUp: connection.sample,
    planned: run?.plannedCredits ?? summary.credits,
    charged: run?.charged ?? 0,
    unknown: run?.unknown ?? 0,
    inFlight: run?.open ?? 0,
    allowed: run?.budget ?? null,
    saved: { byCells: saved.by_cells, byCache: saved.by_cache, byAreas: saved.by_areas },
    ledger: (await store.statement({ by: 'kind', job: job.name })).map(
      ({ name, calls, credits }) => ({
        kind: name as CallKind,
        calls,
        credits,
      }),
    ),
  };
}

/** What is still to be bought, and when the next run can. */
export async function leftOver(
  { job, plan, store }: Prepared,
  run: RunRecord | null,
  now: number,
): Promise<LeftOver> {
  const state = plan.account && (await accountState(plan.account.account, store, now));
  const isPaused = run !== null && run.resumeAfter !== null && run.resumeAfter > now;
  const isUsedUp = state !== null && state.available === 0;
  const resumeAfter = isPaused ? run.resumeAfter : isUsedUp ? state.period.end : null;
  return {
    credits: plan.price.credits,
    places: plan.order.length,
    stopped: storedSummary.parse(run?.summary ?? null)?.stopped ?? null,
    resumeAfter: resumeAfter === null ? null : new Date(resumeAfter).toISOString(),
    account:
      state !== null && !isUnlimited(job)
        ? {
            name: isSampleAccount(state.account.name) ? 'Sample account' : state.account.name,
            allowance: state.account.subscription.creditsPerMonth,
            left: state.available,
            assumed: state.account.isAssumed ? subscriptionText(state.account) : null,
            resetsAt: new Date(state.period.end).toISOString(),
          }
        : null,
  };
}
