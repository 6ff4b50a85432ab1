import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countyNamed } from '../../../src/data/loaders/county-codes.ts';
import {
  categoryOfAqi,
  categoryOfConcentration,
  ozoneMicrograms,
} from '../../../src/data/topics/air-quality-index.ts';
import {
  airQualityYears,
  hasAirQualityYears,
} from '../../../src/data/topics/measurement-topics.ts';
import { readLand } from '../../../src/sample/land.ts';
import { AQI_HEADER, fileOf, loading, reasons, rejects } from './loading.ts';

function geoidOf(state: string, county: string): string {
  const found = countyNamed(state, county);
  return 'geoid' in found ? found.geoid : found.problem;
}

test('counties are found by name, whatever spaces, accents, suffixes and former names', () => {
  for (const [state, county, geoid] of [
    ['Alaska', 'Anchorage ', '02020'],
    ['New Mexico', 'Dona Ana', '35013'],
    ['Virginia', 'Richmond', '51159'],
    ['Virginia', 'Richmond City', '51760'],
    ['VA', 'Charles', '51036'],
    ['VA', 'Charles City County', '51036'],
    ['Maryland', 'Baltimore', '24005'],
    ['Maryland', 'Baltimore City', '24510'],
    ['Missouri', 'Saint Louis', '29189'],
    ['Missouri', 'St. Louis City', '29510'],
    ['Nevada', 'Carson City', '32510'],
    ['District Of Columbia', 'District of Columbia', '11001'],
    ['Virgin Islands', 'St John', '78020'],
    ['LA', 'Orleans Parish', '22071'],
    ['Illinois', 'LaSalle', '17099'],
    ['Puerto Rico', 'Mayagnez', '72097'],
    ['Alaska', 'Copper River', '02066'],
  ] as const) {
    assert.equal(geoidOf(state, county), geoid, `${state}/${county}`);
  }
  assert.equal(geoidOf('Country Of Mexico', 'SONORA'), '"Country Of Mexico" is not a US state');
  assert.equal(geoidOf('Ohio', 'Nowhere'), 'Ohio has no county of this name');
});

test('the planning regions of Connecticut are found by the names of the Census Bureau', () => {
  assert.deepEqual(countyNamed('Connecticut', 'Capitol Planning Region'), { geoid: '09110' });
  assert.deepEqual(countyNamed('CT', 'Western Connecticut planning region'), { geoid: '09190' });
});

test('every county is found by its name, an independent city with "City" at the end', () => {
  for (const { geoid, state, name } of readLand().counties) {
    const isCity = /^(24|29|32|51)[5-9]/.test(geoid);
    const county = isCity ? `${name} City` : name;
    assert.equal(geoidOf(state, county), geoid, `${state}/${county}`);
  }
});

test('annual AQI: by names; Connecticut also for its planning regions; the newest year counts', async (t) => {
  const { database, load } = loading(t);
  const csv = `${AQI_HEADER}
"Alaska","Anchorage ",2023,365,297,60,5,2,1,0,210,55,24
"Connecticut","New Haven",2023,366,260,94,11,1,0,0,156,62,41
"Country Of Mexico","BAJA CALIFORNIA NORTE",2023,1,1,0,0,0,0,0,1,1,1
"Ohio","Adams",2023,,1,0,0,0,0,0,1,1,1
"Ohio","Allen",2023,367,1,0,0,0,0,0,1,1,1
`;
  const newer = `${AQI_HEADER}
"Alaska","Anchorage ",2024,366,300,66,0,0,0,0,90,55,30
"Alaska","Anchorage ",2024,366,300,66,0,0,0,0,91,56,31
`;
  const files = [fileOf(t, '2024.csv', newer), fileOf(t, '2023.csv', csv)];
  const result = await load('air-quality', files);
  assert.deepEqual(
    [result.rows, result.loaded, result.records, result.vintage],
    [7, 2, 4, '2023-2024'],
  );
  assert.deepEqual(rejects(result), [
    ['the county is listed twice', 1, 3],
    ['a newer year of the county is in the load', 1, 2],
    ['"Country Of Mexico" is not a US state', 1, 4],
    ['the figure daysWithAqi is missing', 1, 5],
    ['the figures are out of range', 1, 6],
  ]);
  assert.match(result.notes.join(), /Connecticut/);
  const rows = database
    .prepare("SELECT geoid, year, days ->> '$.maxAqi' FROM air_quality")
    .raw()
    .all();
  assert.deepEqual(rows, [
    ['02020', 2024, 90],
    ['09009', 2023, 156],
    ['09140', 2023, 156],
    ['09170', 2023, 156],
  ]);
  assert.deepEqual([...airQualityYears(database).values()], [2024, 2023, 2023, 2023]);
  assert.equal(hasAirQualityYears(database), true);
  const reversed = await load('air-quality', files.toReversed(), { replace: true });
  assert.deepEqual(rejects(reversed)[0], ['a newer year of the county is in the load', 1, 2]);
  assert.deepEqual([...airQualityYears(database).values()], [2024, 2023, 2023, 2023]);
  const alone = await load('air-quality', files[0]!, { replace: true });
  assert.equal(hasAirQualityYears(database), false);
  assert.doesNotMatch(alone.notes.join(), /Connecticut/);
});

