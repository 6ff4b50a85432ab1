import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Rate } from '../../src/client/exchange.ts';
import type { Refused, Transport, Verdict } from '../../src/client/verdict.ts';
import { LONGEST_ASKED_MS } from '../../src/net/waits.ts';
import {
  decideNextStep,
  type NextStep,
  NOTHING_TRIED,
  type Standing,
  type Tried,
} from '../../src/run/buy/next-step.ts';
import { fc } from '../properties.ts';

const NO_RATE: Rate = { remaining: null, resetMs: null, retryAfterMs: null };
const common = {
  stated: 0,
  discrepancy: null,
  unbelievable: null,
  message: 'm',
  requestId: null,
  rate: NO_RATE,
};
const refused = (kind: Refused['kind'], rate: Partial<Rate> = {}): Refused => ({
  ...common,
  kind,
  charged: 0,
  status: 402,
  isScopeNamed: false,
  isOfService: true,
  reason: '',
  rate: { ...NO_RATE, ...rate },
});
const transport = (charged: 0 | 'unknown', code: Transport['code'] = 'BROKEN'): Transport => ({
  ...common,
  kind: 'transport',
  charged,
  code,
});

const ask = (
  verdict: Verdict,
  tried: Tried = NOTHING_TRIED,
  random = 0.5,
  standing: Standing = 'fresh',
): NextStep => decideNextStep({ verdict, tried, standing, random: () => random });

/** Retries the same verdict until the decision is not to retry. */
function exhaust(verdict: Verdict, random = 0.5, standing: Standing = 'fresh') {
  const waits: number[] = [];
  let tried = NOTHING_TRIED;
  for (;;) {
    const next = ask(verdict, tried, random, standing);
    if (next.step !== 'retry') return { waits, end: nextWord(next) };
    waits.push(next.afterMs);
    tried = next.tried;
    assert.ok(waits.length < 10_000, 'retries for ever');
  }
}

/** `give_up`, `stop service_down 60000`: a step and its reason, and after how many milliseconds the run may go on. */
function nextWord(next: NextStep): string {
  if (next.step !== 'stop') return next.step;
  return [next.step, next.reason, next.afterMs].filter((part) => part !== null).join(' ');
}

test('a 5xx and a failure that was surely free: four attempts, each wait up to twice the one before', () => {
  for (const verdict of [refused('upstream'), transport(0, 'CONNECT')]) {
    assert.deepEqual(exhaust(verdict, 0.9999), {
      waits: [1_000, 2_000, 4_000],
      end: 'give_up',
    });
    assert.deepEqual(exhaust(verdict, 0).waits, [500, 1_000, 2_000]);
  }
});

test('a service that answered before and refuses connections is waited for 30 seconds, whatever the dice say', () => {
  for (const random of [0, 0.5, 0.9999]) {
    const { waits, end } = exhaust(transport(0, 'CONNECT'), random, 'restarting');
    const all = waits.reduce((sum, ms) => sum + ms, 0);
    assert.ok(all >= 30_000 && all <= 63_000, `${all} ms`);
    assert.equal(end, 'give_up');
  }
});

test('a failure that may have been charged: one more attempt only', () => {
  assert.deepEqual(exhaust(transport('unknown'), 0.5).waits, [750]);
});

test('doubts are counted across failures of other kinds', () => {
  const first = ask(transport('unknown'));
  assert.ok(first.step === 'retry');
  const second = ask(refused('upstream'), first.tried);
  assert.ok(second.step === 'retry');
  assert.equal(ask(transport('unknown'), second.tried).step, 'give_up');
  assert.equal(ask(transport(0), second.tried).step, 'retry');
});

