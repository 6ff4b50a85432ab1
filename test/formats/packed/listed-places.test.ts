import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Field } from '../../../src/contract/answer.ts';
import { listedPlaces, placeUnpacker } from '../../../src/formats/packed/output-places.ts';
import { fc } from '../../properties.ts';

const WIDTH = 4;
const rowOf = (...fields: Field[]): Field[] => fields;

test('places keep the fields of the last rows, and stay the same object while they have room', () => {
  const listed = listedPlaces(WIDTH);
  const first = listed.places;
  let unpack = placeUnpacker(first);
  let of = first;
  const field = fc.oneof(
    fc.string(),
    fc.constantFrom('ok', 'Very High'),
    fc.double({ noNaN: true }),
    fc.constant(null),
  );
  const rows = fc.array(fc.array(field, { minLength: WIDTH, maxLength: WIDTH }), { maxLength: 30 });
  fc.assert(
    fc.property(rows, (given) => {
      listed.fill(given);
      if (of !== listed.places) [of, unpack] = [listed.places, placeUnpacker(listed.places)];
      assert.deepEqual(
        given.map((_, place) => unpack(place)),
        given,
      );
    }),
  );
  assert.equal(listed.places, first);
});

test('more rows, more bytes and a field of megabytes find their room', () => {
  const listed = listedPlaces(WIDTH);
  const many = Array.from({ length: 5_000 }, (_, row) => rowOf(row, `text ${row}`, null, row / 7));
  const wide = Array.from({ length: 1_000 }, (_, row) => rowOf('x'.repeat(4_000), row, 'ok', null));
  const vast = [
    rowOf('y'.repeat(3_000_000), 1, 'a', null),
    rowOf('z'.repeat(700_000), 2, 'b', null),
  ];
  const few = [rowOf('ok', 1, null, 'b')];
  for (const rows of [few, many, wide, vast, few, many, vast, few]) {
    listed.fill(rows);
    const unpack = placeUnpacker(listed.places);
    for (const [place, fields] of rows.entries()) assert.deepEqual(unpack(place), fields);
  }
});

test('beyond the most memory the places are others each time, for their blocks are', () => {
  const listed = listedPlaces(1, 2 ** 20);
  let of = listed.places;
  let unpack = placeUnpacker(of);
  for (const letter of ['a', 'b']) {
    const rows = Array.from({ length: 9 }, (_, row) => [`${row}${letter.repeat(2 ** 18)}`]);
    listed.fill(rows);
    if (of !== listed.places) [of, unpack] = [listed.places, placeUnpacker(listed.places)];
    for (const [place, fields] of rows.entries()) assert.ok(unpack(place)[0] === fields[0]);
  }
});

test('a row with another number of fields is refused', () => {
  assert.throws(() => listedPlaces(WIDTH).fill([['ok']]), { code: 'BUG' });
});
