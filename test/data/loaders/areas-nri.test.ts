import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Polygon } from 'geojson';
import { NATURAL_SLUGS } from '../../../src/contract/topics.ts';
import { FEMA_SENTENCE, NRI_PREFIXES } from '../../../src/data/loaders/nri.ts';
import { readAreaCode, readGeoid } from '../../../src/data/tables/area-codes.ts';
import { describeData } from '../../../src/data/tables/describe-data.ts';
import { lines } from '../../geo/lines.ts';
import { square } from '../../service/small-data.ts';
import { fileOf, geojson, loading, reasons, rejects } from './loading.ts';

/** A table of the index, with a BOM and CRLF as FEMA writes it, and columns in another order than the topics. */
function nriTable(
  rows: readonly Record<string, string>[],
  version: 'March 2023' | 'December 2025',
  level = 'county',
) {
  const prefixes = NRI_PREFIXES.map(
    ([, first, second]) => (version === 'December 2025' && second) || first!,
  ).reverse();
  const ratings = prefixes.flatMap((prefix) => [
    `${prefix}_AFREQ`,
    `${prefix}_RISKS`,
    `${prefix}_RISKR`,
  ]);
  const codes = ['STATEABBRV', 'STATEFIPS', 'STCOFIPS', 'NRI_VER'];
  const columns =
    level === 'tract' ? ['TRACTFIPS', 'TRACT', ...codes, ...ratings] : [...ratings, ...codes];
  const cell = (row: Record<string, string>, column: string) => {
    if (row[column] !== undefined) return row[column];
    if (column === 'NRI_VER') return version;
    if (column.endsWith('_RISKR')) return 'Relatively Low';
    return column.endsWith('_RISKS') ? '12.500000000000000' : '0.250000000000000';
  };
  const lines = [
    columns.join(','),
    ...rows.map((row) => columns.map((column) => cell(row, column)).join(',')),
  ];
  return `\ufeff${lines.join('\r\n')}\r\n`;
}

const county = (fips: string, more: Record<string, string> = {}) => ({
  STATEABBRV: 'VA',
  STATEFIPS: '51',
  STCOFIPS: fips,
  ...more,
});

test('both versions of the index give all 18 topics; inland flooding is riverine flooding', async (t) => {
  for (const version of ['March 2023', 'December 2025'] as const) {
    const { database, load } = loading(t);
    const flood = version === 'March 2023' ? 'RFLD' : 'IFLD';
    const row = county('51001', {
      [`${flood}_RISKR`]: 'Very High',
      [`${flood}_RISKS`]: '99.9',
      [`${flood}_AFREQ`]: '3.5',
      TSUN_RISKR: 'Not Applicable',
      TSUN_RISKS: '',
      TSUN_AFREQ: '',
      VLCN_RISKR: 'Insufficient Data',
      VLCN_RISKS: '-9999',
      VLCN_AFREQ: '-9999',
      DRGT_RISKR: ' No Rating ',
      DRGT_RISKS: '0.000000000000000',
      DRGT_AFREQ: '7.000000000000000',
    });
    const result = await load('nri', fileOf(t, 'nri.csv', nriTable([row], version)));
    assert.deepEqual([result.records, result.vintage, result.level], [18, version, 'county']);
    const rows = database.prepare<[], { topic: string }>(
      'SELECT topic, rating, score, frequency FROM ratings_county',
    );
    const ratings = new Map(rows.all().map(({ topic, ...rating }) => [topic, rating]));
    assert.deepEqual([...ratings.keys()].sort(), [...NATURAL_SLUGS].sort());
    assert.deepEqual(ratings.get('riverineFlood'), {
      rating: 'Very High',
      score: 99.9,
      frequency: 3.5,
    });
    assert.deepEqual(ratings.get('tsunami'), {
      rating: 'Not Applicable',
      score: null,
      frequency: null,
    });
    assert.deepEqual(ratings.get('volcano'), {
      rating: 'Insufficient Data',
      score: null,
      frequency: null,
    });
    assert.deepEqual(ratings.get('drought'), { rating: 'No Rating', score: 0, frequency: 7 });
    assert.deepEqual(ratings.get('hail'), {
      rating: 'Relatively Low',
      score: 12.5,
      frequency: 0.25,
    });
    assert.equal(describeData(database).datasets[0]!.licence, FEMA_SENTENCE);
  }
});

