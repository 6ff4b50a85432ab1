import { counted } from '../../base/format-numbers.ts';
import { BUNDLE_KINDS, type BundleKind, CALL_KINDS, callName } from '../../contract/credits.ts';
import type { RunContext } from '../run-context.ts';
import { cheapestCalls, lastPrices, makePriceList, type PriceList } from './cheapest-calls.ts';

/** What all topics of a place cost after a run, other than planned, and why. */
export interface LearnedPrice {
  readonly each: number;
  readonly why: string;
}

/** The price of a place by what the run has learned of prices, bundles and keys; null where it is the planned one.
 * @param planned what a place cost by the price list of the plan */
export async function priceLearned(
  { job, connection, store, source, apiKeys }: RunContext,
  before: PriceList,
  planned: number,
): Promise<LearnedPrice | null> {
  if (connection.kind === 'local') return null;
  const charged = lastPrices(await store.chargedPrices(source));
  const now = makePriceList(job, await store.bundleContents(source), apiKeys, charged);
  const { credits: each, unobtainable } = cheapestCalls(job.topics, now);
  // Without a key for some topic, a place has no price.
  if (each === planned || unobtainable.length > cheapestCalls(job.topics, before).unobtainable.length) return null;
  const added = (kind: BundleKind, to: PriceList, from: PriceList) =>
    job.topics.filter((topic) => to[kind].has(topic) && !from[kind].has(topic)).join(', ');
  const reasons = [
    ...BUNDLE_KINDS.map((kind) => [`the ${callName(kind)} returned`, added(kind, now, before)]),
    ...BUNDLE_KINDS.map((kind) => [`the ${callName(kind)} lacked`, added(kind, before, now)]),
    ...CALL_KINDS.filter((kind) => now.credits[kind] !== before.credits[kind]).map((kind) => [
      ...[`a ${callName(kind)} was charged`, counted(now.credits[kind], 'credit')],
    ]),
  ].filter(([, what]) => what !== '');
  return { each, why: reasons.map((words) => words.join(' ')).join('; ') || 'the service refused a way to buy' };
}
