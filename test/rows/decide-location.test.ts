import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PerilbookError } from '../../src/base/errors.ts';
import { decideLocation } from '../../src/rows/location/decide-location.ts';
import type { LocationColumns } from '../../src/rows/location/location-columns.ts';
import { agree, type PlaceScore } from '../../src/rows/location/place-scores.ts';

/** Places in the US, of different rows. */
const PLACES = [
  ['25.7743', '-80.1937'],
  ['34.0522', '-118.2437'],
  ['39.7392', '-104.9903'],
] as const;
const LAT = PLACES.map(([lat]) => lat);
const LNG = PLACES.map(([, lng]) => lng);
/** The same places in other rows. */
const [OTHER_LAT, OTHER_LNG] = [LAT, LNG].map((texts) => [texts[1]!, texts[2]!, texts[0]!]) as [
  string[],
  string[],
];
const moved = (texts: readonly string[], by: number) => texts.map((text) => String(+text + by));
const all = (text: string) => PLACES.map(() => text);

/** Decides by columns, each with its name and the texts of its rows. */
function decide(columns: Readonly<Record<string, readonly string[]>>): LocationColumns {
  const names = Object.keys(columns);
  const rows = PLACES.map((_, row) => ({
    number: row + 1,
    line: row + 2,
    fields: names.map((name) => columns[name]![row]!),
  }));
  return decideLocation({ columns: names, rows, asked: 1_000 }, names, {}, {}, 'in.csv');
}

/** The names of the chosen columns, or the hint of the question. */
function chosen(columns: Readonly<Record<string, readonly string[]>>): string {
  const names = Object.keys(columns);
  try {
    const { lat, lng } = decide(columns);
    return lat === lng ? names[lat]! : `${names[lat]} ${names[lng]}`;
  } catch (error) {
    assert.ok(error instanceof PerilbookError && error.code === 'INPUT_COLUMNS', String(error));
    return error.hint!;
  }
}

test('of several pairs the values and the words decide, and a question has the options that work', () => {
  const corners = {
    min_lat: moved(LAT, -1),
    max_lat: moved(LAT, 1),
    min_lon: moved(LNG, -1),
    max_lon: moved(LNG, 1),
  };
  for (const [columns, expected] of [
    [{ ...corners, center_lat: LAT, center_lon: LNG }, 'center_lat center_lon'],
    [
      { GPSLatitudeRef: all('N'), GPSLatitude: LAT, GPSLongitudeRef: all('W'), GPSLongitude: LNG },
      'GPSLatitude GPSLongitude',
    ],
    [
      { lat_accuracy: all('5.0'), lng_accuracy: all('4.0'), latitude: LAT, longitude: LNG },
      'latitude longitude',
    ],
    [
      {
        latitude_source: all('gps'),
        longitude_source: all('gps'),
        y_latitude: LAT,
        x_longitude: LNG,
      },
      'y_latitude x_longitude',
    ],
    [
      { lat_status: all('ok'), lng_status: all('ok'), 'Site Lat': LAT, 'Site Lng': LNG },
      'Site Lat Site Lng',
    ],
    [
      {
        'Mailing Latitude': OTHER_LAT,
        'Mailing Longitude': OTHER_LNG,
        'Property Latitude': LAT,
        'Property Longitude': LNG,
      },
      'Property Latitude Property Longitude',
    ],
    [
      { previous_lat: OTHER_LAT, previous_lng: OTHER_LNG, current_lat: LAT, current_lng: LNG },
      'current_lat current_lng',
    ],
    [
      { pickup_lat: OTHER_LAT, pickup_lng: OTHER_LNG, dropoff_lat: LAT, dropoff_lng: LNG },
      'Name one: --lat pickup_lat --lng pickup_lng, or --lat dropoff_lat --lng dropoff_lng.',
    ],
    [
      { site_lat: OTHER_LAT, site_lng: OTHER_LNG, plant_lat: LAT, plant_lng: LNG },
      'Name one: --lat site_lat --lng site_lng, or --lat plant_lat --lng plant_lng.',
    ],
    // The same places twice are no question.
    [{ slat: LAT, slon: LNG, elat: LAT, elon: moved(LNG, 0.001) }, 'slat slon'],
    // One place in all rows is that of an office.
    [
      { office_y: LAT, lat: all('40.7128'), lng: all('-74.006'), site_lat: LAT, site_lng: LNG },
      'site_lat site_lng',
    ],
    // Another place is not taken in its stead.
    [
      { 'Mailing Lat': LAT, 'Mailing Lng': LNG, 'Property Lat': all(''), 'Property Lng': all('') },
      "If another location is meant, name it: --lat 'Mailing Lat' --lng 'Mailing Lng'.",
    ],
    [
      { lat: all('48.85'), lng: all('2.35'), 'site lat': LAT, 'site lng': LNG },
      "If another location is meant, name it: --lat 'site lat' --lng 'site lng', or --lat lat --lng lng.",
    ],
  ] as const) {
    assert.equal(chosen(columns), expected);
  }
});

