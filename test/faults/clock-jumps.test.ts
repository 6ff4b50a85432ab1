import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { makeClock, steadyTime, systemClock } from '../../src/base/clock.ts';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { newProgress } from '../../src/run/frame/progress.ts';
import { drawBetween, makeRandom, pick } from '../../src/sample/random.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { FastClock } from '../fast-clock.ts';
import { JumpingClock } from '../jumping-clock.ts';
import { openHarness, places } from '../run/harness.ts';
import { callAt, chargedFor, SINGLE, termsOf } from '../store/claims.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { firstSeed, times } from '../tier.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const [CELLS, CREDITS_PER_MINUTE] = [700, 200];
/** Three and a half minutes of credits: the fourth minute's may be spent only after three whole minutes. */
const MINUTES_NEEDED = 3;
/** A busy machine takes 20 s for the calls: ten times the minutes needed must be longer than that. */
const FACTOR = 40;

test('the clock is set while a run fills its minutes: the service sees no minute that is too full, and nobody waits long', {
  timeout: 3_600_000,
}, async (t) => {
  const trials = times({ long: 1, soak: 10 });
  for (let nth = 0; nth < trials; nth++) await clockTrial(t, firstSeed(1) + nth);
});

/** A run that fills its minutes while its clock is set forwards and backwards; the service's clock goes on evenly. */
async function clockTrial(t: TestContext, seed: number): Promise<void> {
  const random = makeRandom(seed, 'clock');
  const start = Date.parse('2026-03-15T12:00:00Z');
  const right = new FastClock(start, FACTOR);
  const clock = new JumpingClock(start, FACTOR, right);
  const harness = await openHarness(t, {
    subscription: customSubscription(100_000, CREDITS_PER_MINUTE),
    clock,
    service: { clock: right },
  });
  harness.writeInput(places(CELLS));
  const progress = newProgress();
  const running = harness.run({ topics: ['wildfire'] }, { progress });
  const jumps: string[] = [];
  const ended = new AbortController();
  void running.finally(() => ended.abort()).catch(() => {});
  const began = clock.steady();
  while (!ended.signal.aborted) {
    await delay(drawBetween(random, 20, 250), undefined, { signal: ended.signal }).catch(() => {});
    const ms = Math.round(
      pick(random, [1, -1]) * pick(random, [90_000, HOUR, 6 * HOUR]) * (0.5 + random()),
    );
    // Within the billing period: a clock that is wrong by weeks is believed, there is no other calendar.
    if (Math.abs(clock.now() + ms - clock.steady()) > 5 * DAY) continue;
    clock.jump(ms);
    jumps.push(`${Math.round(ms / 1000)} s`);
  }
  const { state } = await running;
  const minutes = (clock.steady() - began) / 60_000;
  t.diagnostic(`seed ${seed}: ${minutes} minutes, the clock jumped by ${jumps.join(', ')}`);
  assert.ok(jumps.length > 3);
  assert.deepEqual([state, harness.charged()], ['complete', CELLS]);
  assert.equal(progress.slowedDown, 0, 'the service said that the minute is full');
  assert.ok(minutes >= MINUTES_NEEDED, `it took ${minutes} minutes: the limit was not in force`);
  assert.ok(
    minutes <= 10 * MINUTES_NEEDED,
    `it took ${minutes} minutes instead of ${MINUTES_NEEDED} and some`,
  );
}

/** How long a wait of `ms` takes by the steady clock, when the wall clock is moved by `jump` in each of its pauses. */
async function waited(ms: number, jump: number): Promise<number> {
  let [wall, steady] = [Date.parse('2026-03-15T12:00:00Z'), 5_000];
  const clock = makeClock(
    () => wall,
    () => steady,
    async (pause) => {
      assert.ok(steady < 5_000 + 100 * DAY, 'a wait without end');
      steady += pause;
      wall += pause + jump;
    },
  );
  await clock.sleep(ms);
  return steady - 5_000;
}

test('a wait for a span lasts as long as it was asked to, wherever the clock is set in it', async () => {
  for (const ms of [250, 60_250, 10 * 60_000]) {
    for (const jump of [0, -HOUR, HOUR, -400 * DAY]) assert.equal(await waited(ms, jump), ms);
  }
});

