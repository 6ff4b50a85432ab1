import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Throttle } from '../../src/client/throttle.ts';
import { LeapingClock } from '../faults/leaping-clock.ts';
import { LONG, SHORT } from '../tier.ts';

const WINDOW_MS = 60_000;
const WINDOWS = 3;

interface Charge {
  readonly at: number;
  readonly credits: number;
}

/** The most credits that any window of a minute saw, wherever it begins. */
function worstWindow(charges: readonly Charge[]): number {
  const sorted = charges.toSorted((a, b) => a.at - b.at);
  let from = 0;
  let sum = 0;
  let worst = 0;
  for (const { at, credits } of sorted) {
    sum += credits;
    while (sorted[from]!.at <= at - WINDOW_MS) sum -= sorted[from++]!.credits;
    worst = Math.max(worst, sum);
  }
  return worst;
}

/** Spends `WINDOWS` minutes' worth and one credit more: a perfect throttle spends the last at the end of the last one. */
async function run(
  limit: number,
  sockets: number,
  priceOf: (nth: number) => number,
  latencyMs: (nth: number) => number,
) {
  // Timers that are late by a millisecond of the wall, and a machine that is busy, would cost more than the throttle does.
  const clock = new LeapingClock('2026-03-15T12:00:00Z', 8);
  const throttle = new Throttle({ creditsPerMinute: limit, sockets, clock });
  const charges: Charge[] = [];
  const underWay = new Set<Promise<void>>();
  let spent = 0;
  for (let nth = 0; spent <= WINDOWS * limit; nth++) {
    const credits = priceOf(nth);
    spent += credits;
    const call = throttle
      .schedule(credits, async () => {
        // The service counts at any instant between the start and the end.
        const ms = latencyMs(nth);
        const before = ms * ((nth * 0.618) % 1);
        if (before > 0) await clock.sleep(before);
        charges.push({ at: clock.now(), credits });
        if (ms > before) await clock.sleep(ms - before);
      })
      .finally(() => underWay.delete(call));
    underWay.add(call);
    if (underWay.size >= 2 * sockets) await Promise.race(underWay);
  }
  await Promise.all(underWay);
  await throttle.close();
  const tookMs = charges.at(-1)!.at - charges[0]!.at;
  return {
    worst: worstWindow(charges),
    use: (WINDOWS * WINDOW_MS) / tookMs,
    alive: clock.sleeping,
  };
}

const mixed = [1, 15, 1, 1, 35, 1, 15, 1];

describe('every window', { concurrency: true }, () => {
  for (const [name, limit, sockets, priceOf, latencyMs, options] of [
    ['standard bundles at starter', 300, 8, () => 15, () => 300, SHORT],
    [
      'a mix',
      600,
      16,
      (nth: number) => mixed[nth % mixed.length]!,
      (nth: number) => 100 + ((nth * 53) % 400),
      LONG,
    ],
  ] as const) {
    test(
      `${name}: no window sees more than the limit, and at least 97 % is used`,
      options,
      async (t) => {
        const { worst, use, alive } = await run(limit, sockets, priceOf, latencyMs);
        t.diagnostic(`worst window ${worst} of ${limit}, use ${(use * 100).toFixed(1)} %`);
        assert.ok(worst <= limit, `${worst} of ${limit}`);
        assert.ok(use >= 0.97, `${use}`);
        assert.equal(alive, 0);
      },
    );
  }
});
