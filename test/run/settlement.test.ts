import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settlementOf } from '../../src/run/buy/settlement.ts';
import { RunTimes } from '../../src/run/run-times.ts';
import { MovedClock } from '../moved-clock.ts';

const NOW = Date.UTC(2026, 2, 15, 12);
const MINUTE = 60_000;
const DAY = 86_400_000;

test('the time that the service states is kept from 5 minutes ago to 2 days ahead, if it is fresh enough', () => {
  const call = { kind: 'single', topic: 'hail' } as const;
  const asked = { call, wanted: [], number: 1, work: { number: 0 } };
  const times = new RunTimes(new MovedClock(NOW), NOW, () => {});
  const keptTime = (timestamp: number | null, freshSince: number) => {
    const context = {
      job: { areas: null, account: { anniversaryDay: 1 } },
      freshness: { startedAt: NOW, freshSince: () => freshSince },
      effects: { times },
    };
    const results = new Map([['hail', { ok: true, result: ['Very Low', 1, null] }]]);
    const settled = settlementOf(context as unknown as Parameters<typeof settlementOf>[0], asked, {
      ledger: {},
      answer: { results, timestamp },
      failure: null,
    } as unknown as Parameters<typeof settlementOf>[2]);
    return settled.answers[0]!.asOf;
  };
  const earlier = NOW - DAY;
  for (const [stated, freshSince, kept] of [
    [null, earlier, NOW],
    [NOW - 5 * MINUTE, earlier, NOW - 5 * MINUTE],
    [NOW - 5 * MINUTE - 1, earlier, NOW],
    [NOW + 2 * DAY, earlier, NOW + 2 * DAY],
    [NOW + 2 * DAY + 1, earlier, NOW],
    [NOW - MINUTE, NOW - MINUTE, NOW - MINUTE],
    [NOW - MINUTE - 1, NOW - MINUTE, NOW],
  ] as const) {
    assert.equal(keptTime(stated, freshSince), kept, `${stated}, fresh since ${freshSince}`);
  }
});
