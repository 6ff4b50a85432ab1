import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FLOOD_ZONES } from '../../../src/contract/layers/flood-zones.ts';
import {
  kindOf,
  specialAreaOf,
  storedFacts,
  subtypeOf,
} from '../../../src/data/zones/zone-layer.ts';

type Special = true | false | null | 'unstudied';

/** What each zone and subtype becomes, from the most hazardous to the least. Zones of one tier are equally hazardous. */
const TIERS: readonly (readonly [code: string, subtype: string, special: Special][])[] = [
  [
    ...['V', 'VE', 'V1', 'V9', 'V10', 'V29', 'V30'].map(
      (code) => [code, '', true] as [string, string, Special],
    ),
    ['VE', 'RIVERINE FLOODWAY SHOWN IN COASTAL ZONE', true],
    ['VE', 'COASTAL FLOODPLAIN', true],
    ['ve', '', true],
  ],
  [
    ['AE', 'FLOODWAY', true],
    ['A', 'ADMINISTRATIVE FLOODWAY', true],
    ['AO', 'FLOODWAY', true],
    ['AH', 'FLOODWAY', true],
    ['A14', 'FLOODWAY', true],
    ['AE', '1100', true],
    ['AE', '1120', true],
    ['AE', 'floodway', true],
    ['AE', 'FLOODWAY CONTAINED IN CHANNEL', true],
    ['AE', 'FLOODWAY CONTAINED IN STRUCTURE', true],
    ['AE', '1 PCT CONTAINED IN STRUCTURE, FLOODWAY', true],
    ['AE', 'COLORADO RIVER FLOODWAY', true],
    ['AE', 'NARROW FLOODWAY', true],
    ['AE', 'COMMUNITY ENCROACHMENT AREA', true],
    ['AE', 'STATE ENCROACHMENT AREA', true],
    ['AE', 'AREA OF SPECIAL CONSIDERATION', true],
    ['AE', 'DENSITY FRINGE AREA', true],
    ['AE', 'FLOWAGE EASEMENT AREA', true],
  ],
  [
    ...['AE', 'A1', 'A9', 'A10', 'A20', 'A30'].map(
      (code) => [code, '', true] as [string, string, Special],
    ),
    ['AE', 'COASTAL FLOODPLAIN', true],
    ['AE', '1 PCT ANNUAL CHANCE FLOOD HAZARD CONTAINED IN CHANNEL', true],
    ['AE', '0200', true],
    ['AE', 'AREA WITH UNDETERMINED FLOOD HAZARD DUE TO NON-ACCREDITED LEVEE SYSTEM', true],
  ],
  [
    ['AO', '', true],
    ['AH', '', true],
    ['AO', 'RIVERINE FLOODPLAIN IN COASTAL AREA', true],
  ],
  [
    ['A', '', true],
    ['A', '1 PCT ANNUAL CHANCE FLOOD HAZARD CONTAINED IN CHANNEL', true],
  ],
  [
    ['AR', '', true],
    ['AR/AE', '', true],
    ['AR/AO', '', true],
    ['AR/AH', '', true],
    ['AR/A', '', true],
    ['AR/A12', '', true],
    ['A99', '', true],
    ['A99', 'AREA WITH REDUCED FLOOD HAZARD DUE TO LEVEE SYSTEM', true],
  ],
  // Codes that nobody knows are not taken for safe; the agency's flag is all that there is.
  ...[
    ['A31', 'V31', 'AX', 'ZZZ', 'AREA', 'X5'].map(
      (code) => [code, '', null] as [string, string, Special],
    ),
  ],
  [
    ['X', 'AREA WITH UNDETERMINED FLOOD HAZARD DUE TO NON-ACCREDITED LEVEE SYSTEM', null],
    ['X', '3020', null],
  ],
  [
    ['X', '1 PCT FUTURE CONDITIONS', false],
    ['X', '1 PCT FUTURE CONDITIONS, FLOODWAY', false],
    ['X', '1 PCT FUTURE CONDITIONS CONTAINED IN STRUCTURE', false],
    ['X', '0300', false],
  ],
  [
    ['X', '1 PCT DEPTH LESS THAN 1 FOOT', false],
    ['X', '1 PCT DRAINAGE AREA LESS THAN 1 SQUARE MILE', false],
    ['X', '1 PERCENT DEPTH LESS THAN 1 FOOT', false],
    ['X', '1 PCT CONTAINED IN STRUCTURE, FLOODWAY', false],
    ['X', '0400', false],
  ],
  [
    ['X', '0.2 PCT ANNUAL CHANCE FLOOD HAZARD', false],
    ['X', '0.2 PERCENT ANNUAL CHANCE FLOOD HAZARD', false],
    ['X', '0.2 pct annual chance flood hazard', false],
    ['X', '0.2 PCT ANNUAL CHANCE FLOOD HAZARD CONTAINED IN CHANNEL', false],
    ['X', '0500', false],
    ['X', 'AREA WITH FLOOD HAZARD DUE TO NON-ACCREDITED LEVEE SYSTEM', false],
  ],
  [
    ['B', '', false],
    ['X500', '', false],
  ],
  [
    ['X', 'AREA WITH REDUCED FLOOD RISK DUE TO LEVEE', false],
    ['X', 'AREA WITH REDUCED FLOOD HAZARD DUE TO ACCREDITED LEVEE SYSTEM', false],
    ['X', '3010', false],
    ['X', '3030', false],
  ],
  [
    ['D', '', null],
    ['D', 'AREA WITH FLOOD RISK DUE TO LEVEE', null],
  ],
  [
    ['X', 'AREA OF SPECIAL CONSIDERATION', false],
    ['X', '9999', false],
  ],
  [
    ['X', 'AREA OF MINIMAL FLOOD HAZARD', false],
    ['X', '2000', false],
    ['X', '', false],
    ['C', '', false],
  ],
  [
    ['OPEN WATER', '', null],
    ['Open Water', '', null],
  ],
  [
    ['AREA NOT INCLUDED', '', 'unstudied'],
    ['Area Not Included', '', 'unstudied'],
    ['NP', '', 'unstudied'],
  ],
];

