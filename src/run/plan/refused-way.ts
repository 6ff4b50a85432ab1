import type { RefusedScope } from '../../store/ledger/port.ts';
import type { RunContext } from '../frame/run-context.ts';
import { type Lacking, type Price, type PriceList, priceCheapest } from './cheapest-calls.ts';

/** The cheaper way to buy what a plan lacks, which the service refused. */
export interface RefusedWay {
  /** What it would cost, in credits. */
  readonly credits: number;
  /** The scopes that it needs, and how the service refused them. */
  readonly refused: readonly RefusedScope[];
}

/** The cheaper way that earlier refusals of scopes keep a plan from; null where they make it no dearer.
 * @param listWith the price list of keys */
export function findRefusedWay(
  { apiKeys }: Pick<RunContext, 'apiKeys'>,
  lacking: Lacking,
  price: Price,
  listWith: (keys: RunContext['apiKeys']) => PriceList,
): RefusedWay | null {
  const { refused } = apiKeys;
  if (refused.length === 0) return null;
  const list = listWith(apiKeys.withoutRefusals());
  const { credits } = priceCheapest(lacking, list);
  if (credits >= price.credits) return null;
  const isNeeded = ({ scope }: RefusedScope) =>
    scope === 'bundle' ? list.bundles : list.singles(scope);
  return { credits, refused: refused.filter(isNeeded) };
}
