import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Exchange } from '../../src/client/exchange.ts';
import { NOTHING_TRIED, RETRY_POLICY, TOPIC_RETRY_POLICY } from '../../src/client/retry.ts';
import type { Call } from '../../src/contract/credits.ts';
import { type Consequence, decideConsequence, type TriedCall } from '../../src/run/buy/consequence.ts';
import type { HealthSignal } from '../../src/run/buy/run-health.ts';
import { makeSettlement } from '../../src/run/buy/settlement.ts';
import { RunTimes } from '../../src/run/run-times.ts';
import { AreaTable } from '../../src/run/scan/area-table.ts';
import { envelopeOf, findVerdict, NOW, PLACE, received, STANDARD } from '../client/answers.ts';
import { MovedClock } from '../moved-clock.ts';

const HAIL: Call = { kind: 'single', topic: 'hail' };
const unsent: Exchange = { kind: 'failure', reached: 'never', code: 'CONNECT', message: 'refused', elapsedMs: 1 };
const lost: Exchange = { ...unsent, reached: 'maybe', code: 'BROKEN', message: 'cut' };
const failedEnvelope = { ...envelopeOf(HAIL), data: { ...envelopeOf(HAIL).data, result: { error: 'unavailable' } } };
const error = (code: string) => ({ error: { code } });

function consequence(exchange: Exchange, call: Call = STANDARD, changed: Partial<TriedCall> = {}): Consequence {
  return decideConsequence(findVerdict(exchange, call, PLACE, NOW), {
    ...{ call, topics: ['hail'], tried: NOTHING_TRIED, policy: RETRY_POLICY },
    ...{ slowedDownSince: null, at: 0, random: () => 0.5 },
    ...changed,
  });
}

/** The last attempt: nothing is tried again. */
const LAST = { tried: { ...NOTHING_TRIED, failures: 3, inDoubt: 1 } };

interface Row {
  readonly exchange: Exchange;
  readonly call?: Call;
  readonly changed?: Partial<TriedCall>;
  /** The charge and its credits in the ledger, and whether the quota is used up. */
  readonly ledger: readonly [charge: string, credits: number, exhausted?: boolean];
  readonly stored?: 'answer' | 'rejected' | 'failed' | 'unavailable';
  readonly key?: Consequence['key'];
  readonly health: HealthSignal['service'];
  /** Whether the single's topic counts as available. */
  readonly topic?: boolean;
  readonly next: string;
}

