import assert from 'node:assert/strict';
import { test } from 'node:test';
import { durationMs } from '../../src/job/duration.ts';
import { fc } from '../properties.ts';

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

test('an amount and a unit are milliseconds', () => {
  const unit = fc.constantFrom(...(Object.keys(UNITS) as (keyof typeof UNITS)[]));
  const gap = fc.constantFrom('', ' ', '\t');
  fc.assert(
    fc.property(fc.nat({ max: 1_000_000 }), unit, gap, gap, (amount, letter, between, around) => {
      assert.equal(durationMs(`${around}${amount}${between}${letter}${around}`), amount * UNITS[letter]);
    }),
  );
  assert.deepEqual(
    ['90s', '30m', '12h', '30d', '1.5h', '0d'].map(durationMs),
    [90_000, 1_800_000, 43_200_000, 2_592_000_000, 5_400_000, 0],
  );
});

test('anything else is none', () => {
  const texts = ['', ' ', 'never', '30', 'd', '-1d', '+1d', '1 day', '1D', '1w', '1.d', '.5h', '1h30m', '1,5h', '1e3s'];
  for (const text of texts) assert.equal(durationMs(text), null, text);
});

test('no text is taken for a time that does not say one', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[\d.smhd -]{0,8}$/)), (text) => {
      const ms = durationMs(text);
      const says = /^\s*[0-9]+(\.[0-9]+)?\s*[smhd]\s*$/.test(text);
      assert.equal(ms !== null, says);
      if (ms !== null) assert.ok(ms >= 0 && !Number.isNaN(ms));
    }),
  );
});
