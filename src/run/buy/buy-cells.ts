import { BUNDLE_KINDS, type Call } from '../../contract/credits.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import {
  difference,
  hasTopic,
  intersection,
  NO_TOPICS,
  type TopicSet,
  topicSet,
  topicsIn,
  union,
} from '../../store/answers/topic-set.ts';
import { missingTopics, timesOf } from '../frame/freshness.ts';
import { addTo } from '../frame/progress.ts';
import { cheapestCalls, priceListWithout, purchaseBySet } from '../plan/cheapest-calls.ts';
import { buyCall, type CallOutcome } from './buy-call.ts';
import { type Buying, type CellQueue, type CellWork, CreditReservations } from './buying.ts';

/** Cells in progress per socket: while one call waits for its answer, the next is being claimed. Four, because calls of
 * different prices fill the minute better if a cheap call is among the waiting ones: with a bundle and two singles a cell, two cells
 * used 95 % of 300 credits a minute, four used 98 % (bench/throttle.ts). */
const CELLS_PER_SOCKET = 4;

/** How long to wait before looking again at cells that another run is buying. */
const CLAIMED_AGAIN_MS = 1_000;

export interface CellPurchase {
  /** The numbers of the cells to buy, in order. */
  readonly order: Iterable<number>;
  /** The topics to buy at a cell now: those that it lacks. */
  readonly topicsOf: (cell: number) => TopicSet;
  /** Most credits for all cells together. A cell that costs more than the rest is skipped. */
  readonly credits: number;
}

/** - `done`: nothing more can be bought. `claimed_elsewhere`: another run is buying here.
 * - `unaffordable`: the credits do not suffice. `stopped`: the run ends. */
type CellOutcome = 'done' | 'claimed_elsewhere' | 'unaffordable' | 'stopped';

interface CellResult {
  readonly outcome: CellOutcome;
  readonly work: CellWork;
  readonly credits: number;
}

/** Buys the missing topics of cells until all are bought or the buying is stopped. Only a bounded number of cells is in progress:
 * the throttle keeps all waiting calls in memory. */
export async function buyCells(
  buying: Buying,
  queue: CellQueue,
  { order, topicsOf, credits }: CellPurchase,
): Promise<void> {
  const { job, plan, effects, progress, payer, health } = buying;
  const reservations = new CreditReservations(credits);
  const purchaseOf = purchaseBySet(() => payer.priceList);
  const buyNumber = async (number: number): Promise<CellOutcome | null> => {
    const topics = topicsOf(number);
    const { calls, credits: price } = purchaseOf(topics);
    if (
      topics === NO_TOPICS ||
      calls.some((call) => payer.keyFor(call) === null || !payer.canPay(call))
    )
      return null;
    if (!(await reservations.take(price))) return null;
    let result: CellResult | null = null;
    try {
      result = await buyCell(buying, queue.begin(number, topics, payer.priceList.singles));
    } finally {
      reservations.end(price, result?.credits ?? 0);
    }
    const isDone = result.outcome === 'done';
    queue.end(result.work, topics, isDone);
    if (isDone) addTo(progress, { cellsDone: 1, valueDone: plan.scan.cells.value(number) });
    return result.outcome;
  };
  for (let round = order; ; ) {
    const claimed: number[] = [];
    const numbers = round[Symbol.iterator]();
    const worker = async () => {
      for (
        let next = numbers.next();
        !next.done && !health.stopped && payer.dearer === null;
        next = numbers.next()
      ) {
        if ((await buyNumber(next.value)) === 'claimed_elsewhere') claimed.push(next.value);
      }
    };
    await all(Array.from({ length: job.concurrency * CELLS_PER_SOCKET }, worker), buying);
    if (claimed.length === 0 || health.stopped || payer.dearer !== null) return;
    await effects.clock.sleep(CLAIMED_AGAIN_MS, health.signal);
    round = claimed;
  }
}