test('annual AQI: a count is a whole number of days of a year, 350 days are a year, and an index may be 0', async (t) => {
  const { database, load } = loading(t);
  const row = (county: string, year: string, good: string, max: string, median: string) =>
    `"Ohio","${county}",${year},350,${good},0,0,0,0,0,${max},55,${median}\n`;
  const bad = ['2023 -1 9 9', '2023 1.5 9 9', '2023 1 -1 9', '2023 1 9 -1', '2023.5 1 9 9'].map(
    (figures, index) => {
      const [year, good, max, median] = figures.split(' ') as [string, string, string, string];
      return row(
        ['Adams', 'Allen', 'Ashland', 'Athens', 'Auglaize'][index]!,
        year,
        good,
        max,
        median,
      );
    },
  );
  const csv = `${AQI_HEADER}\n${bad.join('')}${row('Belmont', '2023', '366', '0', '0')}`;
  const result = await load('air-quality', fileOf(t, '2023.csv', csv));
  assert.deepEqual(
    [result.records, rejects(result)],
    [1, [['the figures are out of range', 5, 2]]],
  );
  assert.equal(database.prepare('SELECT geoid FROM air_quality').pluck().get(), '39013');
});

test('radon: how a zone may be written; Connecticut is told', async (t) => {
  const { load } = loading(t);
  const zones = {
    Adams: 'Zone1',
    Allen: '1.0',
    Ashland: ' zone 2 ',
    Athens: 'x1',
    Auglaize: '1x',
    Belmont: 'Zone 11',
  };
  const rows = Object.entries(zones).map(([county, zone]) => `OH,${county},${zone}\n`);
  const csv = `State,County,Zone\n${rows.join('')}`;
  const result = await load('radon', fileOf(t, 'radon.csv', csv));
  assert.deepEqual([result.loaded, result.vintage], [3, '1993']);
  assert.doesNotMatch(result.notes.join(), /Connecticut/);
  assert.deepEqual(rejects(result), [['the zone is not 1, 2 or 3', 3, 5]]);
  const more = await load('radon', fileOf(t, 'radon.csv', `${csv}CT,New Haven,3\n`), {
    replace: true,
  });
  assert.match(more.notes.join(), /Connecticut/);
});

test("radon: codes of 1990 give today's counties their zone, once", async (t) => {
  const { database, load } = loading(t);
  const zones = ['12025,2', '12086,1', '46113,1', '2270,3', '02261,2', '51001,3'];
  const result = await load(
    'radon',
    fileOf(t, 'radon.csv', `CountyFIPS,RadonZone\n${zones.join('\n')}\n`),
  );
  assert.deepEqual(rejects(result), [['the county is listed twice', 1, 3]]);
  assert.deepEqual(database.prepare('SELECT geoid, zone FROM radon ORDER BY geoid').raw().all(), [
    ['02063', 2],
    ['02066', 2],
    ['02158', 3],
    ['12086', 2],
    ['46102', 1],
    ['51001', 3],
  ]);
});

