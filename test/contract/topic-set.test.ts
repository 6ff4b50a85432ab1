import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { inBoth, topicSet, topicsIn } from '../../src/contract/topic-set.ts';
import { TOPIC_SLUGS } from '../../src/contract/topics.ts';

test('a set holds its topics, in contract order, whatever the order and the repetitions', () => {
  assert.deepEqual(topicsIn(topicSet([])), []);
  assert.deepEqual(topicsIn(topicSet(TOPIC_SLUGS)), TOPIC_SLUGS);
  assert.deepEqual(topicsIn(topicSet(['radon', 'hail', 'radon'])), ['hail', 'radon']);
});

test('what is in both is what is in one and in the other, beyond 32 bits too', () => {
  const someOf = fc.subarray([...TOPIC_SLUGS]);
  fc.assert(
    fc.property(someOf, someOf, (a, b) => {
      const both = TOPIC_SLUGS.filter((slug) => a.includes(slug) && b.includes(slug));
      assert.deepEqual(topicsIn(inBoth(topicSet(a), topicSet(b))), both);
    }),
  );
});
