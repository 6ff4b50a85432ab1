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
import { TOPIC_SLUGS } from '../../src/contract/topics.ts';
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
      const where = (keep: (inA: boolean, inB: boolean) => boolean) =>
        TOPIC_SLUGS.filter((slug) => keep(a.includes(slug), b.includes(slug)));
      const [inBoth, inAny, inA] = [intersection(setA, setB), union(setA, setB), difference(setA, setB)].map(topicsIn);
      assert.deepEqual(
        inBoth,
        where((ofA, ofB) => ofA && ofB),
      );
      assert.deepEqual(
        inAny,
        where((ofA, ofB) => ofA || ofB),
      );
      assert.deepEqual(
        inA,
        where((ofA, ofB) => ofA && !ofB),
      );
      assert.deepEqual(
        TOPIC_SLUGS.filter((slug) => hasTopic(setA, slug)),
        where((ofA) => ofA),
      );
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
