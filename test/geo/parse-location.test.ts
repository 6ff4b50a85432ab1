import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LOCATION_NOTES, type LocationFinding, parseLocation } from '../../src/geo/parse-location.ts';
import { isCovered } from '../../src/geo/us-coverage.ts';
import { statusOfFinding } from '../../src/run/scan/row-places.ts';
import { fc } from '../properties.ts';

function findingOf(lat: string, lng: string): LocationFinding | 'ok' {
  const parsed = parseLocation(lat, lng, isCovered);
  if (parsed.ok) return 'ok';
  assert.equal(parsed.note, LOCATION_NOTES[parsed.finding]);
  return parsed.finding;
}

const CASES: readonly (readonly [lat: string, lng: string, expected: LocationFinding | 'ok'])[] = [
  ['34.05', '-118.25', 'ok'],
  [' +34.05 ', '\t-118.25\u00a0', 'ok'],
  ['3.405e1', '-1.1825E+2', 'ok'],
  ['', '-118.25', 'empty'],
  ['34.05', '   ', 'empty'],
  ['n/a', '-118.25', 'not_a_number'],
  ['NaN', '-118.25', 'not_a_number'],
  ['3_4', '-118.25', 'not_a_number'],
  ['.', '-118.25', 'not_a_number'],
  ['34°03\'08"N', '118°14\'37"W', 'degrees_minutes_seconds'],
  ['34,05', '-118,25', 'decimal_comma'],
  ['34.05', '-118,25', 'decimal_comma'],
  ['x34,05', '-118,25', 'not_a_number'],
  ['34,05x', '-118,25', 'not_a_number'],
  ['34.05.20', '-118.25', 'not_a_number'],
  ['34.05°', '-118.25°', 'degree_symbol'],
  ['N34.05', '-118.25', 'degree_symbol'],
  ['91', '-200', 'out_of_range'],
  ['1e2', '-118.25', 'out_of_range'],
  ['34.05', '241.75', 'out_of_range'],
  ['0', '0', 'null_island'],
  ['-0.0', '0.000', 'null_island'],
  ['-118.25', '34.05', 'swapped'],
  ['-71.06', '42.36', 'swapped'],
  ['34.05', '118.25', 'sign_lost'],
  ['42.36', '71.06', 'sign_lost'],
  ['51.5074', '-0.1278', 'outside_us'],
  ['51.4779', '0', 'outside_us'],
  ['.26', '-118.25', 'outside_us'],
];

for (const [lat, lng, expected] of CASES) {
  test(`"${lat}" and "${lng}" give ${expected}`, () => assert.equal(findingOf(lat, lng), expected));
}

test('only a foreign location is outside_us; every other problem is invalid', () => {
  for (const finding of Object.keys(LOCATION_NOTES) as LocationFinding[]) {
    assert.equal(statusOfFinding(finding), finding === 'outside_us' ? 'outside_us' : 'invalid');
    assert.match(LOCATION_NOTES[finding], /^[A-Z].*\.$/);
  }
});

test('the text of any number in range is read exactly', () => {
  const degrees = (most: number) => fc.double({ min: -most, max: most, noNaN: true });
  fc.assert(
    fc.property(degrees(90), degrees(180), (lat, lng) => {
      fc.pre(lat !== 0 || lng !== 0);
      const parsed = parseLocation(` ${lat}`, `${lng} `, () => true);
      assert.ok(parsed.ok);
      assert.ok(parsed.location.lat === lat && parsed.location.lng === lng);
    }),
  );
});

test('any text gives a location or a problem, never an exception or NaN', () => {
  const text = fc.oneof(fc.string(), fc.stringMatching(/^[-+NSEW \d.,°'"e:]{0,12}$/));
  fc.assert(
    fc.property(text, text, (lat, lng) => {
      const parsed = parseLocation(lat, lng, () => true);
      if (parsed.ok) assert.ok(Math.abs(parsed.location.lat) <= 90 && Math.abs(parsed.location.lng) <= 180);
      else assert.ok(parsed.finding in LOCATION_NOTES);
    }),
  );
});

test('text that would make a naive pattern backtrack forever is refused', () => {
  const long = `${'1 '.repeat(50_000)}x`;
  assert.equal(findingOf(long, '1'.repeat(100_000)), 'not_a_number');
  assert.equal(findingOf(`${' '.repeat(100_000)}x`, '1'), 'not_a_number');
});
