import { counted, dateTime, grouped } from '../../base/format-numbers.ts';
import { isUnlimited } from '../../job/account-settings.ts';
import { leftOfAllowance } from '../../run/frame/account-state.ts';
import { nearestBound, type SpendingBound } from '../../run/plan/spending.ts';
import type { Prepared } from '../../run/prepare.ts';
import { sharePhrase, timeLimit } from './format.ts';
import { besideText, localVerdict } from './local-messages.ts';

/* The sentence of a plan that says what it costs, and whether that fits. */

/** What the rows cost, and what the nearest limit leaves of them. */
export function planVerdict(prepared: Prepared): string {
  const { rows, cells } = prepared.summary;
  if (rows === 0)
    return 'The file has no rows, only a header: nothing to look up. Check how it was exported.';
  if (cells === 0) return 'No row can be looked up: nothing was asked or spent.';
  if (prepared.connection.kind === 'local') return localVerdict(prepared);
  const { connection, job, summary } = prepared;
  // A subscription or a budget of the job shows what a paid service would do: nobody is charged.
  const isShown = connection.sample && summary.credits > 0 && !isUnlimited(job);
  return `${buyingVerdict(prepared)}${isShown ? ' The sample charges none.' : ''}`;
}

function buyingVerdict(prepared: Prepared): string {
  const { job, plan, summary } = prepared;
  const { credits } = summary;
  if (plan.price.unobtainable.size > 0)
    return 'The keys of this job may not buy all of these topics.';
  if (credits === 0) {
    const isPart = job.limit !== null && job.limit < summary.located;
    const none = isPart
      ? `0 credits for the first ${counted(job.limit, 'located row')}`
      : '0 credits';
    const looked = besideText(summary);
    if (looked !== '') return `${none}${looked}.`;
    return summary.cells_rejected === 0
      ? `${none}: all ${isPart ? 'their ' : ''}answers are in the store.`
      : `${none}: ${counted(summary.cells_cached, 'place')} in the store, ${grouped(summary.cells_rejected)} rejected by the service.`;
  }
  const bound = nearestBound(plan.bounds, credits);
  if (bound !== null) return BOUND_TEXTS[bound](prepared);
  if (isUnlimited(job))
    return `${counted(credits, 'credit')} at a paid service; the sample charges none.`;
  const dollars = overageText(prepared);
  if (summary.fits)
    return `${counted(credits, 'credit')}${dollars}: fits this period${besideText(summary)}.`;
  return quotaText(prepared);
}

/** What a bound does to a run that needs more. */
const BOUND_TEXTS: Readonly<Record<SpendingBound, (prepared: Prepared) => string>> = {
  run({ summary }) {
    const budget = `The budget of ${grouped(summary.credits_limit)}`;
    const bought = boughtMessage(summary, budget, `${budget} buys nothing`);
    return `${counted(summary.credits, 'credit')} needed. ${bought}; the rest is deferred.`;
  },
  time({ job, plan, summary }) {
    const limit = `The time limit of ${timeLimit(job.maxMinutes!)} allows ${counted(plan.bounds.time, 'credit')}`;
    const bought = boughtMessage(summary, `${limit}, which`, `${limit}, which cannot buy anything`);
    return `${counted(summary.credits, 'credit')} needed. ${bought}; the rest is deferred.`;
  },
  quota: quotaText,
};

function quotaText(prepared: Prepared): string {
  const { plan, summary } = prepared;
  const { credits } = summary;
  const { quota } = plan.bounds;
  const { finishBy } = plan.ways.planned.forecast;
  const dollars = overageText(prepared);
  const left = `The ${counted(quota, 'credit')} left`;
  const none = quota === 0 ? 'No credits are left' : `${left} cannot buy anything`;
  const needed = `${counted(credits, 'credit')} needed${dollars}. ${boughtMessage(summary, left, none)}`;
  if (finishBy === null) return `${needed}. The quota is never enough for the rest.`;
  const later = (summary.periods ?? 0) - (quota > 0 ? 1 : 0);
  const quotas =
    later === 1
      ? 'the quota of the next billing period'
      : `the quotas of the next ${grouped(later)} billing periods`;
  return `${needed}. Complete by ${dateTime(finishBy)}, with ${quotas}.`;
}

/** What the plan costs as overage; where the ceiling allows less, both. */
function overageText({ job: { account }, plan, summary }: Prepared): string {
  if (summary.overage_dollars === 0 || plan.account === null) return '';
  const beyond = summary.credits - leftOfAllowance(plan.account);
  const inDollars = (credits: number) =>
    `$${(credits * (account.subscription.overageRate ?? 0)).toFixed(2)}`;
  if (beyond <= account.overageCredits) return `, ${inDollars(beyond)} of it as overage`;
  return `, ${inDollars(beyond)} of it as overage, of which the ceiling allows $${summary.overage_dollars.toFixed(2)}`;
}

/** The places that a limit of credits completes: `what` buys some, or `nothing` is bought and only the store completes places. */
function boughtMessage(summary: Prepared['summary'], what: string, nothing: string): string {
  const { this_run, after_run } = summary;
  if (this_run.credits > 0) return `${what} will complete ${sharePhrase(after_run)}`;
  if (after_run.share_of_cells === 0) return nothing;
  return `${nothing}; the store completes ${sharePhrase(after_run)}`;
}
