import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellOf, locationOf, MAX_PRECISION } from '../../src/geo/coordinates.ts';
import { parseDegrees, parseLenient, splitLenientPair } from '../../src/geo/lenient-location.ts';
import {
  LOCATION_NOTES,
  type LocationFinding,
  parseLocation,
} from '../../src/geo/parse-location.ts';
import { placeInValue } from '../../src/geo/place-in-value.ts';
import { isCovered } from '../../src/geo/us-coverage.ts';
import { statusOfFinding } from '../../src/run/scan/row-places.ts';
import { fc } from '../properties.ts';

function findingOf(lat: string, lng: string): LocationFinding | 'ok' {
  const parsed = parseLocation(lat, lng, isCovered);
  if (parsed.ok) return 'ok';
  const note = LOCATION_NOTES[parsed.finding];
  // A missing one is told with what the file has.
  if (parsed.finding === 'empty') assert.ok(parsed.note.startsWith(note.slice(0, -1)));
  else assert.equal(parsed.note, note);
  return parsed.finding;
}

const CASES: readonly (readonly [lat: string, lng: string, expected: LocationFinding | 'ok'])[] = [
  ['34.05', '-118.25', 'ok'],
  [' +34.05 ', '\t-118.25\u00a0', 'ok'],
  ['3.405e1', '-1.1825E+2', 'ok'],
  ['', '-118.25', 'empty'],
  ['34.05', '   ', 'empty'],
  ['n/a', '-118.25', 'empty'],
  ['NaN', '-118.25', 'empty'],
  ['3_4', '-118.25', 'not_a_number'],
  ['.', '-118.25', 'empty'],
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
  ['34.05', '241.75', 'east_of_180'],
  ['51.5', '359.87', 'out_of_range'],
  ['34050000', '-118250000', 'millionths'],
  ['340500000', '-1182500000', 'ten_millionths'],
  // Degrees times 100,000 would be in the US; these are metres of Web Mercator.
  ['2970434', '-8927122', 'out_of_range'],
  ['4428236', '313140', 'out_of_range'],
  ["'34.05", "'-118.25", 'apostrophe'],
  ['34°03\'08"N', '118°14\'37"O', 'letter_o'],
  ['34.05N', '118.25 O', 'letter_o'],
  ['34.05', 'O', 'not_a_number'],
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

test('a note on a missing coordinate says what the file has in its place', () => {
  const note = (lat: string, lng: string) => {
    const parsed = parseLocation(lat, lng, () => true);
    return parsed.ok ? '' : parsed.note;
  };
  assert.equal(note('', '-118.25'), 'Latitude or longitude is missing.');
  assert.equal(
    note('34.05', ' N/A '),
    'Latitude or longitude is missing: the file has "N/A" there.',
  );
  for (const word of ['NA', 'null', '-', '\\N', '#N/A'])
    assert.equal(note(word, ''), `Latitude or longitude is missing: the file has "${word}" there.`);
  assert.match(note('-'.repeat(100), '1'), /has "-{24}…" there/);
  assert.equal(
    note('1,5', 'x'),
    'Latitude or longitude has a decimal comma: a decimal point is needed.',
  );
});

test('any text gives a location or a problem, never an exception or NaN', () => {
  const text = fc.oneof(fc.string(), fc.stringMatching(/^[-+NSEW \d.,°'"e:]{0,12}$/));
  fc.assert(
    fc.property(text, text, (lat, lng) => {
      const parsed = parseLocation(lat, lng, () => true);
      if (parsed.ok)
        assert.ok(Math.abs(parsed.location.lat) <= 90 && Math.abs(parsed.location.lng) <= 180);
      else assert.ok(parsed.finding in LOCATION_NOTES);
    }),
  );
});

test('text that would make a naive pattern backtrack forever is refused', () => {
  const long = `${'1 '.repeat(50_000)}x`;
  assert.equal(findingOf(long, '1'.repeat(100_000)), 'not_a_number');
  assert.equal(findingOf(`${' '.repeat(100_000)}x`, '1'), 'not_a_number');
  // Each took minutes in one of the patterns.
  const blanks = ' '.repeat(100_000);
  for (const text of [
    `40.1${blanks}x`,
    `(${blanks}x`,
    `${'1'.repeat(100_000)}x`,
    `POINT${blanks}x`,
    `POLYGON${blanks}x`,
    `POLYGON(${'1'.repeat(100_000)})`,
    'x 1 '.repeat(25_000),
    'lat 1 '.repeat(25_000),
    '40.1,'.repeat(25_000),
  ]) {
    assert.equal(parseDegrees(text, 'lat'), null);
    assert.equal(splitLenientPair(text), null);
    const place = placeInValue(text, null);
    assert.ok(place === null || place === 'not_a_point', text.slice(0, 20));
  }
  // Of the longest text that may be a coordinate, and one more character.
  const padded = (length: number) => `40.1${' '.repeat(length - 5)}N`;
  assert.equal(parseDegrees(padded(256), 'lat'), 40.1);
  assert.equal(parseDegrees(` ${padded(256)}`, 'lat'), 40.1);
  assert.equal(parseDegrees(padded(257), 'lat'), null);
  const pair = (length: number) => `38.5,${' '.repeat(length - 10)}-97.2`;
  assert.partialDeepStrictEqual(placeInValue(pair(2_048), null), { lat: '38.5', lng: '-97.2' });
  assert.equal(placeInValue(pair(2_049), null), null);
  assert.deepEqual(splitLenientPair(pair(512)), ['38.5', '-97.2']);
  assert.equal(splitLenientPair(pair(513)), null);
  assert.equal(findingOf(padded(256), '-99'), 'degree_symbol');
  assert.equal(findingOf(padded(257), '-99'), 'not_a_number');
});

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
    ["'38.5", 'lat', 38.5],
    ['38.5\u200b', 'lat', 38.5],
    ['104º59\'25"O', 'lng', null],
  ];
  for (const [text, axis, degrees] of cases) {
    const found = parseDegrees(text, axis);
    if (degrees === null) assert.equal(found, null, text);
    else assert.ok(found !== null && Math.abs(found - degrees) < 1e-12, `${text}: ${found}`);
  }
});

test('one column may hold both: in brackets, in WKT, with letters in any order', () => {
  const strict: readonly (readonly [text: string, place: readonly string[] | string | null])[] = [
    ['(40.58, -73.93)', ['40.58', '-73.93']],
    ['40.58 -73.93', ['40.58', '-73.93']],
    ['[40.58;-73.93]', ['40.58', '-73.93']],
    ['POINT(-73.93 40.58)', ['40.58', '-73.93']],
    ['(40.58 , -73.93 )', ['40.58', '-73.93']],
    ['40.58 -73.93 12', ['40.58', '-73.93']],
    ['SRID=4326; Point Z ( -73.93  40.58  12 ) ', ['40.58', '-73.93']],
    ['MULTIPOINT(-73.93 40.58)', ['40.58', '-73.93']],
    ['MultiPoint ((-73.93 40.58))', ['40.58', '-73.93']],
    ['MULTIPOINT(-73.93 40.58, -73.9 40.5)', 'not_a_point'],
    ['POINT(-73.93 40.58), POINT(-73.9 40.5)', null],
    ['POINT EMPTY', 'empty'],
    ['srid=4326;point empty', 'empty'],
    ['SRID=3857;POINT(-8230000 4950000)', ['40.5759898', '-73.9313479']],
    ['SRID=2263;POINT(990629 207012)', 'other_system'],
    ['SRID=4269;POINT(-73.93 40.58)', ['40.58', '-73.93']],
    ['LINESTRING(1 2, 3 4)', 'not_a_point'],
    ['POLYGON((1 2, 3 4, 5 6, 1 2))', 'too_large'],
    ['POLYGON((1 2, 1.001 2))', 'not_a_point'],
    ['0101000000EC51B81E857B52C00AD7A3703D4A4440', ['40.58', '-73.93']],
    // A geography of SQL Server.
    ['E6100000010C0AD7A3703D4A4440EC51B81E857B52C0', ['40.58', '-73.93']],
    ['\\x0101000020e6100000ec51b81e857b52c00ad7a3703d4a4440', ['40.58', '-73.93']],
    ['0101000020D7080000EC51B81E857B52C00AD7A3703D4A4440', 'other_system'],
    ['0101000020110F0000000000001C655FC100000000FCE15241', ['40.5759898', '-73.9313479']],
    ['0102000020110F0000000000001C655FC100000000FCE15241', 'other_system'],
    ['00000000014052C00000000000C044000000000000', ['-40', '75']],
    ['AQEAAADsUbgehXtSwArXo3A9SkRA', ['40.58', '-73.93']],
    ['{"type":"Point","coordinates":[-73.93,40.58]}', ['40.58', '-73.93']],
    ["{'type': 'Point', 'coordinates': [-73.93, 40.58, 3]}", ['40.58', '-73.93']],
    ['{"coordinates":[-73.93,40.58]}', ['40.58', '-73.93']],
    ['{"type":"MultiPoint","coordinates":[[-73.93,40.58]]}', ['40.58', '-73.93']],
    ['{"type":"MultiPoint","coordinates":[[-73.93,40.58],[-73,40]]}', 'not_a_point'],
    ['{"type":"Polygon","coordinates":[[[1,2],[3,4],[1,2]]]}', 'too_large'],
    [
      '{"type":"Feature","geometry":{"type":"Point","coordinates":[-73.93,40.58]},"properties":{}}',
      ['40.58', '-73.93'],
    ],
    ['{"type":"Feature","geometry":null}', 'empty'],
    ['{"geometry":null,"lat":40.58,"lng":-73.93}', ['40.58', '-73.93']],
    ['{"type":"Point","coordinates":[]}', 'empty'],
    ['{"latitude":"40.58","longitude":"-73.93","human_address":"{}"}', ['40.58', '-73.93']],
    ['{"x":-73.93,"y":40.58}', ['40.58', '-73.93']],
    ['{"x":-73.93,"y":40.58,"spatialReference":{"wkid":4326}}', ['40.58', '-73.93']],
    [
      '{"x":-8230000,"y":4950000,"spatialReference":{"wkid":102100}}',
      ['40.5759898', '-73.9313479'],
    ],
    ['{"x":990629,"y":207012,"spatialReference":{"wkid":2263}}', 'other_system'],
    ['{"rings":[[[1,2],[1,2.002],[1.002,2.002],[1.002,2],[1,2]]]}', ['2.001', '1.001']],
    ['{"rings":[[[1,2],[3,4],[1,2]]],"spatialReference":{"wkid":4326}}', 'too_large'],
    ['{"rings":[[[0,0],[0,9],[9,9],[0,0]]],"spatialReference":{"wkid":3857}}', 'other_system'],
    ['{"street":"Elm"}', null],
    ['{not json}', null],
    ['[-73.93,40.58]', ['-73.93', '40.58']],
    ['[-73.93, 40.58, 12]', ['-73.93', '40.58']],
    ['geo:40.58,-73.93', ['40.58', '-73.93']],
    ['100 MAIN ST\nNEW YORK, NY 10001\n(40.58, -73.93)', ['40.58', '-73.93']],
    ['100 MAIN ST (BASEMENT)', null],
    // Of many numbers, the two with as many decimals as a place has; else none.
    ['UNIT 5, 100 MAIN ST, NY 10001, 1.5 ACRES, 40.5812/-73.9312', ['40.5812', '-73.9312']],
    ['UNIT 5, 100 MAIN ST, NY 10001, 40.58/-73.93', null],
    ['40.58', null],
    // ISO 6709: degrees, with minutes, with seconds, with a height and its system.
    ['+40.58-073.93/', ['40.5800000', '-73.9300000']],
    ['+4034.8-07355.8/', ['40.5800000', '-73.9300000']],
    ['-403448+0735548.9/', ['-40.5800000', '73.9302500']],
    ['+40.58-073.93+12.5CRSWGS_84/', ['40.5800000', '-73.9300000']],
    ['+4060-07300/', null],
    ['+403460-0730060/', null],
    ['u4pruydqqvj', ['57.649111', '10.407440']],
    ['u4pruyd', 'area_code'],
    ['hundreds', null],
    ['', 'empty'],
  ];
  for (const [text, expected] of strict) {
    const place = placeInValue(text, null);
    assert.deepEqual(
      place !== null && typeof place === 'object' ? [place.lat, place.lng] : place,
      expected,
      text,
    );
  }
  for (const [text, first, expected] of [
    ['[-73.93,40.58]', 'lng,lat', ['40.58', '-73.93', 'lng,lat']],
    ['POINT(40.58 -73.93)', 'lat,lng', ['40.58', '-73.93', 'lat,lng']],
    ['{"x":-73.93,"y":40.58}', 'lat,lng', ['40.58', '-73.93', null]],
  ] as const) {
    const place = placeInValue(text, first);
    assert.ok(place !== null && typeof place === 'object');
    assert.deepEqual([place.lat, place.lng, place.order], expected, text);
  }
  assert.deepEqual(splitLenientPair('-80,19; 25,77', 'lng,lat'), ['25,77', '-80,19']);
  assert.deepEqual(splitLenientPair('25,77N; 80,19W', 'lng,lat'), ['25,77N', '80,19W']);
  const lenient: readonly (readonly [text: string, pair: readonly string[] | null])[] = [
    ['38,5; -97,2', ['38,5', '-97,2']],
    ['38,5, -97,2', ['38,5', '-97,2']],
    ['38°30\'15"N 97°15\'30"W', ['38°30\'15"N', '97°15\'30"W']],
    ['97.2W, 38.5N', ['38.5N', '97.2W']],
    ['38 30 15 N, 97 15 30 W', ['38 30 15 N', '97 15 30 W']],
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
      for (const axis of ['lat', 'lng'] as const)
        assert.ok(!Number.isNaN(parseDegrees(text, axis) ?? 0));
      splitLenientPair(text);
    }),
  );
  assert.equal(parseLenient('x', '1', isCovered), null);
  assert.equal(parseLenient('1', 'x', isCovered), null);
  assert.deepEqual(parseLenient('38.5 N', '97.2 W', isCovered), {
    ok: true,
    location: { lat: 38.5, lng: -97.2 },
  });
  assert.deepEqual(
    (parseLenient('38,5', '97,2', isCovered) as { finding?: string }).finding,
    'sign_lost',
  );
});

