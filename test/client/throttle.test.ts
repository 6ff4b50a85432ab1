import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import type { Permit, Throttle } from '../../src/client/throttle.ts';
import { until } from '../until.ts';
import { HOLD_MS, heldJob, type MovedClock, settled, setUp } from './throttles.ts';

test('a value and an error of the job come back as they are', async (t) => {
  const { throttle } = setUp(t);
  assert.equal(await throttle.schedule(1, async ({ credits }) => credits + 1), 2);
  await assert.rejects(
    throttle.schedule(1, () => Promise.reject(new RangeError('mine'))),
    RangeError,
  );
  await assert.rejects(
    throttle.schedule(1, () => {
      throw new RangeError('mine');
    }),
    RangeError,
  );
  assert.equal(throttle.inFlight, 0);
});

test('what is spent comes back a minute and the margin after it landed, not before', async (t) => {
  const { clock, throttle, started, spend } = setUp(t);
  const spent = spend(15, 21);
  await until(() => started.length === 20 && throttle.inFlight === 0);
  await settled();
  assert.equal(started.length, 20);
  assert.equal(throttle.available, 0);
  await clock.move(HOLD_MS - 1);
  assert.equal(started.length, 20);
  await clock.move(1);
  await until(() => started.length === 21);
  assert.equal(throttle.available, 285);
  await Promise.all(spent);
});

test('one timer gives back the credits of all calls, those of each call when its minute is over', async (t) => {
  const { clock, throttle, spend } = setUp(t);
  for (const left of [200, 100]) {
    await Promise.all(spend(1, 100));
    assert.equal(throttle.available, left);
    assert.equal(clock.sleeping, 1);
    await clock.move(10_000);
  }
  for (const [ms, left] of [
    [HOLD_MS - 20_000, 200],
    [10_000, 300],
  ] as const) {
    await clock.move(ms);
    assert.equal(throttle.available, left);
  }
  await Promise.all(spend(1));
  await clock.move(HOLD_MS);
  assert.equal(throttle.available, 300, 'and again');
  await throttle.close();
  assert.equal(clock.sleeping, 0);
});

for (const [creditsPerMinute, turns] of [
  [300, 'processes take turns'],
  [21_000, 'a call that finds its credits waits for no turn'],
] as const) {
  test(`of ${creditsPerMinute} credits a minute no call takes those that another one waits for; ${turns}`, async (t) => {
    const { clock, throttle, started, spend } = setUp(t, { creditsPerMinute });
    const third = creditsPerMinute / 3;
    await Promise.all(spend(third, 2));
    const waiting = [...spend(2 * third), ...spend(1)];
    await settled();
    await settled();
    assert.deepEqual([started.length, throttle.available], [2, third]);
    await clock.move(HOLD_MS);
    await Promise.all(waiting);
    assert.equal(throttle.available, third - 1);
    await clock.move(HOLD_MS);
    const all = spend(third, 3);
    for (let nth = 0; nth < 50; nth++) await null;
    assert.equal(started.length, creditsPerMinute === 300 ? 4 : 7);
    await Promise.all(all);
  });
}

test('the minute begins when the call has landed', async (t) => {
  const { clock, throttle, started, spend } = setUp(t);
  const slow = heldJob();
  const first = throttle.schedule(300, slow.job);
  const second = spend(1);
  await until(() => throttle.inFlight === 1);
  await clock.move(100_000);
  assert.equal(started.length, 0);
  slow.land();
  await first;
  await clock.move(HOLD_MS - 1);
  assert.equal(started.length, 0);
  await clock.move(1);
  await until(() => started.length === 1);
  await Promise.all(second);
});

test('a refund comes back at once, once, and never more than was taken', async (t) => {
  const { throttle, started, spend } = setUp(t);
  let late: Permit | undefined;
  await throttle.schedule(300, async (permit) => {
    permit.refund();
    permit.refund();
    assert.equal(throttle.available, 300);
    late = permit;
  });
  late?.refund();
  assert.equal(throttle.available, 300);
  await Promise.all(spend(300));
  await until(() => started.length === 1);
});

