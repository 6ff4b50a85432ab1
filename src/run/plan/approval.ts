import { counted, grouped, isoDay } from '../../base/format-numbers.ts';
import { isUnlimited } from '../../job/account-settings.ts';
import type { Job } from '../../job/settings.ts';
import { type MostWords, mostWords, unapprovedText } from './notices.ts';
import type { Plan } from './planning.ts';
import type { RefusedWay } from './refused-way.ts';

/** What a run needs before it spends: nothing, an approval of its spending, or one of the dearer price that a refusal of the service left. */
export type NeededApproval =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'spending' | 'dearer';
      readonly spending: MostWords;
      /** What was not done, for an error. */
      readonly unapproved: string;
      /** What approves it, where nobody can be asked. */
      readonly approve: string;
    };

/** What the need depends on. */
interface PricedRun {
  readonly job: Job;
  readonly plan: Pick<Plan, 'refusedWay'>;
  readonly summary: Parameters<typeof mostWords>[0];
}

/** The approvals that a run was given. */
export interface GivenApproval {
  /** `--yes`; a budget is in the job. */
  readonly isApproved: boolean;
  /** Credits: the price that is accepted although the service refused a cheaper way; null where none was. */
  readonly acceptedPrice: number | null;
}

/** What a run still needs before it spends. A budget and `--yes` stand in a nightly job, which would pay whatever a refusal makes of the
 * price: neither approves a plan that a refusal made dearer. An accepted price does, and a yes of a person who reads it.
 * @param what `run`, `look-up`
 * @param options how this door names what approves: spending, and a price */
export function neededApproval(
  { job, plan, summary }: PricedRun,
  { isApproved, acceptedPrice }: GivenApproval,
  what: string,
  options: { readonly spending: string; readonly price: (credits: number) => string },
): NeededApproval {
  const { credits } = summary;
  if (credits === 0 || job.budget === 0 || isUnlimited(job)) return { kind: 'none' };
  const isAccepted = acceptedPrice !== null && credits <= acceptedPrice;
  const spending = mostWords(summary);
  if (plan.refusedWay !== null && !isAccepted) {
    return {
      kind: 'dearer',
      spending,
      unapproved: `${refusedWayText(plan.refusedWay, credits)} Neither a budget nor an approval of all spending covers that`,
      approve: `${options.price(credits)}, or ask the provider for the scope.`,
    };
  }
  if (isApproved || isAccepted || job.budget !== null) return { kind: 'none' };
  return {
    kind: 'spending',
    spending,
    unapproved: unapprovedText(what, spending),
    approve: options.spending,
  };
}

/** `The service refused the scope hail on 2026-03-15 (403: No access): this costs 225 credits in place of 15.` */
export function refusedWayText({ credits, refused }: RefusedWay, now: number): string {
  const [first, ...others] = refused;
  const more = others.length === 0 ? '' : ` and ${counted(others.length, 'other')}`;
  const why = first?.reason ?? '';
  const day = first === undefined ? '' : ` on ${isoDay(first.at)}`;
  return `The service refused the scope ${first?.scope ?? ''}${more}${day}${why === '' ? '' : ` ${why}`}: this costs ${counted(now, 'credit')} in place of ${grouped(credits)}.`;
}
