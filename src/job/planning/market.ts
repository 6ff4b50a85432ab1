import type { Scope } from '../../contract/credits.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import { ASSUMED_ENTERPRISE, ASSUMED_STANDARD, type Market } from '../../plan/cheapest-calls.ts';
import type { BundleContents } from '../../store/port.ts';
import type { Job } from '../settings/settings.ts';
import type { Keyring } from './keyring.ts';

/** What calls cost and bring in this run: the bundles as they were last seen, the keys as far as they reach. */
export function marketOf(job: Job, contents: BundleContents, keyring: Keyring): Market {
  const may = (scope: Scope): boolean => keyring.keyFor(scope) !== null;
  return {
    standard: seenOr(contents.standard, ASSUMED_STANDARD),
    enterprise: seenOr(contents.enterprise, ASSUMED_ENTERPRISE),
    bundles: may('bundle'),
    singles: may,
    optimize: job.optimize,
  };
}

function seenOr(seen: readonly TopicSlug[] | null, assumed: ReadonlySet<TopicSlug>): ReadonlySet<TopicSlug> {
  return seen === null ? assumed : new Set(seen);
}
