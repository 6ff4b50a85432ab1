import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  difference,
  hasTopic,
  intersection,
  NO_TOPICS,
  TopicSets,
  topicSet,
  topicsIn,
  union,
} from '../../src/contract/topic-set.ts';
import { TOPIC_SLUGS, type TopicSlug } from '../../src/contract/topics.ts';
import { fc } from '../properties.ts';

test('a set gives its topics in contract order, whatever their order and repetitions', () => {
  assert.deepEqual(topicsIn(topicSet([])), []);
  assert.deepEqual(topicsIn(topicSet(TOPIC_SLUGS)), TOPIC_SLUGS);
  assert.deepEqual(topicsIn(topicSet(['radon', 'hail', 'radon'])), ['hail', 'radon']);
});

test('union, intersection and difference are those of sets, beyond 32 bits too', () => {
  const someOf = fc.subarray([...TOPIC_SLUGS]);
  fc.assert(
    fc.property(someOf, someOf, (a, b) => {
      const [setA, setB] = [topicSet(a), topicSet(b)];
      const inOrder = (topics: readonly TopicSlug[]) => TOPIC_SLUGS.filter((slug) => topics.includes(slug));
      const [common, own] = [a.filter((slug) => b.includes(slug)), a.filter((slug) => !b.includes(slug))];
      assert.deepEqual(topicsIn(intersection(setA, setB)), inOrder(common));
      assert.deepEqual(topicsIn(union(setA, setB)), inOrder([...a, ...b]));
      assert.deepEqual(topicsIn(difference(setA, setB)), inOrder(own));
      for (const slug of TOPIC_SLUGS) assert.equal(hasTopic(setA, slug), a.includes(slug));
      assert.equal(union(setA, setA), setA);
      assert.equal(difference(setA, setA), NO_TOPICS);
    }),
  );
});

test('a copy of many sets is independent of the original', () => {
  const sets = new TopicSets(2);
  sets.set(1, topicSet(TOPIC_SLUGS));
  const copy = sets.copy();
  copy.set(1, NO_TOPICS);
  assert.deepEqual([sets.get(0), topicsIn(sets.get(1)).length, copy.get(1), copy.size], [0, TOPIC_SLUGS.length, 0, 2]);
});
