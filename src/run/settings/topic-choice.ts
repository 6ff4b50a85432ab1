import { TOPIC_SLUGS, TOPICS, type Topic, type TopicSlug } from '../../contract/topics.ts';

/** Names of topic sets. */
const TOPIC_GROUPS = ['all', 'natural', 'proximity', 'measurement'] as const;

/** A topic or a group of topics. */
export type TopicName = TopicSlug | (typeof TOPIC_GROUPS)[number];

export const TOPIC_NAMES: readonly string[] = [...TOPIC_GROUPS, ...TOPIC_SLUGS];

/** A set of topics that a cell may get. */
export interface Tier {
  /** As the job names it. */
  readonly name: string;
  readonly topics: readonly TopicSlug[];
}

/** The slugs of names and groups, in contract order, each once. */
export function topicsOf(names: string | readonly string[]): TopicSlug[] {
  const chosen = new Set(typeof names === 'string' ? [names] : names);
  const isChosen = ({ slug, category }: Topic) => chosen.has('all') || chosen.has(category) || chosen.has(slug);
  return TOPICS.filter(isChosen).map(({ slug }) => slug);
}

/** The job lists them from the richest to the leanest; what a leaner one has, every richer one has too. */
export function tiersOf(sets: readonly (string | readonly string[])[]): Tier[] {
  const leanestFirst = [...sets].reverse();
  return leanestFirst.map((set, index) => ({
    name: typeof set === 'string' ? set : set.join(', '),
    topics: topicsOf(leanestFirst.slice(0, index + 1).flat()),
  }));
}
