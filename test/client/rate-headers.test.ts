import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Exchange, parseDate, readRate } from '../../src/client/exchange.ts';
import { count, resetMs, retryAfterMs } from '../../src/contract/headers.ts';
import { fc } from '../properties.ts';
import { NOW, received } from './answers.ts';

const whole = (min: number, max: number) => fc.integer({ min, max });
const after = (text: string) => retryAfterMs(text, NOW);
const YEAR_MS = 366 * 86_400_000;
const httpDate = (ms: number) => new Date(ms).toUTCString();

test('the unit of the reset is told by its size', () => {
  for (const [from, to, expected] of [
    [0, 60, (seconds: number) => seconds * 1_000],
    [61, 1e9, (ms: number) => ms],
    [
      1e9 + 1,
      Math.floor((NOW + YEAR_MS) / 1_000),
      (epochSeconds: number) => Math.max(0, epochSeconds * 1_000 - NOW),
    ],
    [1e12 + 1, NOW + YEAR_MS, (epochMs: number) => Math.max(0, epochMs - NOW)],
    [NOW + YEAR_MS + 1, 1e15 - 1, () => null],
  ] as const) {
    fc.assert(
      fc.property(whole(from, to), (value) => resetMs(String(value), NOW) === expected(value)),
    );
  }
});

test('a number is a number only when nothing else is there', () => {
  fc.assert(fc.property(fc.nat(), (n) => count(` ${n} `) === n));
  for (const text of [
    '',
    ' ',
    '-1',
    '1.5',
    '1e3',
    '0x10',
    'NaN',
    'Infinity',
    '12 34',
    '300, 300',
    '9'.repeat(30),
  ]) {
    assert.equal(count(text), null, text);
    assert.equal(resetMs(text, NOW), null, text);
  }
  assert.equal(count(undefined), null);
});

test('Retry-After in seconds, at least one', () => {
  fc.assert(
    fc.property(whole(1, YEAR_MS / 1_000), (seconds) => after(String(seconds)) === seconds * 1_000),
  );
  assert.equal(after('0'), 1_000);
  assert.equal(after('0.2'), 1_000);
  assert.equal(after('1.5'), 1_500);
});

test('a wait of more than a year is not believed', () => {
  for (const seconds of [YEAR_MS / 1_000 + 1, 999_999_999_999]) {
    assert.equal(after(String(seconds)), null);
    assert.equal(after(httpDate(NOW + seconds * 1_000)), null);
  }
});

test('Retry-After as a date, at least a second from now', () => {
  fc.assert(
    fc.property(whole(-1e6, YEAR_MS / 1_000), (seconds) => {
      assert.equal(after(httpDate(NOW + seconds * 1_000)), Math.max(1_000, seconds * 1_000));
    }),
  );
});

test('the two old forms of dates are read, also of a header that came twice: the longest wait counts', () => {
  const seconds = (date: number) => new Date(date).toUTCString().slice(17, 25);
  fc.assert(
    fc.property(whole(1, 1e6), (wait) => {
      const date = NOW + wait * 1_000;
      const [, day = '', month, year = ''] = new Date(date).toUTCString().split(' ');
      const asctime = `Sun ${month} ${String(Number(day)).padStart(2, ' ')} ${seconds(date)} ${year}`;
      const rfc850 = `Sunday, ${day}-${month}-${year.slice(2)} ${seconds(date)} GMT`;
      for (const text of [
        asctime,
        rfc850,
        `${rfc850}, ${rfc850}`,
        `1, ${asctime}`,
        `${httpDate(date)}, 1`,
      ]) {
        assert.equal(after(text), wait * 1_000, text);
      }
    }),
  );
  for (const [text, expected] of [
    ['3, 3', 3_000],
    ['3,120', 120_000],
    ['3, soon', null],
    ['Sunday, 31-Feb-26 10:00:00 GMT', null],
    ['Sun Feb 31 10:00:00 2026', null],
    ['Jan 2026 12:00:00 GMT', null],
  ] as const) {
    assert.equal(after(text), expected, text);
  }
});

test('what is neither seconds nor a possible date is nothing', () => {
  const dates = [
    '7 January',
    'Sat, 31 Feb 2026 10:00:00 GMT',
    'Mon, 15 Jan 2026 12:00:00 GMT',
    '2026-01-15',
  ];
  for (const text of ['', 'soon', '-5', '1e9', '9'.repeat(400), ...dates])
    assert.equal(after(text), null, text);
});

test('times of day are taken against the clock of the service, where it tells it', () => {
  const skewed = NOW + 3_600_000;
  const headers = {
    date: httpDate(skewed),
    'retry-after': httpDate(skewed + 9_000),
    'x-ratelimit-reset': String(skewed + 5_000),
  };
  assert.deepEqual(readRate(headers, NOW), {
    remaining: null,
    resetMs: 5_000,
    retryAfterMs: 9_000,
  });
});

test('an answer tells the time, unless it comes from a cache', () => {
  const date = httpDate(NOW);
  for (const [headers, expected] of [
    [{ date }, NOW],
    [{ date, age: '0' }, NOW],
    [{ date, age: '1' }, null],
    [{}, null],
  ] as const) {
    assert.equal(parseDate(received(200, '', headers)), expected);
  }
  const failure: Exchange = {
    kind: 'failure',
    reached: 'maybe',
    code: 'BROKEN',
    message: '',
    headers: {},
    elapsedMs: 1,
  };
  assert.equal(parseDate(failure), null);
});

test("the contract's sample", () => {
  const headers = {
    'x-ratelimit-limit': '300',
    'x-ratelimit-remaining': '285',
    'x-ratelimit-reset': '42',
  };
  assert.deepEqual(readRate(headers, NOW), { remaining: 285, resetMs: 42_000, retryAfterMs: null });
});