test('a part can be refunded', async (t) => {
  const { clock, throttle } = setUp(t);
  await throttle.schedule(20, async ({ refund }) => {
    refund(5);
    refund(-3);
    refund(2);
  });
  assert.equal(throttle.available, 287);
  await clock.move(HOLD_MS);
  assert.equal(throttle.available, 300);
});

test('a call that fails holds its credits too: it may have been charged', async (t) => {
  const { throttle } = setUp(t);
  await assert.rejects(throttle.schedule(35, () => Promise.reject(new Error('reset'))));
  assert.equal(throttle.available, 265);
});

test('a call that can never start is refused at once, and blocks nobody', async (t) => {
  const { throttle, started, spend } = setUp(t, { creditsPerMinute: 30 });
  await assert.rejects(
    throttle.schedule(35, async () => 1),
    { name: 'PerilbookError', code: 'USAGE' },
  );
  await Promise.all(spend(15, 2));
  await until(() => started.length === 2);
});

test('weights do not count as sockets, and sockets are bounded', async (t) => {
  const { throttle } = setUp(t, { sockets: 2 });
  const jobs = [heldJob(), heldJob(), heldJob()];
  const all = jobs.map(({ job }) => throttle.schedule(35, job));
  await until(() => throttle.inFlight === 2);
  await settled();
  assert.equal(throttle.inFlight, 2);
  jobs[0]?.land();
  await settled();
  await until(() => throttle.inFlight === 2);
  for (const { land } of jobs) land();
  await Promise.all(all);
  assert.equal(throttle.inFlight, 0);
  await Promise.all(Array.from({ length: 4 }, () => throttle.schedule(1, async () => {})));
});

test('the service’s count is trusted downwards, until its reset', async (t) => {
  const { clock, throttle, started, spend } = setUp(t);
  throttle.correct(10, 30_000);
  assert.equal(throttle.available, 10);
  throttle.correct(10, 30_000);
  assert.equal(throttle.available, 10);
  const spent = spend(15);
  await clock.move(29_999);
  assert.equal(started.length, 0);
  await clock.move(1);
  await until(() => started.length === 1);
  assert.equal(throttle.available, 285);
  await Promise.all(spent);
});

test('a correction ends at its reset, also when credits that were spent before it come back later', async (t) => {
  const { clock, throttle, spend } = setUp(t);
  await Promise.all(spend(100));
  throttle.correct(50, 5_000);
  await clock.move(5_000);
  assert.equal(throttle.available, 200);
  await clock.move(HOLD_MS);
  assert.equal(throttle.available, 300);
});

test('the service’s count is not trusted upwards', async (t) => {
  const { throttle, spend } = setUp(t);
  await Promise.all(spend(100));
  throttle.correct(300, 60_000);
  throttle.correct(1e9, null);
  assert.equal(throttle.available, 200);
});

test('a correction without a reset, or with an absurd one, lasts a minute', async (t) => {
  for (const resetMs of [null, 1e12]) {
    const { clock, throttle } = setUp(t);
    throttle.correct(-5, resetMs);
    assert.equal(throttle.available, 0);
    await clock.move(HOLD_MS);
    assert.equal(throttle.available, 300);
  }
});

test('credits that came back while a call was under way are not taken for someone else’s spending', async (t) => {
  const { clock, throttle, spend } = setUp(t);
  await throttle.schedule(1, async ({ refund }) => refund());
  await Promise.all(spend(200));
  await clock.move(HOLD_MS - 1);
  await throttle.schedule(15, async (permit) => {
    // The service charges this call now, with the 200 still in its minute: 85 remain. Then they leave the minute.
    await clock.move(1);
    assert.equal(throttle.available, 285);
    throttle.correct(85, 60_000, permit);
    assert.equal(throttle.available, 285);
    throttle.correct(80, 60_000, permit);
    assert.equal(throttle.available, 280, 'five were spent by another');
  });
});

const isInterrupted = { name: 'PerilbookError', code: 'INTERRUPTED' };

