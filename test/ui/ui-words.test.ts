import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { findLocationColumns } from '../../src/rows/location-columns.ts';
import { confirmation } from '../../src/ui/files/choice.ts';
import { columnWord } from '../../src/ui/files/look.ts';
import { minutesLeft, Pace } from '../../src/ui/runs/pace.ts';

interface PageWords {
  confirmation(budget: number): string;
  inWords(value: number): string;
}

/** The page's own module, as the browser loads it. */
const page = (await import(new URL('../../src/ui/assets/words.js', import.meta.url).href)) as PageWords;

test('the page asks with the sentence that the server wants to hear', () => {
  for (const budget of [0, 1, 2, 999, 1000]) assert.equal(page.confirmation(budget), confirmation(budget));
  fc.assert(fc.property(fc.nat(), (budget) => assert.equal(page.confirmation(budget), confirmation(budget))));
});

test('numbers in words', () => {
  const words = [
    [0, 'zero'],
    [7, 'seven'],
    [13, 'thirteen'],
    [40, 'forty'],
    [42, 'forty-two'],
    [100, 'one hundred'],
    [101, 'one hundred and one'],
    [1_040, 'one thousand and forty'],
    [6_878, 'six thousand eight hundred and seventy-eight'],
    [10_000, 'ten thousand'],
    [100_000, 'one hundred thousand'],
    [1_000_001, 'one million and one'],
    [1_234_567, 'one million two hundred and thirty-four thousand five hundred and sixty-seven'],
  ] as const;
  for (const [value, text] of words) assert.equal(page.inWords(value), text);
});

test('the pace is of the last minute, and nothing is said of the first seconds', () => {
  const pace = new Pace();
  pace.add({ at: 0, credits: 0 });
  pace.add({ at: 1_000, credits: 50 });
  assert.equal(pace.perMinute(), null);
  pace.add({ at: 6_000, credits: 60 });
  assert.equal(pace.perMinute(), 600);
  for (let at = 10_000; at <= 120_000; at += 1_000) pace.add({ at, credits: 60 + (at - 10_000) / 1_000 });
  assert.equal(Math.round(pace.perMinute()!), 60, 'the burst is forgotten');
});

test('time left goes by credits, and never faster than the limit lets it', () => {
  assert.equal(minutesLeft(0, null, 300), 0);
  assert.equal(minutesLeft(600, null, 300), 2);
  assert.equal(minutesLeft(600, 100, 300), 6);
  assert.equal(minutesLeft(600, 6_000, 300), 2);
  assert.equal(minutesLeft(600, 0, 300), 2);
});

test('a column is named so that a job finds that very one', () => {
  const columns = ['lat', 'Lat', '', 'y', '9', 'y', ''];
  for (const lat of columns.keys()) {
    for (const lng of columns.keys()) {
      if (lat === lng) continue;
      const found = findLocationColumns(columns, { lat: columnWord(columns, lat), lng: columnWord(columns, lng) });
      assert.deepEqual([found.lat, found.lng], [lat, lng]);
    }
  }
});