/** A table of the index with the loss rates of buildings, none of drought, and their composite. */
function withLossRates(table: string, rates: readonly (readonly [string, string])[]): string {
  const [head, ...rows] = table.replace('\ufeff', '').trimEnd().split('\r\n');
  const names = head!.split(',').flatMap((name) => /^(?!DRGT)(.*)_RISKR$/.exec(name)?.[1] ?? []);
  const added = [...names.map((name) => `${name}_ALRB`), 'ALR_VALB'];
  const rateOf = (column: string, [hail, composite]: readonly [string, string]) =>
    column === 'ALR_VALB' ? composite : column === 'HAIL_ALRB' ? hail : '0.000001000000000';
  const lines = rows.map((row, at) =>
    [row, ...added.map((column) => rateOf(column, rates[at]!))].join(','),
  );
  return `\ufeff${[[head, ...added].join(','), ...lines].join('\r\n')}\r\n`;
}

test('loss rates of buildings are loaded as they are, and their sums are compared with the composite', async (t) => {
  const counties = ['51001', '51003', '51005', '51007', '51009'].map((fips) => county(fips));
  // The 16 others are 0.000016. Of the second the composite is 2 in 10,000 more.
  const rates = [
    ['0.000000000123456', '0.000016000123456'],
    ['0.000004000000000', '0.000020004000000'],
    ['0.000000000000000', '0.000016000000000'],
    ['', '0.000016000000000'],
    ['-1', ''],
  ] as const;
  for (const version of ['March 2023', 'December 2025'] as const) {
    const { database, load } = loading(t);
    const text = withLossRates(nriTable(counties, version), rates);
    const result = await load('nri', fileOf(t, 'nri.csv', text));
    const of = database.prepare<[string], number | null>(
      'SELECT loss_rate FROM ratings_county WHERE topic = ? ORDER BY geoid',
    );
    assert.deepEqual(of.pluck().all('hail'), [0.000000000123456, 0.000004, 0, null, null]);
    assert.deepEqual(of.all('riverineFlood'), new Array(5).fill(0.000001), version);
    assert.deepEqual(of.all('drought'), new Array(5).fill(null));
    assert.deepEqual(result.notes.slice(0, 2), [
      'HAIL: its loss rate is not a number from 0 on: unknown in 1 row, first on line 6.',
      'In 1 of 4 areas the loss rates of the hazards add up to another rate than the composite (ALR_VALB), by more than 1 in 10,000.',
    ]);
  }
  const { load } = loading(t);
  const { notes } = await load('nri', fileOf(t, 'nri.csv', nriTable(counties, 'March 2023')));
  assert.deepEqual(notes.slice(0, 1), [
    'The file has no loss rates of buildings (AVLN_ALRB and so on): expected annual losses stay unknown.',
  ]);
});

test('unusable rows are counted with their reason and first line', async (t) => {
  const { load } = loading(t);
  const rows = [
    county('51001'),
    county('51001'),
    county('24510'),
    county('513'),
    county('51003', { HAIL_RISKR: 'High' }),
    county('51005', { HAIL_RISKS: '' }),
    // No double holds it.
    county('51007', { HAIL_RISKS: '1e999' }),
    county('51009', { HAIL_RISKR: 'Not Applicable', HAIL_AFREQ: 'n/a' }),
    county('24510', { STATEABBRV: 'MD' }),
    county('24510', { STATEFIPS: '24' }),
    county('51011', { NRI_VER: '' }),
  ];
  const text = `${nriTable(rows, 'March 2023')}51,VA\r\n`;
  const result = await load('nri', fileOf(t, 'nri.csv', text));
  assert.deepEqual([result.rows, result.loaded, result.vintage], [12, 6, 'March 2023']);
  assert.deepEqual(rejects(result), [
    ['the county is listed twice', 1, 3],
    ['the code of the county is not in the state that the row names', 3, 4],
    ['the code of the county has neither 5 nor 4 digits', 1, 5],
    ['the row has another number of fields than the header', 1, 13],
  ]);
  // The other 17 hazards of four rows are known.
  assert.equal(result.records, 2 * 18 + 4 * 17);
  assert.deepEqual(result.notes.slice(0, 3), [
    "HAIL: the rating is not one of the index's eight: unknown in 1 row, first on line 6.",
    'HAIL: it has a rating but no score: unknown in 1 row, first on line 7.',
    'HAIL: its score or its frequency is not a number: unknown in 2 rows, first on line 8.',
  ]);
});

test('a new word in all ratings of a hazard, or in a third of many, is a changed file', async (t) => {
  for (const [rows, unknown, isRefused] of [
    [2, 1, false],
    [2, 2, true],
    [30, 10, false],
    [30, 11, true],
  ] as const) {
    const { load } = loading(t);
    const all = Array.from({ length: rows }, (_, index) =>
      county(String(51001 + 2 * index), index < unknown ? { DRGT_RISKR: 'Data Unavailable' } : {}),
    );
    const loaded = load('nri', fileOf(t, 'nri.csv', nriTable(all, 'December 2025')));
    const message = new RegExp(
      `DRGT: the rating is not one of the index's eight: ${unknown} of ${rows} rows`,
    );
    if (isRefused) await assert.rejects(loaded, { code: 'SERVICE_DATA', message });
    else assert.equal((await loaded).records, 18 * rows - unknown);
  }
});

