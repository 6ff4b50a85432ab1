import { counted } from '../../base/format-numbers.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import type { JobAccount } from '../../job/account-settings.ts';
import { NO_TOPICS } from '../../store/answers/topic-set.ts';
import { total } from '../../store/ledger/admission.ts';
import type { PeriodSpending } from '../../store/ledger/port.ts';
import { accountState } from '../frame/account-state.ts';
import { setIn } from '../frame/progress.ts';
import { limitReached, onEnd, riseStop, type Stop, stopFor } from '../frame/stop.ts';
import { bundleWith, type PriceList, purchaseBySet } from '../plan/cheapest-calls.ts';
import { IN_LATER_PERIODS, quotaAdvice } from '../plan/notices.ts';
import { purchasesFor } from '../plan/reach.ts';
import { shortageStop } from './buy-call.ts';
import { buyCells } from './buy-cells.ts';
import { type BuyingContext, beginBuying, CellQueue } from './buying.ts';

/*
 * How a run buys, from the outside in:
 * - `buyInRounds`: round after round: a round spends the remaining credits on the cells, in their order; the next round spends the credits
 *   that were not needed. A round ends early when something became dearer; if the rest then costs more than the run may spend, the run stops.
 * - `buyCells`: some cells at once, each with its credits reserved; `buyCell` takes the cheapest next call of one cell (`CellWork`).
 * - `buyCall`: one call with its retries. The throttle gives a permit, a key is chosen (`Payer`), the ledger grants a claim, the
 *   client sends, `decideConsequence` decides as plain data what follows, the settlement is written, and `carryOut` does the rest.
 * Two objects change meanwhile: `Payer` (which keys and prices are left) and `RunHealth` (whether the run continues).
 * Everything else is passed in and returned.
 */

/** Buys until everything is bought, or until credits or time are used up or the service fails.
 * @returns why it stopped early; null if everything was bought */
export async function buyInRounds(context: BuyingContext): Promise<Stop | null> {
  return explainStop(context, await buyRounds(context));
}

/** Explains a quota that ended earlier than the ledger expected, or covers no call: the ledger's figures, and what the user can do. */
async function explainStop(
  { job, store, limits, service, effects, progress }: BuyingContext,
  stop: Stop | null,
) {
  // All calls have settled: at the stop itself some were in flight, which the message would not count.
  if (stop?.reason === 'budget' || stop?.reason === 'limit')
    return limitReached(job, limits, progress);
  if (stop?.reason !== 'quota') return stop;
  const now = effects.times.billing().earliest;
  const { spending, available } = await accountState(
    job.account,
    store,
    now,
    service.apiKeys.fingerprints,
  );
  const { exhaustedLeft, exhaustedAt, later } = spending;
  if (!exhaustedLeft) {
    const ceiling = ceilingText(job.account, spending, total(await store.runSpending(limits.run)));
    if (ceiling !== null && available < 1) return { ...stop, message: ceiling };
    const left = `has ${counted(available, 'credit')} left, too few for the next place`;
    const quota = `quota of this billing period ${available > 0 ? left : 'is used up'}`;
    // The service has not refused a call: a clock that was ahead may have booked the credits in the wrong period.
    if (progress.calls > 0 || exhaustedAt !== null) return { ...stop, message: `The ${quota}.` };
    const booked = later ? `: ${counted(later, 'credit')} are counted ${IN_LATER_PERIODS}` : '';
    return {
      ...stop,
      message: `By the ledger, the ${quota}${booked}. ${quotaAdvice(job.account)}`,
    };
  }
  return {
    ...stop,
    message: `The service says that the quota of ${job.account.name} is used up, but by the ledger it had ${counted(exhaustedLeft, 'credit')} left: other programs use it, or the subscription is smaller than in the job. ${quotaAdvice(job.account)} If other programs spend credits in every period, set reserve to what they need.`,
  };
}

/** The end at the job's ceiling for overage: what the period and this run cost beyond the allowance. Null where no overage was spent. */
function ceilingText(
  { subscription, overageCredits }: JobAccount,
  spending: PeriodSpending,
  byRun: number,
) {
  const spent = total(spending) + (spending.correction?.elsewhere ?? 0);
  const beyond = Math.max(0, spent - subscription.creditsPerMonth);
  if (overageCredits === 0 || beyond === 0) return null;
  const inDollars = (credits: number) =>
    `$${(credits * (subscription.overageRate ?? 0)).toFixed(2)}`;
  const own = inDollars(Math.min(beyond, byRun));
  return `The ceiling of ${inDollars(overageCredits)} for overage is reached: this run cost ${own} of the ${inDollars(beyond)} of this period.`;
}