test('what was interrupted, is final, paid, or will be the same again, is not tried again', () => {
  const malformed = (charged: number | 'unknown'): Verdict => ({
    ...common,
    kind: 'malformed',
    charged,
    reason: 'shape',
  });
  const rejected: Verdict = { ...common, kind: 'rejected', charged: 0, status: 422 };
  for (const [verdict, end] of [
    [malformed('unknown'), 'give_up'],
    [malformed(35), 'give_up'],
    [rejected, 'give_up'],
    [refused('unexplained'), 'give_up'],
    [refused('unauthenticated'), 'replan'],
    [refused('forbidden'), 'replan'],
    [refused('denied'), 'stop denied'],
    [refused('quota'), 'out_of_credits'],
    [refused('limit'), 'stop service_pause'],
    [refused('redirected'), 'stop misdirected'],
    [transport(0, 'NO_HOST'), 'stop service_down'],
    ...(['CLOSED', 'BODY_TOO_LARGE', 'DAMAGED', 'NOT_HTTP'] as const).map(
      (code) => [transport('unknown', code), 'give_up'] as const,
    ),
  ] as const) {
    assert.deepEqual(exhaust(verdict), { waits: [], end });
  }
});

test('a failure that states a cost is not tried again, by no key, whatever it asks for', () => {
  const word = {
    upstream: 'give_up',
    unexplained: 'give_up',
    rate: 'give_up',
    unauthenticated: 'give_up',
    forbidden: 'give_up',
    quota: 'out_of_credits',
    limit: 'stop service_pause 2000',
    denied: 'stop denied',
    redirected: 'stop misdirected',
  } as const;
  for (const [kind, end] of Object.entries(word)) {
    for (const charged of [1, 35, 'unknown'] as const) {
      const refusal = refused(kind as Refused['kind'], { retryAfterMs: 2_000 });
      assert.deepEqual(exhaust({ ...refusal, charged }), { waits: [], end }, kind);
    }
  }
});

test('a quota that is used up, with a short wait: waited as told, once; a long wait is told, not waited', () => {
  const word = { limit: 'stop service_pause 2000', quota: 'out_of_credits' };
  for (const kind of ['limit', 'quota'] as const) {
    const short = refused(kind, { retryAfterMs: 2_000 });
    assert.deepEqual(exhaust(short), { waits: [2_000], end: word[kind] });
    // A rate before it does not count.
    const slowed = ask(refused('rate', { retryAfterMs: 1_000 }));
    assert.ok(slowed.step === 'retry');
    assert.equal(ask(short, slowed.tried).step, 'retry');
    const long = refused(kind, { retryAfterMs: LONGEST_ASKED_MS + 1 });
    assert.deepEqual(exhaust(long).waits, []);
  }
  const long = refused('limit', { retryAfterMs: 3_600_000 });
  assert.equal(exhaust(long).end, 'stop service_pause 3600000');
});

test('a time that the service names is waited for, whatever the dice say', () => {
  for (const [kind, rate, afterMs] of [
    ['rate', { retryAfterMs: 17_000, resetMs: 3_000 }, 17_000],
    ['rate', { resetMs: 3_000 }, 3_000],
    ['rate', { resetMs: 5 }, 1_000],
    ['upstream', { retryAfterMs: 30_000 }, 30_000],
  ] as const) {
    for (const random of [0, 0.5, 0.99]) {
      const decision = ask(refused(kind, rate), NOTHING_TRIED, random);
      assert.ok(decision.step === 'retry');
      assert.equal(decision.afterMs, afterMs);
    }
  }
});

test('without any time: longer and longer, at least a second, at most a minute, in the end a pause', () => {
  const { waits, end } = exhaust(refused('rate'), 0.9999);
  assert.deepEqual(waits.slice(0, 8), [1_000, 2_000, 4_000, 8_000, 15_999, 31_998, 59_997, 59_997]);
  assert.equal(end, 'stop service_down 59997');
  assert.deepEqual(exhaust(refused('rate'), 0).waits.slice(0, 4), [1_000, 1_000, 2_000, 4_000]);
});

