import {
  isBrought,
  isBuiltIn,
  isSold,
  PAID_TOPICS,
  TOPIC_SLUGS,
  TOPICS,
  type Topic,
  type TopicSlug,
  topicOf,
} from '../contract/topics.ts';

export const TOPIC_GROUPS = ['all', 'natural', 'proximity', 'measurement'] as const;

/** A topic or a group of topics; a name with _ may be that of a layer of a user's own. */
export type TopicName = TopicSlug | (typeof TOPIC_GROUPS)[number] | `${string}_${string}`;

/** Layers of a user's own are topics once they are declared. */
export const topicNames = (): readonly string[] => [...TOPIC_GROUPS, ...TOPIC_SLUGS];

/** The topics that a group may have: no layers of a user's own, which are asked for by name. At a service they are those of its contract, so that no price grows with what public data has besides. */
export function topicsInGroups(source: 'local' | 'sample' | 'remote'): readonly Topic[] {
  return source === 'local' ? TOPICS.filter(isBuiltIn) : PAID_TOPICS;
}

/** The topics of a job by where they are answered. */
interface DividedTopics {
  /** By the source that the job names. */
  readonly asked: readonly TopicSlug[];
  /** By the public data on this machine, beside that source. */
  readonly beside: readonly TopicSlug[];
}

/** Divides the topics of a job by where they are answered: what no service sells is on this machine. The sample has made-up data of the layers
 * that Perilbook brings, too. */
export function divideTopics(
  source: 'local' | 'sample' | 'remote',
  topics: readonly TopicSlug[],
): DividedTopics {
  const isAsked = (slug: TopicSlug) => {
    const topic = topicOf(slug);
    return source === 'local' || isSold(topic) || (source === 'sample' && isBrought(topic));
  };
  return {
    asked: topics.filter(isAsked),
    beside: topics.filter((topic) => !isAsked(topic)),
  };
}

/** The slugs of names and groups, in contract order, each once. */
export function parseTopics(
  names: string | readonly string[],
  inGroups: readonly Topic[] = TOPICS,
): TopicSlug[] {
  const chosen = new Set(typeof names === 'string' ? [names] : names);
  const isInGroup = (topic: Topic) =>
    (chosen.has('all') || chosen.has(topic.category)) && inGroups.includes(topic);
  const isChosen = (topic: Topic) => chosen.has(topic.slug) || isInGroup(topic);
  return TOPICS.filter(isChosen).map(({ slug }) => slug);
}