const TABLE: Readonly<Record<string, Row>> = {
  'answered bundle': {
    exchange: received(200, envelopeOf(STANDARD)),
    ...{ ledger: ['charged', 15], stored: 'answer', key: 'accepted', health: 'answered', next: 'use' },
  },
  'answered single': {
    ...{ exchange: received(200, envelopeOf(HAIL)), call: HAIL },
    ...{ ledger: ['charged', 1], stored: 'answer', key: 'accepted', health: 'answered', topic: true, next: 'use' },
  },
  'answered single without its result': {
    ...{ exchange: received(200, failedEnvelope), call: HAIL },
    ...{ ledger: ['charged', 1], stored: 'answer', key: 'accepted', health: 'answered', topic: false, next: 'use' },
  },
  'no data': {
    exchange: received(404, error('NO_DATA')),
    ...{ ledger: ['free', 0], stored: 'answer', key: 'accepted', health: 'answered', next: 'use' },
  },
  'no data of a single': {
    ...{ exchange: received(404, error('NO_DATA')), call: HAIL },
    ...{ ledger: ['free', 0], stored: 'answer', key: 'accepted', health: 'answered', topic: true, next: 'use' },
  },
  'malformed single': {
    ...{ exchange: received(200, '<html>'), call: HAIL },
    ...{ ledger: ['unknown', 1], stored: 'failed', health: 'failed', topic: false, next: 'give_up malformed' },
  },
  'malformed, cost not stated': {
    exchange: received(200, '<html>'),
    ...{ ledger: ['unknown', 15], stored: 'failed', health: 'failed', next: 'give_up malformed' },
  },
  'location rejected': {
    exchange: received(422, error('OUTSIDE_COVERAGE')),
    ...{ ledger: ['free', 0], stored: 'rejected', health: 'refused', next: 'give_up rejected' },
  },
  'refused without a known reason': {
    exchange: received(422, ''),
    ...{ ledger: ['free', 0], stored: 'failed', health: 'refused', next: 'give_up unexplained' },
  },
  'key refused': {
    exchange: received(401, error('UNAUTHENTICATED')),
    ...{ ledger: ['free', 0], key: 'invalid', health: 'responsive', next: 'replan' },
  },
  'scope refused': {
    exchange: received(403, error('SCOPE_REQUIRED')),
    ...{ ledger: ['free', 0], key: 'scope_denied', health: 'responsive', next: 'replan' },
  },
  'scope refused by a page': {
    exchange: received(403, '<!doctype html><title>Forbidden</title>'),
    ...{ ledger: ['free', 0], key: 'scope_denied_in_this_run', health: 'responsive', next: 'replan' },
  },
  'payment wanted': {
    exchange: received(402, ''),
    ...{ ledger: ['free', 0], health: 'responsive', next: 'stop denied' },
  },
  redirected: {
    exchange: received(302, '', { location: 'https://example.com' }),
    ...{ ledger: ['free', 0], health: 'responsive', next: 'stop misdirected' },
  },
  'too fast': {
    exchange: received(429, error('RATE_LIMITED')),
    ...{ ledger: ['free', 0], health: 'responsive', next: 'retry with all' },
  },
  'too fast, for longer than a run waits': {
    exchange: received(429, error('RATE_LIMITED'), { 'retry-after': '3600' }),
    ...{ ledger: ['free', 0], health: 'responsive', next: 'stop service_down' },
  },
  'quota used up': {
    exchange: received(429, error('QUOTA_EXCEEDED')),
    ...{ ledger: ['free', 0, true], health: 'responsive', next: 'out_of_credits' },
  },
  'service failed': { exchange: received(502, ''), ...{ ledger: ['free', 0], health: 'failed', next: 'retry' } },
  'service failed at last': {
    ...{ exchange: received(502, ''), changed: LAST },
    ...{ ledger: ['free', 0], stored: 'failed', health: 'failed', next: 'give_up upstream' },
  },
  'topic failed at last': {
    ...{ exchange: received(502, ''), call: HAIL, changed: LAST },
    ...{ ledger: ['free', 0], stored: 'unavailable', health: 'topic_failed', topic: false, next: 'give_up upstream' },
  },
  'service failed at last on a single': {
    ...{ exchange: received(503, ''), call: HAIL, changed: LAST },
    ...{ ledger: ['free', 0], stored: 'failed', health: 'topic_failed', topic: false, next: 'give_up upstream' },
  },
  'topic failed that was reported unavailable': {
    ...{ exchange: received(502, ''), call: HAIL, changed: { policy: TOPIC_RETRY_POLICY } },
    ...{ ledger: ['free', 0], stored: 'unavailable', health: 'no_news', topic: false, next: 'give_up upstream' },
  },
  'service failed for longer than a run waits': {
    exchange: received(503, '', { 'retry-after': '3600' }),
    ...{ ledger: ['free', 0], health: 'failed', next: 'stop service_down' },
  },
  'not connected': { exchange: unsent, ...{ ledger: ['free', 0], health: 'failed', next: 'retry' } },
  'answer lost': { exchange: lost, ...{ ledger: ['unknown', 15], health: 'failed', next: 'retry' } },
  'answer lost at last': {
    ...{ exchange: lost, changed: LAST },
    ...{ ledger: ['unknown', 15], stored: 'failed', health: 'failed', next: 'give_up transport' },
  },
  'client closed': {
    exchange: { ...lost, code: 'CLOSED' },
    ...{ ledger: ['unknown', 15], stored: 'failed', health: 'no_news', next: 'give_up transport' },
  },
};

function nextWords({ next }: Consequence): string {
  if (next.step === 'retry') return next.rate ? 'retry with all' : 'retry';
  if (next.step === 'stop') return `stop ${next.reason}`;
  return next.step === 'give_up' ? `give_up ${next.kind}` : next.step;
}

