import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '../../src/base/clock.ts';
import { PerilbookError } from '../../src/base/errors.ts';
import type { Verdict } from '../../src/client/verdict.ts';
import type { Call } from '../../src/contract/credits.ts';
import type { TopicSlug } from '../../src/contract/topics.ts';
import { RunHealth, type HealthSignal as Signal } from '../../src/run/buy/run-health.ts';
import {
  limitReached,
  onEnd,
  rowsAreDone,
  type Stop,
  storeMovedStop,
} from '../../src/run/frame/stop.ts';
import { STANDARD } from '../client/answers.ts';

const single = (topic: TopicSlug): Call => ({ kind: 'single', topic });
const signalOf = (service: Signal['service'], more: Partial<Signal> = {}): Signal => ({
  ...{ service, isPaid: service === 'answered', topic: null },
  ...more,
});
const [ANSWERED, FAILED, REFUSED] = [signalOf('answered'), signalOf('failed'), signalOf('refused')];
const PAID = signalOf('paid_error', { isPaid: true });
const about = (slug: TopicSlug, isAvailable: boolean) => ({ topic: { slug, isAvailable } });
const answers = (slug: TopicSlug) => signalOf('answered', about(slug, true));
const fails = (slug: TopicSlug) => signalOf('topic_failed', about(slug, false));
/** A 200 that says that the topic is unavailable. */
const lacks = (slug: TopicSlug) => signalOf('answered', about(slug, false));

const OUTAGE = {
  reason: 'service_down',
  message: 'The service does not answer (HTTP 500).',
  resumeAfter: null,
};
const PAID_TWICE = { ...OUTAGE, message: 'The service charges for failures (HTTP 500).' };
const WRONG_ADDRESS = {
  ...{
    reason: 'misdirected',
    message: 'No request was answered, and 25 were refused. HTTP 500.',
    resumeAfter: null,
  },
};

interface Health {
  readonly stop?: object;
  /** No call was answered, and none was paid. */
  readonly isUnanswered?: true;
  readonly down?: readonly TopicSlug[];
  /** Default: those that are down. */
  readonly setAside?: readonly TopicSlug[];
}

const TOPICS = ['hail', 'park', 'radon', 'wildfire'] as const;
const many = (signal: Signal, count: number) => Array.from({ length: count }, () => signal);
const HAIL = many(fails('hail'), 4);
const CASES: readonly (readonly [what: string, given: readonly Signal[], health: Health])[] = [
  ['one failure where none was ever answered', [FAILED], { isUnanswered: true }],
  ['one failure after an answer', [ANSWERED, FAILED], {}],
  [
    'one failure after one that was paid in vain',
    [signalOf('failed', { isPaid: true }), FAILED],
    {},
  ],
  ['a topic that fails is no outage', [fails('hail')], {}],
  ['a refusal is no outage', [REFUSED], {}],
  ['seven failures', many(FAILED, 7), { isUnanswered: true }],
  ['eight failures', many(FAILED, 8), { isUnanswered: true, stop: OUTAGE }],
  [
    'seven failures, of which one was paid, and an eighth',
    [...many(FAILED, 6), PAID, FAILED],
    { stop: OUTAGE },
  ],
  ['a paid failure', [PAID], {}],
  ['two paid failures', [PAID, PAID], { stop: PAID_TWICE }],
  ['two, and a free refusal between them', [PAID, REFUSED, PAID], { stop: PAID_TWICE }],
  ['two, and an answer between them', [PAID, ANSWERED, PAID], {}],
  ['seven, an answer and seven', [...many(FAILED, 7), ANSWERED, ...many(FAILED, 7)], {}],
  ['four failures of a topic', HAIL, {}],
  ['five failures of a topic', [...HAIL, fails('hail')], { down: ['hail'] }],
  ['seven of two topics', [ANSWERED, ...HAIL, ...many(fails('park'), 3)], {}],
  [
    'eight in a row, whichever the topic',
    [...HAIL, ...many(fails('park'), 4)],
    { down: ['hail', 'park'] },
  ],
  [
    'a ninth',
    [...HAIL, ...many(fails('park'), 4), fails('radon')],
    { down: ['hail', 'park', 'radon'] },
  ],
  [
    'eight of a topic, and one of all',
    [...HAIL, ...HAIL, FAILED],
    { down: ['hail'], isUnanswered: true, stop: OUTAGE },
  ],
  ['every topic', TOPICS.flatMap((topic) => many(lacks(topic), 5)), { down: TOPICS, stop: OUTAGE }],
  ['five answers without a topic', many(lacks('hail'), 5), { down: ['hail'] }],
  ['an answer with it in between', [...HAIL, answers('hail'), lacks('hail')], {}],
  ['an answer with it afterwards', [...HAIL, fails('hail'), answers('hail')], {}],
  ['an answer with another', [...HAIL, fails('hail'), answers('park')], { down: ['hail'] }],
  // It does not show that the service lacks the topic.
  [
    'an unusable answer',
    [ANSWERED, ...HAIL, signalOf('failed', about('hail', false))],
    { down: ['hail'], setAside: [] },
  ],
  ['asked to slow down', many(signalOf('responsive'), 99), {}],
  ['no news', [...many(FAILED, 7), signalOf('no_news')], { isUnanswered: true }],
  ['24 refusals', many(REFUSED, 24), {}],
  ['25 refusals', many(REFUSED, 25), { stop: WRONG_ADDRESS }],
  ['refusals after an answer', [ANSWERED, ...many(REFUSED, 99)], {}],
];

