import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RunTimes } from '../../src/run/frame/run-times.ts';
import { fc } from '../properties.ts';

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
const START = Date.UTC(2026, 2, 30, 23, 30);

function machine() {
  const time = { wall: START, steady: 5_000 };
  const told: string[] = [];
  const clock = { now: () => time.wall, steady: () => time.steady, sleep: async () => {} };
  const times = new RunTimes(clock, START, 31, (message) => told.push(message));
  return {
    time,
    told,
    times,
    pass(ms: number) {
      time.wall += ms;
      time.steady += ms;
    },
    /** An answer that took 200 ms and came from a service whose clock is ahead of the true time by so much. */
    answer(ahead: number) {
      time.wall += 200;
      time.steady += 200;
      const date = Math.floor((START + time.steady - 5_000 + ahead) / 1_000) * 1_000;
      times.learn(date, time.steady - 200);
    },
    /** Both ends, against the true time, rounded to seconds. */
    apart() {
      const { earliest, latest } = times.billing();
      return [earliest, latest].map(
        (ms) => Math.round((ms - (START + time.steady - 5_000)) / 1_000) * 1_000,
      );
    },
  };
}

test('a service’s clock that agrees to the minute counts as ours; within two days it is believed, farther off it is not, with one notice', () => {
  const believed =
    /The service's clock says 2026-.* UTC, this machine's 2026-03-30 23:30 UTC\. Until both/;
  const ignored = /Billing periods are counted by this machine's clock/;
  for (const [notice, differences] of [
    [null, [0, 50_000, -50_000]],
    [believed, [HOUR, -HOUR, 47 * HOUR]],
    [ignored, [3 * DAY, -3 * DAY, 8_000 * 365 * DAY]],
  ] as const) {
    for (const ahead of differences) {
      const { answer, apart, told, pass, times } = machine();
      for (const ms of [MINUTE, HOUR, MINUTE]) {
        answer(ahead);
        pass(ms);
      }
      const difference = notice === believed ? ahead : 0;
      assert.deepEqual(apart(), [Math.min(0, difference), Math.max(0, difference)]);
      const shown = Math.round(times.wallAt(0) / 1_000) * 1_000;
      assert.equal(shown, Math.max(0, -difference), 'when the slower clock shows 0');
      assert.equal(told.length, notice === null ? 0 : 1);
      if (notice !== null) assert.match(told[0]!, notice);
    }
  }
});

test('an answer that took long tells the time less exactly', () => {
  for (const [ahead, notices] of [
    [109_500, 0],
    [113_000, 1],
  ] as const) {
    const { pass, apart, told, times } = machine();
    pass(100_000);
    // Sent at 5 s of the steady time, and answered at any moment since: half of them is 50 s.
    times.learn(START + 50_000 + ahead, 5_000);
    assert.equal(told.length, notices, String(ahead));
    if (notices === 0) assert.deepEqual(apart(), [0, 0]);
  }
});

test('a call counts in the later period where the clocks differ, and with the credits since the earlier one began', () => {
  const { times, answer, pass } = machine();
  const [february, march, april] = [
    Date.UTC(2026, 1, 28),
    Date.UTC(2026, 2, 31),
    Date.UTC(2026, 3, 30),
  ];
  assert.deepEqual(times.periods(), {
    period: { start: february, end: march },
    countedSince: february,
  });
  answer(HOUR);
  assert.deepEqual(times.periods(), {
    period: { start: march, end: april },
    countedSince: february,
  });
  pass(HOUR);
  assert.deepEqual(times.periods(), { period: { start: march, end: april }, countedSince: march });
});

test('a service whose clock jumps from one answer to the next is not believed again', () => {
  const { answer, apart } = machine();
  answer(HOUR);
  answer(30 * HOUR);
  assert.deepEqual(apart(), [0, 0]);
  for (let nth = 0; nth < 10; nth++) answer(HOUR);
  assert.deepEqual(apart(), [0, 0]);
  const jumping = machine();
  for (const ahead of [0, 30 * HOUR]) jumping.answer(ahead);
  assert.deepEqual([jumping.apart(), jumping.told], [[0, 0], []]);
});

test('this machine’s clock is set in the run: the service tells which of the two times was right', () => {
  for (const jump of [-40 * DAY, 40 * DAY, -3 * DAY]) {
    const { answer, apart, time } = machine();
    answer(0);
    time.wall += jump;
    assert.deepEqual(apart(), [0, 0], 'the run’s own');
    answer(0);
    assert.deepEqual(apart(), [0, 0], 'the service’s clock runs evenly by the steady time');
    // Where the service says the same from the first answer on, the clock was corrected.
    const woken = machine();
    woken.time.wall += jump;
    woken.answer(jump);
    assert.deepEqual(woken.apart(), [jump, jump]);
  }
});

test('the machine was suspended: the service and the clock agree, and the time since the start does not count', () => {
  const { answer, apart, times, time, pass } = machine();
  answer(0);
  pass(HOUR);
  time.wall += DAY;
  // The answer's `Date` has gone on with the clock.
  time.steady += 200;
  times.learn(time.wall, time.steady - 200);
  assert.deepEqual(apart(), [DAY, DAY]);
});

test('without a word of the service both times count: the earlier limits, the later counts', () => {
  for (const jump of [-HOUR, 30_000, HOUR, 40 * DAY]) {
    const { apart, time, times } = machine();
    time.wall += jump;
    assert.deepEqual(apart(), [Math.min(0, jump), Math.max(0, jump)]);
    assert.equal(times.wallAt(0), jump > MINUTE ? jump : 0);
  }
});

test('the time of the run never goes behind its start and what has passed since', () => {
  const clock = { now: () => START, steady: () => 0, sleep: async () => {} };
  assert.equal(new RunTimes(clock, START + DAY, 31, () => {}).now(), START + DAY);
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(DAY), fc.integer({ min: -40 * DAY, max: 40 * DAY }))),
      (steps) => {
        const { times, time, pass } = machine();
        let passed = 0;
        for (const [ms, jump] of steps) {
          pass(ms);
          passed += ms;
          time.wall += jump;
          assert.ok(times.now() >= START + passed);
          assert.equal(times.now(), Math.max(time.wall, START + passed));
        }
      },
    ),
  );
});
