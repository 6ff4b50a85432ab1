import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Exchange } from '../../src/client/exchange.ts';
import { type Call, CREDITS } from '../../src/contract/credits.ts';
import { AreaTable } from '../../src/run/areas/area-table.ts';
import { areaTopics } from '../../src/run/areas/area-verification.ts';
import { RunAreas } from '../../src/run/areas/run-areas.ts';
import {
  type Consequence,
  decideConsequence,
  makeSettlement,
  type TriedCall,
} from '../../src/run/buy/consequence.ts';
import { NOTHING_TRIED } from '../../src/run/buy/next-step.ts';
import { RunTimes } from '../../src/run/frame/run-times.ts';
import { envelopeOf, findVerdict, NOW, PLACE, received, STANDARD } from '../client/answers.ts';
import { MovedClock } from '../moved-clock.ts';

const HAIL: Call = { kind: 'single', topic: 'hail' };
const unsent = {
  kind: 'failure',
  reached: 'never',
  code: 'CONNECT',
  message: 'refused',
  headers: {},
  elapsedMs: 1,
} as const satisfies Exchange;
const lost: Exchange = { ...unsent, reached: 'maybe', code: 'BROKEN', message: 'cut' };
const failedEnvelope = {
  ...envelopeOf(HAIL),
  data: { ...envelopeOf(HAIL).data, result: { error: 'unavailable' } },
};
const error = (code: string) => ({ error: { code } });

function consequence(
  exchange: Exchange,
  call: Call = STANDARD,
  changed: Partial<TriedCall> = {},
): Consequence {
  return decideConsequence(findVerdict(exchange, call, PLACE, NOW), {
    ...{
      call,
      price: CREDITS[call.kind],
      topics: ['hail'],
      tried: NOTHING_TRIED,
      standing: 'fresh',
    },
    ...{ unansweredSince: null, at: 0, random: () => 0.5 },
    ...changed,
  });
}

/** The last attempt: nothing is tried again. */
const LAST = { tried: { ...NOTHING_TRIED, failures: 3, inDoubt: 1 } };
const AGAIN: Partial<TriedCall> = { standing: 'topic_unavailable' };
const costs = (figure: string) => ({ 'x-credit-cost': figure });
const WAIT = { 'retry-after': '3600' };
const PAGE = '<!doctype html><title>Forbidden</title>';
const ELSEWHERE = { location: 'https://a.example' };
const says = (status: number, code: string, headers = {}) => received(status, error(code), headers);

/** Of a single; whether its topic counts as available. */
const single = (isAvailable: boolean, changed: Partial<TriedCall> = {}) => ({
  call: HAIL,
  isAvailable,
  changed,
});