for (const [name, row] of Object.entries(TABLE)) {
  test(`what follows: ${name}`, () => {
    const found = consequence(row.exchange, row.call, row.changed);
    const { charge, credits, exhausted } = found.ledger;
    assert.deepEqual([charge, credits, ...(exhausted ? [true] : [])], row.ledger);
    const stored = found.answer === null ? found.failure?.reason : 'answer';
    assert.deepEqual([stored, found.key], [row.stored, row.key ?? null]);
    assert.deepEqual([found.health.service, nextWords(found)], [row.health, row.next]);
    assert.equal(found.health.isPaid, found.answer?.hasContents === true || name.startsWith('malformed'));
    assert.deepEqual(found.health.topic, row.topic === undefined ? null : { slug: 'hail', isAvailable: row.topic });
    const { kind, message, discrepancy, requestId } = findVerdict(row.exchange, row.call ?? STANDARD, PLACE, NOW);
    const said = kind === 'answered' ? kind : `${kind}: ${message}`;
    assert.equal(found.ledger.outcome, discrepancy === null ? said : `${said}: ${discrepancy}`);
    assert.equal(found.ledger.requestId, requestId ?? undefined);
    if (found.next.step === 'give_up') assert.equal(found.next.isRejected, row.stored === 'rejected');
  });
}

test('every kind of verdict is in the table', () => {
  const kindOf = ({ exchange, call = STANDARD }: Row) => findVerdict(exchange, call, PLACE, NOW).kind;
  const all = ['answered', 'denied', 'forbidden', 'malformed', 'no_data', 'quota', 'rate', 'redirected', 'rejected'];
  all.push('transport', 'unauthenticated', 'unexplained', 'upstream');
  assert.deepEqual([...new Set(Object.values(TABLE).map(kindOf))].sort(), all);
});

test('a run that is only asked to slow down counts from the first time, and an answer ends it', () => {
  const slow = received(429, error('RATE_LIMITED'));
  assert.equal(consequence(slow, STANDARD, { at: 7 }).slowedDownSince, 7);
  assert.equal(consequence(slow, STANDARD, { at: 9, slowedDownSince: 7 }).slowedDownSince, 7);
  assert.equal(consequence(received(502, ''), STANDARD, { at: 9, slowedDownSince: 7 }).slowedDownSince, 7);
  const answered = consequence(received(200, envelopeOf(STANDARD)), STANDARD, { slowedDownSince: 7 });
  assert.equal(answered.slowedDownSince, null);
  assert.equal(consequence(received(502, ''), STANDARD, { at: 9 }).slowedDownSince, null);
  const asked = consequence(received(503, '', { 'retry-after': '3599' })).next;
  assert.match(asked.step === 'stop' ? asked.message : '', /wait 60 minutes/);
  assert.equal(nextWords(consequence(slow, STANDARD, { at: 600_001, slowedDownSince: 0 })), 'stop service_down');
});

test('where the service has no data, each wanted topic is answered so, and the bundle’s contents stay unknown', () => {
  const { answer } = consequence(received(404, error('NO_DATA')), STANDARD, { topics: ['hail', 'drought'] });
  assert.deepEqual([[...answer!.results.keys()], answer!.hasContents], [['hail', 'drought'], false]);
});

type Reading = ReturnType<NonNullable<Consequence['answer']>['results']['get']>;

const MINUTE = 60_000;
const DAY = 86_400_000;
const GOOD: Reading = { ok: true, result: ['Very Low', 1, null, 2] };

/** What is settled after a call for two topics. */
function settled(
  told: object,
  call: Call = HAIL,
  freshSince = NOW - DAY,
  levels: 'tract' | null = null,
  { date = null as number | null, now = NOW } = {},
) {
  const times = new RunTimes(new MovedClock(now), now, 5, () => {});
  const freshness = { startedAt: NOW, freshSince: () => freshSince };
  const wanted = (['hail', 'park'] as const).map((topic) => ({ topic, freshSince }));
  const work = { wanted, number: 7, work: { number: 0 } };
  const areas = new AreaTable();
  areas.record(0, 'tract', '06037106111');
  const job = { areas: levels };
  const plan = { scan: { areas } };
  return makeSettlement(
    { job, plan, freshness, effects: { times } } as unknown as Parameters<typeof makeSettlement>[0],
    { ...work, call, date },
    { ledger: { charge: 'charged', credits: 1 }, answer: null, failure: null, key: null, ...told } as Consequence,
  );
}

const answerOf = (results: readonly (readonly [string, Reading])[], more: object = {}) => ({
  answer: { results: new Map(results), timestamp: null, sample: false, hasContents: true, ...more },
});