test('a service that asks for a second again and again is believed once, then waited for longer and longer', () => {
  const { waits, end } = exhaust(refused('rate', { retryAfterMs: 1_000 }));
  assert.deepEqual(waits.slice(0, 8), [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  assert.ok(waits.length <= 16, `${waits.length} attempts`);
  assert.equal(end, 'stop service_down 60000');
});

test('a run in which nobody is answered goes on for ten minutes in all, however little each call has waited', () => {
  const after = (verdict: Verdict, unansweredMs: number) =>
    nextWord(
      decideNextStep({
        ...{ verdict, tried: NOTHING_TRIED, standing: 'fresh' as const, random: () => 0.5 },
        unansweredMs,
      }),
    );
  const malformed: Verdict = { ...common, kind: 'malformed', charged: 'unknown', reason: 'shape' };
  for (const [verdict, waitMs, before, end] of [
    [refused('rate', { retryAfterMs: 1_000 }), 1_000, 'retry', 'stop service_down 1000'],
    [refused('upstream', { retryAfterMs: 540_000 }), 540_000, 'retry', 'stop service_down 540000'],
    [refused('upstream'), 750, 'retry', 'stop service_down'],
    [transport('unknown', 'TOTAL_TIMEOUT'), 750, 'retry', 'stop service_down'],
    [transport('unknown', 'BODY_TOO_LARGE'), 0, 'give_up', 'stop service_down'],
    [malformed, 0, 'give_up', 'stop service_down'],
    // A page of another server.
    [{ ...refused('unexplained'), isOfService: false }, 0, 'give_up', 'stop service_down'],
    // These say something of their own.
    [refused('unexplained'), -1, 'give_up', 'give_up'],
    [refused('forbidden'), -1, 'replan', 'replan'],
  ] as const) {
    const what = `${verdict.kind} ${end}`;
    assert.equal(after(verdict, LONGEST_ASKED_MS - waitMs), before, what);
    assert.equal(after(verdict, LONGEST_ASKED_MS - waitMs + 1), end, what);
  }
});

test('a wait as long as the longest is waited, a longer one ends the run, which says for how long', () => {
  for (const kind of ['rate', 'upstream'] as const) {
    assert.equal(ask(refused(kind, { retryAfterMs: LONGEST_ASKED_MS })).step, 'retry', kind);
    for (const retryAfterMs of [LONGEST_ASKED_MS + 1, 365 * 86_400_000]) {
      const reason = kind === 'rate' ? 'service_pause' : 'service_down';
      assert.equal(exhaust(refused(kind, { retryAfterMs })).end, `stop ${reason} ${retryAfterMs}`);
    }
  }
});

test('the retry of an unavailable topic is one attempt, but a lost connection is not held against it', () => {
  assert.deepEqual(exhaust(refused('upstream'), 0.5, 'topic_unavailable').waits, []);
  assert.equal(exhaust(transport(0), 0.5, 'topic_unavailable').waits.length, 3);
});

test('whatever comes in whatever order, a call ends: few attempts, bounded waiting', () => {
  const verdict = fc.oneof(
    fc
      .record({ retryAfterMs: fc.option(fc.nat(700_000)), resetMs: fc.option(fc.nat(700_000)) })
      .map((rate) => refused('rate', rate)),
    fc.option(fc.nat(700_000)).map((retryAfterMs) => refused('upstream', { retryAfterMs })),
    fc.constantFrom(transport(0), transport('unknown')),
  );
  fc.assert(
    fc.property(
      fc.array(verdict, { maxLength: 40 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (verdicts, random) => {
        let tried = NOTHING_TRIED;
        let failures = 0;
        let inDoubt = 0;
        for (const one of verdicts) {
          if (one.kind !== 'rate') failures++;
          if (one.charged === 'unknown') inDoubt++;
          const decision = ask(one, tried, random);
          if (decision.step !== 'retry') return;
          tried = decision.tried;
          assert.equal(
            decision.rate,
            one.kind === 'rate',
            'only a refusal for the rate slows the others down too',
          );
          assert.ok(decision.afterMs >= 0 && decision.afterMs <= LONGEST_ASKED_MS);
          assert.ok(tried.rateWaitMs <= LONGEST_ASKED_MS);
          assert.ok(failures < 4 && inDoubt < 2);
        }
      },
    ),
  );
});