/** `after`: the charge in the ledger | what is stored | what is learned of the key | the health of the service | what is next. */
const TABLE: readonly (readonly [
  name: string,
  exchange: Exchange,
  after: string,
  of?: {
    readonly call?: Call;
    readonly isAvailable?: boolean;
    readonly changed?: Partial<TriedCall>;
  },
])[] = [
  [
    'answered bundle',
    received(200, envelopeOf(STANDARD)),
    'charged 15 | answer | accepted | answered | use',
  ],
  [
    'answered single',
    received(200, envelopeOf(HAIL)),
    'charged 1 | answer | accepted | answered | use',
    single(true),
  ],
  [
    'no result',
    received(200, failedEnvelope),
    'charged 1 | answer | accepted | answered | use',
    single(false),
  ],
  ['no data', says(404, 'NO_DATA'), 'free 0 | answer | accepted | answered | use'],
  [
    'no data of a single',
    says(404, 'NO_DATA'),
    'free 0 | answer | accepted | answered | use',
    single(true),
  ],
  [
    'malformed single',
    received(200, '<html>'),
    'unknown 1 | failed | - | failed | give_up malformed',
    single(false),
  ],
  [
    'malformed, cost not stated',
    received(200, '<html>'),
    'unknown 15 | failed | - | failed | give_up malformed',
  ],
  [
    'location rejected',
    says(422, 'OUTSIDE_COVERAGE'),
    'free 0 | rejected | - | refused | give_up rejected',
  ],
  [
    'refused without a known reason',
    received(422, ''),
    'free 0 | failed | - | refused | give_up unexplained',
  ],
  ['key refused', says(401, 'UNAUTHENTICATED'), 'free 0 | - | invalid | responsive | replan'],
  ['scope refused', says(403, 'SCOPE_REQUIRED'), 'free 0 | - | scope_denied | responsive | replan'],
  [
    'scope refused by a page',
    received(403, PAGE),
    'free 0 | - | scope_denied_in_this_run | responsive | replan',
  ],
  ['payment wanted', received(402, ''), 'free 0 | - | - | responsive | stop denied'],
  ['redirected', received(302, '', ELSEWHERE), 'free 0 | - | - | responsive | stop misdirected'],
  ['too fast', says(429, 'RATE_LIMITED'), 'free 0 | - | - | responsive | retry with all'],
  [
    'too fast, and long',
    says(429, 'RATE_LIMITED', WAIT),
    'free 0 | - | - | responsive | stop service_pause',
  ],
  [
    'quota used up',
    says(429, 'QUOTA_EXCEEDED'),
    'free 0, exhausted | - | - | responsive | out_of_credits',
  ],
  ['service failed', received(502, ''), 'free 0 | - | - | failed | retry'],
  [
    'failed at last',
    received(502, ''),
    'free 0 | failed | - | failed | give_up upstream',
    { changed: LAST },
  ],
  [
    'topic 502',
    received(502, ''),
    'free 0 | unavailable | - | topic_failed | give_up upstream',
    single(false, LAST),
  ],
  [
    'topic 503',
    received(503, ''),
    'free 0 | failed | - | topic_failed | give_up upstream',
    single(false, LAST),
  ],
  // It was reported unavailable.
  [
    'again 502',
    received(502, ''),
    'free 0 | unavailable | - | no_news | give_up upstream',
    single(false, AGAIN),
  ],
  ['failed, and long', received(503, '', WAIT), 'free 0 | - | - | failed | stop service_down'],
  ['not connected', unsent, 'free 0 | - | - | failed | retry'],
  ['answer lost', lost, 'unknown 15 | - | - | failed | retry'],
  [
    'answer cut, and dearer',
    { ...lost, headers: costs('40') },
    'unknown 40 | - | - | failed | retry',
  ],
  [
    'answer cut, at the price',
    { ...lost, headers: costs('15') },
    'unknown 15 | - | - | failed | retry',
  ],
  ['answer cut, for less', { ...lost, headers: costs('1') }, 'unknown 15 | - | - | failed | retry'],
  [
    'answer cut, at no price',
    { ...lost, headers: costs('99999999') },
    'unknown 1000000 | - | - | failed | retry',
  ],
  [
    'answer lost at last',
    lost,
    'unknown 15 | failed | - | failed | give_up transport',
    { changed: LAST },
  ],
  [
    'client closed',
    { ...lost, code: 'CLOSED' },
    'unknown 15 | failed | - | no_news | give_up transport',
  ],
];

function nextWords({ next }: Consequence): string {
  if (next.step === 'retry') return next.rate ? 'retry with all' : 'retry';
  if (next.step === 'stop') return `stop ${next.reason}`;
  return next.step === 'give_up' ? `give_up ${next.kind}` : next.step;
}