test('codes whose leading zero was lost are repaired, never guessed', () => {
  const [noNumber, noState, otherState, length] = [
    'is not a number',
    'is not in any state',
    'is not in the state that the row names',
    'has neither 5 nor 4 digits',
  ];
  for (const [text, stateFips, stateAbbreviation, geoid] of [
    ['1001', '', '', '01001'],
    ['6001400100', '', '', '06001400100'],
    ['6001400100.0', '6', 'CA', '06001400100'],
    ['6001400100.00', ' 6.00 ', ' ca ', '06001400100'],
    [' 51079030101 ', '', ' ', '51079030101'],
    // A digit that was lost at the end makes a code of another state.
    ['5107903010', '51', '', otherState],
    ['1001', '', 'AK', otherState],
    ['10001', '1.01', '', otherState],
    ['3001', '', '', noState],
    ['001', '', '', length],
    ['1001.05', '', '', noNumber],
    ['x1001', '', '', noNumber],
    ['1001x', '', '', noNumber],
    ['', '', '', noNumber],
    ['0500000US01029', '', '', noNumber],
  ] as const) {
    const level = text.length > 9 && !text.includes('US') ? 'tract' : 'county';
    const problem = { problem: `the code of the ${level} ${geoid}` };
    const expected = / /.test(geoid!) ? problem : { geoid };
    assert.deepEqual(readGeoid(text, level, { stateFips, stateAbbreviation }), expected, text);
  }
});

test('a ZIP code gets back the zeros that a spreadsheet took, and none is below that of Holtsville', () => {
  for (const [text, geoid] of [
    ['2108', '02108'],
    ['21081234.0', '02108'],
    ['02108-1234', '02108'],
    ['501', '00501'],
    ['500', null],
    ['12', null],
  ] as const) {
    const found = readAreaCode(text, 'zip');
    assert.equal('geoid' in found ? found.geoid : null, geoid, text);
  }
});

test('tables of tracts and of counties are told apart, and not loaded together', async (t) => {
  const { load } = loading(t);
  const tract = county('51079', { TRACT: '30101', TRACTFIPS: '51079030101' });
  const tracts = fileOf(t, 'a.csv', nriTable([tract], 'March 2023', 'tract'));
  assert.equal((await load('nri', tracts)).level, 'tract');
  const counties = fileOf(t, 'counties.csv', nriTable([county('51001')], 'March 2023'));
  await assert.rejects(
    load('nri', [tracts, counties]),
    /tables of tracts and of counties together/,
  );
});

test('a table that is not the index is refused, and the stored data is unchanged', async (t) => {
  const { database, load } = loading(t);
  await load('nri', fileOf(t, 'a.csv', nriTable([county('51001')], 'March 2023')));
  const before = describeData(database);
  for (const [text, message] of [
    ['', /it has no column STCOFIPS/],
    [
      'STCOFIPS,RISK_RATNG\n51001,Very Low\n',
      /it has no ratings, scores and frequencies of hazards/,
    ],
  ] as const) {
    const file = fileOf(t, 'b.csv', text);
    await assert.rejects(load('nri', file), { code: 'SERVICE_DATA', message, context: { file } });
  }
  await assert.rejects(
    load('nri', fileOf(t, 'b.csv', nriTable([county('1')], 'March 2023'))),
    /no row is usable/,
  );
  assert.deepEqual(describeData(database), before);
});

test('a hazard that a state of the load had keeps two thirds of its ratings; other states are not compared', async (t) => {
  const { load } = loading(t);
  const table = (...codes: string[]) =>
    nriTable(
      codes.map((fips) =>
        county(fips, { STATEFIPS: fips.slice(0, 2), STATEABBRV: fips < '51' ? 'MD' : 'VA' }),
      ),
      'March 2023',
    );
  const whole = (...codes: string[]) => fileOf(t, 'a.csv', table(...codes));
  const without = (...codes: string[]) =>
    fileOf(t, 'b.csv', table(...codes).replaceAll('DRGT_AFREQ', 'OTHER'));
  await load('nri', whole('51001', '51003', '51005', '24001'));
  const lost = (states: readonly string[], ...problems: string[]) => ({
    message: `Cannot replace dataset "nri": ${problems.join('; ')}`,
    context: { dataset: 'nri', states },
  });
  const [inMaryland, inVirginia] = [
    'drought has 1 rating in MD here and 0 in the load',
    'drought has 3 ratings in VA here and 1 in the load',
  ];
  await assert.rejects(load('nri', without('24001'), { states: ['MD'] }), lost(['MD'], inMaryland));
  const all = [without('24001', '51003', '51005'), whole('51001')];
  await assert.rejects(
    load('nri', all, { states: 'US' }),
    lost(['MD', 'VA'], inMaryland, inVirginia),
  );
  await assert.rejects(load('nri', all, { states: ['VA'] }), lost(['VA'], inVirginia));
  await load('nri', [whole('51001', '51003'), without('51005')], { states: ['VA'] });
  const { notes } = await load('nri', without('24001'), { states: ['MD'], replace: true });
  assert.match(notes.join(), /no columns of drought \(DRGT\)/);
});

