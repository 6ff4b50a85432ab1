import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PerilbookError } from '../../src/base/errors.ts';
import type { Field } from '../../src/contract/answer.ts';
import { listedPlaces, type OutputPlaces } from '../../src/formats/packed/output-places.ts';
import {
  columnSpans,
  NULL_VALUE,
  packedIn,
  placeFiller,
  roomForValues,
  WIDE_VALUE,
} from '../../src/rows/parquet/place-columns.ts';
import { sectionMaker, sectionsOf } from '../../src/rows/parquet/sections.ts';
import type { TableColumn } from '../../src/rows/port.ts';
import { fc } from '../properties.ts';

/** Places with some more columns around the packed ones. */
const placesOf = (width: number, leading = 0): OutputPlaces => ({
  ...listedPlaces(width).places,
  kinds: [new Array<Field>(leading).fill(null)],
});

test('spans of columns follow each other, and the values of each fit into some memory', () => {
  const spans = (columns: number, count: number) => [
    ...columnSpans(columns, placesOf(Math.max(0, columns - 3), 3), count),
  ];
  fc.assert(
    fc.property(fc.nat(120), fc.nat(10_000_000), (columns, count) => {
      let next = 0;
      for (const ranges of spans(columns, count)) {
        assert.ok(ranges.length > 0);
        for (const { from, to } of ranges) {
          assert.equal(from, next);
          assert.ok(to > from && to <= from + 6);
          next = to;
        }
        const bytes = ranges.reduce((sum, { from, to }) => sum + 4 * count * (to - from), 0);
        assert.ok(ranges.length === 1 || bytes <= 32 * 1024 * 1024);
      }
      assert.equal(next, columns);
    }),
  );
  assert.equal(spans(57, 122_880).length, 1);
  assert.equal(spans(57, 1_000_000).length, 10);
});

test('columns after the packed ones need no room: they end no span', () => {
  const places = placesOf(6);
  assert.equal([...columnSpans(120, places, 1_000_000)].length, 1);
  assert.deepEqual(packedIn({ from: 0, to: 6 }, places), { first: 0, count: 6 });
  assert.equal(packedIn({ from: 6, to: 12 }, places).count, 0);
});

test('sections have all row groups in turn, up to a million rows each', () => {
  const places = placesOf(1);
  const ranges = (rows: readonly number[], of = places) =>
    [...sectionsOf(rows, of)].map(({ from, to }) => [from, to]);
  assert.deepEqual(ranges([]), []);
  assert.deepEqual(ranges([3_000_000, 1, 2 ** 20, 2 ** 19, 2 ** 19, 1]), [
    [0, 1],
    [1, 2],
    [2, 3],
    [3, 5],
    [5, 6],
  ]);
  // Of a large table in a file, each has the places of one row group.
  const kindOf = new Uint32Array(new SharedArrayBuffer(4 * (2 ** 21 + 1)));
  const tables = places.tables.map(({ table, width }) => ({ table: { ...table, file: 0 }, width }));
  assert.deepEqual(ranges([1, 1, 1], { ...places, kindOf, tables }), [
    [0, 1],
    [1, 2],
    [2, 3],
  ]);
  assert.deepEqual(ranges([1, 1, 1], { ...places, kindOf }), [[0, 3]]);
  assert.deepEqual(ranges([1, 1, 1], { ...places, tables }), [[0, 3]]);
});

test('a section has each place of its rows once, in ascending order', () => {
  const COUNT = 30;
  // It is used for several sections.
  const find = sectionMaker(COUNT);
  const drawn = fc.array(fc.array(fc.nat(COUNT - 1), { maxLength: 20 }), { maxLength: 4 });
  fc.assert(
    fc.property(drawn, (groups) => {
      const { places, rows } = find(groups.map((numbers) => Int32Array.from(numbers)));
      const distinct = [...new Set(groups.flat())].sort((a, b) => a - b);
      assert.deepEqual([...places], distinct);
      assert.deepEqual(
        rows.map((indexes) => Array.from(indexes, (index) => places[index])),
        groups,
      );
    }),
  );
});