test('radon: the three forms of the table', async (t) => {
  const { database, load } = loading(t);
  for (const csv of [
    '"County,State",Region,Zone\n"Adams,OH",5,1\n"Baltimore City,Maryland",3,Zone 3\n,,\n"Nowhere,OH",5,2\n"Adams,OH",5,2\n"Adams,OH",5,4\n',
    'State,County,Zone\nOhio,Adams,1\nMD,Baltimore City,3\nOH,,\nOhio,Nowhere,2\nOhio,Adams,2\nOhio,Adams,4\n',
    'CountyFIPS,CountyName,StateName,RadonZone\n39001,Adams,Ohio,1\n24510,x,y,3\n,,,\n3,Nowhere,Ohio,2\n39001,Adams,Ohio,2\n39001,Adams,Ohio,4\n',
  ]) {
    const result = await load('radon', fileOf(t, 'radon.csv', csv));
    assert.deepEqual([result.rows, result.loaded], [6, 2]);
    assert.deepEqual(reasons(result).slice(-2), [
      'the county is listed twice',
      'the zone is not 1, 2 or 3',
    ]);
    assert.deepEqual(database.prepare('SELECT geoid, zone FROM radon').raw().all(), [
      ['24510', 3],
      ['39001', 1],
    ]);
  }
});

const HOURLY = [
  '11/20/25|17:00|010030010|Fairhope|-6|OZONE|PPB|41|ADEM',
  '11/20/25 | 17:00 | 010030010 | Fairhope | -6 | PM2.5 | UG/M3 | -0.4 | ADEM',
  '11/20/25|17:00|000010102|Z\u201aphirin|-3.5|PM10|UG/M3|12|NL',
  '11/20/25|17:00|010030010|Fairhope|-6|CO|PPM|0.2|ADEM',
  '11/20/25|17:00|999999999|Lost|-6|PM10|UG/M3|3|X',
  '11/20/25|17:00|010030010|Fairhope|-6|PM10|PPB|3|X',
  '11/20/25|17:00|010030010|Fairhope|-6|PM10|UG/M3|-999|X',
  '02/30/25|17:00|010030010|Fairhope|-6|PM10|UG/M3|9|X',
  '99/99/26|99:00|010030010|Fairhope|-6|PM10|UG/M3|9|X',
  '11/20/25|17:00|010030010|Fairhope|-6|PM10|UG/M3|3',
  ...['n/a', '-900'].map((value) => `11/20/25|17:00|010030010|Fairhope|-6|PM10|UG/M3|${value}|X`),
  ...[
    '111/20/25|17:00',
    '11/20/255|17:00',
    '1/2/25|17:00',
    '11/20/25|117:00',
    '11/20/25|17:000',
    '11/20/25|5:00',
  ].map((time) => `${time}|010030010|Fairhope|-6|PM10|UG/M3|9|X`),
].join('\n');

test('AirNow: readings need the locations of monitors, and ozone is stored in micrograms', async (t) => {
  const hourly = fileOf(t, 'HourlyData_2025112017.dat', Buffer.from(HOURLY, 'latin1'));
  const old =
    '010030010|OZONE|0010|Fairhope|Active|AL1|ADEM|R4|30.497|-87.880|37.1|-6\n000010102|PM10|1|x|Active|a|b|c|48.95|-54.6|1|-3\n999999999|PM10|1|x|Active|a|b|c|||1|-3\n';
  const v2 =
    'StationID|AQSID|FullAQSID|Parameter|Latitude|Longitude\n1|010030010|x|OZONE|30.497|-87.880\n2|000010102|x|PM10|48.95|-54.6\n3|999999999|x|PM10||\n';
  for (const sites of [old, v2]) {
    const { database, load } = loading(t);
    const result = await load('airnow', hourly, { sites: fileOf(t, 'sites.dat', sites) });
    assert.deepEqual([result.rows, result.loaded, result.vintage], [18, 3, '2025-11-20 17:00 UTC']);
    assert.deepEqual(rejects(result), [
      ['the parameter belongs to no topic', 1, 4],
      ['the file of the sites has no location of the monitor', 1, 5],
      ['PM10 is not in UG/M3', 1, 6],
      ['the value is missing', 3, 7],
      ['the time is not written MM/DD/YY, HH:MM', 8, 8],
      ['the row has fewer than 9 fields', 1, 10],
    ]);
    const columns = 'pollutant, monitor, lat, lng, concentration, measured_at';
    const rows = database.prepare(`SELECT ${columns} FROM reading_boxes`).raw().all();
    const at = Date.UTC(2025, 10, 20, 17);
    assert.deepEqual(rows, [
      ['ozone', '010030010', 30.497, -87.88, 80.49, at],
      ['pm25', '010030010', 30.497, -87.88, -0.4, at],
      ['pm10', '000010102', 48.95, -54.6, 12, at],
    ]);
    // A monitor may miss an hour.
    const fewer = fileOf(t, 'HourlyData_2025112018.dat', HOURLY.split('\n', 1)[0]!);
    assert.equal(
      (await load('airnow', fewer, { sites: fileOf(t, 'sites.dat', sites) })).records,
      1,
    );
  }
  const { load } = loading(t);
  await assert.rejects(load('airnow', hourly), {
    code: 'USAGE',
    message: /no locations of monitors/,
  });
});

