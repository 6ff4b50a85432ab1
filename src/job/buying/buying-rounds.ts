import { sleepUntilSteady, steadyTime } from '../../clock.ts';
import { CLOCKS_APART_MS } from '../../contract/billing-period.ts';
import { inBoth, topicSet } from '../../contract/topic-set.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import { isUnanswered } from '../../fetch/breaker.ts';
import { counted, dateTime } from '../../format-numbers.ts';
import type { PriceList } from '../../plan/cheapest-calls.ts';
import type { Store } from '../../store/port.ts';
import { enterPhase } from '../phase.ts';
import { accountState } from '../planning/account-state.ts';
import { readKnownAreas } from '../planning/area-plan.ts';
import { missingSet } from '../planning/freshness.ts';
import { allocateTiers, type Plan } from '../planning/planning.ts';
import { Buying, type BuyingParts, type Stop } from './buying.ts';
import { purchase } from './purchase.ts';

/**
 * Buys in rounds. A round gives the credits at hand to cells, by tier and value, and buys; the next one gives out what
 * the last did not need (a bundle brought more than was known, a place was refused). It ends when nothing is left to buy,
 * when money, time or the service end it, or, with `on_quota: wait`, never before the last period.
 */
export async function buyInRounds(parts: BuyingParts, plan: Plan, interrupt: AbortSignal): Promise<Stop | null> {
  const { job, store, clock } = parts;
  const deadline = deadlineOf(parts);
  let inVain = 0;
  for (;;) {
    const callsBefore = parts.progress.calls;
    const stop = await explained(parts, await buyWithinPeriod(parts, plan, interrupt, deadline));
    if (stop?.reason !== 'quota' || job.onQuota !== 'wait' || stop.resumeAfter === null) return stop;
    inVain = parts.progress.calls === callsBefore ? inVain + 1 : 0;
    // Each account had a new period by now, and none of them paid for anything.
    if (inVain > job.accounts.length) {
      const message =
        'A whole period does not pay for what is left: the allowance less reserve and what others spend is too small.';
      return { ...stop, message };
    }
    if (deadline !== null && stop.resumeAfter - clock.now() >= deadline - steadyTime(clock)) return stop;
    parts.notice(`${stop.message} Waiting until ${dateTime(stop.resumeAfter)}, when it resets.`);
    parts.progress.waitingUntil = stop.resumeAfter + CLOCKS_APART_MS;
    enterPhase(parts.progress, 'waiting');
    await clock.sleep(parts.progress.waitingUntil - clock.now(), interrupt);
    parts.progress.waitingUntil = 0;
    parts.times.beginAnew();
    if (interrupt.aborted) return { reason: 'interrupted', message: 'Interrupted.', resumeAfter: stop.resumeAfter };
    enterPhase(parts.progress, 'buying');
    parts = { ...parts, contents: await store.bundleContents(parts.source) };
  }
}

/** When `max_minutes` is over, by the steady time: setting the clock makes a run neither longer nor shorter. The minutes begin
 * with the scan; a clock that was set during the scan shortens them at most to none, and never makes them more. */
function deadlineOf({ job, clock, freshness }: BuyingParts): number | null {
  if (job.maxMinutes === null) return null;
  const ms = job.maxMinutes * 60_000;
  return steadyTime(clock) + Math.max(0, Math.min(ms, freshness.startedAt + ms - clock.now()));
}

/** A quota that ended earlier than the ledger thought is explained: what it thought, and what the user can do. */
async function explained({ job, store, times }: BuyingParts, stop: Stop | null): Promise<Stop | null> {
  if (stop?.reason !== 'quota') return stop;
  const now = times.billing().earliest;
  const states = await Promise.all(job.accounts.map((account) => accountState(account, store, now)));
  const early = states.find(({ spending }) => (spending.exhaustedLeft ?? 0) > 0);
  if (early === undefined) return stop;
  const { name: account } = early.account;
  return {
    ...stop,
    message: `The service says that the quota of ${account} is used up, when by the ledger it still had ${counted(early.spending.exhaustedLeft!, 'credit')}: others spend of it, or the subscription is smaller than the job says. If the provider's page shows credits left: perilbook quota set --left N. What others spend in every period: spent_elsewhere.`,
  };
}

