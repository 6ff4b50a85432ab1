import { TOPIC_SLUGS, TOPICS, type Topic, type TopicSlug } from '../contract/topics.ts';

/** Names of topic sets. */
const TOPIC_GROUPS = ['all', 'natural', 'proximity', 'measurement'] as const;

/** A topic or a group of topics. */
export type TopicName = TopicSlug | (typeof TOPIC_GROUPS)[number];

export const TOPIC_NAMES: readonly string[] = [...TOPIC_GROUPS, ...TOPIC_SLUGS];

/** The slugs of names and groups, in contract order, each once. */
export function parseTopics(names: string | readonly string[]): TopicSlug[] {
  const chosen = new Set(typeof names === 'string' ? [names] : names);
  const isChosen = ({ slug, category }: Topic) => chosen.has('all') || chosen.has(category) || chosen.has(slug);
  return TOPICS.filter(isChosen).map(({ slug }) => slug);
}