test('the health of a run: an outage, topics that are set aside, an address that is wrong', () => {
  for (const [
    what,
    given,
    { stop = null, isUnanswered = false, down = [], setAside = down },
  ] of CASES) {
    const told = new Map<TopicSlug, string>();
    const health = new RunHealth(TOPICS, told);
    for (const signal of given) {
      health.record(signal);
      if (signal.service !== 'answered' || signal.topic?.isAvailable === false)
        health.recordFailure('HTTP 500');
    }
    const found = TOPICS.filter((topic) => health.isTopicDown(topic));
    assert.deepEqual(
      [health.stopped, health.isUnanswered, found],
      [stop, isUnanswered, down],
      what,
    );
    assert.deepEqual([health.signal.aborted, [...told.keys()]], [stop !== null, setAside], what);
  }
  const later = new RunHealth(['radon'], new Map([['radon', 'unavailable at the service']]));
  assert.equal(later.isTopicDown('radon'), true, 'by an earlier batch');
});

test('an error stops a run, and the first reason counts', () => {
  const health = new RunHealth(TOPICS, new Map());
  assert.throws(() => health.stopAtError(new Error('disk full')), { message: 'disk full' });
  health.stop(health.outage());
  assert.deepEqual([health.stopped?.reason, health.signal.aborted], ['interrupted', true]);
});

test('an interrupt and the end of the time end a run, also one that comes before it begins; nothing does afterwards', async () => {
  let now = 0;
  let wake = () => {};
  const clock: Clock = {
    now: () => now,
    sleep: (ms) =>
      new Promise((resolve) => {
        wake = () => {
          now += ms;
          resolve();
        };
      }),
  };
  const stops: Stop[] = [];
  const interruption = new AbortController();
  const ends = { job: { maxMinutes: 2 }, deadline: 120_000, interrupt: interruption.signal };
  const pass = async () => {
    wake();
    await new Promise(setImmediate);
    return stops.splice(0).map(({ message }) => message);
  };
  using over = onEnd(ends, clock, (why) => stops.push(why));
  assert.deepEqual(await pass(), ['The time of this run is over (2 min).']);
  interruption.abort();
  assert.deepEqual(await pass(), ['Interrupted.']);
  onEnd(ends, clock, (why) => stops.push(why))[Symbol.dispose]();
  assert.deepEqual(await pass(), ['Interrupted.']);
  over[Symbol.dispose]();

  const later = new AbortController();
  now = 0;
  onEnd({ ...ends, interrupt: later.signal }, clock, (why) => stops.push(why))[Symbol.dispose]();
  later.abort();
  assert.deepEqual(await pass(), []);
});

const verdict = (kind: Verdict['kind'], code = '') => ({ kind, code }) as unknown as Verdict;

