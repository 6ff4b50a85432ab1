import { counted } from '../../base/format-numbers.ts';
import { callName } from '../../contract/credits.ts';
import { pricesSummary } from '../../run/summary.ts';
import type { ChargedPriceSummary } from '../../run/summary-shapes.ts';
import type { ServicePrices } from '../../store/ledger/port.ts';
import type { ServicePriceJson } from '../json/ledger-json.ts';

/** The prices that are not the contract's, those of one amount and day together: `a single call of hail costs 3 credits, …`. */
export function priceTexts(prices: readonly ChargedPriceSummary[]): string[] {
  const others = prices.filter(({ credits, contract }) => credits !== contract);
  const alike = ({ kind, credits, charged_at, holds }: ChargedPriceSummary) =>
    [kind, credits, charged_at.slice(0, 10), holds].join(' ');
  return [...Map.groupBy(others, alike).values()].map((group) => {
    const { kind, credits, contract, charged_at, holds } = group[0]!;
    const topics = group.flatMap(({ topic }) => topic ?? []);
    const isOne = topics.length < 2;
    const of = topics.length === 0 ? '' : ` of ${topics.join(', ')}`;
    const what = isOne ? `a ${callName(kind)}${of}` : `${callName(kind)}s${of}`;
    const cost = `${counted(credits, 'credit')}${isOne ? '' : ' each'}`;
    const day = charged_at.slice(0, 10);
    return holds
      ? `${what} ${isOne ? 'costs' : 'cost'} ${cost}, as charged on ${day}; the contract says ${contract}`
      : `${what} cost ${cost} on ${day}; ${contract} expected now, and one call goes first to show it`;
  });
}

/** What the services of a store charged otherwise than by the contract; none where there is nothing. */
export function servicePriceMessages(services: readonly ServicePrices[]): string[] {
  const lines = services.flatMap(({ source, charged }) => {
    const texts = priceTexts(pricesSummary(charged));
    return texts.length === 0 ? [] : [`Prices of ${source}:`, ...texts.map((text) => `  ${text}`)];
  });
  if (lines.length === 0) return [];
  return [...lines, 'A price holds for a day. To forget it: perilbook cache prune --prices'];
}

/** All prices that services charged, for `--json`. */
export function servicePricesJson(services: readonly ServicePrices[]): readonly ServicePriceJson[] {
  return services.flatMap(({ source, charged }) =>
    pricesSummary(charged).map((price) => ({ service: source, ...price })),
  );
}