/** Waits for all workers even if one fails, so that no call is left in flight when the error is thrown. */
async function all(workers: readonly Promise<void>[], { health }: Buying): Promise<void> {
  const results = await Promise.allSettled(
    workers.map((worker) => worker.catch((error) => health.stopAtError(error))),
  );
  const failed = results.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

/** Buys the missing topics of one cell, call by call. After every call the rest is priced again: a bundle may have returned more than
 * expected, another run may have answered, a key may have lost a scope.
 *
 * A topic that a bundle reports as unavailable is bought once more, as a single; never by another bundle. A bundle that was answered here
 * is not bought here again for any topic. After a bundle that was given up, which may have been charged, no bundle is bought here again. */
async function buyCell(buying: Buying, begun: CellWork): Promise<CellResult> {
  const { freshness, plan, payer, health, progress } = buying;
  let [work, credits] = [begun, 0];
  for (let isBegun = false; ; isBegun = true) {
    if (health.stopped) return { outcome: 'stopped', work, credits };
    const next = nextCall(buying, work);
    if (next === null) return { outcome: 'done', work, credits };
    const { call, topics } = next;
    const wanted = topics.map((topic) => ({ topic, ...timesOf(freshness, topic) }));
    const areas = plan.areas?.listClaims(work.number, wanted) ?? [];
    const isTopicRetry = call.kind === 'single' && hasTopic(work.singlesOnly, call.topic);
    const standing = isTopicRetry ? 'topic_unavailable' : 'fresh';
    const bought = await buyCall(buying, { work, call, wanted, areas, standing, isBegun });
    credits += bought.credits;
    switch (bought.outcome.kind) {
      case 'answered':
        work = afterAnswer(work, call, bought.outcome.results);
        break;
      case 'given_up':
        work = {
          ...work,
          missing: difference(work.missing, topicSet(topics)),
          spentBundles: call.kind === 'single' ? work.spentBundles : new Set(BUNDLE_KINDS),
        };
        break;
      case 'replan': {
        const missing = difference(work.missing, await answeredElsewhere(buying, work));
        const priceOf = (topics: TopicSet) =>
          cheapestCalls(topicsIn(topics), payer.priceList).credits;
        addTo(progress, { creditsByOthers: priceOf(work.missing) - priceOf(missing) });
        work = { ...work, missing };
        break;
      }
      case 'rejected':
        return { outcome: 'done', work, credits };
      case 'claimed_elsewhere':
        return { outcome: 'claimed_elsewhere', work, credits };
      case 'stopped':
        return { outcome: health.stopped ? 'stopped' : 'unaffordable', work, credits };
    }
  }
}

function afterAnswer(
  work: CellWork,
  call: Call,
  results: Extract<CallOutcome, { kind: 'answered' }>['results'],
) {
  const answered = topicSet(results.keys());
  if (call.kind === 'single') return { ...work, missing: difference(work.missing, answered) };
  const unavailable = [...results].filter(
    ([, reading]) => !reading.ok && reading.reason !== 'no_data',
  );
  const again = topicSet(unavailable.map(([topic]) => topic));
  return {
    ...work,
    missing: difference(work.missing, difference(answered, again)),
    singlesOnly: union(work.singlesOnly, again),
    spentBundles: new Set([...work.spentBundles, call.kind]),
  };
}

/** The missing topics of a cell that the store now has, for the cell itself or for its areas. */
async function answeredElsewhere(
  { freshness, plan, readCell }: Buying,
  { number, cell, missing }: CellWork,
): Promise<TopicSet> {
  const stored = await readCell(cell);
  const served = (await plan.areas?.findAnswered(number)) ?? NO_TOPICS;
  const fresh = topicsIn(missing).filter(
    (topic) => missingTopics(stored, [topic], freshness).length === 0,
  );
  return union(topicSet(fresh), intersection(missing, served));
}

/** The next call to make, and the topics that it is made for; null when there is none. */
function nextCall({ payer, health }: Buying, work: CellWork) {
  const priceList = priceListWithout(payer.priceList, work.spentBundles);
  const possible = topicsIn(work.missing).filter((topic) => !health.isTopicDown(topic));
  const planned = possible.filter((topic) => !hasTopic(work.singlesOnly, topic));
  const [first] = cheapestCalls(planned, priceList).calls;
  if (first !== undefined) {
    const returns = (topic: TopicSlug) =>
      first.kind === 'single' ? first.topic === topic : priceList[first.kind].has(topic);
    return { call: first, topics: planned.filter(returns) };
  }
  const single = possible.find(
    (topic) => hasTopic(work.singlesOnly, topic) && priceList.singles(topic),
  );
  return single === undefined
    ? null
    : { call: { kind: 'single' as const, topic: single }, topics: [single] };
}
