import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellStatus } from '../../src/columns/row-status.ts';
import {
  type Answer,
  type CellRecord,
  isReplaced,
  type TopicFailure,
} from '../../src/contract/answer.ts';
import { TOPIC_SLUGS, type TopicSlug } from '../../src/contract/topics.ts';
import { makeJob } from '../../src/job/settings.ts';
import {
  failedSet,
  makeFreshness,
  missingSet,
  missingTopics,
  noDataSet,
  timesOf,
} from '../../src/run/frame/freshness.ts';
import { topicsIn } from '../../src/store/answers/topic-set.ts';
import { fc } from '../properties.ts';

const DAY = 86_400_000;
const STARTED = Date.UTC(2026, 2, 15, 12);

test('local data that was asked again and did not answer replaces an earlier answer, and none of the same moment', () => {
  assert.deepEqual(
    [undefined, STARTED - 1, STARTED, STARTED + 1].map((at) => isReplaced(STARTED, at)),
    [false, false, false, true],
  );
});

const freshness = (time_to_live: Record<string, string> = {}) =>
  makeFreshness(
    makeJob([{ input: 'in.csv', time_to_live }], { dataFolder: '/', workingFolder: '/' }),
    STARTED,
  );

const recordOf = (
  answers: readonly (readonly [TopicSlug, number])[],
  failures: readonly (readonly [TopicSlug, TopicFailure])[] = [],
): CellRecord => ({
  answers: new Map(
    answers.map(([topic, asOf]): [TopicSlug, Answer] => [topic, { topic, asOf, fields: [] }]),
  ),
  failures: new Map(failures),
});

test('what never goes stale is fresh since the beginning of time', () => {
  assert.equal(freshness().freshSince('nuclearReactors'), 0);
  assert.equal(freshness({ all: 'never' }).freshSince('pm10'), 0);
  assert.deepEqual(
    missingTopics(recordOf([['nuclearReactors', 0]]), ['nuclearReactors'], freshness()),
    [],
  );
});

test('a failure is tried again; a refused place is not, for a year', () => {
  const failed = (reason: TopicFailure['reason'], at: number): CellRecord =>
    recordOf([], [['hail', { reason, note: '', at }]]);
  const lacks = (record: CellRecord) => missingTopics(record, ['hail'], freshness()).length > 0;
  for (const reason of ['failed', 'unavailable'] as const)
    assert.ok(lacks(failed(reason, STARTED)));
  assert.ok(!lacks(failed('rejected', STARTED)));
  assert.ok(!lacks(failed('rejected', STARTED - 365 * DAY)));
  assert.ok(lacks(failed('rejected', STARTED - 365 * DAY - 1)));
});

test('a refused place is asked again once the data of all topics have changed since', () => {
  const job = makeJob([{ input: 'in.csv', topics: ['hail', 'park'] }], {
    dataFolder: '/',
    workingFolder: '/',
  });
  const [hail, park] = [STARTED - 9 * DAY, STARTED - 3 * DAY];
  const now = makeFreshness(job, STARTED, (topic) => (topic === 'hail' ? hail : park));
  assert.equal(now.rejectedSince, hail);
});

test('the sets of topics at a cell: missing, failed in this run, and without data', () => {
  const failure = (at: number): TopicFailure => ({ reason: 'failed', note: '', at });
  const failures = { park: failure(STARTED), radon: failure(STARTED - 1) };
  const record = recordOf(
    [['hail', STARTED]],
    Object.entries(failures) as [TopicSlug, TopicFailure][],
  );
  assert.deepEqual(topicsIn(missingSet(record, ['hail', 'park'], freshness())), ['park']);
  assert.deepEqual(topicsIn(failedSet(record, freshness())), ['park']);
  assert.deepEqual(topicsIn(failedSet(null, freshness())), []);
  const answer = (topic: TopicSlug, ...fields: Answer['fields']): Answer => ({
    topic,
    asOf: 1,
    fields,
  });
  const stored = [answer('hail', null, null), answer('park', null, 0), answer('radon')];
  const answers = new Map(stored.map((each) => [each.topic, each]));
  assert.deepEqual(topicsIn(noDataSet({ answers, failures: new Map() })), ['hail']);
});

test('the plan and the written status agree: a row is deferred exactly while something is still to be bought', () => {
  const reason = fc.constantFrom<TopicFailure['reason']>('failed', 'unavailable', 'rejected');
  const year = fc.integer({ min: STARTED - 364 * DAY, max: STARTED - 1 });
  const answers = fc.array(fc.tuple(fc.constantFrom(...TOPIC_SLUGS), year));
  const failures = fc.array(
    fc.tuple(
      fc.constantFrom(...TOPIC_SLUGS),
      fc.record<TopicFailure>({ reason, note: fc.constant('why'), at: year }),
    ),
  );
  fc.assert(
    fc.property(
      answers,
      failures,
      fc.subarray([...TOPIC_SLUGS], { minLength: 1 }),
      (said, gone, asked) => {
        const record = recordOf(said, gone);
        const times = (topic: TopicSlug) => timesOf(freshness(), topic);
        const { status } = cellStatus(record, asked, times, freshness().startedAt);
        const missing = missingTopics(record, asked, freshness());
        assert.equal(missing.length > 0, status === 'deferred', status);
      },
    ),
  );
});
