import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellStatus, LOOKED_UP } from '../../src/columns/row-status.ts';
import {
  type Answer,
  type CellRecord,
  noDataAnswer,
  REJECTION_HOLDS_MS,
  type TopicFailure,
} from '../../src/contract/answer.ts';
import { TOPIC_SLUGS, type TopicSlug } from '../../src/contract/topics.ts';

const RUN_STARTED = 1_000;
const FRESH_SINCE = 500;

/** What the store may hold of one topic. */
const KNOWN = [
  ...['nothing', 'fresh', 'stale', 'failed now', 'unavailable now', 'failed before', 'rejected'],
  ...['stale, failed now', 'stale, failed before', 'stale, rejected', 'fresh, failed now', 'fresh, rejected'],
] as const;
type Known = (typeof KNOWN)[number];

const FAILURES: Readonly<Record<string, TopicFailure>> = {
  'failed now': { reason: 'failed', note: 'the service failed', at: RUN_STARTED },
  'unavailable now': { reason: 'unavailable', note: 'unavailable at the service', at: RUN_STARTED + 1 },
  'failed before': { reason: 'failed', note: 'the service failed', at: RUN_STARTED - 1 },
  rejected: { reason: 'rejected', note: 'refused', at: RUN_STARTED - REJECTION_HOLDS_MS },
};

const TOPICS = ['hail', 'drought', 'park'] as const satisfies readonly TopicSlug[];

function recordOf(known: Readonly<Partial<Record<TopicSlug, Known>>>): CellRecord {
  const answers = new Map<TopicSlug, Answer>();
  const failures = new Map<TopicSlug, TopicFailure>();
  for (const [name, what] of Object.entries(known)) {
    const topic = name as TopicSlug;
    if (/fresh/.test(what)) answers.set(topic, { topic, asOf: FRESH_SINCE, fields: [] });
    if (/stale/.test(what)) answers.set(topic, { topic, asOf: FRESH_SINCE - 1, fields: [] });
    const failure = FAILURES[what.replace(/^.*, /, '')];
    if (failure) failures.set(topic, failure);
  }
  return { answers, failures };
}

const statusOf = (known: Readonly<Partial<Record<TopicSlug, Known>>>, topics: readonly TopicSlug[] = TOPICS) =>
  cellStatus(recordOf(known), topics, () => FRESH_SINCE, RUN_STARTED);

const three = (hail: Known, drought: Known, park: Known) => ({ hail, drought, park });

const table: readonly (readonly [known: ReturnType<typeof three>, status: string, note: string])[] = [
  [three('fresh', 'fresh', 'fresh'), 'ok', ''],
  [three('fresh', 'fresh, failed now', 'fresh, rejected'), 'ok', ''],
  [three('nothing', 'nothing', 'nothing'), 'deferred', 'not bought yet'],
  [three('fresh', 'stale, failed before', 'fresh'), 'deferred', 'stale, not bought again yet: drought'],
  [three('nothing', 'stale', 'fresh'), 'deferred', 'stale, not bought again yet: drought; not bought yet: hail'],
  [
    three('failed now', 'stale', 'nothing'),
    'deferred',
    'the service failed: hail; stale, not bought again yet: drought; not bought yet: park',
  ],
  [three('failed now', 'fresh', 'fresh'), 'partial', 'the service failed: hail'],
  [
    three('stale, failed now', 'failed now', 'failed now'),
    'partial',
    'the service failed: hail drought park; stale answer written: hail',
  ],
  [three('failed now', 'failed now', 'failed now'), 'failed', 'the service failed: hail drought park'],
  [
    three('unavailable now', 'failed now', 'unavailable now'),
    'failed',
    'unavailable at the service: hail park; the service failed: drought',
  ],
  [three('rejected', 'rejected', 'rejected'), 'rejected', 'refused'],
  [three('fresh', 'stale, rejected', 'fresh'), 'rejected', 'refused'],
];

for (const [known, status, note] of table) {
  test(`${Object.values(known).join(' | ')}: ${status}`, () => {
    assert.deepEqual(statusOf(known), { status, note });
  });
}

test('only the topics that were asked for count', () => {
  assert.deepEqual(statusOf(three('fresh', 'rejected', 'failed now'), ['hail']), { status: 'ok', note: '' });
  assert.equal(statusOf(three('fresh', 'rejected', 'failed now'), ['hail', 'park']).status, 'partial');
});

test('a topic without data here is answered, and the note says so', () => {
  const without = (known: ReturnType<typeof three>) => {
    const record = recordOf(known);
    const none = noDataAnswer('park', FRESH_SINCE, 2);
    return cellStatus(
      { ...record, answers: new Map([...record.answers, ['park', none]]) },
      TOPICS,
      () => FRESH_SINCE,
      RUN_STARTED,
    );
  };
  assert.deepEqual(without(three('fresh', 'fresh', 'fresh')), { status: 'ok', note: 'no data here: park' });
  assert.deepEqual(without(three('fresh', 'failed now', 'fresh')), {
    status: 'partial',
    note: 'the service failed: drought; no data here: park',
  });
});

test('a rejection of an earlier time holds no longer', () => {
  const rejected = { reason: 'rejected', note: 'refused', at: RUN_STARTED - REJECTION_HOLDS_MS - 1 } as const;
  const record = { answers: new Map(), failures: new Map([['hail' as const, rejected]]) };
  assert.equal(cellStatus(record, ['hail'], () => FRESH_SINCE, RUN_STARTED).status, 'deferred');
});

test('of local data the first four topics of a reason are listed', () => {
  const topics = TOPIC_SLUGS.slice(0, 5);
  const noteOf = (failing: readonly TopicSlug[]) => {
    const record = recordOf(Object.fromEntries(failing.map((topic) => [topic, 'failed now'])));
    return cellStatus(record, failing, () => FRESH_SINCE, RUN_STARTED, LOOKED_UP).note;
  };
  const four = `the service failed: ${topics.slice(0, 4).join(' ')}`;
  assert.deepEqual([noteOf(topics.slice(0, 4)), noteOf(topics)], [four, `${four} and 1 more`]);
});
