import assert from 'node:assert/strict';
import { test } from 'node:test';
import { completeFields, enrichedFields } from '../../src/columns/row.ts';
import { cellStatus } from '../../src/columns/row-status.ts';
import { columnsOf, flatten } from '../../src/columns/topic-columns.ts';
import type { CellRecord, Field } from '../../src/contract/answer.ts';
import { statedText } from '../../src/contract/stated-data.ts';
import type { TopicResult } from '../../src/contract/topic-values.ts';

const WIDTH = columnsOf('floodZone').length;
const HERE = { lat: 40, lng: -100 };

const zoneFields = (boundaryMeters: number | null): Field[] => {
  const facts = { baseElevationFt: 12, baseElevationDatum: 'NAVD88', depthFt: null };
  const value = {
    zone: 'AE',
    subtype: 'FLOODWAY',
    specialArea: true,
    facts,
    panel: '51059C0115E',
    effective: '2010-09-17',
    boundaryMeters,
  };
  return flatten('floodZone', { value, details: null } as TopicResult, HERE);
};
const NONE: Field[] = new Array<null>(WIDTH).fill(null);

test('a zone becomes its columns: what is not stated is empty, and a special area is true, false or empty', () => {
  assert.deepEqual(zoneFields(14), [
    'AE',
    'FLOODWAY',
    'true',
    12,
    'NAVD88',
    null,
    '51059C0115E',
    '2010-09-17',
    14,
  ]);
  const rest = { subtype: null, facts: {}, panel: null, effective: null, boundaryMeters: null };
  for (const [specialArea, text] of [
    [true, 'true'],
    [false, 'false'],
    [null, null],
  ] as const) {
    const value = { zone: 'D', specialArea, ...rest };
    assert.deepEqual(flatten('floodZone', { value } as TopicResult, HERE), [
      'D',
      null,
      text,
      null,
      null,
      null,
      null,
      null,
      null,
    ]);
  }
});

const NOTES: readonly (readonly [fields: readonly Field[], note: string | null])[] = [
  [NONE, 'floodZone: no study in the data covers this place, so it is unknown, not safe'],
  [zoneFields(0), 'floodZone: zones overlap or meet here, the most hazardous is given'],
  [zoneFields(1), 'floodZone: another zone is 1 m away'],
  [zoneFields(20), 'floodZone: another zone is 20 m away'],
  [zoneFields(21), null],
  [zoneFields(null), null],
];

test('the note says how near another zone is, and that no study is not safety, however the row is written', () => {
  for (const [fields, note] of NOTES) {
    const record: CellRecord = {
      answers: new Map([['floodZone', { topic: 'floodZone', asOf: 1, fields }]]),
      failures: new Map(),
    };
    const status = cellStatus(record, ['floodZone'], () => ({ freshSince: 0 }), 0);
    assert.deepEqual([status.status, status.note], ['ok', note ?? '']);
    assert.equal(enrichedFields(record, ['floodZone'], status, () => false, true, 0)[1], note);
    const of = completeFields(['hail', 'floodZone'], false, () => false, 0);
    assert.deepEqual(of(1, ['Very Low', 1, 2, ...fields]).slice(0, 2), ['ok', note]);
    // The source of the answers comes first, and another topic without data keeps its own words.
    const named = completeFields(['hail', 'floodZone'], false, () => false, 0, 'local data: nri');
    const words = ['local data: nri', 'no data here: hail', note]
      .filter((text) => text !== null)
      .join('; ');
    assert.equal(named(1, [null, null, null, ...fields])[1], words);
  }
});

test('the note says that a unit is not stated, however the row is written', () => {
  const stated = statedText({
    vintages: [],
    remarks: ['floodZone: the unit is not stated, feet are assumed'],
  });
  const words =
    'local data: floodZones to 2019-11-15; floodZone: the unit is not stated, feet are assumed';
  const fields = ['AE', null, 'true', 12, 'NAVD88', null, null, null, null];
  const answers = new Map([
    ['floodZone', { topic: 'floodZone', asOf: 1, fields, stated }],
  ] as const);
  const record: CellRecord = { answers, failures: new Map() };
  const status = { status: 'ok', note: 'local data: floodZones to 2019-11-15' } as const;
  const written = enrichedFields(record, ['floodZone'], status, () => false, true, 1);
  assert.deepEqual(new Set(String(written[1]).split('; ')), new Set(words.split('; ')));
  const complete = completeFields(['floodZone'], true, () => false, 1, status.note);
  assert.equal(complete(1, fields, stated)[1], words);
});
