import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { between, pick, randomOf } from '../../src/data/sample/random.ts';
import { newProgress } from '../../src/run/progress.ts';
import { JumpingClock } from '../jumping-clock.ts';
import { openHarness, places } from '../run/harness.ts';
import { buy } from './buyer.ts';

const [CELLS, CREDITS_PER_MINUTE] = [700, 200];
/** Three and a half minutes of credits: the fourth minute's may be spent only after three whole minutes. */
const MINUTES_NEEDED = 3;
/** A busy machine takes 20 s for the calls: ten times the minutes needed must be longer than that. */
const FACTOR = 40;
const MINUTE = 60_000;

export interface ClockTrial {
  readonly jumps: readonly string[];
  readonly minutes: number;
  readonly wrong: readonly string[];
}

/** A run that fills its minutes while its clock is set forwards and backwards; the service's clock goes on evenly. */
export async function clockTrial(t: TestContext, seed: number): Promise<ClockTrial> {
  const random = randomOf(seed, 'clock');
  const [start, origin] = [Date.parse('2026-03-15T12:00:00Z'), Date.now()];
  const harness = await openHarness(t, {
    subscription: customSubscription(100_000, CREDITS_PER_MINUTE),
    clock: { start, factor: FACTOR, origin },
  });
  harness.writeInput(places(CELLS));
  const clock = new JumpingClock(start, FACTOR, origin);
  const progress = newProgress();
  const subscription = { credits_per_month: 100_000, credits_per_minute: CREDITS_PER_MINUTE };
  const running = buy({
    ...{ folder: harness.folder, baseUrl: harness.url, key: harness.key(), clock, progress },
    job: { topics: ['wildfire'], subscription },
  });
  const jumps: string[] = [];
  const ended = new AbortController();
  void running.finally(() => ended.abort()).catch(() => {});
  const began = clock.steady();
  while (!ended.signal.aborted) {
    await delay(between(random, 20, 250), undefined, { signal: ended.signal }).catch(() => {});
    const ms = Math.round(pick(random, [1, -1]) * pick(random, [90_000, 3_600_000, 6 * 3_600_000]) * (0.5 + random()));
    // Within the billing period: a clock that is wrong by weeks is believed, there is no other calendar.
    if (Math.abs(clock.now() + ms - clock.steady()) > 5 * 86_400_000) continue;
    clock.jump(ms);
    jumps.push(`${Math.round(ms / 1000)} s`);
  }
  const { state } = await running;
  const minutes = (clock.steady() - began) / MINUTE;
  const wrong: string[] = [];
  if (state !== 'complete') wrong.push(`the run ended ${state}`);
  if (progress.slowedDown > 0) wrong.push(`the service said ${progress.slowedDown} times that the minute is full`);
  if (harness.charged() !== CELLS) wrong.push(`${harness.charged()} credits charged for ${CELLS} cells`);
  if (minutes < MINUTES_NEEDED) wrong.push(`it took ${minutes} minutes: the limit was not in force`);
  if (minutes > 10 * MINUTES_NEEDED) wrong.push(`it took ${minutes} minutes instead of ${MINUTES_NEEDED} and some`);
  return { jumps, minutes, wrong };
}