const becomes = (code: string, published: string, flag: string) => {
  const found = kindOf(FLOOD_ZONES, { code, subtype: subtypeOf(FLOOD_ZONES, published) });
  return {
    rank: found.rank,
    special:
      found.kind?.means === 'unstudied' ? 'unstudied' : specialAreaOf(FLOOD_ZONES, found, flag),
  };
};

test('each zone and subtype has its place in the order of hazard, and is a special area or not', () => {
  const ranks = TIERS.map((tier) => {
    const found = tier.map(([code, subtype]) => becomes(code, subtype, '').rank);
    assert.equal(
      new Set(found).size,
      1,
      `one tier: ${tier.map(([code, subtype]) => `${code} ${subtype}`).join(', ')}: ${found}`,
    );
    return found[0]!;
  });
  assert.deepEqual(
    ranks,
    ranks.toSorted((a, b) => a - b),
  );
  assert.equal(new Set(ranks).size, TIERS.length);
  for (const [code, subtype, special] of TIERS.flat())
    assert.equal(becomes(code, subtype, '').special, special, `${code} ${subtype}`);
});

test('a flag that contradicts the code leaves open what the place is in', () => {
  for (const [code, subtype, special] of TIERS.flat()) {
    if (special === 'unstudied') continue;
    const isUnknown = kindOf(FLOOD_ZONES, { code, subtype }).kind === null;
    for (const [flag, flagged] of [
      ['T', true],
      ['F', false],
    ] as const) {
      const expected: boolean | null = isUnknown ? flagged : special === flagged ? special : null;
      assert.equal(becomes(code, subtype, flag).special, expected, `${code} ${subtype} ${flag}`);
    }
    assert.equal(becomes(code, subtype, 'U').special, null);
  }
});

test('elevations and depths are in feet, and none is none', () => {
  const facts = (values: Readonly<Record<string, string>>) =>
    Object.values(storedFacts(FLOOD_ZONES, ([column]) => values[column!] ?? '').facts);
  const of = (elevation: string, unit: string, depth = '-9999') =>
    facts({ STATIC_BFE: elevation, LEN_UNIT: unit, V_DATUM: 'NAVD88', DEPTH: depth });
  // Numbers come first: elevation, depth, datum.
  assert.deepEqual(of('12', 'Feet'), [12, null, 'NAVD88']);
  assert.deepEqual(of('0', 'FEET'), [0, null, 'NAVD88']);
  assert.deepEqual(of('-2.5', 'Feet'), [-2.5, null, 'NAVD88']);
  assert.ok(Object.is(of('-0', 'Feet')[0], 0), 'no -0');
  assert.deepEqual(of('3.048', 'Meters', '0.6096'), [10, 2, 'NAVD88']);
  for (const none of ['-9999', '-9999.0', '9999', '-8888', '-8888.00', '', ' ', 'NaN', '<Null>']) {
    assert.deepEqual(of(none.trim(), 'Feet'), [null, null, null], none);
  }
  assert.deepEqual(of('-9999', 'Feet', '2'), [null, 2, null]);
  assert.deepEqual(of('12', 'Furlongs'), [null, null, null]);
  assert.deepEqual(of('-301', 'Feet'), [null, null, null]);
  assert.deepEqual(of('30001', 'Feet'), [null, null, null]);
  // Without a unit FEMA's own label holds: feet.
  for (const none of ['', '<Null>', 'NP']) assert.deepEqual(of('12', none), [12, null, 'NAVD88']);
});