async function buyRounds(context: BuyingContext): Promise<Stop | null> {
  const { job, plan, progress, limits } = context;
  const queue = new CellQueue(plan);
  const { cells } = plan.scan;
  const buying = await beginBuying(context);
  const { payer, health } = buying;
  const costOfRest = () => costOf(queue, payer.priceList);
  const spentNow = () => context.store.runSpending(limits.run);
  const spentBefore = total(await spentNow());
  const { credits: price, retryCredits } = plan.price;
  /** What the run may spend without the retries of lost answers, which pay for no dearer way. */
  const planned = spentBefore + price + retryCredits;
  /** The stop where the rest costs more than before, and more than the run may still spend; null where it goes on.
   * @param byOldPrices the rest by the prices of before, which does not show that a bundle here lacked what it was bought for */
  const stopAtRise = async (
    byOldPrices: number,
    why: string,
    isForNow = false,
  ): Promise<Stop | null> => {
    const after = costOfRest();
    const spending = await spentNow();
    const spent = total(spending);
    const before = Math.min(byOldPrices, Math.max(0, price - (spent - spentBefore)));
    const fits = spent + after <= limits.budget && spent - spending.unknown + after <= planned;
    if (after <= before || fits) return null;
    // What this run has spent above the plan is no part of what the rest cost before.
    const expected = byOldPrices < after ? byOldPrices : before;
    return riseStop(why, { rest: after, expected, isForNow });
  };
  // A missing scope may show only by the service's 403.
  const buyable = job.topics.filter((topic) => mayBuy(payer.priceList, topic));
  using _ = onEnd(context, context.effects.clock, (why) => health.stop(why));
  for (;;) {
    const { credits, nearest } = await available(context);
    const { order: all, missing } = queue;
    const { isBought } = purchasesFor(
      { cells, order: all, missing, priceList: payer.priceList },
      credits,
    );
    const topicsOf = (cell: number) => missing.get(cell);
    const order = Uint32Array.from(all).filter(
      (cell) => isBought[cell] === 1 && topicsOf(cell) !== NO_TOPICS,
    );
    if (order.length > 0) {
      const callsBefore = progress.calls;
      const { priceList } = payer;
      await buyCells(buying, queue, { order, topicsOf, credits });
      if (health.stopped) return health.stopped;
      const { dearer, isDearerForNow } = payer;
      if (dearer !== null) {
        payer.acceptPrices();
        const stop = await stopAtRise(costOf(queue, priceList), dearer, isDearerForNow);
        if (stop !== null) return stop;
      }
      const again = (await plan.areas?.findContradicted(context.effects.notice)) ?? null;
      if (again !== null) {
        const before = costOfRest();
        queue.replan(again);
        const stop = await stopAtRise(
          before,
          'Answers for whole areas do not hold at each of their places',
        );
        if (stop !== null) return stop;
      }
      if (progress.calls > callsBefore || dearer !== null) continue;
    }
    if (health.isUnanswered) return health.outage();
    const denied = buyable.filter((topic) => !mayBuy(payer.priceList, topic));
    if (denied.length > 0) return stopFor('keys', `No key may buy ${denied.join(', ')} (403).`);
    return queue.isDone ? null : shortageStop(buying, payer.shortage ?? nearest);
  }
}

/** The credits for all that is missing. */
function costOf({ order, missing }: CellQueue, priceList: PriceList): number {
  const purchaseOf = purchaseBySet(() => priceList);
  let credits = 0;
  for (const cell of order) credits += purchaseOf(missing.get(cell)).credits;
  return credits;
}

function mayBuy(priceList: PriceList, topic: TopicSlug): boolean {
  return priceList.singles(topic) || bundleWith(priceList, topic) !== undefined;
}

/** The credits that may be spent now, and the limit that is nearest. */
async function available({ job, store, limits, service, progress, effects }: BuyingContext) {
  const spent = total(await store.runSpending(limits.run));
  const now = effects.times.billing().earliest;
  const { available: ofQuota } = await accountState(
    job.account,
    store,
    now,
    service.apiKeys.fingerprints,
  );
  setIn(progress, { ledgerLeft: { credits: ofQuota, spent } });
  const ofBudget = Math.max(0, limits.budget - spent);
  return {
    credits: Math.min(ofBudget, ofQuota),
    nearest: ofQuota < ofBudget ? 'quota' : 'budget',
  } as const;
}
