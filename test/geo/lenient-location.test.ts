import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDegrees, parseLenient, splitLenientPair, splitPair } from '../../src/geo/lenient-location.ts';
import { isCovered } from '../../src/geo/us-coverage.ts';
import { fc } from '../properties.ts';

test('degrees are read as people write them', () => {
  const cases: readonly (readonly [text: string, axis: 'lat' | 'lng', degrees: number | null])[] = [
    ['38.5', 'lat', 38.5],
    ['38.5N', 'lat', 38.5],
    ['N 38.5°', 'lat', 38.5],
    ['W 97.2', 'lng', -97.2],
    ['97.25w', 'lng', -97.25],
    ['38,5', 'lat', 38.5],
    ['\u221297.2', 'lng', -97.2],
    ['\u201397,2', 'lng', -97.2],
    ['38°30\'15"N', 'lat', 38 + 30 / 60 + 15 / 3600],
    ['38° 30′ 15.5″ N', 'lat', 38 + 30 / 60 + 15.5 / 3600],
    ['38º30’15”', 'lat', 38 + 30 / 60 + 15 / 3600],
    ["38°30'15''N", 'lat', 38 + 30 / 60 + 15 / 3600],
    ['38\ufffd30\'15"N', 'lat', 38 + 30 / 60 + 15 / 3600],
    ['38d30m15s', 'lat', 38 + 30 / 60 + 15 / 3600],
    ['38d30m15s ', 'lat', 38 + 30 / 60 + 15 / 3600],
    ['38 deg 30 min 15 s', 'lat', 38 + 30 / 60 + 15 / 3600],
    ['38 deg 30 min 15 sec N', 'lat', 38 + 30 / 60 + 15 / 3600],
    ['38°\u00a030\u202f\n15" N', 'lat', 38 + 30 / 60 + 15 / 3600],
    ['-97:15:30', 'lng', -(97 + 15 / 60 + 30 / 3600)],
    ['97-15-30 W', 'lng', -(97 + 15 / 60 + 30 / 3600)],
    ["38°30.5'S", 'lat', -(38 + 30.5 / 60)],
    ['38 30 15 S', 'lat', -(38 + 30 / 60 + 15 / 3600)],
    ['3.85e1', 'lat', 38.5],
    ['120.5e-1', 'lat', 12.05],
    ['1205e-02', 'lat', 12.05],
    ['x3e1', 'lat', null],
    ['3e1x', 'lat', null],
    ['38.5E', 'lat', null],
    ['38.5N', 'lng', null],
    ['-97.2W', 'lng', null],
    ['N38.5N', 'lat', null],
    ['38°60\'00"', 'lat', null],
    ['38°10\'60"', 'lat', null],
    ['1,234,567', 'lat', null],
    ['38.5.2', 'lat', null],
    ['n/a', 'lat', null],
    ['', 'lat', null],
    ['N', 'lat', null],
  ];
  for (const [text, axis, degrees] of cases) {
    const found = parseDegrees(text, axis);
    if (degrees === null) assert.equal(found, null, text);
    else assert.ok(found !== null && Math.abs(found - degrees) < 1e-12, `${text}: ${found}`);
  }
});

test('one column may hold both: in brackets, in WKT, with letters in any order', () => {
  const strict: readonly (readonly [text: string, pair: readonly string[] | null])[] = [
    ['(40.58, -73.93)', ['40.58', '-73.93']],
    ['40.58 -73.93', ['40.58', '-73.93']],
    ['[40.58;-73.93]', ['40.58', '-73.93']],
    ['POINT(-73.93 40.58)', ['40.58', '-73.93']],
    ['(40.58 , -73.93 )', ['40.58', '-73.93']],
    ['40.58 -73.93 12', null],
    ['SRID=4326; Point Z ( -73.93  40.58  12 ) ', ['40.58', '-73.93']],
    ['MULTIPOINT(-73.93 40.58)', null],
    ['POINT(-73.93 40.58), POINT(-73.9 40.5)', null],
    ['POINT EMPTY', ['POINT', 'EMPTY']],
    ['LINESTRING(1 2, 3 4)', null],
    ['40.58', null],
    ['', null],
  ];
  for (const [text, pair] of strict) assert.deepEqual(splitPair(text), pair, text);
  const lenient: readonly (readonly [text: string, pair: readonly string[] | null])[] = [
    ['38,5; -97,2', ['38,5', '-97,2']],
    ['38,5, -97,2', ['38,5', '-97,2']],
    ['38°30\'15"N 97°15\'30"W', ['38°30\'15"N', '97°15\'30"W']],
    ['97.2W, 38.5N', ['38.5N', '97.2W']],
    ['38 30 15 N, 97 15 30 W', ['38 30 15 N', '97 15 30 W']],
    ['POINT (-97.2 38.5) ', ['38.5', '-97.2']],
    ['38.5,-97.2', ['38.5', '-97.2']],
    ['38.5  -97.2', ['38.5', '-97.2']],
    // Only one of them can be a latitude.
    ['-97.2, 38.5', ['38.5', '-97.2']],
    ['38.5, (-97.2)', null],
    ['(38.5), -97.2', null],
    // May be 38 and 30.67, 38.5 and 40.25, or 38.51 and 15.
    ['38 30 40 15', null],
    ['nowhere', null],
  ];
  for (const [text, pair] of lenient) assert.deepEqual(splitLenientPair(text), pair, text);
});

const whole = (most: number) => fc.integer({ min: 0, max: most });

test('a pair of decimals comes back, with points or commas, in brackets or bare', () => {
  const signs = fc.constantFrom('-', '\u2212', '–');
  fc.assert(
    fc.property(
      whole(89_9999),
      whole(179_9999),
      signs,
      fc.constantFrom([', ', '.'], ['; ', ','], [' ', '.']),
      fc.boolean(),
      (lat, lng, minus, [between, point], isBare) => {
        const write = (value: number) => (value / 10_000).toFixed(4).replace('.', point!);
        const text = `${write(lat)}${between}${minus}${write(lng)}`;
        const pair = splitLenientPair(isBare ? text : `(${text})`);
        assert.ok(pair, text);
        assert.equal(parseDegrees(pair[0], 'lat'), lat / 10_000);
        assert.equal(parseDegrees(pair[1], 'lng'), -lng / 10_000);
      },
    ),
  );
});

test('any text gives degrees or null, never NaN, and a place is checked as ever', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[-+NSEW \d.,°'"e:dms−(]{0,14}$/), (text) => {
      for (const axis of ['lat', 'lng'] as const) assert.ok(!Number.isNaN(parseDegrees(text, axis) ?? 0));
      splitLenientPair(text);
    }),
  );
  assert.equal(parseLenient('x', '1', isCovered), null);
  assert.equal(parseLenient('1', 'x', isCovered), null);
  assert.deepEqual(parseLenient('38.5 N', '97.2 W', isCovered), { ok: true, location: { lat: 38.5, lng: -97.2 } });
  assert.deepEqual((parseLenient('38,5', '97,2', isCovered) as { finding?: string }).finding, 'sign_lost');
});
