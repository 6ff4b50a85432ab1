import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../until.ts';
import { HOLD_MS, settled, setUp } from './throttles.ts';

const [MINUTE, DAY] = [60_000, 86_400_000];

for (const jump of [-MINUTE, MINUTE, -2 * 60 * MINUTE, -20 * DAY, -40 * DAY, 40 * DAY]) {
  test(`the process's clock is set by ${jump / MINUTE} minutes while calls wait: each starts in its turn, and close ends`, async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 2, 15, 12) });
    const timers = () =>
      process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const { clock, throttle, started, spend } = setUp(t);
    const all = [...spend(150, 2), ...spend(200), ...spend(300), ...spend(100, 3)];
    await until(() => started.length === 2);
    // Where the clock is set back while Bottleneck starts the next call, that call waits for the next credits.
    await settled();
    await settled();
    t.mock.timers.setTime(Date.now() + jump);
    for (const count of [3, 4, 7]) {
      assert.ok(started.length < count, 'they wait for their credits');
      await clock.move(HOLD_MS);
      await until(() => started.length === count);
      await settled();
      await settled();
      // Forwards, then back again.
      t.mock.timers.setTime(Date.now() - jump);
    }
    await Promise.all(all);
    await clock.move(HOLD_MS);
    t.mock.timers.setTime(Date.now() + jump);
    await Promise.all(spend(1));
    const waiting = assert.rejects(throttle.schedule(300, async () => {}));
    await throttle.close();
    await waiting;
    await until(() => timers() === 0);
    assert.equal(timers(), 0, 'a timer would keep the process alive');
  });
}

test('a call that waits for many credits stays the first when the process’s clock is set and some of them come back', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 2, 15, 12) });
  const { clock, throttle, started, spend } = setUp(t);
  await Promise.all(spend(200));
  await clock.move(1_000);
  await Promise.all(spend(100));
  const many = spend(300);
  const few = spend(100, 2);
  await settled();
  t.mock.timers.setTime(Date.now() - MINUTE);
  await clock.move(HOLD_MS - 1_000);
  await settled();
  const later = spend(50);
  await settled();
  assert.equal(started.length, 2, 'the 200 credits that came back are for the first');
  await clock.move(1_000);
  await Promise.all(many);
  assert.equal(started.length, 3);
  await clock.move(HOLD_MS);
  await Promise.all([...few, ...later]);
  await throttle.close();
});
