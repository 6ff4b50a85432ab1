import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Call } from '../../src/contract/credits.ts';
import { makeSettlement } from '../../src/run/buy/settlement.ts';
import { RunTimes } from '../../src/run/run-times.ts';
import { AreaTable } from '../../src/run/scan/area-table.ts';
import { MovedClock } from '../moved-clock.ts';

type Consequence = Parameters<typeof makeSettlement>[2];
type Reading = ReturnType<NonNullable<Consequence['answer']>['results']['get']>;

const NOW = Date.UTC(2026, 2, 15, 12);
const MINUTE = 60_000;
const DAY = 86_400_000;
const GOOD: Reading = { ok: true, result: ['Very Low', 1, null, 2] };
const HAIL: Call = { kind: 'single', topic: 'hail' };

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
  assert.deepEqual([sample, call, period.start], [false, 7, Date.UTC(2026, 2, 5)]);
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
  const STANDARD: Call = { kind: 'standard' };
  const contents = (call: Call, more: object = {}) => settled(answerOf([['hail', GOOD]], more), call).contents;
  assert.deepEqual(contents(STANDARD), { kind: 'standard', topics: ['hail'] });
  assert.deepEqual([contents(HAIL), contents(STANDARD, { hasContents: false })], [undefined, undefined]);
  const refused = (call: Call, key: string) => settled({ key }, call).refused;
  assert.deepEqual([refused(STANDARD, 'scope_denied'), refused(HAIL, 'scope_denied')], ['bundle', 'hail']);
  assert.deepEqual([refused(HAIL, 'invalid'), refused(HAIL, 'scope_denied_in_this_run')], [undefined, undefined]);
});