for (const [name, exchange, after, { call = STANDARD, isAvailable, changed = {} } = {}] of TABLE) {
  test(`what follows: ${name}`, () => {
    const found = consequence(exchange, call, changed);
    const { ledger, answer, failure, key, health, next } = found;
    const charge = `${ledger.charge} ${ledger.credits}${ledger.exhausted ? ', exhausted' : ''}`;
    const stored = answer === null ? (failure?.reason ?? '-') : 'answer';
    assert.equal([charge, stored, key ?? '-', health.service, nextWords(found)].join(' | '), after);
    assert.equal(health.isPaid, answer?.hasContents === true || name.startsWith('malformed'));
    assert.deepEqual(
      health.topic,
      isAvailable === undefined ? null : { slug: 'hail', isAvailable },
    );
    const { kind, message, discrepancy, requestId } = findVerdict(exchange, call, PLACE, NOW);
    const said = kind === 'answered' ? kind : `${kind}: ${message}`;
    assert.equal(ledger.outcome, discrepancy === null ? said : `${said}: ${discrepancy}`);
    assert.equal(ledger.requestId, requestId ?? undefined);
    // Another sentence follows.
    if (next.step === 'stop') assert.match(next.message, /\.$/);
    if (next.step === 'give_up') assert.equal(next.isRejected, stored === 'rejected');
    // Another sentence follows.
    if (next.step === 'stop') assert.match(next.message, /\.$/);
  });
}

test('every kind of verdict is in the table', () => {
  const kinds = TABLE.map(
    ([, exchange, , { call = STANDARD } = {}]) => findVerdict(exchange, call, PLACE, NOW).kind,
  );
  const all = [
    'answered',
    'denied',
    'forbidden',
    'malformed',
    'no_data',
    'quota',
    'rate',
    'redirected',
    'rejected',
  ];
  all.push('transport', 'unauthenticated', 'unexplained', 'upstream');
  assert.deepEqual([...new Set(kinds)].sort(), all);
});

test('a service that answers nothing is timed from the first failure, and whatever it says of a place ends that', () => {
  const slow = received(429, error('RATE_LIMITED'));
  const since = (exchange: Exchange, context: object) =>
    consequence(exchange, STANDARD, context).unansweredSince;
  const page = received(404, '<html><title>Not Found</title></html>');
  for (const failed of [slow, received(502, ''), received(200, 'a page'), page]) {
    assert.equal(since(failed, { at: 7 }), 7);
    assert.equal(since(failed, { at: 9, unansweredSince: 7 }), 7);
  }
  // They neither begin nor end it.
  assert.equal(since(received(404, error('NO_SUCH_PLACE')), { at: 9 }), null);
  assert.equal(since(received(403, ''), { at: 9, unansweredSince: 7 }), 7);
  for (const answered of [
    received(200, envelopeOf(STANDARD)),
    received(404, error('NO_DATA')),
    received(422, error('OUTSIDE_COVERAGE')),
  ])
    assert.equal(since(answered, { at: 9, unansweredSince: 7 }), null);
  const asked = consequence(received(503, '', { 'retry-after': '3599' })).next;
  assert.match(asked.step === 'stop' ? asked.message : '', /wait 60 minutes/);
  assert.equal(
    nextWords(consequence(slow, STANDARD, { at: 600_001, unansweredSince: 0 })),
    'stop service_down',
  );
  const silent = consequence(received(502, ''), STANDARD, { at: 660_000, unansweredSince: 0 }).next;
  assert.match(
    silent.step === 'stop' ? silent.message : '',
    /^The service has answered nothing for 11 minutes\. .+\.$/,
  );
});