test('where the named columns are empty, the filled one is taken, and the note says so', () => {
  const point = PLACES.map(([lat, lng]) => `POINT(${lng} ${lat})`);
  const columns = { LAT: all(''), LON: all(''), point };
  assert.equal(chosen(columns), 'point');
  assert.equal(
    decide(columns).note,
    '"LAT" (column 1) and "LON" (column 2) have nothing in the first 3 rows: "point" (column 3) was taken as the location.',
  );
  assert.equal(chosen({ LAT: all('\\N'), LON: all('NULL'), whatever: point }), 'whatever');
  assert.equal(
    chosen({ LAT: all(''), LON: all(''), a: point, b: point.toReversed() }),
    'Name one: --location a, or --location b.',
  );
});

test('in any language, and with names that say nothing, the columns are found by their values', () => {
  for (const [lat, lng] of [
    ['Breite', 'Länge'],
    ['Geo-Breite', 'Geo-Länge'],
    ['Breitengrad', 'Längengrad'],
    ['緯度', '経度'],
    ['纬度', '经度'],
    ['Широта', 'Долгота'],
    ['Breedtegraad', 'Lengtegraad'],
    ['위도', '경도'],
    ['خط العرض', 'خط الطول'],
    ['Latitudine', 'Longitudine'],
    ['Latitud', 'Longitud'],
    ['物件緯度', '物件経度'],
  ] as const) {
    const found = decide({ id: ['1', '2', '3'], [lng]: LNG, [lat]: LAT });
    assert.deepEqual([found.lat, found.lng], [2, 1], lat);
  }
  const unnamed = decide({ id: ['1.25', '2.25', '3.25'], b: LNG, c: LAT, d: all('7.50') });
  assert.deepEqual([unnamed.lat, unnamed.lng], [2, 1]);
  assert.equal(
    unnamed.note,
    '"c" (column 3) and "b" (column 2) were taken as latitude and longitude.',
  );
  // Width and length of things are no degrees.
  assert.match(
    chosen({ Breite: ['300.5', '310.5', '320.5'], Länge: ['1000.5', '900.5', '950.5'] }),
    /^They look like metres or feet/,
  );
  assert.match(
    chosen({ north: moved(LAT, 1), south: moved(LAT, -1), west: moved(LNG, -1), east: LNG }),
    /^Name one: --lat /,
  );
  // Whole numbers may be anything.
  assert.match(chosen({ a: ['30', '35', '40'], b: ['-90', '-95', '-100'] }), /^Name the latitude/);
});

test('an E or W beside unsigned longitudes is their sign', () => {
  const unsigned = LNG.map((text) => text.slice(1));
  const found = decide({ lat: LAT, ns: all('N'), lng: unsigned, ew: ['W', 'West', 'w'] });
  assert.deepEqual([found.lat, found.lng, found.compass], [0, 2, { lat: 1, lng: 3 }]);
  assert.match(found.note ?? '', /^Column "ew" says East or West of "lng"\.$/);
  assert.equal(decide({ lat: LAT, lng: LNG, ew: all('W') }).compass, undefined);
  assert.equal(decide({ lat: LAT, lng: unsigned, other: all('X') }).compass, undefined);
});

test('degrees, minutes and seconds in columns of their own are named, with the way', () => {
  const part = all('25');
  const columns = ['lat_deg', 'lat_min', 'lat_sec', 'lat_dir', 'lon_deg', 'lon_min', 'lon_sec'];
  assert.match(
    chosen(Object.fromEntries(columns.map((name) => [name, part]))),
    /^The latitude is in parts \(lat_deg, lat_min, lat_sec\)/,
  );
});

test('two choices agree where 19 of 20 of their places are the same, and not by rows where one has none', () => {
  const [here, there] = [
    { lat: 40, lng: -99 },
    { lat: 40.1, lng: -99 },
  ];
  const score = (places: readonly (typeof here | null)[]) => ({ places }) as unknown as PlaceScore;
  const alike = (same: number, others: number) =>
    agree(
      score([null, ...new Array(same + others).fill(here)]),
      score([here, ...new Array(same).fill(here), ...new Array(others).fill(there)]),
    );
  assert.deepEqual(
    [alike(19, 1), alike(18, 1), alike(1, 0), alike(0, 0)],
    [true, false, true, false],
  );
});
