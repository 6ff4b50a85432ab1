import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import type { Throttle } from '../../src/client/throttle.ts';
import { until } from '../until.ts';
import { heldJob, type MovedClock, settled, setUp } from './throttles.ts';

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
    assert.equal(await throttle.schedule(1, async () => 'next'), 'next', `${where}: it holds no socket`);
  }
});

test('the next call of a begun place goes before the first one of another', async (t) => {
  const { throttle } = setUp(t, { sockets: 1 });
  const order: string[] = [];
  const held = heldJob();
  const begin = (name: string, isBegun: boolean) =>
    throttle.schedule(1, async () => order.push(name), undefined, isBegun);
  const all = [throttle.schedule(1, held.job), begin('first', false), begin('second', false), begin('begun', true)];
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
  assert.equal(getEventListeners(abort.signal, 'abort').length, 0, 'a run of millions of calls has one signal');
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