test('a wait for a date ends when the date has come, as after a machine was suspended, and never later than asked', async () => {
  assert.equal(await waited(30 * DAY, 0), 30 * DAY);
  assert.ok((await waited(30 * DAY, DAY)) <= 30 * 60_000, 'in each minute a day goes by');
  assert.equal(await waited(30 * DAY, -HOUR), 30 * DAY);
});

test("the program's steady clock is not the wall clock, which may be set", () => {
  // Milliseconds since the machine was started, not since 1970.
  assert.ok(steadyTime(systemClock) < Date.UTC(2000));
});

/** The wall clock and the steady clock of one machine, set by hand. */
function machineClock() {
  let [wall, steady] = [Date.parse('2026-03-15T12:00:00Z'), 5_000_000];
  return {
    ...{ now: () => wall, steady: () => steady, sleep: async () => {} },
    pass: (ms: number) => ([wall, steady] = [wall + ms, steady + ms]),
    set: (ms: number) => (wall += ms),
    /** The machine is started again; its clock goes on. */
    restart: () => (steady = 1_000),
  };
}

/** Two processes of one machine on one store, with a minute of 10 credits. */
async function twoProcesses(t: TestContext) {
  const clock = machineClock();
  const file = join(temporaryFolder(t), 'store.db');
  const open = (name: string) =>
    openSqliteStore(file, clock, { name: `here/${name}`, isAlive: () => true });
  const work = async (store: ReturnType<typeof open>) => {
    const terms = await termsOf(store, { creditsPerMinute: 10, leaseMs: 220_000 });
    const claim = async (number: number) =>
      (await store.claim(terms, [callAt(number, SINGLE)]))[0]!;
    const fillMinute = async () => {
      for (let cell = 0; cell < 10; cell++) await store.settle([chargedFor(await claim(cell), 1)]);
    };
    return { store, claim, fillMinute };
  };
  return { clock, process: async (name: string) => work(open(name)) };
}

for (const jump of [HOUR, -HOUR]) {
  const way = jump > 0 ? 'forward' : 'back';
  test(`the clock is set ${way} between two claims: the minute is the same for who was there and who comes`, async (t) => {
    const { clock, process } = await twoProcesses(t);
    const first = await process('1');
    await first.fillMinute();
    clock.pass(20_000);
    clock.set(jump);
    const second = await process('2');
    for (const { claim } of [first, second]) {
      const refused = await claim(100);
      assert.ok(
        refused.outcome === 'wait' && refused.ms > 30_000 && refused.ms <= 40_100,
        JSON.stringify(refused),
      );
    }
    clock.pass(40_101);
    assert.equal((await second.claim(100)).outcome, 'granted');
    assert.equal((await first.claim(101)).outcome, 'granted');
    for (const { store } of [first, second]) await store.close();
  });

  test(`the clock is set ${way} while a call is in flight: its cell is not given to another, and is after its lease`, async (t) => {
    const { clock, process } = await twoProcesses(t);
    const first = await process('1');
    assert.equal((await first.claim(1)).outcome, 'granted');
    clock.set(jump);
    const second = await process('2');
    assert.equal((await second.claim(1)).outcome, 'claimed');
    clock.pass(220_001);
    assert.equal((await second.claim(1)).outcome, 'granted');
    for (const { store } of [first, second]) await store.close();
  });
}

test('after the machine was started again, the minute goes on where it was, and never waits for long', async (t) => {
  for (const jump of [0, -HOUR, HOUR]) {
    const { clock, process } = await twoProcesses(t);
    const before = await process('1');
    await before.fillMinute();
    await before.store.close();
    clock.pass(10_000);
    clock.restart();
    clock.set(jump);
    const after = await process('2');
    const claim = await after.claim(50);
    const isRight =
      jump > 0 ? claim.outcome === 'granted' : claim.outcome === 'wait' && claim.ms <= 60_100;
    assert.ok(isRight, JSON.stringify(claim));
    await after.store.close();
  }
});
