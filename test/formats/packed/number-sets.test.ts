import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  EMPTY_SET,
  makeNumberSets,
  NO_SET,
  setNumberer,
  takenSets,
} from '../../../src/formats/packed/number-sets.ts';
import { FieldPacker } from '../../../src/formats/packed/packed-fields.ts';
import { viewed } from '../../../src/formats/packed/place-table.ts';
import { fc } from '../../properties.ts';

const packer = new FieldPacker({ numberOf: () => -1, textOf: () => '' });
const FIELDS = 4;

/** The number of some fields, which stand behind other bytes. */
function numbererOf(sets: ReturnType<typeof makeNumberSets>) {
  const numberOf = setNumberer(sets, FIELDS);
  return (fields: readonly (number | null)[]) => {
    packer.pack(['before']);
    const packed = Buffer.from(packer.pack(fields, 5));
    const { bytes, view } = viewed(packed);
    return numberOf(bytes, view, 5);
  };
}

const drawn = fc.oneof(
  fc.constantFrom(null, 0, 1, 255, 256, -5, 0.5, 1e-15, 331_734_708_667e-15),
  fc.double({ noNaN: true }),
);

test('equal sets have one number, whichever of two threads meets them first, and come back', () => {
  const fields = fc.tuple(fc.integer({ min: 1, max: 3 }), drawn, drawn, drawn);
  const met = fc.array(fc.tuple(fields, fc.boolean()), { maxLength: 60 });
  fc.assert(
    fc.property(met, (all) => {
      const sets = makeNumberSets([1, 3], all.length);
      const [here, there] = [numbererOf(sets), numbererOf(sets)];
      const known = new Map<string, number>();
      for (const [own, isHere] of all) {
        const number = (isHere ? here : there)(own);
        const kept = [own[1] ?? Number.NaN, own[3] ?? Number.NaN];
        const key = kept.map((value) => (Object.is(value, -0) ? '-0' : `${value}`)).join();
        assert.equal(number, known.get(key) ?? number, key);
        known.set(key, number);
        assert.ok(number > EMPTY_SET);
        assert.deepEqual([...takenSets(sets).subarray(2 * number, 2 * number + 2)], kept);
      }
      assert.equal(new Set(known.values()).size, known.size);
    }),
  );
});

test('as many sets as a large book has tracts are told apart', () => {
  const sets = makeNumberSets([1, 2, 3], 5_000);
  const numberOf = numbererOf(sets);
  const fieldsOf = (set: number) => [3, set / 1e15, null, set];
  const numbers = Array.from({ length: 5_000 }, (_, set) => numberOf(fieldsOf(set)));
  assert.equal(new Set(numbers).size, 5_000);
  for (const [set, number] of numbers.entries()) assert.equal(numberOf(fieldsOf(set)), number);
});

test('answers without any number have a set of their own, which is empty', () => {
  const sets = makeNumberSets([1, 3], 10);
  const numberOf = numbererOf(sets);
  assert.equal(numberOf([0, null, null, null]), EMPTY_SET);
  // It has a number, though none of those that are kept.
  assert.ok(numberOf([1, null, 5, null]) > EMPTY_SET);
  for (const set of [NO_SET, EMPTY_SET])
    assert.deepEqual([...takenSets(sets).subarray(2 * set, 2 * set + 2)], [Number.NaN, Number.NaN]);
  assert.equal(numbererOf(makeNumberSets([], 10))([2, 5, null, 6]), EMPTY_SET);
});
