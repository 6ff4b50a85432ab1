import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  lossField,
  lossReader,
  lossWidth,
  type PlaceLosses,
} from '../../../src/formats/packed/place-losses.ts';
import { fc } from '../../properties.ts';

const TOPICS = 4;
const NUMBERS = 5;

const drawnRate = fc.oneof(
  fc.constantFrom(Number.NaN, 0),
  fc.integer({ min: 1, max: 1e9 }).map((rate) => rate / 1e15),
);
const drawnValue = fc.oneof(fc.constantFrom(Number.NaN, 0), fc.double({ min: 0, max: 1e9 }));

test('a field of losses of many rows is that of each of them', () => {
  fc.assert(
    fc.property(
      fc.array(drawnRate, { minLength: TOPICS * NUMBERS, maxLength: TOPICS * NUMBERS }),
      fc.array(fc.tuple(fc.nat(NUMBERS - 1), drawnValue), { maxLength: 8 }),
      fc.boolean(),
      (drawn, rows, hasAmounts) => {
        const rates = new Float64Array(new SharedArrayBuffer(8 * drawn.length));
        rates.set(drawn);
        rates.fill(Number.NaN, 0, TOPICS);
        const numberOf = new Uint32Array(new SharedArrayBuffer(0));
        const losses: PlaceLosses = { topics: TOPICS, rates, numberOf, hasAmounts };
        const read = lossReader(losses);
        const numbers = Uint32Array.from(rows, ([number]) => number);
        const values = Float64Array.from(rows, ([, value]) => value);
        const into = new Float64Array(rows.length);
        for (let field = 0; field < lossWidth(losses); field++) {
          read({ from: 0, to: rows.length, numbers, values }, field, into);
          for (const [row, [number, value]] of rows.entries()) {
            const expected = lossField(losses, number, field, value) ?? Number.NaN;
            assert.equal(into[row], expected, `field ${field}`);
          }
        }
      },
    ),
  );
});
