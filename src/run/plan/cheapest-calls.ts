import { memo } from '../../base/memo.ts';
import {
  BUNDLE_KINDS,
  type BundleKind,
  type Call,
  type CallKind,
  CREDITS,
  callOfItem,
  contractPrice,
  type PriceItem,
  priceItemOf,
  type Scope,
} from '../../contract/credits.ts';
import { NATURAL_SLUGS, PAID_SLUGS, type TopicSlug } from '../../contract/topics.ts';
import type { Job } from '../../job/settings.ts';
import type { BundleContents } from '../../store/answers/port.ts';
import { NO_TOPICS, type TopicSet, topicsIn } from '../../store/answers/topic-set.ts';
import type { ChargedPrices } from '../../store/ledger/port.ts';
import type { ApiKeys } from '../frame/api-keys.ts';

/** What the price of a cell depends on apart from the topics that it lacks. */
export interface PriceList {
  /** The slugs that each bundle is known, or must be assumed, to return. */
  readonly standard: ReadonlySet<TopicSlug>;
  readonly enterprise: ReadonlySet<TopicSlug>;
  /** What a call is expected to cost. */
  readonly credits: CallPrices['expected'];
  /** What a call is claimed for. */
  readonly most: CallPrices['most'];
  /** Which endpoints the keys may call. */
  readonly bundles: boolean;
  readonly singles: (topic: TopicSlug) => boolean;
  /** `credits`: the fewest credits, then the fewest calls; `calls`: the other way round. */
  readonly optimize: 'credits' | 'calls';
}

export interface Purchase {
  /** The bundle first: topics that it returns beyond its promise may save singles. */
  readonly calls: readonly Call[];
  readonly credits: number;
  /** Topics that no endpoint within the keys' scopes returns. */
  readonly unobtainable: readonly TopicSlug[];
}

/** What the standard bundle is assumed to return until it was seen: the contract lists 17 slugs, without avalanche, and speaks of
 * both 17 and 18. The more expensive reading is priced; a single that turns out to be unnecessary is not bought. */
export const ASSUMED_STANDARD: ReadonlySet<TopicSlug> = new Set(
  NATURAL_SLUGS.filter((slug) => slug !== 'avalanche'),
);
export const ASSUMED_ENTERPRISE: ReadonlySet<TopicSlug> = new Set(PAID_SLUGS);

const BUNDLE_CHOICES: readonly (readonly BundleKind[])[] = [
  [],
  ['standard'],
  ['enterprise'],
  BUNDLE_KINDS,
];

/** A bundle that returns a topic and that a key may buy: of two the one that the contract prices lower, whatever the service charges. */
export function bundleWith(priceList: PriceList, topic: TopicSlug): BundleKind | undefined {
  return priceList.bundles ? BUNDLE_KINDS.find((kind) => priceList[kind].has(topic)) : undefined;
}

/** The cheapest set of calls that answers the `missing` topics of one cell.
 *
 * There are four choices of bundles, and each determines its singles (whatever the bundles do not return), so comparing the four is
 * exact. A choice that answers more topics is better than one that answers fewer; then `optimize` decides. Both bundles together
 * are best only where one returns what the other lacks. */
export function cheapestCalls(missing: readonly TopicSlug[], priceList: PriceList): Purchase {
  let best: Purchase | null = null;
  for (const bundles of BUNDLE_CHOICES) {
    if (bundles.length > 0 && !priceList.bundles) continue;
    const left = missing.filter((topic) => !bundles.some((kind) => priceList[kind].has(topic)));
    const singles = left.filter((topic) => priceList.singles(topic));
    const calls = [
      ...bundles.map((kind): Call => ({ kind })),
      ...singles.map((topic): Call => ({ kind: 'single', topic })),
    ];
    const candidate: Purchase = {
      calls,
      credits: calls.reduce((sum, call) => sum + priceList.credits(call), 0),
      unobtainable: left.filter((topic) => !priceList.singles(topic)),
    };
    if (best === null || isBetter(candidate, best, priceList.optimize)) best = candidate;
  }
  return best!;
}

/** The calls of this run: the last seen contents of the bundles, and the endpoints that the keys may call at this moment: a key that is
 * refused later does not change what a plan has saved. */
export function makePriceList(
  job: Job,
  contents: BundleContents,
  apiKeys: ApiKeys,
  { expected, most }: CallPrices,
): PriceList {
  const may = (scope: Scope): boolean => apiKeys.keyFor(scope) !== null;
  const singles = new Set(job.topics.filter(may));
  const priceList: PriceList = {
    ...bundlesAsSeen(contents),
    credits: expected,
    most,
    bundles: may('bundle'),
    singles: (topic) => singles.has(topic),
    optimize: job.optimize,
  };
  // A bundle that costs more than the whole minute can never be sent.
  const { creditsPerMinute } = job.account.subscription;
  return priceListWithout(
    priceList,
    new Set(BUNDLE_KINDS.filter((kind) => expected({ kind }) > creditsPerMinute)),
  );
}

/** What calls cost, in credits. */
export interface CallPrices {
  readonly expected: (call: Call) => number;
  /** What a call is claimed for: more than expected while a higher price of before has not been shown anew. */
  readonly most: (call: Call) => number;
}

/** The prices of calls: as charged within a day, else the contract's. Where all singles whose price holds, two or more, cost the same, the
 * others are expected to cost as much: after a rise of all, a run would else stop at each topic.
 * @param payable most credits that one call of the run may cost: where they cannot pay for the call that would show a higher price of
 * before anew, that price is expected on */