test('a single whose topic failed five times in a row, and any call of a service in doubt or out of reach, waits for its turn', async () => {
  const [radon, park, bundle] = [
    { call: single('radon') },
    { call: single('park') },
    { call: STANDARD },
  ];
  const health = new RunHealth(['radon', 'park'], new Map());
  const standings = () => [radon, park, bundle].map(({ call }) => health.standingOf(call, 'fresh'));
  const attempt = (call: Call, kind: Verdict['kind'], code?: string) =>
    health.recordAttempt(call, verdict(kind, code));
  const doubts = () => [radon, park, bundle].map(({ call }) => health.doubtOf(call));
  assert.deepEqual(doubts(), [null, null, null]);
  for (let nth = 0; nth < 4; nth++) attempt(radon.call, 'upstream');
  attempt(radon.call, 'answered');
  attempt(STANDARD, 'upstream');
  for (let nth = 0; nth < 4; nth++) attempt(radon.call, 'upstream');
  assert.deepEqual(doubts(), [null, null, null], 'four in a row');
  attempt(radon.call, 'upstream');
  assert.deepEqual(doubts(), ['radon', null, null]);
  // Not given up yet: all its attempts.
  assert.deepEqual(standings(), ['fresh', 'fresh', 'fresh']);
  health.record(fails('radon'));
  assert.deepEqual(standings(), ['given_up', 'fresh', 'fresh']);
  assert.equal(health.standingOf(radon.call, 'topic_unavailable'), 'topic_unavailable');
  for (let nth = 0; nth < 7; nth++) health.record(fails('radon'));
  assert.deepEqual(standings(), ['given_up', 'given_up', 'given_up'], 'eight in a row: in doubt');
  assert.deepEqual(doubts(), ['service', 'service', 'service']);
  health.record(answers('park'));
  assert.deepEqual(standings(), ['given_up', 'fresh', 'fresh'], 'no doubt after an answer');

  const away = new RunHealth(['radon'], new Map());
  for (const code of ['CONNECT', 'CONNECT_TIMEOUT']) {
    away.recordAttempt(STANDARD, verdict('transport', code));
    assert.equal(away.standingOf(STANDARD, 'fresh'), 'fresh', 'it never answered');
    assert.equal(away.doubtOf(radon.call), 'service');
  }
  away.record(ANSWERED);
  assert.equal(away.standingOf(STANDARD, 'fresh'), 'restarting');
  away.record(fails('radon'));
  assert.equal(away.standingOf(STANDARD, 'fresh'), 'restarting', 'of one topic alone');
  away.record(FAILED);
  assert.equal(away.standingOf(STANDARD, 'fresh'), 'given_up');
  for (const [kind, code] of [
    ['transport', 'BROKEN'],
    ['upstream', 'CONNECT'],
  ] as const) {
    away.recordAttempt(STANDARD, verdict(kind, code));
    assert.equal(away.standingOf(STANDARD, 'fresh'), 'fresh', kind);
  }
});

test('a run that ends at a limit says which, and how much of it may have been charged for nothing', () => {
  const lost = ': 1 call without a usable answer may have cost 15';
  for (const [budget, creditsSpent, callsUnknown, reason, message] of [
    [40, 0, 0, 'budget', 'Budget (40 credits) is too small for even one location.'],
    [40, 30, 0, 'budget', 'The budget of 40 credits is reached.'],
    [40, 15, 1, 'budget', `The budget of 40 credits is reached${lost}.`],
    [40, 0, 1, 'budget', `The budget of 40 credits is reached${lost}.`],
    [null, 30, 0, 'limit', "The run's limit of 40 credits (the plan and its retries) is reached."],
    [
      90,
      30,
      1,
      'limit',
      `The run's limit of 40 credits (the plan and its retries) is reached${lost}.`,
    ],
  ] as const) {
    const progress = { creditsSpent, callsUnknown, creditsUnknown: 15 * callsUnknown };
    assert.deepEqual(limitReached({ budget }, { budget: 40 }, progress), {
      reason,
      message,
      resumeAfter: null,
    });
  }
  assert.equal(rowsAreDone(1).message, 'The limit of 1 row is reached.');
  const moved = storeMovedStop(
    new PerilbookError('STORE_MOVED', 'The store was moved', 'Open it again.'),
  );
  assert.deepEqual(
    [moved.reason, moved.message],
    ['store_moved', 'The store was moved. Open it again.'],
  );
});