test('where the service has no data, each wanted topic is answered so, and the bundle’s contents stay unknown', () => {
  const { answer } = consequence(received(404, error('NO_DATA')), STANDARD, {
    topics: ['hail', 'drought'],
  });
  assert.deepEqual(
    [[...answer!.results.keys()], answer!.hasContents],
    [['hail', 'drought'], false],
  );
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
  { date = null as number | null, now = NOW, charged = 1 as number | null } = {},
) {
  const times = new RunTimes(new MovedClock(now), now, 5, () => {});
  const freshness = { startedAt: NOW, freshSince: () => freshSince };
  const wanted = (['hail', 'park'] as const).map((topic) => ({ topic, freshSince }));
  const work = { wanted, number: 7, work: { number: 0 } };
  const areas = new AreaTable();
  areas.record(0, 'tract', '06037106111');
  const verification = { verified: 0, differed: 0 };
  const topics = areaTopics({ topics: ['hail'], counts: false });
  const planned = { topics, verifying: new Set<number>(), represents: new Map() };
  const context = { freshness } as unknown as ConstructorParameters<typeof RunAreas>[0];
  const scan = { areas } as unknown as ConstructorParameters<typeof RunAreas>[1];
  const counts = { representatives: 0, verified: 0, spared: 0, verification };
  const plan = {
    areas: levels === null ? null : new RunAreas(context, scan, { ...planned, ...counts }),
  };
  return makeSettlement(
    { plan, freshness, effects: { times } } as unknown as Parameters<typeof makeSettlement>[0],
    { ...work, call, date, charged },
    {
      ledger: { charge: 'charged', credits: 1 },
      answer: null,
      failure: null,
      key: null,
      ...told,
    } as Consequence,
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
  assert.deepEqual(
    [area!.area, area!.comparableSince, others],
    ['tract 06037106111', NOW - 30 * DAY, []],
  );
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

test('what a call cost is the price from then on; without an answer only where it is higher', () => {
  const [answered, failed, rejected] = [
    answerOf([['hail', GOOD]]),
    { failure: { reason: 'failed', note: 'cut' } },
    { failure: { reason: 'rejected', note: 'no' } },
  ];
  for (const [told, charge, credits, charged, price] of [
    [answered, 'charged', 1, 1, undefined],
    [answered, 'charged', 2, 1, 2],
    [answered, 'charged', 1, 2, 1],
    [answered, 'charged', 1, null, 1],
    [failed, 'charged', 2, 1, 2],
    [failed, 'charged', 1, 2, undefined],
    [failed, 'charged', 1, null, undefined],
    [failed, 'charged', 2, null, 2],
    [rejected, 'charged', 1, 2, 1],
    // A free answer shows none, but others need not wait for one.
    [answered, 'free', 0, null, null],
    [answered, 'free', 0, 1, undefined],
    [rejected, 'free', 0, null, null],
    [failed, 'free', 0, null, undefined],
    [failed, 'unknown', 2, 1, 2],
    [failed, 'unknown', 1, null, undefined],
    [answered, 'unknown', 1, 2, undefined],
  ] as const) {
    const whole = { ...told, ledger: { charge, credits }, stated: credits, alarm: null };
    const { price: kept } = settled(whole, HAIL, NOW - DAY, null, { charged });
    const words = `${JSON.stringify(told)} ${charge} ${credits} after ${charged}`;
    assert.deepEqual(
      kept,
      price === undefined ? undefined : { item: 'hail', credits: price },
      words,
    );
    assert.equal(
      settled({ ...whole, alarm: 'odd' }, HAIL, NOW - DAY, null, { charged }).price,
      undefined,
    );
  }
});

test('what a bundle returned is its contents; a denied scope is that of the call', () => {
  const contents = (call: Call, more: object = {}) =>
    settled(answerOf([['hail', GOOD]], more), call).contents;
  assert.deepEqual(contents(STANDARD), { kind: 'standard', topics: ['hail'] });
  assert.deepEqual(
    [contents(HAIL), contents(STANDARD, { hasContents: false })],
    [undefined, undefined],
  );
  const refused = (call: Call, key: string) => settled({ key }, call).refused?.scope;
  assert.deepEqual(
    [refused(STANDARD, 'scope_denied'), refused(HAIL, 'scope_denied')],
    ['bundle', 'hail'],
  );
  assert.deepEqual(
    [refused(HAIL, 'invalid'), refused(HAIL, 'scope_denied_in_this_run')],
    [undefined, undefined],
  );
});