export function expectedPrices(
  charged: ChargedPrices,
  payable = Number.POSITIVE_INFINITY,
): CallPrices {
  const singles = [...charged].filter(
    ([item, { holdsMs }]) => holdsMs > 0 && callOfItem(item).kind === 'single',
  );
  const costs = new Set(singles.map(([, { credits }]) => credits));
  const ofOthers = singles.length > 1 && costs.size === 1 ? singles[0]![1].credits : null;
  const expected = (call: Call): number => {
    const last = charged.get(priceItemOf(call));
    const contract = call.kind === 'single' ? (ofOthers ?? CREDITS.single) : contractPrice(call);
    if (last === undefined) return contract;
    const isDearer = last.credits > contract && last.credits > payable;
    return last.holdsMs > 0 || isDearer ? last.credits : contract;
  };
  return {
    expected,
    most: (call) => Math.max(expected(call), charged.get(priceItemOf(call))?.credits ?? 0),
  };
}

/** Most credits that one call of a job may cost. */
export function payableFor({ budget, account }: Pick<Job, 'budget' | 'account'>): number {
  return Math.min(budget ?? Number.POSITIVE_INFINITY, account.subscription.creditsPerMinute);
}

/** What the bundles were last seen to return; else what is assumed. */
export function bundlesAsSeen({
  standard,
  enterprise,
}: BundleContents): Pick<PriceList, BundleKind> {
  return {
    standard: standard === null ? ASSUMED_STANDARD : new Set(standard),
    enterprise: enterprise === null ? ASSUMED_ENTERPRISE : new Set(enterprise),
  };
}

/** The price list as if these bundles returned nothing. */
export function priceListWithout(
  priceList: PriceList,
  bundles: ReadonlySet<BundleKind>,
): PriceList {
  if (bundles.size === 0) return priceList;
  const left = (kind: BundleKind) => (bundles.has(kind) ? NOTHING : priceList[kind]);
  return { ...priceList, standard: left('standard'), enterprise: left('enterprise') };
}

const NOTHING: ReadonlySet<TopicSlug> = new Set();

function isBetter(a: Purchase, b: Purchase, optimize: PriceList['optimize']): boolean {
  if (a.unobtainable.length !== b.unobtainable.length)
    return a.unobtainable.length < b.unobtainable.length;
  const byCredits = a.credits - b.credits;
  const byCalls = a.calls.length - b.calls.length;
  const [first, second] = optimize === 'credits' ? [byCredits, byCalls] : [byCalls, byCredits];
  return first < 0 || (first === 0 && second < 0);
}

/** Most credits that retries can add: each topic of a bundle may be reported unavailable and be bought once more as a single. */
function mostRetries(
  missing: readonly TopicSlug[],
  purchase: Purchase,
  priceList: PriceList,
): number {
  const bundled = purchase.calls.flatMap((call) =>
    call.kind === 'single' ? [] : [priceList[call.kind]],
  );
  const again = missing.filter(
    (topic) => priceList.singles(topic) && bundled.some((slugs) => slugs.has(topic)),
  );
  return again.reduce((sum, topic) => sum + priceList.credits({ kind: 'single', topic }), 0);
}

/** How many cells lack each set of topics: all that a price depends on. */
export type Lacking = ReadonlyMap<TopicSet, number>;

export interface Price {
  readonly calls: Readonly<Record<CallKind, number>>;
  readonly credits: number;
  /** Most credits that retries of topics reported unavailable may add, and the calls that show a higher price of before anew. */
  readonly retryCredits: number;
  /** Topics that no key may buy, with the number of cells that lack them. */
  readonly unobtainable: ReadonlyMap<TopicSlug, number>;
}

/** Prices the cheapest calls for each set of missing topics, times the cells that lack it. */
export function priceCheapest(lacking: Lacking, priceList: PriceList): Price {
  const calls = { single: 0, standard: 0, enterprise: 0 };
  const unobtainable = new Map<TopicSlug, number>();
  /** How much more than expected the first call of an item may cost. */
  const firstCalls = new Map<PriceItem, number>();
  let credits = 0;
  let retryCredits = 0;
  for (const [set, cells] of lacking) {
    const missing = topicsIn(set);
    const purchase = cheapestCalls(missing, priceList);
    for (const call of purchase.calls) {
      calls[call.kind] += cells;
      firstCalls.set(priceItemOf(call), priceList.most(call) - priceList.credits(call));
    }
    credits += purchase.credits * cells;
    retryCredits += mostRetries(missing, purchase, priceList) * cells;
    for (const topic of purchase.unobtainable)
      unobtainable.set(topic, (unobtainable.get(topic) ?? 0) + cells);
  }
  for (const above of firstCalls.values()) retryCredits += above;
  return { calls, credits, retryCredits, unobtainable };
}

/** Prices one bundle for every cell that lacks anything, for comparison. */
export function priceBundle(
  kind: BundleKind,
  lacking: Lacking,
  { credits }: Pick<PriceList, 'credits'>,
): Price {
  const cells = [...lacking].reduce(
    (sum, [set, count]) => sum + (set === NO_TOPICS ? 0 : count),
    0,
  );
  return {
    calls: { single: 0, standard: 0, enterprise: 0, [kind]: cells },
    credits: cells * credits({ kind }),
    retryCredits: 0,
    unobtainable: new Map(),
  };
}

/** Remembers purchases by their set of missing topics: millions of cells share a handful of such sets. */
export function purchaseBySet(priceList: () => PriceList): (missing: TopicSet) => Purchase {
  const purchaseAt = memo((prices: PriceList) =>
    memo((missing: TopicSet) => cheapestCalls(topicsIn(missing), prices)),
  );
  return (missing) => purchaseAt(priceList())(missing);
}