test('during a pause nobody starts; a shorter one does not end it, a longer one extends it', async (t) => {
  const { clock, throttle, started, spend } = setUp(t);
  const now = clock.now();
  throttle.pauseUntil(now + 5_000);
  throttle.pauseUntil(now + 2_000);
  const spent = spend(1, 3);
  await settled();
  await clock.move(4_999);
  assert.equal(started.length, 0);
  throttle.pauseUntil(now + 9_000);
  await clock.move(1);
  assert.equal(started.length, 0);
  await clock.move(4_000);
  await until(() => started.length === 3);
  assert.deepEqual(started, [now + 9_000, now + 9_000, now + 9_000]);
  await Promise.all(spent);
  assert.equal(throttle.available, 297);
});

test('the signal ends the waiting at once, wherever a call waits, and spends nothing', async (t) => {
  const ways: [string, (throttle: Throttle, clock: MovedClock) => void][] = [
    ['for a socket', () => {}],
    ['for credits', (throttle) => throttle.correct(0, null)],
    ['for the end of a pause', (throttle, clock) => throttle.pauseUntil(clock.now() + 1e6)],
  ];
  for (const [where, hinder] of ways) {
    const { clock, throttle } = setUp(t, { sockets: 1 });
    const first = heldJob();
    const inFlight = where === 'for a socket' ? throttle.schedule(1, first.job) : null;
    hinder(throttle, clock);
    const abort = new AbortController();
    let ran = false;
    const waiting = throttle.schedule(1, async () => (ran = true), abort.signal);
    await settled();
    abort.abort();
    await assert.rejects(waiting, isInterrupted, where);
    first.land();
    await inFlight;
    await clock.move(1e6);
    await until(() => throttle.available === 300);
    assert.equal(throttle.available, 300, where);
    assert.equal(ran, false, where);
    assert.equal(
      await throttle.schedule(1, async () => 'next'),
      'next',
      `${where}: it holds no socket`,
    );
  }
});

test('the next call of a begun place goes before the first one of another', async (t) => {
  const { throttle } = setUp(t, { sockets: 1 });
  const order: string[] = [];
  const held = heldJob();
  const begin = (name: string, isBegun: boolean) =>
    throttle.schedule(1, async () => order.push(name), undefined, isBegun);
  const all = [
    throttle.schedule(1, held.job),
    begin('first', false),
    begin('second', false),
    begin('begun', true),
  ];
  held.land();
  await Promise.all(all);
  assert.deepEqual(order, ['begun', 'first', 'second']);
});

test('the signal does not end a call that has begun; one that has ended begins none', async (t) => {
  const { throttle } = setUp(t);
  const abort = new AbortController();
  const first = heldJob();
  const all = throttle.schedule(1, first.job, abort.signal);
  await until(() => throttle.inFlight === 1);
  abort.abort();
  first.land();
  await assert.doesNotReject(all);
  assert.equal(
    getEventListeners(abort.signal, 'abort').length,
    0,
    'a run of millions of calls has one signal',
  );
  await assert.rejects(throttle.schedule(1, first.job, abort.signal), isInterrupted);
  await throttle[Symbol.asyncDispose]();
  await assert.rejects(throttle.schedule(1, first.job), isInterrupted);
});

test('close rejects what waits, lets land what has begun, and leaves no timer; twice is once', async (t) => {
  const { clock, throttle, started, spend } = setUp(t, { sockets: 4 });
  await Promise.all(spend(290));
  const first = heldJob();
  const inFlight = throttle.schedule(1, first.job);
  const waiting = spend(15, 12);
  await until(() => throttle.inFlight === 1);
  let closed = false;
  const closing = throttle.close().then(() => {
    closed = true;
  });
  for (const one of waiting) await assert.rejects(one, isInterrupted);
  await settled();
  assert.equal(closed, false);
  first.land();
  await inFlight;
  await closing;
  await until(() => started.length === 1);
  assert.equal(clock.sleeping, 0);
  await throttle.close();
  await assert.rejects(
    throttle.schedule(1, async () => 1),
    isInterrupted,
  );
});

test('close ends a pause, and corrections and pauses afterwards do nothing', async (t) => {
  const { clock, throttle, spend } = setUp(t);
  throttle.pauseUntil(clock.now() + 1e9);
  const waiting = spend(1, 3);
  await settled();
  const closing = throttle.close();
  for (const one of waiting) await assert.rejects(one, isInterrupted);
  await closing;
  throttle.correct(0, null);
  throttle.pauseUntil(0);
  assert.equal(clock.sleeping, 0);
});