test('the time that the service states is kept from 5 minutes ago to 2 days ahead, if it is fresh enough', () => {
  const earlier = NOW - DAY;
  for (const [timestamp, freshSince, kept] of [
    [null, earlier, NOW],
    [NOW - 5 * MINUTE, earlier, NOW - 5 * MINUTE],
    [NOW - 5 * MINUTE - 1, earlier, NOW],
    [NOW + 2 * DAY, earlier, NOW + 2 * DAY],
    [NOW + 2 * DAY + 1, earlier, NOW],
    [NOW - MINUTE, NOW - MINUTE, NOW - MINUTE],
    [NOW - MINUTE - 1, NOW - MINUTE, NOW],
  ] as const) {
    const { answers } = settled(answerOf([['hail', GOOD]], { timestamp }), HAIL, freshSince);
    assert.equal(answers[0]!.asOf, kept, `${timestamp}, fresh since ${freshSince}`);
  }
});

test('a time on which the answer and its Date agree is kept if it is the more credible one', () => {
  const [early, month] = [Date.UTC(1999, 0, 1), 30 * DAY];
  for (const [now, timestamp, date, kept] of [
    // By a clock from before this program, and by one that is days ahead.
    [early, NOW, NOW + 5 * MINUTE, NOW],
    [early, NOW, NOW + 5 * MINUTE + 1, early],
    [early, NOW, null, early],
    [NOW, NOW - 15 * DAY, NOW - 15 * DAY, NOW - 15 * DAY],
    // So old that the answer would soon be bought again.
    [NOW, NOW - 15 * DAY - 1, NOW - 15 * DAY, NOW],
    // A service whose own clock is ahead.
    [NOW, NOW + 3 * DAY, NOW + 3 * DAY, NOW],
  ] as const) {
    const told = answerOf([['hail', GOOD]], { timestamp });
    const { answers } = settled(told, HAIL, now - month, null, { date, now });
    assert.equal(answers[0]!.asOf, kept, `${timestamp} and ${date} by a clock at ${now}`);
  }
});

test('each reading is kept as what it is: an answer, no data, or a failure of now', () => {
  const unavailable: Reading = { ok: false, reason: 'unavailable', message: 'no feed' };
  const noData: Reading = { ok: false, reason: 'no_data', message: '' };
  const results = Object.entries({ hail: GOOD, park: noData, radon: unavailable });
  const { answers, failures, sample, call, period } = settled(answerOf(results));
  assert.deepEqual(answers, [
    { topic: 'hail', asOf: NOW, fields: ['Very Low', 1, null, 2] },
    { topic: 'park', asOf: NOW, fields: [null, null] },
  ]);
  assert.deepEqual(failures, [{ topic: 'radon', reason: 'unavailable', note: 'no feed', at: NOW }]);
  assert.deepEqual([sample, call, period.start], [false, 7, Date.UTC(2026, 0, 5)]);
});

test('in a job with areas an answer is stored for its tract, and compared with those of the last 30 days', () => {
  const told = answerOf([['hail', GOOD]]);
  const [area, ...others] = settled(told, HAIL, NOW - DAY, 'tract').areas!;
  assert.deepEqual([area!.area, area!.comparableSince, others], ['tract 06037106111', NOW - 30 * DAY, []]);
  assert.equal(settled(told).areas, undefined);
  assert.equal(settled({}, HAIL, NOW - DAY, 'tract').areas, undefined);
});

test('a call that is given up leaves a failure of each topic that it was made for, and nothing else', () => {
  const failure = { reason: 'failed', note: 'cut' } as const;
  const given = settled({ failure });
  assert.deepEqual([given.answers, given.sample, given.contents], [[], undefined, undefined]);
  const each = ['hail', 'park'].map((topic) => ({ topic, ...failure, at: NOW }));
  assert.deepEqual(given.failures, each);
  assert.deepEqual(settled({}).failures, []);
});

test('what a bundle returned is its contents; a denied scope is that of the call', () => {
  const contents = (call: Call, more: object = {}) => settled(answerOf([['hail', GOOD]], more), call).contents;
  assert.deepEqual(contents(STANDARD), { kind: 'standard', topics: ['hail'] });
  assert.deepEqual([contents(HAIL), contents(STANDARD, { hasContents: false })], [undefined, undefined]);
  const refused = (call: Call, key: string) => settled({ key }, call).refused;
  assert.deepEqual([refused(STANDARD, 'scope_denied'), refused(HAIL, 'scope_denied')], ['bundle', 'hail']);
  assert.deepEqual([refused(HAIL, 'invalid'), refused(HAIL, 'scope_denied_in_this_run')], [undefined, undefined]);
});