test('a location is rounded to its decimals as by hand, halves upwards, and its cell is asked about at the same place', () => {
  for (const [lat, precision, expected] of [
    [34.00005, 4, 340_001_000],
    [-34.00005, 4, -340_000_000],
    [-0.00004, 4, 0],
    [38.8977, 0, 390_000_000],
    [38.123_456_78, 7, 381_234_568],
  ] as const) {
    const { lat7, lng7 } = cellOf({ lat, lng: 2 * lat }, precision);
    assert.ok(Object.is(lat7, expected), `${lat} to ${precision}: ${lat7}`);
    assert.equal(lng7, cellOf({ lat: 2 * lat, lng: 0 }, precision).lat7);
  }
  const degrees = fc.integer({ min: -1_800_000_000, max: 1_800_000_000 });
  const half = degrees.map((units) => Math.trunc(units / 10) * 10 + 5);
  fc.assert(
    fc.property(
      fc.oneof(degrees, half),
      fc.integer({ min: 0, max: MAX_PRECISION }),
      (units, precision) => {
        const step = 10 ** (MAX_PRECISION - precision);
        const cell = cellOf(locationOf({ lat7: units, lng7: -units }), precision);
        const byHand = (all: number) => Math.floor((2 * all + step) / (2 * step)) * step + 0;
        assert.deepEqual(cell, { lat7: byHand(units), lng7: byHand(-units) });
        assert.deepEqual(cellOf(locationOf(cell), precision), cell);
      },
    ),
    { numRuns: 1_000 },
  );
});
