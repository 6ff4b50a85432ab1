import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Rate } from '../../src/client/exchange.ts';
import {
  type Decision,
  decide,
  LONGEST_WAIT_MS,
  NOTHING_TRIED,
  RETRY_POLICY,
  TOPIC_RETRY_POLICY,
  type Tried,
} from '../../src/client/retry.ts';
import type { Answered, Refused, Transport, Verdict } from '../../src/client/verdict.ts';
import { fc } from '../properties.ts';

type Unanswered = Exclude<Verdict, Answered>;

const NO_RATE: Rate = { remaining: null, resetMs: null, retryAfterMs: null };
const common = { discrepancy: null, message: 'm', requestId: null, rate: NO_RATE };
const refused = (kind: Refused['kind'], rate: Partial<Rate> = {}): Refused => ({
  ...{
    ...common,
    kind,
    charged: 0,
    status: 0,
    isPage: false,
    reason: '',
    rate: { ...NO_RATE, ...rate },
  },
});
const transport = (charged: 0 | 'unknown', code: Transport['code'] = 'BROKEN'): Transport => ({
  ...{ ...common, kind: 'transport', charged, code },
});

const ask = (
  verdict: Unanswered,
  tried: Tried = NOTHING_TRIED,
  random = 0.5,
  policy = RETRY_POLICY,
): Decision => decide({ verdict, tried, policy, random: () => random });

/** Retries the same verdict until the decision is not to retry. */
function exhaust(verdict: Unanswered, random = 0.5, policy = RETRY_POLICY) {
  const waits: number[] = [];
  let tried = NOTHING_TRIED;
  for (;;) {
    const decision = ask(verdict, tried, random, policy);
    if (decision.next !== 'retry') return { waits, end: decision };
    waits.push(decision.afterMs);
    tried = decision.tried;
    assert.ok(waits.length < 10_000, 'retries for ever');
  }
}

test('a 5xx and a failure that was surely free: four attempts, each wait up to twice the one before', () => {
  for (const verdict of [refused('upstream'), transport(0, 'CONNECT')]) {
    assert.deepEqual(exhaust(verdict, 0.9999), {
      waits: [1_000, 2_000, 4_000],
      end: { next: 'give-up' },
    });
    assert.deepEqual(exhaust(verdict, 0).waits, [0, 0, 0]);
  }
});

test('a failure that may have been charged: one more attempt only', () => {
  assert.deepEqual(exhaust(transport('unknown'), 0.5).waits, [500]);
});

test('doubts are counted across failures of other kinds', () => {
  const first = ask(transport('unknown'));
  assert.ok(first.next === 'retry');
  const second = ask(refused('upstream'), first.tried);
  assert.ok(second.next === 'retry');
  assert.equal(ask(transport('unknown'), second.tried).next, 'give-up');
  assert.equal(ask(transport(0), second.tried).next, 'retry');
});

test('what was interrupted, is final, paid or the caller’s to solve, or will be the same again, is not tried again', () => {
  const codes = ['CLOSED', 'BODY_TOO_LARGE', 'DAMAGED', 'NOT_HTTP'] as const;
  const malformed: Unanswered = {
    ...common,
    kind: 'malformed',
    charged: 'unknown',
    reason: 'not-json',
  };
  const rejected: Unanswered = { ...common, kind: 'rejected', charged: 0, status: 422 };
  const kinds = [
    'unauthenticated',
    'forbidden',
    'denied',
    'quota',
    'redirected',
    'unexplained',
  ] as const;
  const unheardOf = { ...common, kind: 'unheard-of' } as unknown as Unanswered;
  const same = codes.map((code) => transport('unknown', code));
  for (const verdict of [
    malformed,
    rejected,
    unheardOf,
    ...kinds.map((kind) => refused(kind)),
    ...same,
  ]) {
    assert.deepEqual(ask(verdict), { next: 'give-up' });
  }
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
      assert.ok(decision.next === 'retry');
      assert.equal(decision.afterMs, afterMs);
    }
  }
});

test('without any time: longer and longer, at least a second, at most a minute, in the end a pause', () => {
  const { waits, end } = exhaust(refused('rate'), 0.9999);
  assert.deepEqual(waits.slice(0, 8), [1_000, 2_000, 4_000, 7_999, 15_998, 31_997, 59_994, 59_994]);
  assert.equal(end.next, 'pause');
  assert.ok(exhaust(refused('rate'), 0).waits.every((ms) => ms === 1_000));
});

test('a service that asks for a second again and again is believed once, then waited for longer and longer', () => {
  const { waits, end } = exhaust(refused('rate', { retryAfterMs: 1_000 }));
  assert.deepEqual(waits.slice(0, 8), [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  assert.ok(waits.length <= 16, `${waits.length} attempts`);
  assert.deepEqual(end, { next: 'pause', afterMs: 60_000, isAsked: false });
});

test('a run in which nobody is answered waits ten minutes in all, however little each call has waited', () => {
  const question = {
    verdict: refused('rate', { retryAfterMs: 1_000 }),
    tried: NOTHING_TRIED,
    policy: RETRY_POLICY,
  };
  const after = (slowedDownMs: number) =>
    decide({ ...question, random: () => 0.5, slowedDownMs }).next;
  assert.equal(after(599_000), 'retry');
  assert.equal(after(599_001), 'pause');
});

test('a wait as long as the longest is waited, a longer one ends the run, which says for how long', () => {
  for (const kind of ['rate', 'upstream'] as const) {
    assert.equal(ask(refused(kind, { retryAfterMs: LONGEST_WAIT_MS })).next, 'retry', kind);
    for (const retryAfterMs of [LONGEST_WAIT_MS + 1, 365 * 86_400_000]) {
      assert.deepEqual(ask(refused(kind, { retryAfterMs })), {
        next: 'pause',
        afterMs: retryAfterMs,
        isAsked: true,
      });
    }
  }
});

test('the retry of an unavailable topic is one attempt, but a lost connection is not held against it', () => {
  assert.deepEqual(exhaust(refused('upstream'), 0.5, TOPIC_RETRY_POLICY).waits, []);
  assert.equal(exhaust(transport(0), 0.5, TOPIC_RETRY_POLICY).waits.length, 3);
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
          if (decision.next !== 'retry') return;
          tried = decision.tried;
          assert.equal(
            decision.rate,
            one.kind === 'rate',
            'only a refusal for the rate slows the others down too',
          );
          assert.ok(decision.afterMs >= 0 && decision.afterMs <= LONGEST_WAIT_MS);
          assert.ok(tried.rateWaitMs <= LONGEST_WAIT_MS);
          assert.ok(failures < 4 && inDoubt < 2);
        }
      },
    ),
  );
});
