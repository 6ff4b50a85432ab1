import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Field } from '../../src/contract/answer.ts';
import { FieldPacker, isSharedText, skipFields } from '../../src/formats/packed/packed-fields.ts';
import { anyCharacter, fc } from '../properties.ts';

/** Texts that have a number: the first 248 take one byte, the others five. */
const NUMBERED = Array.from({ length: 300 }, (_, number) => `text ${number}`);
const NUMBERS = new Map(NUMBERED.map((text, number) => [text, number]));

function newPacker(): FieldPacker {
  return new FieldPacker({
    numberOf: (text) => NUMBERS.get(text) ?? -1,
    textOf: (number) => NUMBERED[number]!,
  });
}

const TIME = '2026-03-10T12:00:00.000Z';

test('a field takes the fewest bytes that hold it to the bit', () => {
  const sizes: [field: Field, bytes: number][] = [
    [null, 1],
    [0, 2],
    [255, 2],
    [256, 5],
    [-1, 5],
    [2 ** 31 - 1, 5],
    [-(2 ** 31), 5],
    [2 ** 31, 9],
    [-0, 9],
    [0.5, 5],
    [-2147.483648, 5],
    [2147.483648, 9],
    [1e-7, 9],
    [Number.NaN, 9],
    ['text 0', 1],
    ['text 247', 1],
    ['text 248', 5],
    ['text 299', 5],
    [TIME, 7],
    ['1970-01-01T00:00:00.000Z', 7],
    ['1970-01-01T09:09:09.009Z', 7],
    ['1969-12-31T23:59:59.999Z', 5 + 48],
    ['2026-02-30T00:00:00.000Z', 5 + 48],
    ['2026-03-10T12:00:00.000', 5 + 46],
    ['2026-03-10T12:00:00.000+', 5 + 48],
    ['', 5],
    ['text 300', 5 + 16],
    ['\ud800', 5 + 2],
  ];
  for (const [field, bytes] of sizes) {
    // The time before is cached: it must not be taken for this field's, nor the other way round.
    for (const fields of [[field], [TIME, field, TIME, field], [field, field]]) {
      const packed = newPacker().pack(fields);
      const others = fields.length === 4 ? 14 : 0;
      assert.equal(
        packed.length,
        others + (fields.length === 1 ? 1 : 2) * bytes,
        JSON.stringify(fields),
      );
      assert.deepStrictEqual(newPacker().unpack(packed, 0, fields.length), fields);
      assert.equal(skipFields(packed, 0, fields.length), packed.length);
    }
  }
});

test('packed fields are unpacked and skipped from any byte on', () => {
  const field: fc.Arbitrary<Field> = fc.oneof(
    fc.constantFrom(null, -0, TIME, 'text 7', 'text 250', 'x'.repeat(9000)),
    fc.integer(),
    fc.integer({ min: -3e9, max: 3e9 }).map((millionths) => millionths / 1e6),
    fc.double(),
    fc.string({ unit: anyCharacter }),
  );
  const packer = newPacker();
  fc.assert(
    fc.property(fc.array(field), fc.array(field), (before, fields) => {
      const from = packer.pack(before).length;
      const bytes = Buffer.from(packer.pack(fields, from));
      assert.deepStrictEqual(packer.unpack(bytes, 0, before.length), before);
      assert.deepStrictEqual(packer.unpack(bytes, from, fields.length), fields);
      assert.equal(skipFields(bytes, from, fields.length), bytes.length);
    }),
    { numRuns: 100 },
  );
});

test('texts that are short, well formed and without a null character may be shared', () => {
  const texts = ['', 'x'.repeat(200), 'x'.repeat(201), 'é\u{1f30a}', '\ud800', 'a\0b'];
  assert.deepEqual(texts.map(isSharedText), [true, true, false, true, false, false]);
});
