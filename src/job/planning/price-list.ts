import { CREDITS, type Scope } from '../../contract/credits.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import { ASSUMED_ENTERPRISE, ASSUMED_STANDARD, type PriceList, priceListWithout } from '../../plan/cheapest-calls.ts';
import type { BundleContents } from '../../store/port.ts';
import type { Job } from '../settings/settings.ts';
import type { Keyring } from './keyring.ts';

/** What calls cost and bring in this run: the bundles as they were last seen, the keys as far as they reach. */
export function priceListOf(job: Job, contents: BundleContents, keyring: Keyring): PriceList {
  const may = (scope: Scope): boolean => keyring.keyFor(scope) !== null;
  const priceList: PriceList = {
    standard: seenOr(contents.standard, ASSUMED_STANDARD),
    enterprise: seenOr(contents.enterprise, ASSUMED_ENTERPRISE),
    bundles: may('bundle'),
    singles: may,
    optimize: job.optimize,
  };
  // A bundle that is dearer than an account's whole minute can never be sent.
  const fits = (kind: 'standard' | 'enterprise') =>
    job.accounts.some(
      ({ name, subscription }) =>
        subscription.creditsPerMinute >= CREDITS[kind] && keyring.mayBuy(name, job.account.name, 'bundle'),
    );
  return priceListWithout(priceList, new Set((['standard', 'enterprise'] as const).filter((kind) => !fits(kind))));
}

function seenOr(seen: readonly TopicSlug[] | null, assumed: ReadonlySet<TopicSlug>): ReadonlySet<TopicSlug> {
  return seen === null ? assumed : new Set(seen);
}