test('AirNow: monitors are recognized by their number with and without the country', async (t) => {
  const hour = (id: string) => `11/20/25|17:00|${id}|Fairhope|-6|OZONE|PPB|41|ADEM\n`;
  const sites =
    'StationID|AQSID|FullAQSID|Latitude|Longitude\n1|010030010|840010030010|30.497|-87.880\n2||840010030011|30.5|-87.9\n';
  const old = '010030010|OZONE|0010|Fairhope|Active|AL1|ADEM|R4|30.497|-87.880|37.1|-6\n';
  for (const [file, id] of [
    [sites, '010030010'],
    [sites, '840010030010'],
    [sites, '840010030011'],
    [old, '840010030010'],
    [old, '010030010'],
  ] as const) {
    const { load } = loading(t);
    const hourly = fileOf(t, 'HourlyData_2025112017.dat', hour(id));
    const result = await load('airnow', hourly, { sites: fileOf(t, 's.dat', file) });
    assert.equal(result.loaded, 1, id);
  }
  const { load } = loading(t);
  const nobody = load('airnow', fileOf(t, 'h.dat', hour('')), { sites: fileOf(t, 's.dat', sites) });
  await assert.rejects(nobody, { code: 'SERVICE_DATA' });
});

test('annual AQI: a year that is not over is rejected, whatever else the files hold', async (t) => {
  const { load } = loading(t);
  const running = `${AQI_HEADER}\n"Alaska","Anchorage ",2025,317,300,17,0,0,0,0,90,55,30\n"Ohio","Allen",2025,90,90,0,0,0,0,0,40,35,30\n`;
  const whole = `${AQI_HEADER}\n"Alaska","Anchorage ",2024,366,300,66,0,0,0,0,90,55,30\n`;
  const files = [fileOf(t, '2025.csv', running), fileOf(t, '2024.csv', whole)];
  const result = await load('air-quality', files);
  assert.deepEqual([result.vintage, result.records], ['2024', 1]);
  assert.deepEqual(rejects(result), [
    ['the year 2025 is not over: no county has more than 317 days of it', 2, 2],
  ]);
  await assert.rejects(load('air-quality', files[0]!), { message: /the year 2025 is not over/ });
  assert.equal((await load('air-quality', files[0]!, { force: true })).records, 2);
});

test('ozone keeps its category through the conversion, at every ppb', () => {
  // EPA's 8-hour breakpoints in ppb: 54, 70, 85, 105, 200; above, the 1-hour scale's 404.
  const names = [
    'Good',
    'Moderate',
    'Unhealthy for Sensitive Groups',
    'Unhealthy',
    'Very Unhealthy',
    'Hazardous',
  ];
  const expected = (ppb: number) =>
    names[[54, 70, 85, 105, 404].filter((most) => ppb > most).length];
  for (let ppb = 0; ppb <= 500; ppb++) {
    assert.equal(
      categoryOfConcentration('ozone', ozoneMicrograms(ppb)),
      expected(ppb),
      `${ppb} ppb`,
    );
  }
  // 48.00 g/mol over 24.45 l/mol.
  assert.equal(ozoneMicrograms(100), 196.32);
});

test('a category ends with its highest value; particles are cut to the decimals of their scale first', () => {
  const names = [
    'Good',
    'Moderate',
    'Unhealthy for Sensitive Groups',
    'Unhealthy',
    'Very Unhealthy',
    'Hazardous',
  ];
  assert.deepEqual([0, 50, 51, 100, 150, 200, 300, 301, 999].map(categoryOfAqi), [
    ...['Good', 'Good', 'Moderate', ...names.slice(1), 'Hazardous'],
  ]);
  assert.equal(categoryOfConcentration('pm25', -0.4), 'Good');
  for (const [pollutant, values] of [
    ['pm10', [54.9, 55, 154, 254, 354, 424, 425]],
    ['pm25', [9.09, 9.1, 35.4, 55.4, 125.4, 225.4, 225.5]],
  ] as const) {
    assert.deepEqual(
      values.map((value) => categoryOfConcentration(pollutant, value)),
      ['Good', 'Moderate', ...names.slice(1)],
    );
  }
});
