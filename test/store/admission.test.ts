import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusal, type Usage } from '../../src/store/ledger/admission.ts';
import { RecentCalls } from '../../src/store/ledger/recent-calls.ts';

const NOW = 1_000_000;
const NOTHING = { charged: 0, unknown: 0, open: 0 };
/** 60 credits are spent or may be: charged, of unknown charge, and in flight. */
const SIXTY = { charged: 30, unknown: 20, open: 10 };
const LIMITS = { periodLimit: 1_000, creditsPerMinute: 1_000, budget: 1_000 };

interface Case {
  readonly what: string;
  readonly usage?: Partial<Usage>;
  readonly limits?: Partial<typeof LIMITS>;
  /** The most credits that may still be spent, and what refuses one more. */
  readonly most: number;
  readonly refuses: 'budget' | 'quota' | 'wait';
}

const period = (more: Partial<Usage['period']> = {}) => ({ ...SIXTY, exhaustedAt: null, ...more });

const CASES: readonly Case[] = [
  {
    what: 'the budget, of which all but the free calls count',
    usage: { run: SIXTY },
    limits: { budget: 100 },
    most: 40,
    refuses: 'budget',
  },
  { what: 'the quota', usage: { period: period() }, limits: { periodLimit: 100 }, most: 40, refuses: 'quota' },
  {
    what: 'the quota, less what a later period counts',
    usage: { period: period({ later: 15 }) },
    limits: { periodLimit: 100 },
    most: 25,
    refuses: 'quota',
  },
  {
    what: "what others have spent, by the provider's page",
    usage: { period: period({ correction: { elsewhere: 35, at: 0 } }) },
    limits: { periodLimit: 100 },
    most: 5,
    refuses: 'quota',
  },
  {
    what: 'the provider counts fewer than the ledger',
    usage: { period: period({ correction: { elsewhere: -5, at: 0 } }) },
    limits: { periodLimit: 100 },
    most: 45,
    refuses: 'quota',
  },
  {
    what: 'the minute, of which calls in flight count',
    usage: { inFlight: 10, recent: recent(20) },
    limits: { creditsPerMinute: 50 },
    most: 20,
    refuses: 'wait',
  },
];

/** Credits of a call that settled ten seconds ago. */
function recent(credits: number): RecentCalls {
  const calls = new RecentCalls();
  calls.add([{ run: 1, credits, settledAt: NOW - 10_000 }]);
  return calls;
}

const usageOf = (usage: Partial<Usage> = {}): Usage => ({
  period: { ...NOTHING, exhaustedAt: null },
  run: NOTHING,
  inFlight: 0,
  recent: new RecentCalls(),
  ...usage,
});

for (const { what, usage, limits, most, refuses } of CASES) {
  test(`up to the last credit: ${what}`, () => {
    const decide = (credits: number) => refusal(usageOf(usage), { ...LIMITS, ...limits }, credits, NOW);
    assert.equal(decide(most), null);
    assert.equal(decide(most + 1)?.outcome, refuses);
  });
}

test('a quota that the service says is used up has nothing left', () => {
  assert.deepEqual(refusal(usageOf({ period: { ...NOTHING, exhaustedAt: NOW } }), LIMITS, 1, NOW), {
    outcome: 'quota',
  });
});

test('a full minute is waited for until the oldest calls that make room are a minute old, and not a moment longer', () => {
  const calls = new RecentCalls();
  calls.add([10_000, 5_000, 1_000].map((age) => ({ run: 1, credits: 15, settledAt: NOW - age })));
  const wait = (credits: number) =>
    refusal(usageOf({ recent: calls }), { ...LIMITS, creditsPerMinute: 45 }, credits, NOW);
  assert.deepEqual(
    [wait(15), wait(16), wait(45)],
    [50_100, 55_100, 59_100].map((ms) => ({ outcome: 'wait', ms })),
  );
});

test('a minute that calls in flight fill is looked at again soon, because nobody knows when they settle', () => {
  const limits = { ...LIMITS, creditsPerMinute: 45 };
  assert.deepEqual(refusal(usageOf({ inFlight: 45 }), limits, 1, NOW), { outcome: 'wait', ms: 250 });
});
