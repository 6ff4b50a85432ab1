import { sleepUntilSteady, steadyTime } from '../../clock.ts';
import { CLOCKS_APART_MS } from '../../contract/billing-period.ts';
import { difference, intersection, NO_TOPICS, type TopicSet, topicSet } from '../../contract/topic-set.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import { isUnanswered } from '../../fetch/breaker.ts';
import { counted, dateTime } from '../../format-numbers.ts';
import type { PriceList } from '../../plan/cheapest-calls.ts';
import { total } from '../../store/admission.ts';
import { accountState } from '../plan/account-state.ts';
import { readKnownAreas } from '../plan/area-plan.ts';
import { missingSet } from '../plan/freshness.ts';
import { allocateTiers } from '../plan/reach.ts';
import { buyCells } from './buy-cells.ts';
import { Buying } from './buying.ts';
import type { BuyingContext } from './buying-context.ts';
import { CellQueue } from './cell-queue.ts';
import { record } from './progress.ts';
import { deadlineOf, type Stop, stopFor, timeIsOver } from './stop.ts';

/**
 * Buys in rounds. A round allocates the available credits to cells, by tier and value, and buys; the next one allocates what the
 * last did not need (a bundle returned more than was known, a location was rejected). It ends when nothing is left to buy, or at
 * the end of the credits, the time or the service; with `on_quota: wait` it goes on in the next period.
 */
export async function buyInRounds(context: BuyingContext, interrupt: AbortSignal): Promise<Stop | null> {
  const { job, plan, freshness, progress, effects } = context;
  const { clock, times, notice } = effects;
  const deadline = deadlineOf(job, freshness.startedAt, clock);
  const queue = new CellQueue(plan);
  let inVain = 0;
  for (;;) {
    const callsBefore = progress.calls;
    const stop = await explained(context, await buyWithinPeriod(context, queue, interrupt, deadline));
    if (stop?.reason !== 'quota' || job.onQuota !== 'wait' || stop.resumeAfter === null) return stop;
    inVain = progress.calls === callsBefore ? inVain + 1 : 0;
    // Each account had a new period by now, and none of them paid for anything.
    if (inVain > job.accounts.length) {
      const message =
        'A whole period does not pay for what is left: the allowance less reserve and what others spend is too small.';
      return { ...stop, message };
    }
    if (deadline !== null && stop.resumeAfter - clock.now() >= deadline - steadyTime(clock)) return stop;
    notice(`${stop.message} Waiting until ${dateTime(stop.resumeAfter)}, when it resets.`);
    const until = stop.resumeAfter + CLOCKS_APART_MS;
    record(progress, 'waiting', until);
    await clock.sleep(until - clock.now(), interrupt);
    times.beginAnew();
    if (interrupt.aborted) return stopFor('interrupted', 'Interrupted.', stop.resumeAfter);
    record(progress, 'phase', 'buying');
  }
}

/** Explains a quota that ended earlier than the ledger expected, or that pays for no call at all by the ledger: what the ledger has, and
 * what the user can do. */
async function explained({ job, store, effects, progress }: BuyingContext, stop: Stop | null): Promise<Stop | null> {
  if (stop?.reason !== 'quota') return stop;
  const now = effects.times.billing().earliest;
  const states = await Promise.all(job.accounts.map((account) => accountState(account, store, now)));
  const early = states.find(({ spending }) => (spending.exhaustedLeft ?? 0) > 0);
  if (early === undefined) {
    // The service has refused nothing: a clock that was ahead may have booked the credits in the wrong period.
    if (progress.calls > 0 || states.some(({ spending }) => spending.exhaustedAt !== null)) return stop;
    const later = states.reduce((sum, { spending }) => sum + (spending.later ?? 0), 0);
    const why =
      later === 0
        ? 'By the ledger, the quota of this billing period is used up.'
        : `By the ledger, the quota of this billing period is used up: ${counted(later, 'credit')} are counted in a later period, because a clock was ahead.`;
    return { ...stop, message: `${why} ${CORRECT_QUOTA}` };
  }
  const { name: account } = early.account;
  return {
    ...stop,
    message: `The service says that the quota of ${account} is used up, when by the ledger it still had ${counted(early.spending.exhaustedLeft!, 'credit')}: others spend of it, or the subscription is smaller than the job says. ${CORRECT_QUOTA} What others spend in every period: spent_elsewhere.`,
  };
}

const CORRECT_QUOTA = "If the provider's page shows credits left: perilbook quota set --left N.";

