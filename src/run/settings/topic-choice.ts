import { TOPIC_SLUGS, TOPICS, type Topic, type TopicSlug } from '../../contract/topics.ts';

/** Names of topic sets. */
const TOPIC_GROUPS = ['all', 'natural', 'proximity', 'measurement'] as const;

/** A topic or a group of topics. */
export type TopicName = TopicSlug | (typeof TOPIC_GROUPS)[number];

export const TOPIC_NAMES: readonly string[] = [...TOPIC_GROUPS, ...TOPIC_SLUGS];

/** A tier: a set of topics for a cell. */
export interface Tier {
  /** The name in the job. */
  readonly name: string;
  readonly topics: readonly TopicSlug[];
}

/** The slugs of names and groups, in contract order, each once. */
export function topicsOf(names: string | readonly string[]): TopicSlug[] {
  const chosen = new Set(typeof names === 'string' ? [names] : names);
  const isChosen = ({ slug, category }: Topic) => chosen.has('all') || chosen.has(category) || chosen.has(slug);
  return TOPICS.filter(isChosen).map(({ slug }) => slug);
}

/** The job lists the tiers from the largest to the smallest; a larger tier has all topics of the smaller ones. */
export function tiersOf(sets: readonly (string | readonly string[])[]): Tier[] {
  const leanestFirst = [...sets].reverse();
  return leanestFirst.map((set, index) => ({
    name: typeof set === 'string' ? set : set.join(', '),
    topics: topicsOf(leanestFirst.slice(0, index + 1).flat()),
  }));
}
