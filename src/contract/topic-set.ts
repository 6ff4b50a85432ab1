import { TOPIC_SLUGS, type TopicSlug } from './topics.ts';

/** A set of topics as one number: bit i is the i-th topic of the contract. 37 bits fit a double exactly (2^53), so a
 * million cells hold their missing topics in one Float64Array. Do not use the 32-bit operators on it. */
export type TopicSet = number;

const INDEX = new Map(TOPIC_SLUGS.map((slug, index) => [slug, index]));

export function topicSet(slugs: Iterable<TopicSlug>): TopicSet {
  let set = 0;
  for (const slug of new Set(slugs)) set += 2 ** INDEX.get(slug)!;
  return set;
}

/** The topics of a set, in contract order. */
export function topicsIn(set: TopicSet): TopicSlug[] {
  return TOPIC_SLUGS.filter((_, index) => Math.floor(set / 2 ** index) % 2 === 1);
}

const HALF = 2 ** 24;

/** The intersection of two sets. */
export function inBoth(a: TopicSet, b: TopicSet): TopicSet {
  const low = (a % HALF) & (b % HALF);
  const high = Math.floor(a / HALF) & Math.floor(b / HALF);
  return high * HALF + low;
}
