import { CREDITS, type Scope } from '../../contract/credits.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import { ASSUMED_ENTERPRISE, ASSUMED_STANDARD, type Market } from '../../plan/cheapest-calls.ts';
import type { BundleContents } from '../../store/port.ts';
import type { Job } from '../settings/settings.ts';
import type { Keyring } from './keyring.ts';

/** What calls cost and bring in this run: the bundles as they were last seen, the keys as far as they reach. */
export function marketOf(job: Job, contents: BundleContents, keyring: Keyring): Market {
  const may = (scope: Scope): boolean => keyring.keyFor(scope) !== null;
  // A bundle that is dearer than an account's whole minute can never be sent.
  const fits = (kind: 'standard' | 'enterprise') =>
    job.accounts.some(
      ({ account, subscription }) =>
        subscription.creditsPerMinute >= CREDITS[kind] && keyring.mayBuy(account, job.account, 'bundle'),
    );
  return {
    standard: fits('standard') ? seenOr(contents.standard, ASSUMED_STANDARD) : NOTHING,
    enterprise: fits('enterprise') ? seenOr(contents.enterprise, ASSUMED_ENTERPRISE) : NOTHING,
    bundles: may('bundle'),
    singles: may,
    optimize: job.optimize,
  };
}

const NOTHING: ReadonlySet<TopicSlug> = new Set();

function seenOr(seen: readonly TopicSlug[] | null, assumed: ReadonlySet<TopicSlug>): ReadonlySet<TopicSlug> {
  return seen === null ? assumed : new Set(seen);
}