async function buyWithinPeriod(
  context: BuyingContext,
  queue: CellQueue,
  interrupt: AbortSignal,
  deadline: number | null,
): Promise<Stop | null> {
  const { job, plan, store, limits, progress } = context;
  const { cells } = plan.scan;
  const tiers = job.tiers.map((tier) => topicSet(tier.topics));
  const buying = new Buying(context, await store.bundleContents(limits.source), interrupt);
  // A missing scope may come to light only by the service's 403.
  const buyable = job.topics.filter((topic) => mayBuy(buying.priceList, topic));
  const distrusted = new Set<string>();
  using _ = stopAt(buying, deadline);
  for (;;) {
    const { credits, nearest } = await available(context);
    const { order: all, missing } = queue;
    const allocated = allocateTiers({ job, cells, order: all, missing, priceList: buying.priceList }, credits).tiers;
    const topicsOf = (cell: number) => intersection(missing.get(cell), tiers[allocated[cell]! - 1] ?? NO_TOPICS);
    const order = Uint32Array.from(all).filter((cell) => topicsOf(cell) !== NO_TOPICS);
    if (order.length > 0) {
      const callsBefore = progress.calls;
      await buyCells(buying, queue, { order, topicsOf, credits });
      if (buying.stopped) return buying.stopped;
      await distrust(context, queue, distrusted);
      if (progress.calls > callsBefore) continue;
    }
    if (isUnanswered(buying.breaker)) return buying.outage();
    const denied = buyable.filter((topic) => !mayBuy(buying.priceList, topic));
    if (denied.length > 0) return stopFor('keys', `No key may buy ${denied.join(', ')} (403).`);
    return queue.isDone ? null : (buying.shortage() ?? buying.shortOf(nearest));
  }
}

/** Whether some key may buy a topic, alone or in a bundle. */
function mayBuy({ singles, bundles, standard, enterprise }: PriceList, topic: TopicSlug): boolean {
  return singles(topic) || (bundles && (standard.has(topic) || enterprise.has(topic)));
}

/**
 * Looks for areas with contradicting answers. Their cells are bought one by one after all, as far as the run's limit allows: they
 * are not in the plan.
 *
 * @param known the areas that were found before; extended
 */
async function distrust(context: BuyingContext, queue: CellQueue, known: Set<string>): Promise<void> {
  const { job, plan, store, limits, freshness, effects } = context;
  if (job.areas === null) return;
  const { cells, areas } = plan.scan;
  const records = await readKnownAreas(areas, store, limits.source);
  const contradicting = [...records].filter(
    ([name, { mismatchedAt }]) => (mismatchedAt ?? 0) >= freshness.startedAt && !known.has(name),
  );
  const found = new Set(contradicting.map(([name]) => name));
  for (const name of found) {
    known.add(name);
    effects.notice(`Two locations of ${name} were answered differently: its locations are bought one by one.`);
  }
  if (found.size === 0) return;
  const missing = new Map<number, TopicSet>();
  for (let cell = 0; cell < cells.size; cell++) {
    const isIn = (['tract', 'county'] as const).some((level) => found.has(areas.of(cell, level) ?? ''));
    if (!isIn) continue;
    const [own] = await store.read(limits.source, [cells.cell(cell)]);
    // What failed in this run is not tried again: it may have been charged.
    const failed = job.topics.filter((topic) => (own?.failures.get(topic)?.at ?? 0) >= freshness.startedAt);
    missing.set(cell, difference(missingSet(own ?? null, job.topics, freshness), topicSet(failed)));
  }
  queue.replan(missing);
}

/** The credits that may be spent now, and the limit that is nearest. */
async function available({ job, store, limits, progress, effects }: BuyingContext) {
  const spent = total(await store.runSpending(limits.run));
  const now = effects.times.billing().earliest;
  const states = await Promise.all(job.accounts.map((account) => accountState(account, store, now)));
  const ofQuota = states.reduce((sum, account) => sum + account.available, 0);
  record(progress, 'ledgerRead', { credits: ofQuota, spent });
  const ofBudget = Math.max(0, limits.budget - spent);
  return { credits: Math.min(ofBudget, ofQuota), nearest: ofQuota < ofBudget ? 'quota' : 'budget' } as const;
}

/** Stops the buying at a time, until it is disposed of. */
function stopAt(buying: Buying, deadline: number | null): Disposable {
  const ended = new AbortController();
  const { job, effects } = buying.context;
  if (deadline !== null) {
    void sleepUntilSteady(effects.clock, deadline, ended.signal).then(() => {
      if (!ended.signal.aborted) buying.stop(timeIsOver(job));
    });
  }
  return { [Symbol.dispose]: () => ended.abort() };
}