function boundaries(
  features: readonly [properties: Record<string, unknown>, geometry: Polygon | null][],
): string {
  const all = features.map(([properties, geometry]) => ({ properties, geometry }));
  return geojson(all, {
    crs: { type: 'name', properties: { name: 'urn:ogc:def:crs:EPSG::4269' } },
  });
}

test('one level of areas is replaced without the other', async (t) => {
  const { database, load } = loading(t);
  const tracts = boundaries([
    [{ GEOID: '51079030101', NAMELSAD: 'Census Tract 301.01' }, square(-79, 38, 0.5)],
    [{ GEOID20: '51079030102' }, square(-78.5, 38, 0.5)],
    [{ AFFGEOID: '1400000US51079030103', NAME: '301.03' }, square(-78, 38, 0.5)],
    [{ GEOID: '51079030103' }, square(-78, 38, 0.5)],
    [{ GEOID: '51079030104' }, null],
    [{ GEOID: '51079030105' }, square(-8_905_559, 3_503_549, 10)],
    [{ NAME: 'nobody' }, square(-78, 38, 0.5)],
  ]);
  const result = await load('areas', fileOf(t, 'cb_2022_us_tract.geojson', tracts));
  assert.deepEqual(
    [result.rows, result.loaded, result.level, result.vintage],
    [7, 3, 'tract', '2022'],
  );
  const expected = [
    'the tract is listed twice',
    'it is not a polygon in degrees',
    'it has no code of a tract',
  ];
  assert.deepEqual(reasons(result), expected);
  const counties = boundaries([[{ GEO_ID: '0500000US51079', NAME: 'Greene' }, square(-79, 38, 1)]]);
  await load('counties', fileOf(t, 'counties.geojson', counties));
  const levels = () =>
    describeData(database).datasets.map(({ name, level, rows }) => `${name} ${level} ${rows}`);
  assert.deepEqual(levels(), ['areas county 1', 'areas tract 3']);
  const one = boundaries([[{ GEOID: '51079030101' }, square(-79, 38, 0.5)]]);
  await load('areas', fileOf(t, 'a.geojson', one), { replace: true });
  assert.deepEqual(levels(), ['areas county 1', 'areas tract 1']);
});

test('boundaries: what is no code, no outline or of another state', async (t) => {
  const { load } = loading(t);
  const text = boundaries([
    [{ STATEFP: '51', COUNTYFP: '079', TRACTCE: '030102' }, square(-79, 38, 0.5)],
    [{ GEOID: '51079030106', STATEFP: '24' }, square(-79, 38, 0.5)],
    [{ geoid: 51079030108, STATEFP: 'a24' }, square(-79, 38, 0.5)],
    [{ GEOID: '51079030109', STATEFP: '24a' }, square(-79, 38, 0.5)],
    [{ GEOID: '51079030107' }, lines('-79 38, -78 38') as never],
    [
      { GEOID: '51079046113' },
      { type: 'MultiPolygon', coordinates: [square(-79, 38, 0.5).coordinates] } as never,
    ],
  ]);
  const result = await load('areas', fileOf(t, '2022_tracts.geojson', text));
  assert.deepEqual([result.loaded, result.vintage], [3, '2022']);
  assert.deepEqual(rejects(result), [
    ['it has no code of a tract', 1, 1],
    ['the code of the tract is not in the state that the row names', 1, 1],
    ['it is not a polygon in degrees', 1, 1],
  ]);
  assert.doesNotMatch(result.notes.join(), /before 2022/);
});

test('boundaries from before 2022 are recognized by their former codes', async (t) => {
  const { load } = loading(t);
  for (const [GEOID, isFormer] of Object.entries({
    '09001': true,
    46113: true,
    '09110': false,
    51079: false,
  })) {
    const file = fileOf(t, 'a.geojson', boundaries([[{ GEOID }, square(-79, 38, 0.5)]]));
    const { notes } = await load('counties', file, { replace: true });
    assert.equal(/before 2022/.test(notes.join()), isFormer, GEOID);
  }
});
