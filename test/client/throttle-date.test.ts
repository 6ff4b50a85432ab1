import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settled, until } from './clocks.ts';
import { heldJob, setUp } from './throttles.ts';

const [MINUTE, DAY] = [60_000, 86_400_000];

for (const jump of [-MINUTE, MINUTE, -2 * 60 * MINUTE, -20 * DAY, -40 * DAY, 40 * DAY]) {
  test(`the process's clock is set by ${jump / MINUTE} minutes between two calls: the second starts, and close ends`, async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 2, 15, 12) });
    const { throttle, started, spend } = setUp();
    await Promise.all(spend(1, 3));
    t.mock.timers.setTime(Date.now() + jump);
    const later = spend(1, 3);
    await until(() => started.length === 6);
    assert.equal(started.length, 6);
    await Promise.all(later);
    await throttle.close();
  });
}

test('the clock is set back before the first call: it starts', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 2, 15, 12) });
  const { throttle, started, spend } = setUp();
  await settled();
  t.mock.timers.setTime(Date.now() - 20 * DAY);
  const first = spend(1);
  await until(() => started.length === 1);
  assert.equal(started.length, 1);
  await Promise.all(first);
  await throttle.close();
});

test('close ends though Bottleneck waits for a clock that was set back while the throttle was being made', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 2, 15, 12) });
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const { throttle } = setUp();
  t.mock.timers.setTime(Date.now() - 20 * DAY);
  const held = heldJob();
  const inFlight = throttle.schedule(1, held.job);
  await until(() => throttle.inFlight === 1);
  assert.equal(throttle.inFlight, 1);
  held.land();
  await inFlight;
  await throttle.close();
  await until(() => timers() === before);
  assert.equal(timers(), before, 'a timer would keep the process alive');
});
