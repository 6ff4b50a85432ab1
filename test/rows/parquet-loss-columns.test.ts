import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lossField, lossWidth, type PlaceLosses } from '../../src/formats/packed/place-losses.ts';
import { emptyColumns, type NumberColumn } from '../../src/rows/parquet/column-builder.ts';
import { reusableArrays } from '../../src/rows/parquet/encode.ts';
import { lossFiller } from '../../src/rows/parquet/loss-columns.ts';
import { fc } from '../properties.ts';

const TOPICS = 3;
const NUMBERS = 6;
const PLACES = 12;

const drawnRate = fc.oneof(
  fc.constantFrom(Number.NaN, 0),
  fc.integer({ min: 1, max: 1e12 }).map((rate) => rate / 1e15),
);
const drawnValue = fc.oneof(fc.constantFrom(Number.NaN, 0), fc.double({ min: 0, max: 1e9 }));
/** Longer than a block. */
const drawnRows = fc.array(fc.tuple(fc.nat(PLACES - 1), drawnValue), { maxLength: 600 });

/** The value of a row, null where it has none. */
function valueAt({ values, shared, present }: NumberColumn, row: number): number | null {
  if (present !== null && present[row] === 0) return null;
  if (shared === null) return values[row]!;
  const one = new Float64Array(1);
  shared.read(shared.ids.subarray(row, row + 1), one);
  return one[0]!;
}

function lossesOf(rates: readonly number[], hasAmounts: boolean): PlaceLosses {
  const all = new Float64Array(new SharedArrayBuffer(8 * TOPICS * NUMBERS));
  all.fill(Number.NaN, 0, TOPICS);
  all.set(rates, TOPICS);
  const numberOf = new Uint32Array(new SharedArrayBuffer(4 * PLACES));
  for (let place = 0; place < PLACES; place++) numberOf[place] = place % NUMBERS;
  return { topics: TOPICS, rates: all, numberOf, hasAmounts };
}

test('columns of losses have the fields of each row, row group after row group', () => {
  fc.assert(
    fc.property(
      fc.array(drawnRate, { minLength: TOPICS * (NUMBERS - 1), maxLength: TOPICS * (NUMBERS - 1) }),
      fc.array(drawnRows, { minLength: 1, maxLength: 3 }),
      fc.boolean(),
      fc.boolean(),
      fc.nat(),
      (rates, groups, hasAmounts, hasValues, drawn) => {
        const losses = lossesOf(rates, hasAmounts);
        const width = lossWidth(losses);
        const cut = drawn % width;
        const fill = lossFiller(losses, reusableArrays());
        // The places of a section: not all of the output, and in another order.
        const places = Uint32Array.from({ length: PLACES }, (_, at) => (at * 5 + 1) % PLACES);
        for (const group of groups) {
          const rows = Uint32Array.from(group, ([index]) => index);
          const amounts = hasValues ? Float64Array.from(group, ([, value]) => value) : undefined;
          const of = { places, rows, amounts };
          // As two ranges of columns.
          for (const [first, end] of [
            [0, cut],
            [cut, width],
          ] as const) {
            if (first === end) continue;
            const described = Array.from({ length: end - first }, (_, at) => ({
              name: `loss_${first + at}`,
              type: 'number' as const,
            }));
            const columns = emptyColumns(described, rows.length) as NumberColumn[];
            fill(columns, first, of);
            for (const [at, column] of columns.entries()) {
              const expected = group.map(([index, value]) =>
                lossField(
                  losses,
                  losses.numberOf[places[index]!]!,
                  first + at,
                  hasValues ? value : Number.NaN,
                ),
              );
              assert.deepEqual(
                Array.from(rows, (_, row) => valueAt(column, row)),
                expected,
                column.name,
              );
              const known = expected.filter((field) => field !== null);
              const ids = column.shared && rows.map((_, row) => column.shared!.ids[row]!);
              if (ids !== null)
                assert.equal(
                  new Set(ids.filter((_, row) => expected[row] !== null)).size,
                  new Set(known).size,
                );
              assert.equal(column.nulls, expected.length - known.length);
            }
          }
        }
      },
    ),
    { numRuns: 200 },
  );
});
