import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolygonLayer } from '../../../src/contract/layers/layer-description.ts';
import { type NumberRemark, storedFacts } from '../../../src/data/zones/zone-layer.ts';

const LAYER: Pick<PolygonLayer, 'class' | 'columns'> = {
  class: { from: ['CLASS'], show: 'class' },
  columns: {
    rate: { from: ['RATE'], type: 'number' },
    count: { from: ['COUNT'], type: 'count' },
    feet: {
      from: ['HEIGHT'],
      type: 'number',
      unit: { from: ['UNIT'], factors: { feet: 1, meters: 3.280839895 } },
    },
  },
};

/** What is stored of the texts of a feature, and the remarks on them. */
function factsOf(texts: Readonly<Record<string, string>>) {
  const remarks: NumberRemark[] = [];
  const { facts } = storedFacts(
    LAYER,
    ([column = '']) => texts[column] ?? '',
    (remark) => remarks.push(remark),
  );
  return {
    ...(facts as Readonly<Record<string, unknown>>),
    remarks: remarks.map(({ column, about }) => `${column}: ${about}`),
  };
}

test('a number without a unit is stored as it is written: a rate may be small', () => {
  for (const [text, rate] of [
    ['0.00123', 0.00123],
    ['1.2345678', 1.2345678],
    ['1e-7', 1e-7],
    ['-0', 0],
  ] as const)
    assert.deepEqual(factsOf({ RATE: text }), { rate, count: null, feet: null, remarks: [] });
});

test('a number of another unit is rounded, and never to nothing', () => {
  for (const [HEIGHT, UNIT, feet] of [
    ['3.7', 'Meters', 12.14],
    ['12.199999809', 'Feet', 12.2],
    ['-0.05', 'meters', -0.164],
    ['0.0001', 'feet', 0.0001],
    ['0', 'meters', 0],
  ] as const)
    assert.deepEqual(factsOf({ HEIGHT, UNIT }), { rate: null, count: null, feet, remarks: [] });
});

test('what is no decimal number, or no count, is no value and told', () => {
  for (const text of ['0x10', '1,234', '5%', 'Infinity', '1e400'])
    assert.deepEqual(factsOf({ RATE: text }), {
      ...{ rate: null, count: null, feet: null, remarks: ['rate: no number'] },
    });
  for (const text of ['1.5', '12345678901234567890'])
    assert.deepEqual(factsOf({ COUNT: text }), {
      ...{ rate: null, count: null, feet: null, remarks: ['count: no number'] },
    });
});
