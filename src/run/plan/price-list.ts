import { CREDITS, type Scope } from '../../contract/credits.ts';
import { NATURAL_SLUGS, type TopicSlug } from '../../contract/topics.ts';
import type { Job } from '../../job/settings.ts';
import type { BundleContents } from '../../store/answers/port.ts';
import type { ApiKeys } from './api-keys.ts';
import { ASSUMED_ENTERPRISE, ASSUMED_STANDARD, type PriceList, priceListWithout } from './cheapest-calls.ts';
import type { Price } from './prices.ts';

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

/** The endpoints that the keys may not call, and the effect on the plan. */
export function scopeNotes(job: Job, priceList: PriceList, price: Price): string[] {
  const notes: string[] = [];
  const noSingle = job.topics.filter((topic) => !priceList.singles(topic));
  const natural = new Set<TopicSlug>(NATURAL_SLUGS);
  if (!priceList.bundles) {
    notes.push('No key carries the scope bundle: every topic is bought as a single call.');
  }
  if (noSingle.length > 0 && priceList.bundles) {
    const bundle = noSingle.every((topic) => natural.has(topic) && priceList.standard.has(topic)) ? 'standard' : 'a';
    notes.push(
      `No key carries the scope of ${listed(noSingle)}: bought in ${bundle} bundle${bundle === 'a' ? '' : 's'}.`,
    );
  }
  if (price.unobtainable.size > 0) {
    notes.push(`No key may buy ${listed([...price.unobtainable.keys()])}, alone or in a bundle.`);
  }
  return notes;
}

function listed(topics: readonly TopicSlug[]): string {
  return topics.length <= 4
    ? topics.join(', ')
    : `${topics.slice(0, 3).join(', ')} and ${topics.length - 3} more topics`;
}
