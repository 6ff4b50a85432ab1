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
import { type Buying, type BuyingContext, beginBuying, CellQueue } from './buying.ts';

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

/** What the rounds of a run share. */
interface Rounds {
  readonly buying: Buying;
  readonly queue: CellQueue;
  /** Credits that the run had spent before its first round. */
  readonly spentBefore: number;
}

/** How a round ended: it bought something, it could buy nothing, or the run must stop. */
type RoundEnd =
  | { readonly kind: 'bought' | 'nothing' }
  | { readonly kind: 'stop'; readonly stop: Stop };

async function buyRounds(context: BuyingContext): Promise<Stop | null> {
  const { job, plan, store, limits } = context;
  const buying = await beginBuying(context);
  const { payer, health } = buying;
  const spentBefore = total(await store.runSpending(limits.run));
  const rounds: Rounds = { buying, queue: new CellQueue(plan), spentBefore };
  // A missing scope may show only by the service's 403.
  const buyable = job.topics.filter((topic) => mayBuy(payer.priceList, topic));
  using _ = onEnd(context, context.effects.clock, (why) => health.stop(why));
  for (;;) {
    const { credits, nearest } = await readAvailable(context);
    const end = await buyRound(rounds, credits);
    if (end.kind === 'stop') return end.stop;
    if (end.kind === 'bought') continue;
    if (health.isUnanswered) return health.outage();
    const denied = buyable.filter((topic) => !mayBuy(payer.priceList, topic));
    if (denied.length > 0) return stopFor('keys', `No key may buy ${denied.join(', ')} (403).`);
    return rounds.queue.isDone ? null : shortageStop(buying, payer.shortage ?? nearest);
  }
}

/** Spends credits on the cells in their order; then plans again what became dearer, or does not hold for a whole area. */
async function buyRound(rounds: Rounds, credits: number): Promise<RoundEnd> {
  const { buying, queue } = rounds;
  const { payer, health, progress, plan, effects } = buying;
  const order = findAffordable(buying, queue, credits);
  if (order.length === 0) return { kind: 'nothing' };
  const callsBefore = progress.calls;
  const { priceList } = payer;
  const topicsOf = (cell: number) => queue.missing.get(cell);
  await buyCells(buying, queue, { order, topicsOf, credits });
  if (health.stopped) return { kind: 'stop', stop: health.stopped };
  const { dearer, isDearerForNow } = payer;
  if (dearer !== null) {
    payer.acceptPrices();
    const byOldPrices = costOf(queue, priceList);
    const stop = await findRise(rounds, { byOldPrices, why: dearer, isForNow: isDearerForNow });
    if (stop !== null) return { kind: 'stop', stop };
  }
  const contradicted = (await plan.areas?.findContradicted(effects.notice)) ?? null;
  if (contradicted !== null) {
    const byOldPrices = costOf(queue, payer.priceList);
    queue.replan(contradicted);
    const why = 'Answers for whole areas do not hold at each of their places';
    const stop = await findRise(rounds, { byOldPrices, why, isForNow: false });
    if (stop !== null) return { kind: 'stop', stop };
  }
  return { kind: progress.calls > callsBefore || dearer !== null ? 'bought' : 'nothing' };
}

/** The cells that lack something and that the credits pay for, in their order. */
function findAffordable(
  { payer, plan }: Buying,
  { order: all, missing }: CellQueue,
  credits: number,
): Uint32Array {
  const { cells } = plan.scan;
  const demand = { cells, order: all, missing, priceList: payer.priceList };
  const { isBought } = purchasesFor(demand, credits);
  return Uint32Array.from(all).filter(
    (cell) => isBought[cell] === 1 && missing.get(cell) !== NO_TOPICS,
  );
}

interface Rise {
  /** What the rest costs by the prices of before, which do not show that a bundle here lacked what it was bought for. */
  readonly byOldPrices: number;
  readonly why: string;
  /** The price may be lower again later. */
  readonly isForNow: boolean;
}

/** The stop where the rest costs more than before, and more than the run may still spend; null where it goes on. */
async function findRise(
  { buying, queue, spentBefore }: Rounds,
  { byOldPrices, why, isForNow }: Rise,
): Promise<Stop | null> {
  const { plan, payer, store, limits } = buying;
  const { credits: price, retryCredits } = plan.price;
  // What the run may spend without the retries of lost answers, which pay for no dearer way.
  const planned = spentBefore + price + retryCredits;
  const after = costOf(queue, payer.priceList);
  const spending = await store.runSpending(limits.run);
  const spent = total(spending);
  const before = Math.min(byOldPrices, Math.max(0, price - (spent - spentBefore)));
  const fits = spent + after <= limits.budget && spent - spending.unknown + after <= planned;
  if (after <= before || fits) return null;
  // What this run has spent above the plan is no part of what the rest cost before.
  const expected = byOldPrices < after ? byOldPrices : before;
  return riseStop(why, { rest: after, expected, isForNow });
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
async function readAvailable({ job, store, limits, service, progress, effects }: BuyingContext) {
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
