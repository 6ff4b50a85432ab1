import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lossFields, type PlaceLosses } from '../../src/formats/packed/place-losses.ts';
import { lossText, type RateTexts, roomForRates } from '../../src/rows/csv/loss-text.ts';
import type { TableColumn } from '../../src/rows/port.ts';
import { fc } from '../properties.ts';

/** Rates as the index has them, and others. */
const rate = fc.oneof(
  fc.nat(400_000).map((number) => number / 1e9),
  fc.maxSafeNat().map((number) => Math.round(number / 1e4) / 1e15),
  fc.constantFrom(0, Number.NaN, 1e-15, 0.1),
);
const value = fc.oneof(
  fc.nat(4_000_000),
  fc.double({ min: -1e6, max: 1e13, noNaN: true }),
  fc.constantFrom(Number.NaN, 0, -0.001, 1e15, 50),
);

const TOPICS = 5;

function lossesOf(rates: readonly number[], topics: number, hasAmounts: boolean): PlaceLosses {
  // Number 0 is for places whose rates are unknown.
  const all = [...new Array<number>(topics).fill(Number.NaN), ...rates];
  const shared = new Float64Array(new SharedArrayBuffer(8 * all.length));
  shared.set(all);
  const numberOf = new Uint32Array(new SharedArrayBuffer(4 * 2));
  numberOf[1] = 1;
  return { topics, rates: shared, numberOf, hasAmounts };
}

test('the text of rates and amounts is that of their numbers, with and without room for the rates', () => {
  const columns = Array.from(
    { length: 2 * TOPICS + 3 },
    (_, index): TableColumn => ({
      name: `loss_${index}`,
      type: 'number',
    }),
  );
  const formats = [
    { delimiter: ',', encoding: 'utf-8', decimal: 'point' },
    { delimiter: ';', encoding: 'utf-8', decimal: 'comma' },
  ] as const;
  fc.assert(
    fc.property(
      fc.array(rate, { minLength: TOPICS, maxLength: TOPICS }),
      fc.array(value, { minLength: 1, maxLength: 5 }),
      fc.boolean(),
      fc.constantFrom(...formats),
      fc.boolean(),
      (rates, values, hasAmounts, format, hasRoom) => {
        const losses = lossesOf(rates, TOPICS, hasAmounts);
        const room = roomForRates(losses);
        const none: RateTexts = { ...room, memory: new SharedArrayBuffer(0) };
        const texts = hasRoom ? room : none;
        const put = lossText({ losses, texts, format, columns });
        const other = lossText({ losses, texts, format, columns });
        const view = new DataView(new ArrayBuffer(1024));
        for (const own of values) {
          for (const place of [0, 1]) {
            const expected = lossFields(losses, losses.numberOf[place]!, own)
              .map((field) => (field === null ? '' : String(field)))
              .map((text) => format.delimiter + text)
              .join('')
              .replaceAll('.', format.decimal === 'comma' ? ',' : '.');
            for (const by of [put, other]) {
              const end = by.put(view, place, Float64Array.of(0, own), 1, 3);
              const text = Buffer.from(view.buffer, 3, end - 3).toString('latin1');
              assert.equal(text, expected);
            }
          }
        }
      },
    ),
    { numRuns: 500 },
  );
});
