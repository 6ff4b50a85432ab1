import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '../../src/base/clock.ts';
import type { Exchange } from '../../src/client/exchange.ts';
import { NOTHING_TRIED, ONE_MORE_POLICY, RESTART_POLICY, RETRY_POLICY } from '../../src/client/retry.ts';
import type { Verdict } from '../../src/client/verdict.ts';
import type { Call } from '../../src/contract/credits.ts';
import type { TopicSlug } from '../../src/contract/topics.ts';
import { decideConsequence } from '../../src/run/buy/consequence.ts';
import {
  type Breaker,
  HEALTHY,
  isAllRejected,
  isDown,
  isInDoubt,
  isTopicDown,
  isUnanswered,
  RunHealth,
  recordSignal,
} from '../../src/run/buy/run-health.ts';
import { onEnd, type Stop } from '../../src/run/stop.ts';
import { envelopeOf, findVerdict, NOW, PLACE, received, STANDARD } from '../client/answers.ts';

const single = (topic: TopicSlug): Call => ({ kind: 'single', topic });
const lost: Exchange = { kind: 'failure', reached: 'maybe', code: 'BROKEN', message: 'm', elapsedMs: 1 };
const after = (breaker: Breaker, call: Call, exchange: Exchange, policy = RETRY_POLICY) => {
  const judged = { topics: [], tried: NOTHING_TRIED, slowedDownSince: null, at: 0 };
  const verdict = findVerdict(exchange, call, PLACE, NOW);
  return recordSignal(breaker, decideConsequence(verdict, { ...judged, call, policy, random: () => 0.5 }).health);
};
const answered = (breaker: Breaker, call: Call) => after(breaker, call, received(200, envelopeOf(call)));
const times = (breaker: Breaker, n: number, step: (breaker: Breaker) => Breaker) => {
  let now = breaker;
  for (let nth = 0; nth < n; nth++) now = step(now);
  return now;
};

test('where none was ever answered, one failure is enough at the end of a run; a topic that fails is no outage', () => {
  assert.equal(isUnanswered(HEALTHY), false);
  assert.equal(isUnanswered(after(HEALTHY, single('wildfire'), lost)), true);
  assert.equal(isUnanswered(after(answered(HEALTHY, STANDARD), STANDARD, lost)), false);
  assert.equal(isUnanswered(after(HEALTHY, single('wildfire'), received(502, ''))), false);
  assert.equal(isUnanswered(after(HEALTHY, STANDARD, received(422, ''))), false);
  assert.equal(isUnanswered(after(HEALTHY, STANDARD, received(502, ''))), true);
  const paidInVain = after(HEALTHY, STANDARD, received(200, '<html>'));
  assert.equal(isUnanswered(after(paidInVain, STANDARD, lost)), false);
});

test('one answer in between, and it is none', () => {
  const seven = times(HEALTHY, 7, (breaker) => after(breaker, STANDARD, lost));
  const more = times(answered(seven, STANDARD), 7, (breaker) => after(breaker, STANDARD, lost));
  assert.equal(isDown(more), false);
});

test('topics that fail many times in a row are no outage: eight failures set them aside, until then five of one do', () => {
  const failing = (breaker: Breaker, topic: TopicSlug) => after(breaker, single(topic), received(502, ''));
  const down = (breaker: Breaker) =>
    (['hail', 'park', 'wildfire'] as const).filter((topic) => isTopicDown(breaker, topic));
  const four = times(answered(HEALTHY, STANDARD), 4, (breaker) => failing(breaker, 'wildfire'));
  assert.deepEqual([down(four), down(failing(four, 'wildfire'))], [[], ['wildfire']]);
  const seven = times(four, 3, (breaker) => failing(breaker, 'hail'));
  const eight = failing(seven, 'hail');
  assert.deepEqual([down(seven), isInDoubt(seven)], [[], false]);
  assert.deepEqual([down(eight), isInDoubt(eight), isDown(eight)], [['hail', 'wildfire'], true, false]);
  assert.deepEqual(down(failing(eight, 'park')), ['hail', 'park', 'wildfire']);
  assert.equal(isInDoubt(answered(eight, single('park'))), false);
  assert.equal(isDown(after(eight, STANDARD, lost)), true);
});