async function buyWithinPeriod(
  parts: BuyingParts,
  plan: Plan,
  interrupt: AbortSignal,
  deadline: number | null,
): Promise<Stop | null> {
  const { job } = parts;
  const { cells } = plan.scan;
  const masks = job.tiers.map((tier) => topicSet(tier.topics));
  const buying = new Buying(parts, interrupt);
  // That a key lacks a scope may come to light by the service's 403 only.
  const open = job.topics.filter((topic) => mayBuy(buying.priceList, topic));
  const distrusted = new Set<string>();
  const ended = new AbortController();
  const timer = deadline === null ? null : stopAt(buying, deadline, ended.signal);
  try {
    for (;;) {
      const money = await atHand(parts);
      const { tiers } = allocateTiers(job, cells, plan.order, plan.missing, buying.priceList, money.credits);
      const goals = new Float64Array(cells.size);
      const order = plan.order.filter((cell) => {
        const tier = tiers[cell]!;
        goals[cell] = tier === 0 ? 0 : inBoth(plan.missing[cell]!, masks[tier - 1]!);
        return goals[cell]! > 0;
      });
      if (order.length > 0) {
        const asked = goals.slice();
        const callsBefore = parts.progress.calls;
        await purchase(buying, cells, goals, order, money.credits);
        for (const cell of order) plan.missing[cell]! -= asked[cell]! - goals[cell]!;
        if (buying.stopped) return buying.stopped;
        await distrust(parts, plan, distrusted);
        if (parts.progress.calls > callsBefore) continue;
      }
      if (isUnanswered(buying.breaker)) return buying.outage();
      const closed = open.filter((topic) => !mayBuy(buying.priceList, topic));
      if (closed.length > 0) {
        return { reason: 'keys', message: `No key may buy ${closed.join(', ')} (403).`, resumeAfter: null };
      }
      const leftOver = plan.order.some((cell) => plan.missing[cell]! > 0);
      return leftOver ? (buying.shortage() ?? buying.shortOf(money.short)) : null;
    }
  } finally {
    ended.abort();
    await timer;
  }
}

/** Whether some key may buy a topic, alone or in a bundle. */
function mayBuy({ singles, bundles, standard, enterprise }: PriceList, topic: TopicSlug): boolean {
  return singles(topic) || (bundles && (standard.has(topic) || enterprise.has(topic)));
}

/**
 * Looks for areas whose locations were answered differently. Their cells are bought for themselves after all, as far as
 * the budget of the run reaches: the plan did not reckon with them.
 */
async function distrust(
  { job, store, source, freshness, notice }: BuyingParts,
  plan: Plan,
  told: Set<string>,
): Promise<void> {
  if (job.areas === null) return;
  const { cells, areas } = plan.scan;
  const known = await readKnownAreas(areas, store, source);
  const news = [...known].filter(
    ([name, { mismatchedAt }]) => (mismatchedAt ?? 0) >= freshness.startedAt && !told.has(name),
  );
  for (const [name] of news) {
    told.add(name);
    notice(`Two locations of ${name} were answered differently: its locations are bought one by one.`);
  }
  if (news.length === 0) return;
  const named = new Set(news.map(([name]) => name));
  for (let cell = 0; cell < cells.size; cell++) {
    const inIt = (['tract', 'county'] as const).some((level) => named.has(areas.of(cell, level) ?? ''));
    if (!inIt) continue;
    const [record] = await store.read(source, [cells.cell(cell)]);
    // What was tried in this run and failed is not tried again: it may have been paid.
    const tried = job.topics.filter((topic) => (record?.failures.get(topic)?.at ?? 0) >= freshness.startedAt);
    const lacking = missingSet(record ?? null, job.topics, freshness);
    plan.missing[cell] = lacking - inBoth(lacking, topicSet(tried));
  }
  const planned = new Set(plan.order);
  const added: number[] = [];
  for (let cell = 0; cell < cells.size; cell++) if (plan.missing[cell]! > 0 && !planned.has(cell)) added.push(cell);
  const order = new Uint32Array(plan.order.length + added.length);
  order.set(plan.order);
  order.set(added, plan.order.length);
  plan.order = order;
}

/** What may be spent now, and which limit is the nearer one. */
async function atHand({ job, store, times, run, budget, progress }: BuyingParts) {
  const spent = await spentBy(store, run);
  const now = times.billing().earliest;
  const states = await Promise.all(job.accounts.map((account) => accountState(account, store, now)));
  const available = states.reduce((sum, account) => sum + account.available, 0);
  progress.atHand = { credits: available, spent };
  const ofBudget = Math.max(0, budget - spent);
  return { credits: Math.min(ofBudget, available), short: available < ofBudget ? 'quota' : 'budget' } as const;
}

async function spentBy(store: Store, run: number): Promise<number> {
  const { charged, unknown, open } = await store.runSpending(run);
  return charged + unknown + open;
}

async function stopAt(buying: Buying, deadline: number, ended: AbortSignal): Promise<void> {
  const { job, clock } = buying.parts;
  await sleepUntilSteady(clock, deadline, ended);
  if (ended.aborted) return;
  buying.stop({ reason: 'time', message: `The time of this run is over (${job.maxMinutes} min).`, resumeAfter: null });
}
