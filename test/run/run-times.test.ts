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
    /** An answer that took some time and came from a service whose clock is ahead of the true time by so much. */
    answer(ahead: number, ms = 200) {
      time.wall += ms;
      time.steady += ms;
      const date = Math.floor((START + time.steady - 5_000 + ahead) / 1_000) * 1_000;
      times.learn(date, time.steady - ms);
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

test('whatever an answer took, times are whole milliseconds, as the store keeps them', () => {
  for (const ms of [1, 2, 201]) {
    const { answer, times } = machine();
    answer(-HOUR, ms);
    const { earliest, latest } = times.billing();
    for (const time of [earliest, latest, times.wallAt(0)])
      assert.ok(Number.isInteger(time), `${time}`);
  }
});

test('a service’s clock that agrees to the minute counts as ours; else the earlier limits and the later counts, with one notice', () => {
  const both = /The service's clock says .* UTC, this machine's 2026-03-30 23:30 UTC\. Until both/;
  const own = /Billing periods are counted by this machine's clock/;
  for (const [notice, differences] of [
    [null, [0, 50_000, -50_000]],
    [both, [HOUR, -HOUR, 47 * HOUR, -3 * DAY]],
    [own, [3 * DAY, 8_000 * 365 * DAY]],
  ] as const) {
    for (const ahead of differences) {
      const { answer, apart, told, pass, times } = machine();
      for (const ms of [MINUTE, HOUR, MINUTE]) {
        answer(ahead);
        pass(ms);
      }
      const difference = notice === both ? ahead : 0;
      assert.deepEqual(apart(), [Math.min(0, difference), Math.max(0, difference)]);
      const shown = Math.round(times.wallAt(0) / 1_000) * 1_000;
      assert.equal(shown, Math.max(0, -difference), 'when the slower clock shows 0');
      assert.equal(told.length, notice === null ? 0 : 1);
      if (notice !== null) assert.match(told[0]!, notice);
    }
  }
});

test('a machine whose clock was never set books by the service’s', () => {
  const { answer, apart, time } = machine();
  time.wall = 5_000;
  const unset = new RunTimes(
    { now: () => time.wall, steady: () => time.steady, sleep: async () => {} },
    time.wall,
    31,
    () => {},
  );
  unset.learn(START, time.steady);
  assert.equal(unset.periods().period.start, Date.UTC(2026, 1, 28));
  assert.ok(unset.periods().countedSince! < 0);
  answer(0);
  assert.deepEqual(apart(), [0, 0], 'set back in the run, the run’s own time counts');
});

test('an answer that took more than a minute tells no time', () => {
  for (const [took, notices] of [
    [MINUTE, 1],
    [MINUTE + 1, 0],
  ] as const) {
    const { pass, told, times } = machine();
    pass(took);
    times.learn(START + HOUR, 5_000);
    assert.equal(told.length, notices, String(took));
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

test('a service whose clock jumps from one answer to the next is believed as it is now', () => {
  const { answer, apart } = machine();
  for (const ahead of [HOUR, 30 * HOUR, HOUR, 0]) {
    answer(ahead);
    assert.deepEqual(apart(), [0, ahead]);
  }
});

test('this machine’s clock is set back in the run: its own time goes on', () => {
  const { answer, apart, time } = machine();
  time.wall -= 40 * DAY;
  assert.deepEqual(apart(), [0, 0]);
  answer(0);
  assert.deepEqual(apart(), [0, 0]);
});

test('this machine’s clock is set forward in the run: it is believed as it would be by the next run, and the service limits', () => {
  for (const jump of [HOUR, 3 * DAY, 40 * DAY]) {
    const { answer, apart, times, time } = machine();
    time.wall += jump;
    assert.deepEqual(apart(), [jump, jump]);
    answer(0);
    assert.deepEqual(apart(), [0, jump]);
    assert.equal(Math.round(times.wallAt(0) / 1_000) * 1_000, jump);
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