test('a topic that is unavailable in a 200 counts too; one that answers counts no more', () => {
  const gone = {
    ...envelopeOf(single('hail')),
    data: { topic: 'hail', location: PLACE, result: { error: 'unavailable' } },
  };
  const four = times(HEALTHY, 4, (breaker) => after(breaker, single('hail'), received(200, gone)));
  assert.equal(isTopicDown(after(four, single('hail'), received(200, gone)), 'hail'), true);
  const again = after(answered(four, single('hail')), single('hail'), received(200, gone));
  assert.equal(isTopicDown(again, 'hail'), false);
});

test('when the first 25 are all rejected, the address is wrong', () => {
  const many = times(HEALTHY, 25, (breaker) => after(breaker, STANDARD, received(404, '<html>')));
  assert.equal(isAllRejected(many), true);
  assert.equal(isAllRejected(HEALTHY), false);
  const fewer = times(HEALTHY, 24, (breaker) => after(breaker, STANDARD, received(404, '<html>')));
  assert.equal(isAllRejected(fewer), false);
  const oneAnswer = times(answered(HEALTHY, STANDARD), 99, (breaker) => after(breaker, STANDARD, received(422, '')));
  assert.equal(isAllRejected(oneAnswer), false);
});

test('the health of a run stops it at an outage, where all is refused, and at an error; the first reason counts', () => {
  const healthOf = () => new RunHealth(['hail', 'park'], new Map());
  const signal = { service: 'failed', isPaid: false, topic: null } as const;
  const lacking = (slug: TopicSlug) =>
    ({ service: 'topic_failed', isPaid: true, topic: { slug, isAvailable: false } }) as const;
  const given = (health: RunHealth, of: Parameters<RunHealth['record']>[0], count: number) => {
    for (let nth = 0; nth < count; nth++) {
      health.record(of);
      health.recordFailure('HTTP 500');
    }
    return health.stopped;
  };
  const down = healthOf();
  assert.deepEqual([given(down, signal, 7), down.isUnanswered, down.signal.aborted], [null, true, false]);
  const outage = { reason: 'service_down', message: 'The service does not answer (HTTP 500).', resumeAfter: null };
  assert.deepEqual([given(down, signal, 1), down.signal.aborted], [outage, true]);
  assert.throws(() => down.stopAtError(new Error('later')), { message: 'later' });
  assert.deepEqual(down.stopped, outage);

  const topics = healthOf();
  assert.deepEqual([given(topics, lacking('hail'), 5), topics.isTopicDown('hail')], [null, true]);
  assert.deepEqual([given(topics, lacking('park'), 4)?.reason, topics.isUnanswered], ['service_down', false]);

  const setAside = new Map<TopicSlug, string>();
  const back = new RunHealth(['hail', 'park'], setAside);
  given(back, lacking('hail'), 5);
  assert.deepEqual([...setAside], [['hail', 'unavailable at the service']]);
  back.record({ service: 'answered', isPaid: true, topic: { slug: 'hail', isAvailable: true } });
  assert.deepEqual([[...setAside], back.isTopicDown('hail')], [[], false]);

  const unavailable = healthOf();
  const inVain = (slug: TopicSlug) => ({ ...lacking(slug), service: 'answered' }) as const;
  assert.equal(given(unavailable, inVain('hail'), 9), null);
  assert.deepEqual(
    [given(unavailable, inVain('park'), 4), given(unavailable, inVain('park'), 1)?.reason],
    [null, 'service_down'],
  );

  const broken = healthOf();
  assert.throws(() => broken.stopAtError(new Error('disk full')), { message: 'disk full' });
  assert.deepEqual([broken.stopped?.reason, broken.signal.aborted], ['interrupted', true]);

  const slowedDown = healthOf();
  assert.equal(given(slowedDown, { ...signal, service: 'responsive' }, 99), null);

  const refused = healthOf();
  assert.equal(given(refused, { ...signal, service: 'refused' }, 24), null);
  assert.deepEqual(given(refused, { ...signal, service: 'refused' }, 1), {
    reason: 'misdirected',
    message: 'No request was answered, and 25 were refused. HTTP 500.',
    resumeAfter: null,
  });
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
const failedSingle = (slug: TopicSlug) =>
  ({ service: 'topic_failed', isPaid: false, topic: { slug, isAvailable: false } }) as const;

test('a single whose topic failed five times in a row, and any call of a service in doubt or out of reach, waits for its turn', async () => {
  const [radon, park, bundle] = [{ call: single('radon') }, { call: single('park') }, { call: STANDARD }];
  const health = new RunHealth(['radon', 'park'], new Map());
  const policies = () => [radon, park, bundle].map(({ call }) => health.policyFor(call, RETRY_POLICY));
  const attempt = (call: Call, kind: Verdict['kind'], code?: string) => health.recordAttempt(call, verdict(kind, code));
  const isFree = (request: { readonly call: Call }) => {
    const turn = health.turnOver(request);
    if (turn === null) health.endTurn(request);
    return turn === null;
  };
  assert.equal(health.turnOver(radon), null);
  assert.equal(isFree({ call: radon.call }), true, 'nothing is doubted');
  for (let nth = 0; nth < 4; nth++) attempt(radon.call, 'upstream');
  attempt(radon.call, 'answered');
  attempt(STANDARD, 'upstream');
  for (let nth = 0; nth < 4; nth++) attempt(radon.call, 'upstream');
  assert.equal(health.turnOver(radon), null);
  assert.equal(isFree({ call: radon.call }), true, 'four in a row');
  attempt(radon.call, 'upstream');
  assert.equal(health.turnOver(radon), null);
  assert.equal(health.turnOver(radon), null, 'its own turn');
  const waiting = health.turnOver({ call: radon.call });
  assert.deepEqual([isFree(park), isFree(bundle), waiting instanceof Promise], [true, true, true]);
  health.endTurn(park);
  assert.equal(health.turnOver({ call: radon.call }), waiting, 'the turn of another');
  health.endTurn(radon);
  await waiting;
  assert.equal(isFree({ call: radon.call }), true);
  // Not given up yet: all its attempts.
  assert.deepEqual(policies(), [RETRY_POLICY, RETRY_POLICY, RETRY_POLICY]);
  health.record(failedSingle('radon'));
  assert.deepEqual(policies(), [ONE_MORE_POLICY, RETRY_POLICY, RETRY_POLICY]);
  assert.equal(health.policyFor(radon.call, RESTART_POLICY), RESTART_POLICY);
  for (let nth = 0; nth < 7; nth++) health.record(failedSingle('radon'));
  assert.deepEqual(policies(), [ONE_MORE_POLICY, ONE_MORE_POLICY, ONE_MORE_POLICY], 'eight in a row: in doubt');
  assert.equal(health.turnOver(park), null);
  assert.equal(isFree(bundle), false);
  health.endTurn(park);

  const away = new RunHealth(['radon'], new Map());
  for (const code of ['CONNECT', 'CONNECT_TIMEOUT']) {
    away.recordAttempt(STANDARD, verdict('transport', code));
    assert.equal(away.policyFor(STANDARD, RETRY_POLICY), RETRY_POLICY, 'it never answered');
    assert.equal(away.turnOver(bundle), null);
    assert.ok(away.turnOver(radon) instanceof Promise);
    away.endTurn(bundle);
  }
  away.record({ service: 'answered', isPaid: true, topic: null });
  assert.equal(away.policyFor(STANDARD, RETRY_POLICY), RESTART_POLICY);
  away.record({ service: 'failed', isPaid: false, topic: null });
  assert.equal(away.policyFor(STANDARD, RETRY_POLICY), ONE_MORE_POLICY);
  for (const [kind, code] of [
    ['transport', 'BROKEN'],
    ['upstream', 'CONNECT'],
  ] as const) {
    away.recordAttempt(STANDARD, verdict(kind, code));
    assert.equal(away.policyFor(STANDARD, RETRY_POLICY), RETRY_POLICY, kind);
  }
});

test('a topic is set aside after five failures that concern it, and taken back by an answer', () => {
  const setAside = new Map<TopicSlug, string>();
  const health = new RunHealth(['radon', 'park'], setAside);
  for (let nth = 0; nth < 4; nth++) health.record(failedSingle('radon'));
  assert.deepEqual([[...setAside], health.isTopicDown('radon')], [[], false]);
  health.record({ ...failedSingle('radon'), service: 'failed' });
  assert.deepEqual([...setAside], [], 'unusable answers do not show that the service lacks it');
  health.record(failedSingle('radon'));
  assert.deepEqual([...setAside], [['radon', 'unavailable at the service']]);
  health.record({ service: 'answered', isPaid: true, topic: { slug: 'park', isAvailable: true } });
  assert.deepEqual([health.isTopicDown('radon'), health.isTopicDown('park')], [true, false]);
  health.record({ service: 'answered', isPaid: true, topic: { slug: 'radon', isAvailable: true } });
  assert.deepEqual([[...setAside], health.isTopicDown('radon')], [[], false]);
  const later = new RunHealth(['radon'], new Map([['radon', 'unavailable at the service']]));
  assert.equal(later.isTopicDown('radon'), true, 'by an earlier batch');
});
