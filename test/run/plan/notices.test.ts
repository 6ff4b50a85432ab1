import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NATURAL_SLUGS, type TopicSlug } from '../../../src/contract/topics.ts';
import type { Job } from '../../../src/job/settings.ts';
import { scopeNotes } from '../../../src/run/plan/notices.ts';

interface Keys {
  readonly topics: readonly TopicSlug[];
  readonly bundles?: boolean;
  /** The topics that no key may call alone. */
  readonly noSingle?: readonly TopicSlug[];
  readonly unobtainable?: readonly TopicSlug[];
}

function notesOf({ topics, bundles = true, noSingle = [], unobtainable = [] }: Keys): string[] {
  const plan = {
    priceList: {
      bundles,
      standard: new Set<TopicSlug>(NATURAL_SLUGS),
      singles: (topic: TopicSlug) => !noSingle.includes(topic),
    },
    price: { unobtainable: new Map(unobtainable.map((topic) => [topic, 1])) },
  };
  return scopeNotes({ topics } as Job, plan as unknown as Parameters<typeof scopeNotes>[1]);
}

test('a plan says which endpoints the keys may not call, and what it buys in their place', () => {
  assert.deepEqual(notesOf({ topics: ['hail', 'park'] }), []);
  assert.deepEqual(notesOf({ topics: ['hail'], bundles: false }), [
    'No key carries the scope bundle: every topic is bought as a single call.',
  ]);
  assert.deepEqual(notesOf({ topics: ['hail'], noSingle: ['hail'] }), [
    'No key carries the scope of hail: bought in standard bundles.',
  ]);
  assert.deepEqual(notesOf({ topics: ['hail', 'park'], noSingle: ['hail', 'park'] }), [
    'No key carries the scope of hail, park: bought in a bundle.',
  ]);
  // Without bundles, a topic that no key may call alone is not to be had.
  assert.deepEqual(
    notesOf({ topics: ['park'], bundles: false, noSingle: ['park'], unobtainable: ['park'] }),
    [
      'No key carries the scope bundle: every topic is bought as a single call.',
      'No key may buy park, alone or in a bundle.',
    ],
  );
  const four = NATURAL_SLUGS.slice(0, 4);
  assert.deepEqual(notesOf({ topics: four, unobtainable: four }), [
    `No key may buy ${four.join(', ')}, alone or in a bundle.`,
  ]);
  const five = NATURAL_SLUGS.slice(0, 5);
  assert.deepEqual(notesOf({ topics: five, unobtainable: five }), [
    `No key may buy ${five.slice(0, 3).join(', ')} and 2 more topics, alone or in a bundle.`,
  ]);
});
