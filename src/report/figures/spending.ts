import { z } from 'zod';
import type { CallKind } from '../../contract/credits.ts';
import { isSampleAccount, isUnlimited } from '../../job/account-settings.ts';
import { accountState } from '../../run/frame/account-state.ts';
import { subscriptionText } from '../../run/plan/notices.ts';
import type { Prepared } from '../../run/prepare.ts';
import type { RunRecord } from '../../store/runs/port.ts';

export type Credits = Awaited<ReturnType<typeof gatherCredits>>;

/** The parts of a run's summary that the report reads. A summary of another version may lack them. */
const storedSummary = z
  .object({
    stopped: z.string().nullable(),
    saved_by_plan: z.object({ by_cells: z.number(), by_cache: z.number(), by_areas: z.number() }),
  })
  .nullable()
  .catch(null);

export async function gatherCredits(
  { job, store, summary, connection }: Prepared,
  run: RunRecord | null,
) {
  const saved = storedSummary.parse(run?.summary ?? null)?.saved_by_plan ?? summary.saved;
  return {
    /** Of the sample, which charges none: these are what a paid service would charge. */
    isMadeUp: connection.sample,
    /** The credits that the last run planned, spent, and may have spent. */
    planned: run?.plannedCredits ?? summary.credits,
    charged: run?.charged ?? 0,
    unknown: run?.unknown ?? 0,
    inFlight: run?.open ?? 0,
    /** The run's spending limit; null before the first run. */
    allowed: run?.budget ?? null,
    /** The plan's saving over all places. With `planned` it is the price without savings. */
    saved: { byCells: saved.by_cells, byCache: saved.by_cache, byAreas: saved.by_areas },
    /** The calls of each kind, over all runs of the job. `free` calls failed and cost nothing. */
    ledger: (await store.statement({ by: 'kind', job: job.name })).map(
      ({ name, calls, credits }) => ({
        kind: name as CallKind,
        calls,
        credits,
      }),
    ),
  };
}

/** The next run's purchases and the available credits. */
export async function leftOver({ job, plan, store }: Prepared, run: RunRecord | null, now: number) {
  const state = plan.account && (await accountState(plan.account.account, store, now));
  const isPaused = run !== null && run.resumeAfter !== null && run.resumeAfter > now;
  const isUsedUp = state !== null && state.available === 0;
  const resumeAfter = isPaused ? run.resumeAfter : isUsedUp ? state.period.end : null;
  return {
    /** Credits that the missing answers cost now. */
    credits: plan.price.credits,
    places: plan.order.length,
    /** Why the last run stopped early, or null. */
    stopped: storedSummary.parse(run?.summary ?? null)?.stopped ?? null,
    resumeAfter: resumeAfter === null ? null : new Date(resumeAfter).toISOString(),
    /** The credits left of the account in its period, and the time of the reset; null for local data. */
    account:
      state !== null && !isUnlimited(job)
        ? {
            name: isSampleAccount(state.account.name) ? 'Sample account' : state.account.name,
            allowance: state.account.subscription.creditsPerMonth,
            left: state.available,
            /** The subscription that is assumed; null where a job or an option names it. */
            assumed: state.account.isAssumed ? subscriptionText(state.account) : null,
            resetsAt: new Date(state.period.end).toISOString(),
          }
        : null,
  };
}