const COLUMNS: readonly TableColumn['type'][] = [
  ...(['text', 'number', 'number', 'text', 'number', 'count'] as const),
  ...(['time', 'text', 'number', 'text', 'number', 'count', 'number'] as const),
];
const added = COLUMNS.map((type, index): TableColumn => ({ name: `c${index}`, type }));
const decimal = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }).map((number) => number / 1e6);
const drawnField: Readonly<Record<string, fc.Arbitrary<Field>>> = {
  text: fc.oneof(fc.constant('Relatively High'), fc.string(), fc.nat(300), fc.constant(null)),
  number: fc.oneof(
    decimal,
    fc.double({ noNaN: true }),
    fc.integer(),
    fc.constantFrom(0, -0, 7, 255, 256, 2147, 2148, -2147, -2148, -2147.483648, null),
  ),
  count: fc.oneof(fc.nat(300), fc.integer(), fc.constantFrom(NULL_VALUE, WIDE_VALUE, null)),
  time: fc.oneof(
    fc
      .date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true })
      .map((date) => date.toISOString()),
    fc.constantFrom('1900-01-01T00:00:00Z', null),
  ),
};
/** How many columns are of the first of two tables. They share a list of texts, as those of a run, so the second has its texts in full. */
const SPLIT = 7;
const drawnPlace = fc.tuple(
  ...COLUMNS.map((type, column) =>
    type === 'text' && column >= SPLIT
      ? drawnField[type]!.map((field) => (typeof field === 'string' ? `${field}\0` : field))
      : drawnField[type]!,
  ),
);

test('the values of places are their fields, whatever these are, read in any tasks and spans', () => {
  const first = listedPlaces(SPLIT + 2);
  const second = listedPlaces(COLUMNS.length - SPLIT);
  fc.assert(
    fc.property(
      fc.array(drawnPlace, { minLength: 1, maxLength: 20 }),
      fc.nat(20),
      fc.boolean(),
      (drawn, cut, isOneSpan) => {
        // Two tables, the first with fields before those of the output.
        first.fill(drawn.map((fields) => ['left out', -1.5, ...fields.slice(0, SPLIT)]));
        second.fill(drawn.map((fields) => fields.slice(SPLIT)));
        const places: OutputPlaces = {
          ...second.places,
          texts: [...first.places.texts],
          tables: [{ ...first.places.tables[0]!, skip: 2, width: SPLIT }, ...second.places.tables],
        };
        const to = drawn.length;
        const offsets = places.tables.map(() => new Uint32Array(new SharedArrayBuffer(4 * to)));
        const numbers = new Uint32Array(new SharedArrayBuffer(4 * to));
        numbers.set(Array.from(drawn.keys()));
        const fill = placeFiller({ places, added });
        const ranges = [...columnSpans(COLUMNS.length, places, to)]
          .flat()
          .map((range) => roomForValues(range, places, to, undefined));
        for (const span of isOneSpan ? [ranges] : ranges.map((range) => [range])) {
          const tasks = [
            { from: 0, to: Math.min(cut, to) },
            { from: Math.min(cut, to), to },
          ];
          const own = tasks.flatMap((task) =>
            fill({ places: numbers, ...task, ranges: span, offsets }),
          );
          for (const range of span) {
            const width = range.to - range.from;
            for (const [place, fields] of drawn.entries()) {
              for (let column = range.from; column < range.to; column++) {
                const at = place * width + column - range.from;
                const value = range.values[at]!;
                const text = () =>
                  places.texts[value] ??
                  own
                    .filter((part) => part.column === column)
                    .map((part) => part.texts[value - part.first])
                    .find((found) => found !== undefined);
                const type = COLUMNS[column]!;
                const number = type === 'number' ? value / 1e6 : value;
                const found =
                  value === NULL_VALUE
                    ? null
                    : type === 'text'
                      ? text()
                      : value === WIDE_VALUE
                        ? range.wide[at]
                        : number;
                assert.deepStrictEqual(found, stored(type, fields[column]!));
              }
            }
          }
        }
      },
    ),
  );
});

function stored(type: TableColumn['type'], field: Field): Field {
  if (field === null) return null;
  if (type === 'text') return String(field);
  return type === 'time' ? Date.parse(String(field)) : field;
}

test('a number that does not fit its column is refused', () => {
  const listed = listedPlaces(1);
  listed.fill([[1.5]]);
  const { places } = listed;
  const fill = placeFiller({ places, added: [{ name: 'events', type: 'count' }] });
  const range = roomForValues({ from: 0, to: 1 }, places, 1, undefined);
  const offsets = [new Uint32Array(new SharedArrayBuffer(4))];
  const numbers = new Uint32Array(new SharedArrayBuffer(4));
  assert.throws(
    () => fill({ places: numbers, from: 0, to: 1, ranges: [range], offsets }),
    (error) => error instanceof PerilbookError && error.code === 'SERVICE_DATA',
  );
});

test('memory for values is used again where it is large enough', () => {
  const places = placesOf(6);
  const range = { from: 0, to: 6 };
  const room = roomForValues(range, places, 10, undefined);
  assert.equal(roomForValues(range, places, 10, room).values, room.values);
  assert.notEqual(roomForValues(range, places, 11, room).values, room.values);
});
