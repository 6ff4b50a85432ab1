import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countyCode, tractCode } from '../../src/geo/area-codes.ts';
import type { AreaSettings } from '../../src/job/settings.ts';
import { areasOfRow, findAreaColumns } from '../../src/run/scan/area-columns.ts';
import { fc } from '../properties.ts';

const settings = (more: Partial<AreaSettings>): AreaSettings => ({
  tract: null,
  county: null,
  oed: false,
  verify: 0,
  ...more,
});
const find = (names: readonly string[], more: Partial<AreaSettings>, base = 0) =>
  findAreaColumns(names, settings(more), base, 'book.csv');

test('areas are read behind the fields that are read anyway, and found in any case', () => {
  const names = ['id', 'Tract', 'FIPS'];
  assert.deepEqual(find(names, { tract: 'TRACT', county: 'fips' }, 4), {
    read: [1, 2],
    columns: { tract: 4, county: 5, pairs: [] },
  });
  assert.deepEqual(find(names, { county: 'FIPS' }, 2).columns, { tract: null, county: 2, pairs: [] });
  assert.deepEqual(findAreaColumns(names, null, 4, 'book.csv').read, []);
  assert.throws(() => find(names, { tract: 'Trakt' }), /no column Trakt; did you mean Tract\?/);
});

test('OED: each scheme goes with the name of its own number; without a pair the error says what is missing', () => {
  const names = ['GeogName2', 'GeogScheme1', 'x', 'GeogName1', 'geogscheme2', 'GeogScheme3', 'GeogName4'];
  assert.deepEqual(find(names, { oed: true }, 2), {
    read: [1, 3, 4, 0],
    columns: {
      tract: null,
      county: null,
      pairs: [
        { scheme: 2, name: 3 },
        { scheme: 4, name: 5 },
      ],
    },
  });
  assert.throws(() => find(['GeogScheme1', 'GeogName2', 'Geog'], { oed: true }), { code: 'INPUT_COLUMNS' });
});

test('a row names a tract, a county, both or neither; a tract tells its county', () => {
  const both = { tract: 0, county: 1, pairs: [] };
  const of = (...fields: string[]) => areasOfRow(fields, both);
  const tract = '06037106111';
  assert.deepEqual(of(tract, ''), { tract, county: '06037', unreadable: false });
  assert.deepEqual(of(tract, '36061'), { tract, county: '36061', unreadable: false });
  assert.deepEqual(of(' ', ' 6037 '), { tract: null, county: '06037', unreadable: false });
  assert.deepEqual(of('', ''), { tract: null, county: null, unreadable: false });
  assert.deepEqual(of(), { tract: null, county: null, unreadable: false }, 'a row that is too short');
});

test('a code that is present and cannot be read is reported', () => {
  const both = { tract: 0, county: 1, pairs: [] };
  const of = (...fields: string[]) => areasOfRow(fields, both);
  assert.deepEqual(of('downtown', '36061'), { tract: null, county: '36061', unreadable: true });
  assert.deepEqual(of('', 'Kings'), { tract: null, county: null, unreadable: true });
  assert.equal(of('06037106111', 'Los Angeles').unreadable, false, 'the tract tells the county');
  const one = { tract: 0, county: null, pairs: [] };
  assert.equal(areasOfRow(['06037106111', 'Kings'], one).unreadable, false, 'not a column of areas');
  assert.deepEqual(areasOfRow(['Kings', '36061'], one), { tract: null, county: null, unreadable: true });
});

test('OED: schemes of tracts and counties count, others do not', () => {
  const pairs = [
    { scheme: 0, name: 1 },
    { scheme: 2, name: 3 },
  ];
  const of = (...fields: string[]) => areasOfRow(fields, { tract: null, county: null, pairs });
  const tract = '06037106111';
  assert.deepEqual(of(' xtrct ', tract, 'CNTY', '36061'), { tract, county: '36061', unreadable: false });
  assert.deepEqual(of('STAT', '06', 'XFIPS', '6037'), { tract: null, county: '06037', unreadable: false });
  assert.deepEqual(of('POST', tract, '', '36061'), { tract: null, county: null, unreadable: false });
  assert.equal(of('XCT', 'Kings').unreadable, true);
});

test('a tract may be named by three columns, with lost zeros or as a name with decimals', () => {
  const { columns } = findAreaColumns(
    ['STATEFP', 'COUNTYFP', 'TRACTCE'],
    { tract: 'statefp, countyfp, tractce', county: null, oed: false, verify: 0 },
    0,
    'book.csv',
  );
  const tractOf = (...fields: string[]) => areasOfRow(fields, columns);
  assert.deepEqual(tractOf('06', '037', '106111'), { tract: '06037106111', county: '06037', unreadable: false });
  assert.equal(tractOf('6', '37', '20100').tract, '06037020100');
  assert.equal(tractOf('06', '037', '301.01').tract, '06037030101');
  assert.equal(tractOf('06', '037', '2109').tract, '06037210900');
  assert.deepEqual(tractOf('', '', ''), { tract: null, county: null, unreadable: false });
  for (const wrong of [
    ['06', '037', 'x'],
    ['06', '037', '1234567'],
    ['', '037', '106111'],
    ['99', '001', '100100'],
  ]) {
    assert.deepEqual(tractOf(...wrong), { tract: null, county: null, unreadable: true }, wrong.join());
  }
});

test("a tract's own code without state and county is known for one", () => {
  const { columns } = findAreaColumns(['T'], { tract: 'T', county: null, oed: false, verify: 0 }, 0, 'book.csv');
  assert.equal(areasOfRow(['106111'], columns).isTractAlone, true);
  assert.equal(areasOfRow(['x'], columns).isTractAlone, undefined);
});

test('census codes are read as files carry them, or not at all', () => {
  const cases: readonly [string, string | null][] = [
    ['06037106111', '06037106111'],
    ['6037106111', '06037106111'],
    ['1400000US06037106111', '06037106111'],
    ['060371061112003', '06037106111'],
    [' 51079030101 ', '51079030101'],
    ['6037106111.0', '06037106111'],
    ['99037106111', null],
    ['0603710611', null],
    ['106111', null],
    ['n/a', null],
    ['', null],
  ];
  for (const [text, code] of cases) assert.equal(tractCode(text), code, text);
  assert.deepEqual(['06037', '6037', '0500000US06037', '037', 'x'].map(countyCode), [
    '06037',
    '06037',
    '06037',
    null,
    null,
  ]);
  fc.assert(fc.property(fc.string(), (text) => tractCode(text) === null || /^\d{11}$/.test(tractCode(text)!)));
});
