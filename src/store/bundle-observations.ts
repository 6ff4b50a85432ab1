import type { BundleKind } from '../contract/credits.ts';
import type { TopicSlug } from '../contract/topics.ts';
import type { BundleContents } from './port.ts';

const DAY_MS = 24 * 60 * 60_000;

/** How long a refused scope counts. Keys get new scopes now and then, and to ask again is free (403). A refusal that is dated
 * in the future by a wrong clock counts no longer than that either. */
export const REFUSAL_HOLDS_MS = DAY_MS;

/** How long a bundle that returned fewer topics than the contract says counts as such. Without a limit it would never be
 * bought and seen again, and one odd answer would make every later plan dearer. To look again costs one bundle. */
const THIN_BUNDLE_HOLDS_MS = 7 * DAY_MS;

/** Number of topics in each bundle (docs/developer/service-api.md, 2.3 and 2.9). */
const PROMISED = { standard: 17, enterprise: 37 } as const;

/** A bundle as it was last seen: the JSON of its slugs. */
export interface SeenBundle {
  readonly kind: BundleKind;
  readonly topics: string;
  readonly seenAt: number;
}

/** What the bundles are believed to return now. */
export function bundleContentsOf(bundles: readonly SeenBundle[], now: number): BundleContents {
  const seen = new Map<BundleKind, readonly TopicSlug[]>();
  for (const { kind, topics, seenAt } of bundles) {
    const slugs = JSON.parse(topics) as TopicSlug[];
    const isThin = slugs.length < PROMISED[kind];
    if (!isThin || Math.abs(now - seenAt) < THIN_BUNDLE_HOLDS_MS) seen.set(kind, slugs);
  }
  return { standard: seen.get('standard') ?? null, enterprise: seen.get('enterprise') ?? null };
}
