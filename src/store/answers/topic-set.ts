import { indexOfTopic, TOPIC_SLUGS, type TopicSlug } from '../../contract/topics.ts';

declare const isTopicSet: unique symbol;

/** A set of topics as one number: bit i stands for the i-th topic of the contract. 53 bits fit a double exactly (2^53), so a million
 * cells hold their sets in one Float64Array. BigInt and pairs of 32-bit words would need more memory or two arrays. The type is branded:
 * a sum or a difference of sets is a plain number and does not compile as a set. */
export type TopicSet = number & { readonly [isTopicSet]: true };

export const NO_TOPICS = 0 as TopicSet;

/** Topics as one number: a bit for each, by its index in the list of topics. */
export function topicSet(slugs: Iterable<TopicSlug>): TopicSet {
  let set = 0;
  for (const slug of new Set(slugs)) set += 2 ** indexOfTopic(slug);
  return set as TopicSet;
}

/** The topics of a set, in contract order. */
export function topicsIn(set: TopicSet): TopicSlug[] {
  return TOPIC_SLUGS.filter((_, index) => Math.floor(set / 2 ** index) % 2 === 1);
}

/** Whether a set has a topic. */
export function hasTopic(set: TopicSet, topic: TopicSlug): boolean {
  return Math.floor(set / 2 ** indexOfTopic(topic)) % 2 === 1;
}

/** The topics of both sets. */
export function intersection(a: TopicSet, b: TopicSet): TopicSet {
  return joined(highBits(a) & highBits(b), a & b);
}

/** The topics of either set. */
export function union(a: TopicSet, b: TopicSet): TopicSet {
  return joined(highBits(a) | highBits(b), a | b);
}

/** The topics of `a` that `b` lacks. */
export function difference(a: TopicSet, b: TopicSet): TopicSet {
  return joined(highBits(a) & ~highBits(b), a & ~b);
}

/** A bitwise operator takes the low 32 bits of a double; the others are taken apart first. */
const LOW_BITS = 2 ** 32;

function highBits(set: TopicSet): number {
  return Math.floor(set / LOW_BITS);
}

function joined(high: number, low: number): TopicSet {
  return (high * LOW_BITS + (low >>> 0)) as TopicSet;
}

/** The topic sets of many cells, by the cell's number: 8 bytes each. */
export class TopicSets {
  readonly #sets: Float64Array;

  constructor(cells: number | Float64Array) {
    this.#sets = new Float64Array(cells as number);
  }

  get size(): number {
    return this.#sets.length;
  }

  get(cell: number): TopicSet {
    return this.#sets[cell]! as TopicSet;
  }

  set(cell: number, topics: TopicSet): void {
    this.#sets[cell] = topics;
  }

  copy(): TopicSets {
    return new TopicSets(this.#sets);
  }
}

export type ReadonlyTopicSets = Pick<TopicSets, 'size' | 'get' | 'copy'>;
