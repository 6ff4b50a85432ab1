import { CREDITS, type Scope } from '../../contract/credits.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import type { Job } from '../../job/settings.ts';
import type { BundleContents } from '../../store/answers/port.ts';
import type { ApiKeys } from './api-keys.ts';
import { ASSUMED_ENTERPRISE, ASSUMED_STANDARD, type PriceList, priceListWithout } from './cheapest-calls.ts';

/** The calls of this run: the last seen contents of the bundles, and the endpoints that the keys may call. */
export function priceListOf(job: Job, contents: BundleContents, apiKeys: ApiKeys): PriceList {
  const may = (scope: Scope): boolean => apiKeys.keyFor(scope) !== null;
  const priceList: PriceList = {
    standard: seenOr(contents.standard, ASSUMED_STANDARD),
    enterprise: seenOr(contents.enterprise, ASSUMED_ENTERPRISE),
    bundles: may('bundle'),
    singles: may,
    optimize: job.optimize,
  };
  // A bundle that costs more than the whole minute can never be sent.
  const { creditsPerMinute } = job.account.subscription;
  return priceListWithout(
    priceList,
    new Set((['standard', 'enterprise'] as const).filter((kind) => CREDITS[kind] > creditsPerMinute)),
  );
}

function seenOr(seen: readonly TopicSlug[] | null, assumed: ReadonlySet<TopicSlug>): ReadonlySet<TopicSlug> {
  return seen === null ? assumed : new Set(seen);
}
